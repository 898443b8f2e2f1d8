! Exact sums over the ranks of an MPI communicator, from Fortran: a module over your own MPI and the C interface of libsamesum.
!
!   use samesum_mpi
!   call samesum_mpi_sum(x, MPI_COMM_WORLD, total, ierror)
!
! All ranks call the same subroutine, each with its part of the array, and all get the same result: that of the whole, rounded once. Its bits
! depend neither on the number of ranks nor on which rank has which elements. x and y are arrays of rank 1, of real(real32) or real(real64).
!
! ierror is 0, or the status of samesum/c/arrays.h (1: no answer, 2: usage, 3: device, 4: memory), on all ranks; where it is left out, an
! error ends the program with a message. Where a rank cannot compute its part, it still takes part in the communication.
!
!   mpif90 -c samesum_mpi.f90 && mpif90 sum.f90 samesum_mpi.o $(pkg-config --libs samesum)
module samesum_mpi
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, real32, real64
  use mpi
  implicit none
  private
  public :: samesum_mpi_sum, samesum_mpi_dot, samesum_mpi_mean, samesum_mpi_variance, samesum_mpi_norm

  interface samesum_mpi_sum
    module procedure sum_of_32, sum_of_64
  end interface
  interface samesum_mpi_dot
    module procedure dot_of_32, dot_of_64
  end interface
  interface samesum_mpi_mean
    module procedure mean_of_32, mean_of_64
  end interface
  !> call samesum_mpi_variance(x, ddof, comm, variance, ierror): divided by n - ddof.
  interface samesum_mpi_variance
    module procedure variance_of_32, variance_of_64
  end interface
  interface samesum_mpi_norm
    module procedure norm_of_32, norm_of_64
  end interface

  integer(c_int), parameter :: type_of_32 = 10, type_of_64 = 11, no_answer = 1
  integer, parameter :: sum_words = 82, products_words = 143, statistics_words = 241

  type, bind(c) :: array_t
    type(c_ptr) :: data = c_null_ptr
    integer(c_int) :: type = type_of_64
    integer(c_int32_t) :: rank = 1
    type(c_ptr) :: shape = c_null_ptr
    type(c_ptr) :: strides = c_null_ptr
    type(c_ptr) :: device = c_null_ptr
    integer(c_int64_t) :: offset = 0
  end type array_t

  interface
    integer(c_int) function samesum_accumulator_new(handle) bind(c)
      import
      type(c_ptr), intent(out) :: handle
    end function
    integer(c_int) function samesum_accumulator_add(handle, array, options) bind(c)
      import
      type(c_ptr), value :: handle, options
      type(array_t), intent(in) :: array
    end function
    integer(c_int) function samesum_accumulator_words(handle, words) bind(c)
      import
      type(c_ptr), value :: handle
      integer(c_int64_t), intent(out) :: words(*)
    end function
    integer(c_int) function samesum_accumulator_from_words(words, handle) bind(c)
      import
      integer(c_int64_t), intent(in) :: words(*)
      type(c_ptr), intent(out) :: handle
    end function
    integer(c_int) function samesum_accumulator_round(handle, total) bind(c)
      import
      type(c_ptr), value :: handle
      real(c_double), intent(out) :: total
    end function
    subroutine samesum_accumulator_free(handle) bind(c)
      import
      type(c_ptr), value :: handle
    end subroutine

    integer(c_int) function samesum_products_new(handle) bind(c)
      import
      type(c_ptr), intent(out) :: handle
    end function
    integer(c_int) function samesum_products_add(handle, a, b, options) bind(c)
      import
      type(c_ptr), value :: handle, options
      type(array_t), intent(in) :: a, b
    end function
    integer(c_int) function samesum_products_words(handle, words) bind(c)
      import
      type(c_ptr), value :: handle
      integer(c_int64_t), intent(out) :: words(*)
    end function
    integer(c_int) function samesum_products_from_words(words, handle) bind(c)
      import
      integer(c_int64_t), intent(in) :: words(*)
      type(c_ptr), intent(out) :: handle
    end function
    integer(c_int) function samesum_products_round(handle, total) bind(c)
      import
      type(c_ptr), value :: handle
      real(c_double), intent(out) :: total
    end function
    subroutine samesum_products_free(handle) bind(c)
      import
      type(c_ptr), value :: handle
    end subroutine

    integer(c_int) function samesum_statistics_collect(array, options, handle) bind(c)
      import
      type(array_t), intent(in) :: array
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: handle
    end function
    integer(c_int) function samesum_statistics_words(handle, words) bind(c)
      import
      type(c_ptr), value :: handle
      integer(c_int64_t), intent(out) :: words(*)
    end function
    integer(c_int) function samesum_statistics_from_words(words, handle) bind(c)
      import
      integer(c_int64_t), intent(in) :: words(*)
      type(c_ptr), intent(out) :: handle
    end function
    integer(c_int) function samesum_statistics_mean(handle, skip_nan, total) bind(c)
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: skip_nan
      real(c_double), intent(out) :: total
    end function
    integer(c_int) function samesum_statistics_variance(handle, ddof, skip_nan, total) bind(c)
      import
      type(c_ptr), value :: handle
      integer(c_int64_t), value :: ddof
      integer(c_int), value :: skip_nan
      real(c_double), intent(out) :: total
    end function
    integer(c_int) function samesum_statistics_norm(handle, skip_nan, total) bind(c)
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: skip_nan
      real(c_double), intent(out) :: total
    end function
    subroutine samesum_statistics_free(handle) bind(c)
      import
      type(c_ptr), value :: handle
    end subroutine

    type(c_ptr) function samesum_message() bind(c)
      import
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! Adds up the words of all ranks; a rank that failed adds none, and two more words tell who that is.
  subroutine add_words(words, status, comm)
    integer(c_int64_t), intent(inout) :: words(:)
    integer(c_int), intent(inout) :: status
    integer, intent(in) :: comm
    integer :: rank, ierror, n
    n = size(words)
    call MPI_Comm_rank(comm, rank, ierror)
    if (status /= 0) words = 0
    words(n - 1:n) = 0
    if (status /= 0) words(n - 1:n) = [1_c_int64_t, int(rank, c_int64_t)]
    call MPI_Allreduce(MPI_IN_PLACE, words, n, MPI_INTEGER8, MPI_SUM, comm, ierror)
    if (status == 0 .and. words(n - 1) /= 0) then
      write (error_unit, '(a, i0, a, i0)') 'samesum: ranks that could not compute a part: ', words(n - 1), &
        ', the sum of their numbers: ', words(n)
      status = -no_answer
    end if
  end subroutine add_words

  ! Hands the status to the caller, or ends the program. A negative one has been told already.
  subroutine finish(status, ierror)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: ierror
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: message
    if (present(ierror)) then
      ierror = abs(status)
    else if (status /= 0) then
      if (status > 0) then
        message = samesum_message()
        call c_f_pointer(message, text, [strlen(message)])
        write (error_unit, *) 'samesum: ', text
      end if
      error stop 1
    end if
  end subroutine finish

  type(array_t) function array_of(data, type, extent) result(array)
    type(c_ptr), intent(in) :: data
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in), target :: extent
    array = array_t(data=data, type=type, shape=c_loc(extent))
  end function array_of

  subroutine sum_of(array, comm, total, ierror)
    type(array_t), intent(in) :: array
    integer, intent(in) :: comm
    real(real64), intent(out) :: total
    integer, intent(out), optional :: ierror
    integer(c_int64_t) :: words(sum_words + 2)
    type(c_ptr) :: mine, all
    integer(c_int) :: status
    total = 0
    status = samesum_accumulator_new(mine)
    if (status == 0) then
      status = samesum_accumulator_add(mine, array, c_null_ptr)
      if (status == 0) status = samesum_accumulator_words(mine, words)
      call samesum_accumulator_free(mine)
    end if
    call add_words(words, status, comm)
    if (status == 0) then
      status = samesum_accumulator_from_words(words, all)
      if (status == 0) then
        status = samesum_accumulator_round(all, total)
        call samesum_accumulator_free(all)
      end if
    end if
    call finish(status, ierror)
  end subroutine sum_of

  subroutine dot_of(a, b, comm, total, ierror)
    type(array_t), intent(in) :: a, b
    integer, intent(in) :: comm
    real(real64), intent(out) :: total
    integer, intent(out), optional :: ierror
    integer(c_int64_t) :: words(products_words + 2)
    type(c_ptr) :: mine, all
    integer(c_int) :: status
    total = 0
    status = samesum_products_new(mine)
    if (status == 0) then
      status = samesum_products_add(mine, a, b, c_null_ptr)
      if (status == 0) status = samesum_products_words(mine, words)
      call samesum_products_free(mine)
    end if
    call add_words(words, status, comm)
    if (status == 0) then
      status = samesum_products_from_words(words, all)
      if (status == 0) then
        status = samesum_products_round(all, total)
        call samesum_products_free(all)
      end if
    end if
    call finish(status, ierror)
  end subroutine dot_of

  ! what: 1 the mean, 2 the variance, 3 the norm.
  subroutine moment_of(array, what, ddof, comm, total, ierror)
    type(array_t), intent(in) :: array
    integer, intent(in) :: what, comm
    integer(c_int64_t), intent(in) :: ddof
    real(real64), intent(out) :: total
    integer, intent(out), optional :: ierror
    integer(c_int64_t) :: words(statistics_words + 2)
    type(c_ptr) :: mine, all
    integer(c_int) :: status
    total = 0
    status = samesum_statistics_collect(array, c_null_ptr, mine)
    if (status == 0) then
      status = samesum_statistics_words(mine, words)
      call samesum_statistics_free(mine)
    end if
    call add_words(words, status, comm)
    if (status == 0) then
      status = samesum_statistics_from_words(words, all)
      if (status == 0) then
        select case (what)
        case (1)
          status = samesum_statistics_mean(all, 0_c_int, total)
        case (2)
          status = samesum_statistics_variance(all, ddof, 0_c_int, total)
        case default
          status = samesum_statistics_norm(all, 0_c_int, total)
        end select
        call samesum_statistics_free(all)
      end if
    end if
    call finish(status, ierror)
  end subroutine moment_of

  subroutine sum_of_32(x, comm, total, ierror)
    real(real32), intent(in), contiguous, target :: x(:)
    integer, intent(in) :: comm
    real(real64), intent(out) :: total
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n
    n = size(x, kind=c_int64_t)
    call sum_of(array_of(c_loc(x), type_of_32, n), comm, total, ierror)
  end subroutine sum_of_32
  subroutine sum_of_64(x, comm, total, ierror)
    real(real64), intent(in), contiguous, target :: x(:)
    integer, intent(in) :: comm
    real(real64), intent(out) :: total
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n
    n = size(x, kind=c_int64_t)
    call sum_of(array_of(c_loc(x), type_of_64, n), comm, total, ierror)
  end subroutine sum_of_64

  subroutine dot_of_32(x, y, comm, total, ierror)
    real(real32), intent(in), contiguous, target :: x(:), y(:)
    integer, intent(in) :: comm
    real(real64), intent(out) :: total
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n, m
    n = size(x, kind=c_int64_t)
    m = size(y, kind=c_int64_t)
    call dot_of(array_of(c_loc(x), type_of_32, n), array_of(c_loc(y), type_of_32, m), comm, total, ierror)
  end subroutine dot_of_32
  subroutine dot_of_64(x, y, comm, total, ierror)
    real(real64), intent(in), contiguous, target :: x(:), y(:)
    integer, intent(in) :: comm
    real(real64), intent(out) :: total
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n, m
    n = size(x, kind=c_int64_t)
    m = size(y, kind=c_int64_t)
    call dot_of(array_of(c_loc(x), type_of_64, n), array_of(c_loc(y), type_of_64, m), comm, total, ierror)
  end subroutine dot_of_64

  subroutine mean_of_32(x, comm, mean, ierror)
    real(real32), intent(in), contiguous, target :: x(:)
    integer, intent(in) :: comm
    real(real64), intent(out) :: mean
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n
    n = size(x, kind=c_int64_t)
    call moment_of(array_of(c_loc(x), type_of_32, n), 1, 0_c_int64_t, comm, mean, ierror)
  end subroutine mean_of_32
  subroutine mean_of_64(x, comm, mean, ierror)
    real(real64), intent(in), contiguous, target :: x(:)
    integer, intent(in) :: comm
    real(real64), intent(out) :: mean
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n
    n = size(x, kind=c_int64_t)
    call moment_of(array_of(c_loc(x), type_of_64, n), 1, 0_c_int64_t, comm, mean, ierror)
  end subroutine mean_of_64

  subroutine variance_of_32(x, ddof, comm, variance, ierror)
    real(real32), intent(in), contiguous, target :: x(:)
    integer, intent(in) :: ddof, comm
    real(real64), intent(out) :: variance
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n
    n = size(x, kind=c_int64_t)
    call moment_of(array_of(c_loc(x), type_of_32, n), 2, int(ddof, c_int64_t), comm, variance, ierror)
  end subroutine variance_of_32
  subroutine variance_of_64(x, ddof, comm, variance, ierror)
    real(real64), intent(in), contiguous, target :: x(:)
    integer, intent(in) :: ddof, comm
    real(real64), intent(out) :: variance
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n
    n = size(x, kind=c_int64_t)
    call moment_of(array_of(c_loc(x), type_of_64, n), 2, int(ddof, c_int64_t), comm, variance, ierror)
  end subroutine variance_of_64

  subroutine norm_of_32(x, comm, norm, ierror)
    real(real32), intent(in), contiguous, target :: x(:)
    integer, intent(in) :: comm
    real(real64), intent(out) :: norm
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n
    n = size(x, kind=c_int64_t)
    call moment_of(array_of(c_loc(x), type_of_32, n), 3, 0_c_int64_t, comm, norm, ierror)
  end subroutine norm_of_32
  subroutine norm_of_64(x, comm, norm, ierror)
    real(real64), intent(in), contiguous, target :: x(:)
    integer, intent(in) :: comm
    real(real64), intent(out) :: norm
    integer, intent(out), optional :: ierror
    integer(c_int64_t), target :: n
    n = size(x, kind=c_int64_t)
    call moment_of(array_of(c_loc(x), type_of_64, n), 3, 0_c_int64_t, comm, norm, ierror)
  end subroutine norm_of_64

end module samesum_mpi
