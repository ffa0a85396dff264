// SPDX-License-Identifier: BSL-1.0
/// @file
/// The transports that public headers include: Boost.MPI and raw MPI if they are installed, and threads. Define
/// COLLIGO_WITHOUT_BOOST_MPI to use only MPI_Comm, for example with an MPI library for which Boost.MPI was not built.
/// Boost.MPI needs RTTI, so -fno-rtti leaves it out too.
#pragma once

#include "../core/mode.hpp"   // first: refuses old compilers in few lines

#include "../engine/checked.hpp"
#if !defined(COLLIGO_PINNED) || !__has_include(<mpi.h>)   // else a unit with threads includes it
#include "../transport/threads/threads.hpp"
#endif
#if __has_include(<mpi.h>)
#if __has_include(<boost/mpi/communicator.hpp>) && !defined(COLLIGO_WITHOUT_BOOST_MPI) && defined(__cpp_rtti)
#include "boost_mpi.hpp"
#else
#include "mpi.hpp"
#endif
#endif
