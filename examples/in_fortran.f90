! SPDX-License-Identifier: BSL-1.0
! Sums of vectors in Fortran: into another one, in place by a named algorithm, and as a request.
!
!   mpirun -n 4 in_fortran
program in_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use colligo
  implicit none
  integer(c_ptrdiff_t), parameter :: n = 1000
  double precision, target, asynchronous :: x(n), sums(n), again(n)
  type(colligo_element) :: element
  type(colligo_request) :: request
  integer :: rank, ranks, error

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  x = rank + 1

  call check(colligo_known_element(colligo_double, colligo_sum, element))
  call check(colligo_all_reduce(MPI_COMM_WORLD, x, sums, n, element))

  again = x
  call check(colligo_all_reduce(MPI_COMM_WORLD, colligo_in_place, again, n, element, 'ring'//c_null_char))
  if (any(again /= sums)) error stop 'the ring has other sums'

  again = 0
  call check(colligo_iall_reduce(MPI_COMM_WORLD, x, again, n, element, request=request))
  call check(colligo_wait(request))
  if (any(again /= sums)) error stop 'the request has other sums'

  if (rank == 0) print '(a,i0)', 'sums of ', int(sums(n))
  call MPI_Finalize(error)

contains

  subroutine check(code)
    integer(c_int), intent(in) :: code
    integer :: ignored
    if (code == colligo_success) return
    print '(a)', colligo_error_text()
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
