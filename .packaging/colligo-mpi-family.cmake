# SPDX-License-Identifier: BSL-1.0
include(CheckCXXSymbolExists)

# Sets `out` to the family of the MPI library that was found: Open MPI, MPICH (Intel MPI and MVAPICH belong to it), or
# neither.
function(colligo_find_mpi_family out)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
  set(CMAKE_REQUIRED_QUIET ON)
  string(MD5 library "${MPI_CXX_COMPILER};${MPI_CXX_LIBRARIES}")   # what is found is kept for this one alone
  check_cxx_symbol_exists(OPEN_MPI mpi.h colligo_open_mpi_${library})
  check_cxx_symbol_exists(MPICH_VERSION mpi.h colligo_mpich_${library})
  if(colligo_open_mpi_${library})
    set(family "Open MPI")
  elseif(colligo_mpich_${library})
    set(family "MPICH")
  else()
    set(family "an MPI library that is neither Open MPI nor MPICH")
  endif()
  set(${out} "${family}" PARENT_SCOPE)
endfunction()
