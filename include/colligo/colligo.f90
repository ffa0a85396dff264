! SPDX-License-Identifier: BSL-1.0
!> The Fortran interface: the functions of colligo.h, which says what they do, for a communicator of `use mpi`, or
!! comm%MPI_VAL of `use mpi_f08`. Compile this file with your program and link to the compiled library.
!!
!!   error = colligo_known_element(colligo_double, colligo_sum, element)
!!   error = colligo_all_reduce(comm, x, sums, n, element)                           ! automatic
!!   error = colligo_all_reduce(comm, colligo_in_place, x, n, element, 'ring'//c_null_char)
!!   error = colligo_iall_reduce(comm, x, sums, n, element, request=request)
!!
!! Vectors are arrays of any type and rank. n, counts and displacements are of kind c_ptrdiff_t. Vectors of a request
!! should be `asynchronous` or `target` until it is complete. Functions for colligo_describe are bind(c).
module colligo
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: colligo_success = 0, colligo_error = 1, colligo_argument = 2, colligo_algorithm = 3, &
      colligo_mpi = 4, colligo_mismatch = 5, colligo_failed_elsewhere = 6, colligo_rank_lost = 7, colligo_stalled = 8, &
      colligo_no_memory = 9
  enum, bind(c)
    enumerator :: colligo_byte, colligo_int8, colligo_int16, colligo_int32, colligo_int64, colligo_uint8, &
        colligo_uint16, colligo_uint32, colligo_uint64, colligo_float, colligo_double, colligo_long_double, &
        colligo_complex_float, colligo_complex_double, colligo_complex_long_double, colligo_bool, colligo_float_int, &
        colligo_double_int, colligo_long_int, colligo_short_int, colligo_int_int, colligo_long_double_int
  end enum
  enum, bind(c)
    enumerator :: colligo_no_op, colligo_sum, colligo_prod, colligo_max, colligo_min, colligo_land, colligo_lor, &
        colligo_lxor, colligo_band, colligo_bor, colligo_bxor, colligo_maxloc, colligo_minloc
  end enum

  type, bind(c) :: colligo_element
    type(c_ptr) :: moved = c_null_ptr, combined = c_null_ptr, context = c_null_ptr
  end type
  type, bind(c) :: colligo_description
    integer(c_size_t) :: size = 1, alignment = 1
    type(c_funptr) :: combine = c_null_funptr
    type(c_ptr) :: context = c_null_ptr
    integer(c_int) :: commutative = 0, exact = 0
    type(c_ptr) :: name = c_null_ptr, functor = c_null_ptr
  end type
  !> A request; c_null_ptr is an empty one.
  type, bind(c) :: colligo_request
    type(c_ptr) :: object = c_null_ptr
  end type

  character(kind=c_char), bind(c, name='colligo_in_place_storage'), target :: colligo_in_place(1)

  interface
    integer(c_int) function colligo_describe(description, element) bind(c)
      import
      type(colligo_description), intent(in) :: description
      type(colligo_element), intent(out) :: element
    end function
    integer(c_int) function colligo_known_element(type, op, element) bind(c)
      import
      integer(c_int), value :: type, op
      type(colligo_element), intent(out) :: element
    end function
    integer(c_int) function colligo_wait(request) bind(c)
      import
      type(colligo_request), intent(inout) :: request
    end function
    integer(c_int) function colligo_test(request, complete) bind(c)
      import
      type(colligo_request), intent(inout) :: request
      integer(c_int), intent(out) :: complete
    end function
    integer(c_int) function colligo_start(request) bind(c)
      import
      type(colligo_request), value :: request
    end function
    integer(c_int) function colligo_request_free(request) bind(c)
      import
      type(colligo_request), intent(inout) :: request
    end function
    type(c_ptr) function colligo_error_address() bind(c, name='colligo_error_text')
      import
    end function

    integer(c_int) function colligo_all_reduce(comm, in, out, n, element, algorithm) bind(c, &
          name='colligo_all_reduce_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_iall_reduce(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_iall_reduce_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_all_reduce_init(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_all_reduce_init_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_scan(comm, in, out, n, element, algorithm) bind(c, name='colligo_scan_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_iscan(comm, in, out, n, element, algorithm, request) bind(c, &
          name='colligo_iscan_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_scan_init(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_scan_init_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_exclusive_scan(comm, in, out, n, element, algorithm) bind(c, &
          name='colligo_exclusive_scan_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_iexclusive_scan(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_iexclusive_scan_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_exclusive_scan_init(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_exclusive_scan_init_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_all_gather(comm, in, out, n, element, algorithm) bind(c, &
          name='colligo_all_gather_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_iall_gather(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_iall_gather_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_all_gather_init(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_all_gather_init_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_reduce_scatter_block(comm, in, out, n, element, &
          algorithm) bind(c, name='colligo_reduce_scatter_block_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_ireduce_scatter_block(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_ireduce_scatter_block_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_reduce_scatter_block_init(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_reduce_scatter_block_init_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_all_to_all(comm, in, out, n, element, algorithm) bind(c, &
          name='colligo_all_to_all_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_iall_to_all(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_iall_to_all_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_all_to_all_init(comm, in, out, n, element, algorithm, &
          request) bind(c, name='colligo_all_to_all_init_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_reduce(comm, in, out, n, element, root, algorithm) bind(c, &
          name='colligo_reduce_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_ireduce(comm, in, out, n, element, root, algorithm, &
          request) bind(c, name='colligo_ireduce_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_reduce_init(comm, in, out, n, element, root, algorithm, &
          request) bind(c, name='colligo_reduce_init_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_gather(comm, in, out, n, element, root, algorithm) bind(c, &
          name='colligo_gather_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_igather(comm, in, out, n, element, root, algorithm, &
          request) bind(c, name='colligo_igather_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_gather_init(comm, in, out, n, element, root, algorithm, &
          request) bind(c, name='colligo_gather_init_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_scatter(comm, in, out, n, element, root, algorithm) bind(c, &
          name='colligo_scatter_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_iscatter(comm, in, out, n, element, root, algorithm, &
          request) bind(c, name='colligo_iscatter_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_scatter_init(comm, in, out, n, element, root, algorithm, &
          request) bind(c, name='colligo_scatter_init_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_broadcast(comm, both, n, element, root, algorithm) bind(c, &
          name='colligo_broadcast_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*) :: both(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_ibroadcast(comm, both, n, element, root, algorithm, &
          request) bind(c, name='colligo_ibroadcast_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*) :: both(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_broadcast_init(comm, both, n, element, root, algorithm, &
          request) bind(c, name='colligo_broadcast_init_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*) :: both(*); integer(c_ptrdiff_t), value :: n
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_barrier(comm, algorithm) bind(c, name='colligo_barrier_f')
      import; integer(c_int), value :: comm
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_ibarrier(comm, algorithm, request) bind(c, name='colligo_ibarrier_f')
      import; integer(c_int), value :: comm
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_barrier_init(comm, algorithm, request) bind(c, name='colligo_barrier_init_f')
      import; integer(c_int), value :: comm
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_all_gatherv(comm, in, out, counts, displacements, element, &
          algorithm) bind(c, name='colligo_all_gatherv_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*)
      integer(c_ptrdiff_t), intent(in) :: counts(*); integer(c_ptrdiff_t), intent(in), optional :: displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_iall_gatherv(comm, in, out, counts, displacements, element, &
          algorithm, request) bind(c, name='colligo_iall_gatherv_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*)
      integer(c_ptrdiff_t), intent(in) :: counts(*); integer(c_ptrdiff_t), intent(in), optional :: displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_all_gatherv_init(comm, in, out, counts, displacements, element, &
          algorithm, request) bind(c, name='colligo_all_gatherv_init_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*)
      integer(c_ptrdiff_t), intent(in) :: counts(*); integer(c_ptrdiff_t), intent(in), optional :: displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_gatherv(comm, in, n, out, counts, displacements, element, root, &
          algorithm) bind(c, name='colligo_gatherv_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_igatherv(comm, in, n, out, counts, displacements, element, &
          root, algorithm, request) bind(c, name='colligo_igatherv_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_gatherv_init(comm, in, n, out, counts, displacements, element, &
          root, algorithm, request) bind(c, name='colligo_gatherv_init_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_scatterv(comm, in, counts, displacements, out, n, element, &
          root, algorithm) bind(c, name='colligo_scatterv_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_iscatterv(comm, in, counts, displacements, out, n, element, &
          root, algorithm, request) bind(c, name='colligo_iscatterv_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_scatterv_init(comm, in, counts, displacements, out, n, element, &
          root, algorithm, request) bind(c, name='colligo_scatterv_init_f')
      import; integer(c_int), value :: comm, root; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), value :: n
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_reduce_scatter(comm, in, out, counts, element, &
          algorithm) bind(c, name='colligo_reduce_scatter_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), intent(in) :: counts(*)
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_ireduce_scatter(comm, in, out, counts, element, algorithm, &
          request) bind(c, name='colligo_ireduce_scatter_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), intent(in) :: counts(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_reduce_scatter_init(comm, in, out, counts, element, algorithm, &
          request) bind(c, name='colligo_reduce_scatter_init_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), intent(in) :: counts(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_all_to_all_v(comm, in, counts, displacements, out, out_counts, &
          out_displacements, element, algorithm) bind(c, name='colligo_all_to_all_v_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), intent(in) :: counts(*), out_counts(*)
      integer(c_ptrdiff_t), intent(in), optional :: displacements(*), out_displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_iall_to_all_v(comm, in, counts, displacements, out, out_counts, &
          out_displacements, element, algorithm, request) bind(c, name='colligo_iall_to_all_v_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), intent(in) :: counts(*), out_counts(*)
      integer(c_ptrdiff_t), intent(in), optional :: displacements(*), out_displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_all_to_all_v_init(comm, in, counts, displacements, out, &
          out_counts, out_displacements, element, algorithm, request) bind(c, name='colligo_all_to_all_v_init_f')
      import; integer(c_int), value :: comm; type(colligo_element), value :: element
      type(*), intent(in) :: in(*); type(*) :: out(*); integer(c_ptrdiff_t), intent(in) :: counts(*), out_counts(*)
      integer(c_ptrdiff_t), intent(in), optional :: displacements(*), out_displacements(*)
      character(kind=c_char), intent(in), optional :: algorithm(*); type(colligo_request), intent(out) :: request
    end function
  end interface

contains

  !> What the latest call that failed says of it.
  function colligo_error_text() result(text)
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: address
    integer :: n
    interface
      integer(c_size_t) function length_of(text) bind(c, name='strlen')
        import
        type(c_ptr), value :: text
      end function
    end interface
    address = colligo_error_address()
    n = int(length_of(address))
    call c_f_pointer(address, letters, [n])
    allocate (character(len=n) :: text)
    if (n > 0) text(1:n) = transfer(letters(1:n), text)
  end function
end module
