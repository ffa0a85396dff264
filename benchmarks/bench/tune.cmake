# SPDX-License-Identifier: BSL-1.0
# tune writes a table that the library takes, resumes, and refuses what is wrong; guidelines measures and draws.
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
string(REPLACE ";" " " run "${RUN}")
set(short --compare ${COMPARE} --mpirun "${run}" --repeats 1 --sample-us 0 --launches 2)

function(expect code pattern)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${OUT} OUTPUT_VARIABLE out ERROR_VARIABLE error RESULT_VARIABLE got)
  if(NOT got EQUAL code OR NOT "${out}${error}" MATCHES "${pattern}")
    message(FATAL_ERROR "${ARGN}:\nends with ${got} instead of ${code}, or without \"${pattern}\":\n${out}${error}")
  endif()
endfunction()
function(expect_line pattern)
  file(READ ${OUT}/colligo.table table)
  if(NOT "${table}" MATCHES "${pattern}")
    message(FATAL_ERROR "no \"${pattern}\" in\n${table}")
  endif()
endfunction()

# Measures. Rows during which the state of the machine changed do not count, and on a busy machine that may be all of
# them: afterwards they count.
function(measure csv)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${OUT} OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT said MATCHES "[12] rows, [0-9]+ s\n|nothing was measured")
    message(FATAL_ERROR "${ARGN}:\n${said}")
  endif()
  file(READ ${OUT}/${csv} rows)
  string(REPLACE ",changed," ",far," rows "${rows}")
  file(WRITE ${OUT}/${csv} "${rows}")
endfunction()

set(tune ${PYTHON} ${PROGRAMS}/tune.py ${short} --collective all_reduce --type double --op sum --bytes 8,64 --ranks 2
  --algorithms ring@messages,automatic)
measure(tune.csv ${tune})
expect(0 "2 rows, 0 s, 4 launches were in tune.csv" ${tune})
expect_line("# host [^\n]+\n# (Open MPI|MPICH) [^\n]+\n")
expect_line("\nall_reduce +double +commutes +2 +8 +ring@messages +# [0-9.]+ us; spread")
expect_line("\nall_reduce +double +commutes +2 +64 +ring@messages ")
expect(2 "time is up after 0 of 4 launches\nnothing was measured" ${tune} --seconds 0 --csv other.csv)
expect(2 "ends with 1:\n--algorithms: no algorithm is named" ${tune} --csv third.csv --algorithms rings)
expect(2 "--ranks: \"two\"" ${tune} --ranks two)
expect(2 "no_such_program is not there: it is built by\n  cmake --preset gcc" ${tune} --csv fourth.csv --compare no_such_program)
# Root may use mpirun, whatever the environment says.
expect(2 "ends with 1:\nroot 11\n" ${CMAKE_COMMAND} -E env --unset=OMPI_ALLOW_RUN_AS_ROOT
  --unset=OMPI_ALLOW_RUN_AS_ROOT_CONFIRM ${tune} --csv fifth.csv
  --mpirun "sh -c 'echo root $OMPI_ALLOW_RUN_AS_ROOT$OMPI_ALLOW_RUN_AS_ROOT_CONFIRM >&2 && exit 1'")
# What these programs and doxygen write into the tree is ignored.
expect(0 "" git init --quiet ${OUT})
file(COPY ${PROGRAMS}/../../.gitignore DESTINATION ${OUT})
foreach(file tune.csv colligo.table guidelines.csv map.svg benchmarks/bench/__pycache__/measured.pyc include/html/index.html)
  expect(0 "" git check-ignore --quiet ${file})
endforeach()
# A first look at all, then what came near.
set(look ${PYTHON} ${PROGRAMS}/tune.py ${short} --collective broadcast --bytes 8 --ranks 2 --inputs fresh --csv look.csv
  --out look.table)
