// SPDX-License-Identifier: BSL-1.0
// Included before the library's headers (-include): its own calls of MPI have other names then, so that neither this
// library nor a tool that stands before it takes them for the program's. A test sees that no other name is called.
// Of collectives this library has both of MPI's names: its own calls go to what is behind it.
#pragma once

#include <mpi.h>

#include "collectives.hpp"

extern "C" {
#define FUNCTION(name, parameters, arguments, ...) int next_##name parameters;
FUNCTIONS
}
#undef FUNCTION
#undef FUNCTIONS
#undef FUNCTIONS_OF_MPI_3
#undef PERSISTENT
#undef REQUEST
#undef BLOCKING
#undef LISTED
#undef BARRIER
#undef COLLECTIVES

#define MPI_Allgather next_MPI_Allgather
#define MPI_Allgather_init next_MPI_Allgather_init
#define MPI_Allgatherv next_MPI_Allgatherv
#define MPI_Allgatherv_init next_MPI_Allgatherv_init
#define MPI_Allreduce next_MPI_Allreduce
#define MPI_Allreduce_init next_MPI_Allreduce_init
#define MPI_Alltoall next_MPI_Alltoall
#define MPI_Alltoall_init next_MPI_Alltoall_init
#define MPI_Alltoallv next_MPI_Alltoallv
#define MPI_Alltoallv_init next_MPI_Alltoallv_init
#define MPI_Barrier next_MPI_Barrier
#define MPI_Barrier_init next_MPI_Barrier_init
#define MPI_Bcast next_MPI_Bcast
#define MPI_Bcast_init next_MPI_Bcast_init
#define MPI_Cancel PMPI_Cancel
#define MPI_Comm_create PMPI_Comm_create
#define MPI_Comm_create_keyval PMPI_Comm_create_keyval
#define MPI_Comm_free PMPI_Comm_free
#define MPI_Comm_get_attr PMPI_Comm_get_attr
#define MPI_Comm_get_name PMPI_Comm_get_name
#define MPI_Comm_group PMPI_Comm_group
#define MPI_Comm_rank PMPI_Comm_rank
#define MPI_Comm_set_attr PMPI_Comm_set_attr
#define MPI_Comm_set_errhandler PMPI_Comm_set_errhandler
#define MPI_Comm_size PMPI_Comm_size
#define MPI_Comm_test_inter PMPI_Comm_test_inter
#define MPI_Error_class PMPI_Error_class
#define MPI_Error_string PMPI_Error_string
#define MPI_Exscan next_MPI_Exscan
#define MPI_Exscan_init next_MPI_Exscan_init
#define MPI_Finalized PMPI_Finalized
#define MPI_Gather next_MPI_Gather
#define MPI_Gather_init next_MPI_Gather_init
#define MPI_Gatherv next_MPI_Gatherv
#define MPI_Gatherv_init next_MPI_Gatherv_init
#define MPI_Get_count PMPI_Get_count
#define MPI_Get_processor_name PMPI_Get_processor_name
#define MPI_Group_free PMPI_Group_free
#define MPI_Group_size PMPI_Group_size
#define MPI_Group_translate_ranks PMPI_Group_translate_ranks
#define MPI_Iallgather next_MPI_Iallgather
#define MPI_Iallgatherv next_MPI_Iallgatherv
#define MPI_Iallreduce next_MPI_Iallreduce
#define MPI_Ialltoall next_MPI_Ialltoall
#define MPI_Ialltoallv next_MPI_Ialltoallv
#define MPI_Ibarrier next_MPI_Ibarrier
#define MPI_Ibcast next_MPI_Ibcast
#define MPI_Iexscan next_MPI_Iexscan
#define MPI_Igather next_MPI_Igather
#define MPI_Igatherv next_MPI_Igatherv
#define MPI_Improbe PMPI_Improbe
#define MPI_Initialized PMPI_Initialized
#define MPI_Iprobe PMPI_Iprobe
#define MPI_Irecv PMPI_Irecv
#define MPI_Ireduce next_MPI_Ireduce
#define MPI_Ireduce_scatter next_MPI_Ireduce_scatter
#define MPI_Ireduce_scatter_block next_MPI_Ireduce_scatter_block
#define MPI_Iscan next_MPI_Iscan
#define MPI_Iscatter next_MPI_Iscatter
#define MPI_Iscatterv next_MPI_Iscatterv
#define MPI_Isend PMPI_Isend
#define MPI_Issend PMPI_Issend
#define MPI_Mprobe PMPI_Mprobe
#define MPI_Mrecv PMPI_Mrecv
#define MPI_Op_create PMPI_Op_create
#define MPI_Op_free PMPI_Op_free
#define MPI_Pack PMPI_Pack
#define MPI_Pack_size PMPI_Pack_size
#define MPI_Probe PMPI_Probe
#define MPI_Query_thread PMPI_Query_thread
#define MPI_Recv PMPI_Recv
#define MPI_Reduce next_MPI_Reduce
#define MPI_Reduce_init next_MPI_Reduce_init
#define MPI_Reduce_scatter next_MPI_Reduce_scatter
#define MPI_Reduce_scatter_block next_MPI_Reduce_scatter_block
#define MPI_Reduce_scatter_block_init next_MPI_Reduce_scatter_block_init
#define MPI_Reduce_scatter_init next_MPI_Reduce_scatter_init
#define MPI_Request_free PMPI_Request_free
#define MPI_Scan next_MPI_Scan
#define MPI_Scan_init next_MPI_Scan_init
#define MPI_Scatter next_MPI_Scatter
#define MPI_Scatter_init next_MPI_Scatter_init
#define MPI_Scatterv next_MPI_Scatterv
#define MPI_Scatterv_init next_MPI_Scatterv_init
#define MPI_Send PMPI_Send
#define MPI_Sendrecv PMPI_Sendrecv
#define MPI_Startall PMPI_Startall
#define MPI_Test PMPI_Test
#define MPI_Testall PMPI_Testall
#define MPI_Testany PMPI_Testany
#define MPI_Type_commit PMPI_Type_commit
#define MPI_Type_contiguous PMPI_Type_contiguous
#define MPI_Type_create_keyval PMPI_Type_create_keyval
#define MPI_Type_free PMPI_Type_free
#define MPI_Type_get_attr PMPI_Type_get_attr
#define MPI_Type_set_attr PMPI_Type_set_attr
#define MPI_Unpack PMPI_Unpack
#define MPI_Wait PMPI_Wait
#define MPI_Waitany PMPI_Waitany
