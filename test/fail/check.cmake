# SPDX-License-Identifier: BSL-1.0
# Compiles SOURCE twice: as it is it must compile, with COLLIGO_MUST_FAIL it must not, and the compiler must say what the source quotes
# on its line "// expect: ...".
file(STRINGS ${SOURCE} quoted REGEX "^// expect: ")
string(REGEX REPLACE "^// expect: " "" quoted "${quoted}")
set(compile ${COMPILER} -std=c++20 -fsyntax-only ${FLAGS} ${SOURCE})
execute_process(COMMAND ${compile} RESULT_VARIABLE result ERROR_VARIABLE said)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "does not compile even without its mistake:\n${said}")
endif()
execute_process(COMMAND ${compile} -DCOLLIGO_MUST_FAIL RESULT_VARIABLE result ERROR_VARIABLE said)
if(result EQUAL 0)
  message(FATAL_ERROR "compiles, and must not")
endif()
string(FIND "${said}" "${quoted}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "expected the compiler to say\n  ${quoted}\nbut it said\n${said}")
endif()
