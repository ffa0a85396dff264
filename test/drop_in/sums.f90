! SPDX-License-Identifier: BSL-1.0
! Sums whose bits depend on the order of ranks: prints a hash of them. A program that knows nothing of the library.
program sums
  use mpi_f08
  implicit none
  integer, parameter :: n = 500
  double precision :: x(n), s(n)
  integer(8) :: h
  integer :: r, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, r)
  do i = 1, n
    x(i) = sin(1.7d0 * r + i) * 10d0**mod(r * 5 + i, 7)
  end do
  call MPI_Allreduce(x, s, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  x = s
  call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  if (any(x /= s)) error stop 'in place'
  call MPI_Barrier(MPI_COMM_WORLD)
  h = 0
  do i = 1, n
    h = ieor(h * 31_8, transfer(s(i), h))
  end do
  if (r == 0) print '(a,z0)', 'bits ', h
  call MPI_Finalize()
end program
