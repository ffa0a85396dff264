# SPDX-License-Identifier: BSL-1.0
# Programs read these columns: their names and order are a promise. 2 algorithms at 8, 32, 128, 512, 2048 bytes make 10
# rows.
file(STRINGS ${CSV} lines)
list(POP_FRONT lines header)
if(NOT header STREQUAL "collective,algorithm,type,op,ranks,bytes,repeats,min_us,median_us,max_us,distribution,mpi,mode,inputs,state")
  message(FATAL_ERROR "wrong header: ${header}")
endif()
list(LENGTH lines rows)
if(NOT rows EQUAL 10)
  message(FATAL_ERROR "10 rows expected, ${rows} found")
endif()
set(times "[0-9.]+,[0-9.]+,[0-9.]+")
foreach(line IN LISTS lines)
  if(NOT line MATCHES
     "^all_reduce,(mpi|ring),double,sum,2,[0-9]+,2,${times},regular,(Open MPI|MPICH) [0-9.]+,blocking,fresh,(siblings|near|far|changed|crowded)$")
    message(FATAL_ERROR "wrong row: ${line}")
  endif()
endforeach()
