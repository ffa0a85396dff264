# SPDX-License-Identifier: BSL-1.0
# Doxygen over ROOT/include says nothing, and has found the public headers.
file(MAKE_DIRECTORY doxygen)
execute_process(COMMAND ${CMAKE_COMMAND} -E env COLLIGO_DOXYGEN_OUTPUT=${CMAKE_CURRENT_BINARY_DIR}/doxygen ${DOXYGEN} Doxyfile
                WORKING_DIRECTORY ${ROOT}/include RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT result EQUAL 0 OR NOT said STREQUAL "")
  message(FATAL_ERROR "doxygen says\n${said}")
endif()
file(STRINGS doxygen/html/namespacecolligo.html found REGEX "iall_reduce")
if(NOT found)
  message(FATAL_ERROR "colligo::iall_reduce is not in what doxygen wrote")
endif()
