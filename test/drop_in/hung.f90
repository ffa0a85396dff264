! SPDX-License-Identifier: BSL-1.0
! hung.c in Fortran: after five right calls one rank leaves out a reduce, waits for a message, or has another root.
program hung
  use mpi
  implicit none
  integer :: rank, p, i, got, error
  double precision :: x, s
  character(16) :: what
  call get_command_argument(1, what)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, p, error)
  x = 1
  do i = 1, 5
    call MPI_Allreduce(x, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  if (rank == 0) write (0, '(a)') 'now'
  if (what == 'left_out' .and. rank /= 1) &
    call MPI_Reduce(x, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 1, MPI_COMM_WORLD, error)
  if (what == 'receive' .and. rank == p - 1) &
    call MPI_Recv(got, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  if (what == 'root') call MPI_Bcast(x, 1, MPI_DOUBLE_PRECISION, merge(2, 0, rank == 2), MPI_COMM_WORLD, error)
  call MPI_Allreduce(x, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (rank == 0) print '(a)', 'it did not hang'
end program
