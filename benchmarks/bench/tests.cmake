# SPDX-License-Identifier: BSL-1.0
# The benchmarks are run for what they check, never for what they time.

function(add_benchmark_test name ranks)
  add_test(NAME benchmark_${name} COMMAND ${COLLIGO_MPIRUN} ${ranks} ${ARGN})
  set_tests_properties(benchmark_${name} PROPERTIES LABELS benchmark PROCESSORS ${ranks})
endfunction()

set(short --bytes 8:4096 --repeats 2 --sample-us 0)
set(shortest --bytes 8,4096 --repeats 1 --sample-us 0)
set(offers double:sum double:max float:sum float:max int:sum int:max located:maxloc struct:merge matrix:product)
foreach(offer IN LISTS offers)
  string(REPLACE ":" ";" words ${offer})
  list(GET words 0 type)
  list(GET words 1 op)
  add_benchmark_test(reductions_${type}_${op} 3
    $<TARGET_FILE:compare> --collective all_reduce,reduce --type ${type} --op ${op} ${short})
endforeach()
add_benchmark_test(all_reduce_split 4 $<TARGET_FILE:compare> --split 2 --algorithms mpi,automatic ${shortest})
set_tests_properties(benchmark_all_reduce_split PROPERTIES PASS_REGULAR_EXPRESSION
  "4 ranks, [^\n]*\nstate: [^\n]*\n2 groups of 2 ranks .*automatic")
# Each algorithm over both ways, and what automatic is.
add_benchmark_test(all_reduce_both_ways 2 $<TARGET_FILE:compare> --type int --op max ${short})
set_tests_properties(benchmark_all_reduce_both_ways PROPERTIES PASS_REGULAR_EXPRESSION
  " GB/s +x mpi\n([^\n]+\n)*  automatic -> direct@shared_memory [^\n]+\n([^\n]+\n)*  ring@messages [^\n]+\n  ring@shared_memory ")
