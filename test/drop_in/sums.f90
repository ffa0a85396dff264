! SPDX-License-Identifier: BSL-1.0
! Sums whose bits depend on the order of ranks: prints a hash of them. A program that knows nothing of the library.
program sums
  use mpi_f08
  implicit none
  integer, parameter :: n = 500
  double precision :: x(n), s(n)
  integer(8) :: h
  integer :: r, i, at
  integer, allocatable :: ranks(:)
  type(MPI_Comm) :: reverse
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, r)
  do i = 1, n
    x(i) = sin(1.7d0 * r + i) * 10d0**mod(r * 5 + i, 7)
  end do
  call MPI_Allreduce(x, s, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  x = s
  call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  if (any(x /= s)) error stop 'in place'
  call MPI_Iallreduce(x, s, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (any(x /= s)) error stop 'request'
  call MPI_Barrier(MPI_COMM_WORLD)
  ! Handles of communicators that are freed come again, with the ranks in another order.
  call MPI_Comm_size(MPI_COMM_WORLD, i)
  allocate(ranks(i))
  do i = 1, 4
    call MPI_Comm_split(MPI_COMM_WORLD, 0, merge(r, -r, mod(i, 2) == 0), reverse)
    call MPI_Gather(r, 1, MPI_INTEGER, ranks, 1, MPI_INTEGER, 0, reverse)
    call MPI_Comm_rank(reverse, at)
    if (at == 0 .and. any(ranks(2:) - ranks(:size(ranks) - 1) /= merge(1, -1, mod(i, 2) == 0))) error stop 'order'
    call MPI_Comm_free(reverse)
  end do
  h = 0
  do i = 1, n
    h = ieor(h * 31_8, transfer(s(i), h))
  end do
  if (r == 0) print '(a,z0)', 'bits ', h
  call MPI_Finalize()
end program
