// SPDX-License-Identifier: BSL-1.0
/// @file
/// The transports that public headers include: Boost.MPI and raw MPI where they are installed, threads always. Define
/// COLLIGO_WITHOUT_BOOST_MPI to use MPI_Comm alone, for example with an MPI library that Boost.MPI was not built for.
/// Boost.MPI needs RTTI, so with -fno-rtti it is left out too.
#pragma once

#include "../core/mode.hpp"   // first: old compilers are refused in few lines

#include "../engine/checked.hpp"
#include "../threads/threads.hpp"
#if __has_include(<mpi.h>)
#include "../messages/mpi.hpp"
#if __has_include(<boost/mpi/communicator.hpp>) && !defined(COLLIGO_WITHOUT_BOOST_MPI) && defined(__cpp_rtti)
#include "../messages/boost_mpi.hpp"
#endif
#endif
