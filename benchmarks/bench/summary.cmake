# SPDX-License-Identifier: BSL-1.0
# summary on files whose ratios are powers of two, and on files that are not compare's.
set(header "collective,algorithm,type,op,ranks,bytes,repeats,min_us,median_us,max_us,distribution,mpi")

function(write name)
  string(JOIN "\n" text ${ARGN} "")
  file(WRITE ${OUT}/${name} "${text}")
endfunction()
function(run)
  execute_process(COMMAND ${SUMMARY} ${ARGN} WORKING_DIRECTORY ${OUT}
    OUTPUT_VARIABLE out ERROR_VARIABLE error RESULT_VARIABLE code)
  set(code ${code} PARENT_SCOPE)
  set(text "${out}${error}" PARENT_SCOPE)
endfunction()
function(expect pattern)
  run(${ARGN})
  if(NOT code EQUAL 0 OR NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "summary ${ARGN}: no \"${pattern}\" in\n${text}")
  endif()
endfunction()
function(expect_refusal pattern)
  run(${ARGN})
  if(code EQUAL 0 OR NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "summary ${ARGN}: ends with ${code} and without \"${pattern}\":\n${text}")
  endif()
endfunction()

# automatic: 4, 1, 1/2 at 40, 128 and 2048 bytes, besides 48 and 4096, which no power of four times 8 is rounded up to.
write(one.csv ${header}
  "all_reduce,mpi,struct,merge,2,40,9,1,4,5,regular,Open MPI 4.1.4"
  "all_reduce,automatic,struct,merge,2,40,9,1,1,5,regular,Open MPI 4.1.4"
  "all_reduce,mpi,struct,merge,2,48,9,1,700,800,regular,Open MPI 4.1.4"
  "all_reduce,automatic,struct,merge,2,48,9,1,1,5,regular,Open MPI 4.1.4"
  "all_reduce,mpi,struct,merge,2,128,9,1,6,7,regular,Open MPI 4.1.4"
  "all_reduce,automatic,struct,merge,2,128,9,1,6,7,regular,Open MPI 4.1.4"
  "all_reduce,\"pipelined_ring:block=8,kind=1\",struct,merge,2,128,9,1,3,7,regular,Open MPI 4.1.4"
  "all_reduce,mpi,struct,merge,2,2048,9,1,8,9,regular,Open MPI 4.1.4"
  "all_reduce,automatic,struct,merge,2,2048,9,1,16,19,regular,Open MPI 4.1.4"
  "all_reduce,mpi,struct,merge,2,4096,9,1,800,900,regular,Open MPI 4.1.4"
  "all_reduce,automatic,struct,merge,2,4096,9,1,1,19,regular,Open MPI 4.1.4"
  "all_gatherv,mpi,double,sum,3,8,9,1,3,9,spike,Open MPI 4.1.4"
  "all_gatherv,automatic,double,sum,3,8,9,1,1,9,spike,Open MPI 4.1.4")
# A second run of one size, 16 times as fast: 8 is the geometric mean of both. The same with another MPI library.
write(two.csv ${header}
  "all_reduce,mpi,struct,merge,2,40,9,1,16,55,regular,Open MPI 4.1.4"
  "all_reduce,automatic,struct,merge,2,40,9,1,1,55,regular,Open MPI 4.1.4"
  "all_reduce,mpi,struct,merge,2,40,9,1,10,55,regular,MPICH 4.0.2"
  "all_reduce,automatic,struct,merge,2,40,9,1,5,55,regular,MPICH 4.0.2")
expect("all_reduce +blocking +fresh +struct +merge +2 +regular +Open MPI 4.1.4 +unknown +automatic +3 +1.26 +0.50 +2048\n" one.csv)
expect("all_gatherv +blocking +fresh +double +sum +3 +spike +Open MPI 4.1.4 +unknown +automatic +1 +3.00 +3.00 +8\n" one.csv)
expect("Open MPI 4.1.4 +unknown +automatic +3 +1.59 +0.50 +2048\n" one.csv two.csv)
expect("MPICH 4.0.2 +unknown +automatic +1 +2.00 +2.00 +40\n" one.csv two.csv)
expect("automatic +1 +800.00 +800.00 +4096\n" one.csv --bytes 4096)
expect("automatic +5 +16.21 +0.50 +2048\n" one.csv --bytes all)
expect("pipelined_ring:block=8,kind=1 +1 +2.00 +2.00 +128\n" one.csv --all)
# With a mode at the end of each line; what is started is no other run of what blocks.
write(inputs.csv ${header},mode,inputs
  "all_reduce,mpi,struct,merge,2,40,9,1,8,9,regular,Open MPI 4.1.4,blocking,fresh"
  "all_reduce,automatic,struct,merge,2,40,9,1,4,9,regular,Open MPI 4.1.4,blocking,fresh"
  "all_reduce,mpi,struct,merge,2,40,9,1,8,9,regular,Open MPI 4.1.4,blocking,rotating"
  "all_reduce,automatic,struct,merge,2,40,9,1,16,9,regular,Open MPI 4.1.4,blocking,rotating")
