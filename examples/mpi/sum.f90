! The same bits on any number of ranks, from Fortran: mpirun -n 8 a.out
!   mpif90 samesum_mpi.f90 sum.f90 $(pkg-config --libs samesum)
program sum_over_ranks
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use mpi
  use samesum_mpi
  implicit none
  integer, parameter :: n = 1000000
  integer :: rank, ranks, ierror, i, first, last
  real(real64), allocatable :: x(:)
  real(real64) :: total, mean, square, norm, variance, of_one

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  ! Of a million numbers, those of this rank.
  first = int(int(n, int64) * rank / ranks)
  last = int(int(n, int64) * (rank + 1) / ranks)
  x = [(sin(real(i, real64)) / real(i + 1, real64), i = first, last - 1)]

  call samesum_mpi_sum(x, MPI_COMM_WORLD, total)
  call samesum_mpi_mean(x, MPI_COMM_WORLD, mean)
  call samesum_mpi_dot(x, x, MPI_COMM_WORLD, square)
  call samesum_mpi_norm(x, MPI_COMM_WORLD, norm)
  call samesum_mpi_variance(x, 1, MPI_COMM_WORLD, variance, ierror)
  if (ierror /= 0) error stop 'no variance'
  if (rank == 0) print '(i0, a, z16.16, a, z16.16)', ranks, ' ranks: sum ', total, ', sum of squares ', square
  ! All elements in one rank.
  if (rank == ranks - 1) then
    x = [(sin(real(i, real64)) / real(i + 1, real64), i = 0, n - 1)]
  else
    x = [real(real64) ::]
  end if
  call samesum_mpi_sum(x, MPI_COMM_WORLD, of_one)
  if (of_one /= total) error stop 'another sum'
  if (abs(mean - total / n) > abs(mean) * 1d-15 .or. abs(norm**2 - square) > square * 1d-15) error stop 'another mean or norm'
  call samesum_mpi_mean(real([1.5d0, 2.5d0], real32), MPI_COMM_WORLD, mean)
  if (mean /= 2) error stop 'another mean of real(real32)'
  ! The mean of no elements has no answer, on any rank.
  x = [real(real64) ::]
  call samesum_mpi_mean(x, MPI_COMM_WORLD, mean, ierror)
  if (ierror /= 1) error stop 'a mean of nothing'
  call MPI_Finalize(ierror)
end program sum_over_ranks
