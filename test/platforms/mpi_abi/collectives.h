/* SPDX-License-Identifier: BSL-1.0
   The collectives with data: blocking, non-blocking, persistent. Counts are COUNT, displacements PLACE: int, or in the
   functions _c MPI_Count and MPI_Aint. */
int NAME(Bcast)(void *, COUNT, MPI_Datatype, int root, MPI_Comm);
int NAME(Ibcast)(void *, COUNT, MPI_Datatype, int root, MPI_Comm, MPI_Request *);
int NAME(Bcast_init)(void *, COUNT, MPI_Datatype, int root, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Gather)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, int root, MPI_Comm);
int NAME(Igather)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, int root, MPI_Comm, MPI_Request *);
int NAME(Gather_init)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, int root, MPI_Comm, MPI_Info,
    MPI_Request *);
int NAME(Gatherv)(const void *, COUNT, MPI_Datatype, void *, const COUNT[], const PLACE[], MPI_Datatype, int root,
    MPI_Comm);
int NAME(Igatherv)(const void *, COUNT, MPI_Datatype, void *, const COUNT[], const PLACE[], MPI_Datatype, int root,
    MPI_Comm, MPI_Request *);
int NAME(Gatherv_init)(const void *, COUNT, MPI_Datatype, void *, const COUNT[], const PLACE[], MPI_Datatype,
    int root, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Scatter)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, int root, MPI_Comm);
int NAME(Iscatter)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, int root, MPI_Comm, MPI_Request *);
int NAME(Scatter_init)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, int root, MPI_Comm, MPI_Info,
    MPI_Request *);
int NAME(Scatterv)(const void *, const COUNT[], const PLACE[], MPI_Datatype, void *, COUNT, MPI_Datatype, int root,
    MPI_Comm);
int NAME(Iscatterv)(const void *, const COUNT[], const PLACE[], MPI_Datatype, void *, COUNT, MPI_Datatype, int root,
    MPI_Comm, MPI_Request *);
int NAME(Scatterv_init)(const void *, const COUNT[], const PLACE[], MPI_Datatype, void *, COUNT, MPI_Datatype,
    int root, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Allgather)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, MPI_Comm);
int NAME(Iallgather)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, MPI_Comm, MPI_Request *);
int NAME(Allgather_init)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, MPI_Comm, MPI_Info,
    MPI_Request *);
int NAME(Allgatherv)(const void *, COUNT, MPI_Datatype, void *, const COUNT[], const PLACE[], MPI_Datatype, MPI_Comm);
int NAME(Iallgatherv)(const void *, COUNT, MPI_Datatype, void *, const COUNT[], const PLACE[], MPI_Datatype, MPI_Comm,
    MPI_Request *);
int NAME(Allgatherv_init)(const void *, COUNT, MPI_Datatype, void *, const COUNT[], const PLACE[], MPI_Datatype,
    MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Alltoall)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, MPI_Comm);
int NAME(Ialltoall)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, MPI_Comm, MPI_Request *);
int NAME(Alltoall_init)(const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, MPI_Comm, MPI_Info,
    MPI_Request *);
int NAME(Alltoallv)(const void *, const COUNT[], const PLACE[], MPI_Datatype, void *, const COUNT[], const PLACE[],
    MPI_Datatype, MPI_Comm);
int NAME(Ialltoallv)(const void *, const COUNT[], const PLACE[], MPI_Datatype, void *, const COUNT[], const PLACE[],
    MPI_Datatype, MPI_Comm, MPI_Request *);
int NAME(Alltoallv_init)(const void *, const COUNT[], const PLACE[], MPI_Datatype, void *, const COUNT[],
    const PLACE[], MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Reduce)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, int root, MPI_Comm);
int NAME(Ireduce)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, int root, MPI_Comm, MPI_Request *);
int NAME(Reduce_init)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, int root, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Allreduce)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Iallreduce)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Allreduce_init)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Scan)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Iscan)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Scan_init)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Exscan)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Iexscan)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Exscan_init)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Reduce_scatter)(const void *, void *, const COUNT[], MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Ireduce_scatter)(const void *, void *, const COUNT[], MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Reduce_scatter_init)(const void *, void *, const COUNT[], MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
    MPI_Request *);
int NAME(Reduce_scatter_block)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Ireduce_scatter_block)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Reduce_scatter_block_init)(const void *, void *, COUNT, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
    MPI_Request *);
