! Exact sums from Fortran, by iso_c_binding: of an array, and along its second dimension.
!
!   gfortran sums.f90 $(pkg-config --libs samesum)
module samesum
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: samesum_float64 = 11, samesum_reduce_sum = 0

  type, bind(c) :: samesum_array
    type(c_ptr) :: data = c_null_ptr
    integer(c_int) :: type = samesum_float64
    integer(c_int32_t) :: rank = 1
    type(c_ptr) :: shape = c_null_ptr
    type(c_ptr) :: strides = c_null_ptr
    type(c_ptr) :: device = c_null_ptr
    integer(c_int64_t) :: offset = 0
  end type samesum_array

  interface
    integer(c_int) function samesum_sum(array, options, total) bind(c)
      import
      type(samesum_array), intent(in) :: array
      type(c_ptr), value :: options
      real(c_double), intent(out) :: total
    end function samesum_sum

    integer(c_int) function samesum_reduce_axes(array, reduction, axes, count, keep, options, to) bind(c)
      import
      type(samesum_array), intent(in) :: array, to
      integer(c_int), value :: reduction, keep
      integer(c_int64_t), intent(in) :: axes(*)
      integer(c_size_t), value :: count
      type(c_ptr), value :: options
    end function samesum_reduce_axes

    type(c_ptr) function samesum_message() bind(c)
      import
    end function samesum_message

    integer(c_size_t) function strlen(text) bind(c)
      import
      type(c_ptr), value :: text
    end function strlen
  end interface

contains

  subroutine check(status)
    integer(c_int), intent(in) :: status
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: message
    if (status == 0) return
    message = samesum_message()
    call c_f_pointer(message, text, [strlen(message)])
    print *, text
    error stop
  end subroutine check

end module samesum

program sums
  use samesum
  implicit none
  real(c_double), target :: x(2, 3) = reshape([1d16, 0.5d0, 1d0, 0.25d0, -1d16, 0.125d0], [2, 3])
  real(c_double), target :: rows(2)
  ! Fortran's order, the first index fastest: the same strides for C, which are in bytes.
  integer(c_int64_t), target :: extents(2) = [2, 3], strides(2) = [8, 16], two = 2
  real(c_double) :: total
  type(samesum_array) :: matrix, to

  matrix = samesum_array(data=c_loc(x), rank=2, shape=c_loc(extents), strides=c_loc(strides))
  call check(samesum_sum(matrix, c_null_ptr, total))
  to = samesum_array(data=c_loc(rows), shape=c_loc(two))
  call check(samesum_reduce_axes(matrix, samesum_reduce_sum, [1_c_int64_t], 1_c_size_t, 0_c_int, c_null_ptr, to))
  print *, 'sum:', total, ' rows:', rows
  if (total /= 1.875d0 .or. rows(1) /= 1 .or. rows(2) /= 0.875d0) error stop 'other sums than expected'
end program sums
