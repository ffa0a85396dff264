# SPDX-License-Identifier: BSL-1.0
# search_tree keeps to its time, and what it writes is taken from COLLIGO_TREE by communicators of as many ranks, and by
# no others.
set(budget 2)
execute_process(COMMAND ${RUN} 4 ${SEARCH_TREE} --seconds ${budget} --pretend 2 --out ${OUT}/best.tree
  OUTPUT_VARIABLE text RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT text MATCHES "best of [0-9]+ trees? in ([0-9.]+) s:"
   OR NOT text MATCHES "\nCOLLIGO_(REDUCE_)?TREE=${OUT}/best.tree[ \n]")
  message(FATAL_ERROR "search_tree ends with ${code}:\n${text}")
endif()
string(REGEX REPLACE ".*best of [0-9]+ trees? in ([0-9.]+) s:.*" "\\1" spent "${text}")
math(EXPR late "${budget} + 30")   # a busy machine holds up a pair of loops for seconds
if(spent GREATER late)
  message(FATAL_ERROR "${spent} s, ${budget} were allowed")
endif()
string(REGEX MATCHALL "COLLIGO_[A-Z_]+=[^ \n]+" settings "${text}")   # one tree for both ways, or two
foreach(setting IN LISTS settings)
  string(REGEX MATCH "^([A-Z_]+)=(.*)$" _ "${setting}")
  set(ENV{${CMAKE_MATCH_1}} ${CMAKE_MATCH_2})
endforeach()
set(ENV{COLLIGO_STRICT} 1)
set(compare ${COMPARE} --algorithms mpi,automatic --bytes 8 --repeats 2 --sample-us 0)
execute_process(COMMAND ${RUN} 4 ${compare} OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the file that was written is refused:\n${text}")
endif()
execute_process(COMMAND ${RUN} 3 ${compare} OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE code)
if(code EQUAL 0 OR NOT text MATCHES "COLLIGO_(REDUCE_)?TREE=${OUT}/best.tree:[0-9]+: \"3\" is out of range")
  message(FATAL_ERROR "3 ranks take a tree over 4, or say something else (${code}):\n${text}")
endif()