measure(look.csv ${look})
expect(0 "look.table: 1 rows, 0 s, 3 launches were in look.csv" ${look})
file(STRINGS ${OUT}/look.csv first_look REGEX "binary_tree@messages.*,0$")
file(STRINGS ${OUT}/look.csv automatic REGEX ",automatic,.*,[012]$")
list(LENGTH first_look looked)
list(LENGTH automatic measured)
if(NOT looked EQUAL 1 OR NOT measured EQUAL 3)
  message(FATAL_ERROR "the first look did not see binary_tree once, or automatic is not in all launches")
endif()
# The library takes it.
expect(0 "automatic -> ring@messages" ${CMAKE_COMMAND} -E env COLLIGO_TABLE=colligo.table COLLIGO_STRICT=1 ${RUN} 2
  ${COMPARE} --type double --op sum --bytes 8 --repeats 1 --sample-us 0 --algorithms mpi,automatic)

# Of two states the worse one counts (ring is 1.5 and 4 times the best, direct 2 and 1), and what changed does not.
set(states "collective,algorithm,type,op,ranks,bytes,repeats,min_us,median_us,max_us,distribution,mpi,mode,inputs,state,launch\n")
foreach(row "ring,3,near,1" "direct,4,near,1" "circulant,2,near,1" "ring,4,far,2" "direct,1,far,2" "circulant,9,far,2"
        "ring,1,changed,3" "direct,99,changed,3")
  string(REGEX MATCH "(.*),(.*),(.*),(.*)" row ${row})
  string(APPEND states "broadcast,${CMAKE_MATCH_1},double,sum,2,8,1,${CMAKE_MATCH_2},${CMAKE_MATCH_2},${CMAKE_MATCH_2},"
    "regular,Open MPI 4.1.4,blocking,fresh,${CMAKE_MATCH_3},${CMAKE_MATCH_4}\n")
endforeach()
file(WRITE ${OUT}/states.csv "${states}")
expect(0 "1 rows, 0 s, 3 launches were in states.csv" ${PYTHON} ${PROGRAMS}/tune.py ${short} --launches 3 --collective broadcast
  --bytes 8 --ranks 2 --inputs fresh --csv states.csv --algorithms ring,direct,circulant)
expect_line("\n# states: near 3 rows, far 3 rows; 2 rows left out, the state changed meanwhile\n")
expect_line("\nbroadcast +any +any +2 +8 +direct +# 4.00 us; ring 3.00; spread 0 %")
file(WRITE ${OUT}/old.csv "collective,algorithm,type,op,ranks,bytes,repeats,min_us,median_us,max_us,distribution,mpi,launch\n")
expect(2 "old.csv is of an earlier version" ${PYTHON} ${PROGRAMS}/tune.py ${short} --csv old.csv)

# Nothing takes so many times as long as anything else, however busy the machine; everything takes longer than nothing.
set(guidelines ${PYTHON} ${PROGRAMS}/guidelines.py ${short} --ranks 2,3 --bytes 8,64 --algorithms mpi,automatic,direct
  --collectives all_reduce,all_gather,reduce_scatter_block --svg map.svg)
expect(0 "0 of [1-9][0-9]+ comparisons are violated" ${guidelines} --tolerance 1e7)
expect(1 "all_reduce, p = 3, 24 bytes, [a-z]+: [0-9.]+ us > reduce_scatter_block \\+ all_gather [0-9.]+ us, by -?[0-9]+ %"
  ${guidelines} --tolerance -1)
file(READ ${OUT}/map.svg map)
if(NOT map MATCHES "<title>all_gather, p = 3, 192 bytes: direct [0-9.]+ us, automatic [0-9.]+</title>")
  message(FATAL_ERROR "no such box in\n${map}")
endif()

set(levels ${PYTHON} ${PROGRAMS}/tune.py --compare ${COMPARE} --levels --csv lines.csv)
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
if(cores LESS 16)
  expect(2 "cores: latencies by distance are of use on hosts of 16 and more" ${levels})
endif()
if(cores GREATER 1)
  expect(0 "set COLLIGO_LATENCIES [0-9]+ns,[0-9]+ns,[0-9]+ns\ncolligo.table: written" ${levels} --force)
  expect_line("# host [^\n]+\n# [0-9]+ cores; a line's way.*\nset COLLIGO_LATENCIES ")
endif()