# The quickest first: medians ascend in the rows of each size.
add_test(NAME benchmark_sorted COMMAND sh -c
  [["$@" | awk '/ median us /{last = 0; rows = 1; next} !NF {rows = 0} 
                rows && $2 != "skipped:" {us = $(NF - ($NF == "noisy") - 3); if (us < last) bad = 1; last = us; ++n}
                END {print n " rows"; exit bad || n < 16}']] sh
  ${COLLIGO_MPIRUN} 2 $<TARGET_FILE:compare> --sort speed --collective all_gather ${shortest})
set_tests_properties(benchmark_sorted PROPERTIES LABELS benchmark PROCESSORS 2)
set(family broadcast,all_gather,gather,scatter,reduce_scatter_block,scan,exclusive_scan,all_to_all,barrier)
set(with_counts all_gatherv,gatherv,scatterv,reduce_scatter,all_to_all_v)
foreach(ranks 2 3)
  add_benchmark_test(family_p${ranks} ${ranks} $<TARGET_FILE:compare> --collective ${family} ${short})
endforeach()
add_benchmark_test(distributions 3 $<TARGET_FILE:compare> --collective ${with_counts}
  --distribution broadcast,spike,half_full,linearly_decreasing,geometric_curve ${short})
# Started and waited for, and made once: struct has an operation made for MPI.
foreach(mode nonblocking persistent)
  add_benchmark_test(${mode} 2
    $<TARGET_FILE:compare> --mode ${mode} --collective ${family},${with_counts} ${shortest})
  add_benchmark_test(${mode}_reductions 2
    $<TARGET_FILE:compare> --mode ${mode} --collective all_reduce,reduce --type struct ${shortest})
  add_benchmark_test(${mode}_from_one_root 2
    $<TARGET_FILE:compare> --mode ${mode} --collective broadcast --root 1 ${shortest})
endforeach()
# Inputs that no cache holds: all roots take their turns over two of them.
add_benchmark_test(rotating 3 $<TARGET_FILE:compare> --collective gather --inputs rotating --bytes 8388608,16777216
  --algorithms mpi,linear --repeats 2 --sample-us 0)
add_benchmark_test(exact 3 $<TARGET_FILE:exact> --pairs 2 --calls 10 --numbers 5000 --length 5000)
add_benchmark_test(sparse 3 $<TARGET_FILE:sparse> --messages 2 --bytes 8,4096 --repeats 2 --sample-us 0)
add_benchmark_test(neighbours 2 $<TARGET_FILE:neighbours> --bytes 8,4096 --strided-bytes 8,8192 --repeats 2 --sample-us 0)
add_benchmark_test(communicators 2 $<TARGET_FILE:communicators> --made 20 --batch 5 --alive 5)
add_benchmark_test(overhead 2 $<TARGET_FILE:overhead> --batches 2 --calls 10)
set(overlap_of_two --bytes 8,4096 --repeats 2 --sample-us 0)
add_benchmark_test(overlap 2 $<TARGET_FILE:overlap> ${overlap_of_two} --csv ${CMAKE_CURRENT_BINARY_DIR}/overlap.csv)
add_benchmark_test(overlap_never_tested 2 $<TARGET_FILE:overlap> ${overlap_of_two} --test-every-us 0 --algorithm ring)
add_benchmark_test(overlap_progress_thread 2 $<TARGET_FILE:overlap> ${overlap_of_two} --progress-thread)
foreach(name overlap overlap_never_tested overlap_progress_thread)
  set_tests_properties(benchmark_${name} PROPERTIES PASS_REGULAR_EXPRESSION
    "\n +4096  (automatic|ring) +[0-9. ]+\n +4096  mpi +[0-9. ]+\n")
endforeach()
# Simulated times against the closed formulas, and the papers' figures in small. Both run the build, so one at a time.
set(builds LABELS benchmark RESOURCE_LOCK build PROCESSORS 2 TIMEOUT 900 ENVIRONMENT "COLLIGO_BUILD=${CMAKE_BINARY_DIR}")
add_test(NAME benchmark_simulate_help COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/model/simulate --ranks 2 --help)   # builds nothing
set_tests_properties(benchmark_simulate_help PROPERTIES LABELS benchmark
  ENVIRONMENT "COLLIGO_BUILD=/dev/null" PASS_REGULAR_EXPRESSION "\n  benchmarks/model/simulate .--platform.*--keep-eager leaves")
add_test(NAME benchmark_simulate_check COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/model/simulate --check 16)
set_tests_properties(benchmark_simulate_check PROPERTIES ${builds} FIXTURES_SETUP benchmark_smpi)
add_test(NAME benchmark_figures COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/plot/figures.py all --quick --again
  --out ${CMAKE_CURRENT_BINARY_DIR}/gallery)
set_tests_properties(benchmark_figures PROPERTIES ${builds} FIXTURES_REQUIRED benchmark_smpi
  FAIL_REGULAR_EXPRESSION "skipped")
add_test(NAME benchmark_combine COMMAND combine --benchmark_min_time=0.001)
set_tests_properties(benchmark_combine PROPERTIES LABELS benchmark)

add_benchmark_test(stores 2 $<TARGET_FILE:stores> --collectives broadcast,all_to_all --bytes 4096,65536 --repeats 1
  --sample-us 0)
set_tests_properties(benchmark_stores PROPERTIES PASS_REGULAR_EXPRESSION
  "\nall_to_all\n65536 bytes[^\n]*\n[^\n]*\n  mpi [^\n]*\n  cached [^\n]*\n  streaming [^\n]*\n  measured ")
# What --csv writes.
set(csv ${CMAKE_CURRENT_BINARY_DIR}/test.csv)
add_benchmark_test(csv 2 $<TARGET_FILE:compare> ${short} --algorithms mpi,ring --csv ${csv})
set_tests_properties(benchmark_csv PROPERTIES FIXTURES_SETUP benchmark_csv)
add_test(NAME benchmark_csv_columns COMMAND ${CMAKE_COMMAND} -DCSV=${csv}
  -P ${CMAKE_CURRENT_SOURCE_DIR}/bench/csv_columns.cmake)
set_tests_properties(benchmark_csv_columns PROPERTIES LABELS benchmark FIXTURES_REQUIRED benchmark_csv)

add_test(NAME benchmark_summary COMMAND ${CMAKE_COMMAND} -DSUMMARY=$<TARGET_FILE:summary>
  -DOUT=${CMAKE_CURRENT_BINARY_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/bench/summary.cmake)
add_test(NAME benchmark_summary_of_compare COMMAND summary --all ${csv})
set_tests_properties(benchmark_summary_of_compare PROPERTIES FIXTURES_REQUIRED benchmark_csv
  PASS_REGULAR_EXPRESSION "regular +Open MPI [0-9.]+ +[a-z]+ +ring +5 ")
set_tests_properties(benchmark_summary benchmark_summary_of_compare PROPERTIES LABELS benchmark)

# Trees on pretended hosts: what is counted is known, whatever the times are. LAM-MPI's trees over 8 ranks dealt out
# over 4 hosts send 6 + 3 messages between hosts, by_host 3 each way.
add_benchmark_test(cluster_trees 8 $<TARGET_FILE:cluster_trees> --pretend 2 --calls 1 --rounds 1
  --csv ${CMAKE_CURRENT_BINARY_DIR}/cluster_trees.csv)
string(CONCAT counted "cyclic: 8 ranks on 4 hosts\n[^\n]*\n  lam [^\n]* 9     4\n"
  "  flat [^\n]* 12     2\n  flat, arrival [^\n]* 12     2\n  by_host flat, flat [^\n]* 6     2\n"
  "([^\n]+\n)*  recursive_doubling [^\n]* 16     2\n")
set_tests_properties(benchmark_cluster_trees PROPERTIES PASS_REGULAR_EXPRESSION "${counted}")
add_benchmark_test(cluster_trees_wan 8
  $<TARGET_FILE:cluster_trees> --pretend 2 --calls 1 --rounds 1 --clusters 2 --elements 10)
set_tests_properties(benchmark_cluster_trees_wan PROPERTIES
  PASS_REGULAR_EXPRESSION "7 ranks: 7 ranks on 4 hosts\n[^\n]*\n  lam [^\n]* 8     4 +8     4\n")
add_benchmark_test(cluster_family 4 $<TARGET_FILE:cluster_family> --bytes 8 --calls 1 --rounds 1)
set_tests_properties(benchmark_cluster_family PROPERTIES PASS_REGULAR_EXPRESSION
  "collective,placement[^\n]+\nall_gather,in-order,4,8,([^\n]+\n)+scan,shuffled,4,8,")
add_benchmark_test(round_trips 4 $<TARGET_FILE:round_trips> --bytes 4 --calls 1 --rounds 1)
set_tests_properties(benchmark_round_trips PROPERTIES PASS_REGULAR_EXPRESSION
  "pairs,bytes,min_us,median_us,max_us\n1,4,[^\n]+\n2,4,[^\n]+\n$")
# The emulated cluster itself: two hosts for the library. Exit code 2: this machine or user can not have
# network namespaces.
add_test(NAME benchmark_cluster COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/cluster/cluster
  --hosts 2 --ranks-per-host 2 --delay 1ms --timeout 60 --
  $<TARGET_FILE:cluster_trees> --calls 1 --rounds 1 --placement in-order)
string(CONCAT counted "in-order: 4 ranks on 2 hosts\n[^\n]*\n  lam [^\n]* 4     2\n([^\n]+\n)*"
  "  by_host flat, flat [^\n]* 2     2\n")
set_tests_properties(benchmark_cluster PROPERTIES LABELS benchmark PROCESSORS 4 SKIP_RETURN_CODE 2
  PASS_REGULAR_EXPRESSION "${counted}")
add_test(NAME benchmark_overlap_on_cluster COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/cluster/cluster
  --hosts 2 --ranks-per-host 1 --delay 1ms --timeout 60 --
  $<TARGET_FILE:overlap> --bytes 8 --repeats 2 --sample-us 0)
set_tests_properties(benchmark_overlap_on_cluster PROPERTIES LABELS benchmark PROCESSORS 2 SKIP_RETURN_CODE 2
  PASS_REGULAR_EXPRESSION "2 ranks, [0-9]+ cores? on each of 2 hosts")
add_test(NAME benchmark_search_tree COMMAND ${CMAKE_COMMAND} "-DRUN=${COLLIGO_MPIRUN}"
  -DSEARCH_TREE=$<TARGET_FILE:search_tree> -DCOMPARE=$<TARGET_FILE:compare>
  -DOUT=${CMAKE_CURRENT_BINARY_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/bench/search_tree.cmake)
set_tests_properties(benchmark_search_tree PROPERTIES LABELS benchmark PROCESSORS 4)

# Wrong options: every rank ends, with a failure and with a message that says what to do.
function(add_refusal name sentence)
  set(ranks 1)
  if(name STREQUAL "option" OR name STREQUAL "collective")   # all ranks end in the same way
    set(ranks 2)
  endif()
  add_test(NAME benchmark_refuses_${name} COMMAND sh -c "\"$@\" || echo and fails" - ${COLLIGO_MPIRUN} ${ranks}
           $<TARGET_FILE:compare> ${ARGN})
  set_tests_properties(benchmark_refuses_${name} PROPERTIES LABELS benchmark PROCESSORS ${ranks} TIMEOUT 60
    PASS_REGULAR_EXPRESSION "${sentence}(.|\n)*\nand fails\n")
endfunction()
add_refusal(algorithm "known here are: all or mpi,boost_mpi,automatic" --algorithms mpi,circle)
add_refusal(offered "recursive_doubling is no algorithm of this collective" --collective reduce --algorithms recursive_doubling)
add_refusal(op "--type located --op maxloc" --type double --op maxloc)
add_refusal(collective "measured are: all_reduce, reduce" --collective all)
add_refusal(distribution "known are: regular, broadcast" --collective all_gatherv --distribution flat)
add_refusal(counts "all_reduce has no counts" --distribution spike)
add_refusal(bytes "not a size" --bytes 8:many)
add_refusal(range "does not end before it begins" --bytes 64:8)
add_refusal(root "root: 2 is not a rank" --collective reduce --root 2)
add_refusal(csv "cannot write /nowhere/a.csv" --csv /nowhere/a.csv)
add_refusal(option "not expected: --turbo" --turbo)
add_refusal(inputs "not in {fresh,rotating}" --inputs stale)
add_refusal(mode "known are: blocking, nonblocking, persistent" --mode turbo)
add_refusal(boost_mode "known here are: all or mpi,automatic" --mode persistent --algorithms boost_mpi)

# What the library costs whoever compiles it: that it is measured, not how much it is.
set(compile ${COLLIGO_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/bench/compile.py)
add_test(NAME benchmark_compile COMMAND ${compile} --quick --compilers ${CMAKE_CXX_COMPILER}
  --csv ${CMAKE_CURRENT_BINARY_DIR}/compile.csv)
add_test(NAME benchmark_compile_refuses COMMAND ${compile} --units turbo)
set_tests_properties(benchmark_compile_refuses PROPERTIES WILL_FAIL TRUE)
add_test(NAME benchmark_compile_explains COMMAND ${compile} --units turbo)
set_tests_properties(benchmark_compile_explains PROPERTIES
  PASS_REGULAR_EXPRESSION "\"turbo\" is not known. known are: boost, boost_1")
set_tests_properties(benchmark_compile benchmark_compile_refuses benchmark_compile_explains PROPERTIES
  LABELS benchmark)

# A table for a machine, from measurements there.
add_test(NAME benchmark_tune COMMAND ${CMAKE_COMMAND} -DPYTHON=${COLLIGO_PYTHON} "-DRUN=${COLLIGO_MPIRUN}"
  -DCOMPARE=$<TARGET_FILE:compare> -DPROGRAMS=${CMAKE_CURRENT_SOURCE_DIR}/bench
  -DOUT=${CMAKE_CURRENT_BINARY_DIR}/tuned -P ${CMAKE_CURRENT_SOURCE_DIR}/bench/tune.cmake)
set_tests_properties(benchmark_tune PROPERTIES LABELS benchmark PROCESSORS 3)
