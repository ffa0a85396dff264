/* SPDX-License-Identifier: BSL-1.0
   The functions, by the name that NAME makes: mpi.h includes them as MPI_... and as PMPI_... */
int NAME(Init)(int *, char ***);
int NAME(Init_thread)(int *, char ***, int, int *);
int NAME(Initialized)(int *);
int NAME(Finalize)(void);
int NAME(Finalized)(int *);
int NAME(Query_thread)(int *);
int NAME(Get_processor_name)(char *, int *);
int NAME(Get_library_version)(char *, int *);
double NAME(Wtime)(void);
int NAME(Error_class)(int, int *);
int NAME(Error_string)(int, char *, int *);
int NAME(Abort)(MPI_Comm, int);

int NAME(Comm_rank)(MPI_Comm, int *);
int NAME(Comm_size)(MPI_Comm, int *);
int NAME(Comm_group)(MPI_Comm, MPI_Group *);
int NAME(Comm_create)(MPI_Comm, MPI_Group, MPI_Comm *);
int NAME(Comm_free)(MPI_Comm *);
int NAME(Comm_disconnect)(MPI_Comm *);
int NAME(Comm_test_inter)(MPI_Comm, int *);
int NAME(Comm_get_name)(MPI_Comm, char *, int *);
int NAME(Comm_set_errhandler)(MPI_Comm, MPI_Errhandler);
int NAME(Comm_get_errhandler)(MPI_Comm, MPI_Errhandler *);
int NAME(Errhandler_free)(MPI_Errhandler *);
int NAME(Comm_call_errhandler)(MPI_Comm, int);
int NAME(Comm_create_keyval)(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *);
int NAME(Comm_get_attr)(MPI_Comm, int, void *, int *);
int NAME(Comm_set_attr)(MPI_Comm, int, void *);
int NAME(Group_size)(MPI_Group, int *);
int NAME(Group_translate_ranks)(MPI_Group, int, const int[], MPI_Group, int[]);
int NAME(Group_difference)(MPI_Group, MPI_Group, MPI_Group *);
int NAME(Group_free)(MPI_Group *);
int NAME(Type_contiguous)(int, MPI_Datatype, MPI_Datatype *);
int NAME(Type_create_hindexed)(int, const int[], const MPI_Aint[], MPI_Datatype, MPI_Datatype *);
int NAME(Get_address)(const void *, MPI_Aint *);
int NAME(Type_commit)(MPI_Datatype *);
int NAME(Type_free)(MPI_Datatype *);
int NAME(Type_size)(MPI_Datatype, int *);
int NAME(Type_get_extent)(MPI_Datatype, MPI_Aint *, MPI_Aint *);
int NAME(Type_get_true_extent)(MPI_Datatype, MPI_Aint *, MPI_Aint *);
int NAME(Type_get_envelope)(MPI_Datatype, int *, int *, int *, int *);
int NAME(Type_get_contents)(MPI_Datatype, int, int, int, int[], MPI_Aint[], MPI_Datatype[]);
int NAME(Type_create_keyval)(MPI_Type_copy_attr_function *, MPI_Type_delete_attr_function *, int *, void *);
int NAME(Type_get_attr)(MPI_Datatype, int, void *, int *);
int NAME(Type_set_attr)(MPI_Datatype, int, void *);
int NAME(Op_create)(MPI_User_function *, int, MPI_Op *);
int NAME(Op_free)(MPI_Op *);
int NAME(Op_commutative)(MPI_Op, int *);
int NAME(Reduce_local)(const void *, void *, int, MPI_Datatype, MPI_Op);
int NAME(Pack)(const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm);
int NAME(Unpack)(const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm);
int NAME(Pack_size)(int, MPI_Datatype, MPI_Comm, int *);