expect("all_reduce +blocking +fresh +struct +merge +2 +regular +Open MPI 4.1.4 +unknown +automatic +1 +2.00 +2.00 +40\n" inputs.csv)
expect("all_reduce +blocking +rotating +struct +merge +2 +regular +Open MPI 4.1.4 +unknown +automatic +1 +0.50 +0.50 +40\n"
  inputs.csv)
write(modes.csv ${header},mode
  "all_reduce,mpi,struct,merge,2,40,9,1,8,9,regular,Open MPI 4.1.4,blocking"
  "all_reduce,automatic,struct,merge,2,40,9,1,4,9,regular,Open MPI 4.1.4,blocking"
  "all_reduce,mpi,struct,merge,2,40,9,1,8,9,regular,Open MPI 4.1.4,persistent"
  "all_reduce,automatic,struct,merge,2,40,9,1,1,9,regular,Open MPI 4.1.4,persistent")
expect("all_reduce +blocking +fresh +struct +merge +2 +regular +Open MPI 4.1.4 +unknown +automatic +1 +2.00 +2.00 +40\n" modes.csv)
expect("all_reduce +persistent +fresh +struct +merge +2 +regular +Open MPI 4.1.4 +unknown +automatic +1 +8.00 +8.00 +40\n"
  one.csv modes.csv)
# A line for each state; what was measured while it changed is left out.
write(states.csv ${header},mode,inputs,state
  "all_reduce,mpi,struct,merge,2,40,9,1,8,9,regular,Open MPI 4.1.4,blocking,fresh,near"
  "all_reduce,automatic,struct,merge,2,40,9,1,4,9,regular,Open MPI 4.1.4,blocking,fresh,near"
  "all_reduce,mpi,struct,merge,2,128,9,1,8,9,regular,Open MPI 4.1.4,blocking,fresh,changed"
  "all_reduce,automatic,struct,merge,2,128,9,1,1,9,regular,Open MPI 4.1.4,blocking,fresh,changed"
  "all_reduce,mpi,struct,merge,2,2048,9,1,8,9,regular,Open MPI 4.1.4,blocking,fresh,far"
  "all_reduce,automatic,struct,merge,2,2048,9,1,16,9,regular,Open MPI 4.1.4,blocking,fresh,far")
expect("2 rows are left out.*MPI 4.1.4 +far +automatic +1 +0.50 +0.50 +2048\n.*MPI 4.1.4 +near +automatic +1 +2.00 +2.00 +40\n"
  states.csv)
expect("mpi +3 +0.79 +0.25 +40\n" one.csv --base automatic --contender mpi)

write(other.csv "a,b,c" "1,2,3")
write(short.csv ${header} "all_reduce,mpi,struct,merge,2,40,9,1,4,5,regular")
write(words.csv ${header} "all_reduce,mpi,struct,merge,2,40,9,1,fast,5,regular,MPICH 4.0.2")
write(zero.csv ${header} "all_reduce,mpi,struct,merge,2,40,9,0,0,0,regular,MPICH 4.0.2")
write(twice.csv ${header} "all_reduce,mpi,struct,merge,2,40,9,1,4,5,regular,MPICH 4.0.2"
  "all_reduce,mpi,struct,merge,2,40,9,1,4,5,regular,MPICH 4.0.2")
write(alone.csv ${header} "all_reduce,automatic,struct,merge,2,40,9,1,4,5,regular,MPICH 4.0.2")
expect_refusal("cannot read nowhere.csv: No such file" nowhere.csv)
expect_refusal("other.csv is no file of compare --csv" other.csv)
expect_refusal("short.csv:2: 11 columns instead of 12" one.csv short.csv)
expect_refusal("words.csv:2: \"fast\" is not a number" words.csv)
expect_refusal("zero.csv:2: a median of 0 us" zero.csv)
expect_refusal("twice.csv:3: mpi at 40 bytes was there before" twice.csv)
expect_refusal("alone.csv: no row of mpi for all_reduce at 40 bytes" alone.csv)
expect_refusal("no row of square at --bytes 8:8388608" one.csv --contender square)
expect_refusal("not a size" one.csv --bytes many)
