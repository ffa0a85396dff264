# SPDX-License-Identifier: BSL-1.0
# exact_digest prints the same, whatever compiles it with whatever options. Works in FOLDER.
file(MAKE_DIRECTORY ${FOLDER})
foreach(compiler "g++ -O0" "g++ -O3 -march=native -ffast-math"
        "clang++ -O2 -fassociative-math -fno-signed-zeros -fno-trapping-math")
  separate_arguments(command UNIX_COMMAND ${compiler})
  execute_process(COMMAND ${command} -std=c++20 -I${HEADERS} ${SOURCE} -o digest WORKING_DIRECTORY ${FOLDER}
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${FOLDER}/digest OUTPUT_VARIABLE digest COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "${compiler}: ${digest}")
  list(APPEND digests ${digest})
endforeach()
list(REMOVE_DUPLICATES digests)
list(LENGTH digests different)
if(NOT different EQUAL 1)
  message(FATAL_ERROR "they differ")
endif()
