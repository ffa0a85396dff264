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
    integer(c_int) function colligo_describe(its, element) bind(c)
      import
      type(colligo_description), intent(in) :: its
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
  end interface

  ! One interface for all functions with these arguments, and one for their requests.
  abstract interface
    integer(c_int) function colligo_on_vectors(comm, in, out, n, element, algorithm) bind(c)
      import
      integer(c_int), value :: comm
      type(*), intent(in) :: in(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), value :: n
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_on_vectors_i(comm, in, out, n, element, algorithm, request) bind(c)
      import
      integer(c_int), value :: comm
      type(*), intent(in) :: in(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), value :: n
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
      type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_with_root(comm, in, out, n, element, root, algorithm) bind(c)
      import
      integer(c_int), value :: comm, root
      type(*), intent(in) :: in(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), value :: n
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_with_root_i(comm, in, out, n, element, root, algorithm, request) bind(c)
      import
      integer(c_int), value :: comm, root
      type(*), intent(in) :: in(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), value :: n
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
      type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_on_one(comm, both, n, element, root, algorithm) bind(c)
      import
      integer(c_int), value :: comm, root
      type(*) :: both(*)
      integer(c_ptrdiff_t), value :: n
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_on_one_i(comm, both, n, element, root, algorithm, request) bind(c)
      import
      integer(c_int), value :: comm, root
      type(*) :: both(*)
      integer(c_ptrdiff_t), value :: n
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
      type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_on_none(comm, algorithm) bind(c)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_on_none_i(comm, algorithm, request) bind(c)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in), optional :: algorithm(*)
      type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_to_blocks(comm, in, out, counts, displacements, element, algorithm) bind(c)
      import
      integer(c_int), value :: comm
      type(*), intent(in) :: in(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), intent(in) :: counts(*)
      integer(c_ptrdiff_t), intent(in), optional :: displacements(*)
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_to_blocks_i(comm, in, out, counts, displacements, element, &
          algorithm, request) bind(c)
      import
      integer(c_int), value :: comm
      type(*), intent(in) :: in(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), intent(in) :: counts(*)
      integer(c_ptrdiff_t), intent(in), optional :: displacements(*)
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
      type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_to_blocks_of_root(comm, in, n, out, counts, displacements, &
          element, root, algorithm) bind(c)
      import
      integer(c_int), value :: comm, root
      type(*), intent(in) :: in(*)
      integer(c_ptrdiff_t), value :: n
      type(*) :: out(*)
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_to_blocks_of_root_i(comm, in, n, out, counts, displacements, &
          element, root, algorithm, request) bind(c)
      import
      integer(c_int), value :: comm, root
      type(*), intent(in) :: in(*)
      integer(c_ptrdiff_t), value :: n
      type(*) :: out(*)
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
      type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_from_blocks_of_root(comm, in, counts, displacements, out, n, &
          element, root, algorithm) bind(c)
      import
      integer(c_int), value :: comm, root
      type(*), intent(in) :: in(*)
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), value :: n
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_from_blocks_of_root_i(comm, in, counts, displacements, out, n, &
          element, root, algorithm, request) bind(c)
      import
      integer(c_int), value :: comm, root
      type(*), intent(in) :: in(*)
      integer(c_ptrdiff_t), intent(in), optional :: counts(*), displacements(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), value :: n
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
      type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_in_blocks(comm, in, out, counts, element, algorithm) bind(c)
      import
      integer(c_int), value :: comm
      type(*), intent(in) :: in(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), intent(in) :: counts(*)
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_in_blocks_i(comm, in, out, counts, element, algorithm, request) bind(c)
      import
      integer(c_int), value :: comm
      type(*), intent(in) :: in(*)
      type(*) :: out(*)
      integer(c_ptrdiff_t), intent(in) :: counts(*)
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
      type(colligo_request), intent(out) :: request
    end function
    integer(c_int) function colligo_from_blocks_to_blocks(comm, in, counts, displacements, out, &
          out_counts, out_displacements, element, algorithm) bind(c)
      import
      integer(c_int), value :: comm
      type(*), intent(in) :: in(*)
      integer(c_ptrdiff_t), intent(in) :: counts(*), out_counts(*)
      integer(c_ptrdiff_t), intent(in), optional :: displacements(*), out_displacements(*)
      type(*) :: out(*)
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
    end function
    integer(c_int) function colligo_from_blocks_to_blocks_i(comm, in, counts, displacements, out, &
          out_counts, out_displacements, element, algorithm, request) bind(c)
      import
      integer(c_int), value :: comm
      type(*), intent(in) :: in(*)
      integer(c_ptrdiff_t), intent(in) :: counts(*), out_counts(*)
      integer(c_ptrdiff_t), intent(in), optional :: displacements(*), out_displacements(*)
      type(*) :: out(*)
      type(colligo_element), value :: element
      character(kind=c_char), intent(in), optional :: algorithm(*)
      type(colligo_request), intent(out) :: request
    end function
  end interface

  procedure(colligo_on_vectors), bind(c, name='colligo_all_reduce_f') :: colligo_all_reduce
  procedure(colligo_on_vectors_i), bind(c, name='colligo_iall_reduce_f') :: colligo_iall_reduce
  procedure(colligo_on_vectors_i), bind(c, name='colligo_all_reduce_init_f') :: colligo_all_reduce_init
  procedure(colligo_on_vectors), bind(c, name='colligo_scan_f') :: colligo_scan
  procedure(colligo_on_vectors_i), bind(c, name='colligo_iscan_f') :: colligo_iscan
  procedure(colligo_on_vectors_i), bind(c, name='colligo_scan_init_f') :: colligo_scan_init
  procedure(colligo_on_vectors), bind(c, name='colligo_exclusive_scan_f') :: colligo_exclusive_scan
  procedure(colligo_on_vectors_i), bind(c, name='colligo_iexclusive_scan_f') :: colligo_iexclusive_scan
  procedure(colligo_on_vectors_i), bind(c, name='colligo_exclusive_scan_init_f') :: colligo_exclusive_scan_init
  procedure(colligo_on_vectors), bind(c, name='colligo_all_gather_f') :: colligo_all_gather
  procedure(colligo_on_vectors_i), bind(c, name='colligo_iall_gather_f') :: colligo_iall_gather
  procedure(colligo_on_vectors_i), bind(c, name='colligo_all_gather_init_f') :: colligo_all_gather_init
  procedure(colligo_on_vectors), bind(c, name='colligo_reduce_scatter_block_f') :: colligo_reduce_scatter_block
  procedure(colligo_on_vectors_i), bind(c, name='colligo_ireduce_scatter_block_f') :: colligo_ireduce_scatter_block
  procedure(colligo_on_vectors_i), bind(c, name='colligo_reduce_scatter_block_init_f') :: &
      colligo_reduce_scatter_block_init
  procedure(colligo_on_vectors), bind(c, name='colligo_all_to_all_f') :: colligo_all_to_all
  procedure(colligo_on_vectors_i), bind(c, name='colligo_iall_to_all_f') :: colligo_iall_to_all
  procedure(colligo_on_vectors_i), bind(c, name='colligo_all_to_all_init_f') :: colligo_all_to_all_init
  procedure(colligo_with_root), bind(c, name='colligo_reduce_f') :: colligo_reduce
  procedure(colligo_with_root_i), bind(c, name='colligo_ireduce_f') :: colligo_ireduce
  procedure(colligo_with_root_i), bind(c, name='colligo_reduce_init_f') :: colligo_reduce_init
  procedure(colligo_with_root), bind(c, name='colligo_gather_f') :: colligo_gather
  procedure(colligo_with_root_i), bind(c, name='colligo_igather_f') :: colligo_igather
  procedure(colligo_with_root_i), bind(c, name='colligo_gather_init_f') :: colligo_gather_init
  procedure(colligo_with_root), bind(c, name='colligo_scatter_f') :: colligo_scatter
  procedure(colligo_with_root_i), bind(c, name='colligo_iscatter_f') :: colligo_iscatter
  procedure(colligo_with_root_i), bind(c, name='colligo_scatter_init_f') :: colligo_scatter_init
  procedure(colligo_on_one), bind(c, name='colligo_broadcast_f') :: colligo_broadcast
  procedure(colligo_on_one_i), bind(c, name='colligo_ibroadcast_f') :: colligo_ibroadcast
  procedure(colligo_on_one_i), bind(c, name='colligo_broadcast_init_f') :: colligo_broadcast_init
  procedure(colligo_on_none), bind(c, name='colligo_barrier_f') :: colligo_barrier
  procedure(colligo_on_none_i), bind(c, name='colligo_ibarrier_f') :: colligo_ibarrier
  procedure(colligo_on_none_i), bind(c, name='colligo_barrier_init_f') :: colligo_barrier_init
  procedure(colligo_to_blocks), bind(c, name='colligo_all_gatherv_f') :: colligo_all_gatherv
  procedure(colligo_to_blocks_i), bind(c, name='colligo_iall_gatherv_f') :: colligo_iall_gatherv
  procedure(colligo_to_blocks_i), bind(c, name='colligo_all_gatherv_init_f') :: colligo_all_gatherv_init
  procedure(colligo_to_blocks_of_root), bind(c, name='colligo_gatherv_f') :: colligo_gatherv
  procedure(colligo_to_blocks_of_root_i), bind(c, name='colligo_igatherv_f') :: colligo_igatherv
  procedure(colligo_to_blocks_of_root_i), bind(c, name='colligo_gatherv_init_f') :: colligo_gatherv_init
  procedure(colligo_from_blocks_of_root), bind(c, name='colligo_scatterv_f') :: colligo_scatterv
  procedure(colligo_from_blocks_of_root_i), bind(c, name='colligo_iscatterv_f') :: colligo_iscatterv
  procedure(colligo_from_blocks_of_root_i), bind(c, name='colligo_scatterv_init_f') :: colligo_scatterv_init
  procedure(colligo_in_blocks), bind(c, name='colligo_reduce_scatter_f') :: colligo_reduce_scatter
  procedure(colligo_in_blocks_i), bind(c, name='colligo_ireduce_scatter_f') :: colligo_ireduce_scatter
  procedure(colligo_in_blocks_i), bind(c, name='colligo_reduce_scatter_init_f') :: colligo_reduce_scatter_init
  procedure(colligo_from_blocks_to_blocks), bind(c, name='colligo_all_to_all_v_f') :: colligo_all_to_all_v
  procedure(colligo_from_blocks_to_blocks_i), bind(c, name='colligo_iall_to_all_v_f') :: colligo_iall_to_all_v
  procedure(colligo_from_blocks_to_blocks_i), bind(c, name='colligo_all_to_all_v_init_f') :: colligo_all_to_all_v_init

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