int NAME(Send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int NAME(Isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int NAME(Issend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int NAME(Recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int NAME(Irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int NAME(Sendrecv)(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
                 MPI_Status *);
int NAME(Probe)(int, int, MPI_Comm, MPI_Status *);
int NAME(Iprobe)(int, int, MPI_Comm, int *, MPI_Status *);
int NAME(Mprobe)(int, int, MPI_Comm, MPI_Message *, MPI_Status *);
int NAME(Improbe)(int, int, MPI_Comm, int *, MPI_Message *, MPI_Status *);
int NAME(Mrecv)(void *, int, MPI_Datatype, MPI_Message *, MPI_Status *);
int NAME(Get_count)(const MPI_Status *, MPI_Datatype, int *);
int NAME(Wait)(MPI_Request *, MPI_Status *);
int NAME(Waitall)(int, MPI_Request[], MPI_Status *);
int NAME(Waitany)(int, MPI_Request[], int *, MPI_Status *);
int NAME(Test)(MPI_Request *, int *, MPI_Status *);
int NAME(Testall)(int, MPI_Request[], int *, MPI_Status *);
int NAME(Testany)(int, MPI_Request[], int *, int *, MPI_Status *);
int NAME(Start)(MPI_Request *);
int NAME(Startall)(int, MPI_Request[]);
int NAME(Cancel)(MPI_Request *);
int NAME(Request_free)(MPI_Request *);

/* The collectives: blocking, non-blocking, persistent. */
int NAME(Barrier)(MPI_Comm);
int NAME(Ibarrier)(MPI_Comm, MPI_Request *);
int NAME(Barrier_init)(MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
int NAME(Ibcast)(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
int NAME(Bcast_init)(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Gather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
int NAME(Igather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
int NAME(Gather_init)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Gatherv)(const void *, int, MPI_Datatype, void *, const int[], const int[], MPI_Datatype, int, MPI_Comm);
int NAME(Igatherv)(const void *, int, MPI_Datatype, void *, const int[], const int[], MPI_Datatype, int, MPI_Comm,
    MPI_Request *);
int NAME(Gatherv_init)(const void *, int, MPI_Datatype, void *, const int[], const int[], MPI_Datatype, int, MPI_Comm,
    MPI_Info, MPI_Request *);
int NAME(Scatter)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
int NAME(Iscatter)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
int NAME(Scatter_init)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info,
    MPI_Request *);
int NAME(Scatterv)(const void *, const int[], const int[], MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
int NAME(Iscatterv)(const void *, const int[], const int[], MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm,
    MPI_Request *);
int NAME(Scatterv_init)(const void *, const int[], const int[], MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm,
    MPI_Info, MPI_Request *);
int NAME(Allgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int NAME(Iallgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *);
int NAME(Allgather_init)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Allgatherv)(const void *, int, MPI_Datatype, void *, const int[], const int[], MPI_Datatype, MPI_Comm);
int NAME(Iallgatherv)(const void *, int, MPI_Datatype, void *, const int[], const int[], MPI_Datatype, MPI_Comm,
    MPI_Request *);
int NAME(Allgatherv_init)(const void *, int, MPI_Datatype, void *, const int[], const int[], MPI_Datatype, MPI_Comm,
    MPI_Info, MPI_Request *);
int NAME(Alltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int NAME(Ialltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *);
int NAME(Alltoall_init)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Alltoallv)(const void *, const int[], const int[], MPI_Datatype, void *, const int[], const int[],
    MPI_Datatype, MPI_Comm);
int NAME(Ialltoallv)(const void *, const int[], const int[], MPI_Datatype, void *, const int[], const int[],
    MPI_Datatype, MPI_Comm, MPI_Request *);
int NAME(Alltoallv_init)(const void *, const int[], const int[], MPI_Datatype, void *, const int[], const int[],
    MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
int NAME(Ireduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Request *);
int NAME(Reduce_init)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Iallreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Allreduce_init)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Scan)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Iscan)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Scan_init)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Exscan)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Iexscan)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Exscan_init)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Reduce_scatter)(const void *, void *, const int[], MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Ireduce_scatter)(const void *, void *, const int[], MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Reduce_scatter_init)(const void *, void *, const int[], MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
int NAME(Reduce_scatter_block)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int NAME(Ireduce_scatter_block)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
int NAME(Reduce_scatter_block_init)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);

int NAME(Topo_test)(MPI_Comm, int *);
int NAME(Dist_graph_neighbors_count)(MPI_Comm, int *, int *, int *);
int NAME(Dist_graph_neighbors)(MPI_Comm, int, int[], int[], int, int[], int[]);
int NAME(Graph_neighbors_count)(MPI_Comm, int, int *);
int NAME(Graph_neighbors)(MPI_Comm, int, int, int[]);
int NAME(Cartdim_get)(MPI_Comm, int *);
int NAME(Cart_shift)(MPI_Comm, int, int, int *, int *);
