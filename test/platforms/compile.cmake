# SPDX-License-Identifier: BSL-1.0
# Compiles SOURCE by COMPILER with FLAGS into PROGRAM, and runs it, by EMULATOR if there is one; without PROGRAM it compiles only. MODULE: a module
# unit that SOURCE imports.
if(PROGRAM)
  if(MODULE)
    list(APPEND FLAGS -Wno-unused-command-line-argument)   # libraries, where nothing is linked
    execute_process(COMMAND ${COMPILER} ${FLAGS} --precompile ${MODULE} -o ${PROGRAM}.pcm COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND FLAGS -fmodule-file=colligo=${PROGRAM}.pcm ${PROGRAM}.pcm)
  endif()
  execute_process(COMMAND ${COMPILER} ${FLAGS} ${SOURCE} -o ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${EMULATOR} ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
else()
  execute_process(COMMAND ${COMPILER} -fsyntax-only ${FLAGS} ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "it compiles")
endif()
