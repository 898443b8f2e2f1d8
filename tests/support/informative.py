"""Checks that expected values are worth comparing with, as informative.hpp does: of zeros, NaNs and what nothing gives, wrong results are as
good as right ones."""
import math


def numbers_of(expected):
    """All numbers of nested lists, or of an array of numpy."""
    if hasattr(expected, "tolist"):
        expected = expected.tolist()
    if isinstance(expected, (list, tuple)):
        return [number for part in expected for number in numbers_of(part)]
    return [expected]


def informative(expected):
    """`expected`, if at least half of its numbers are finite and not zero, and they are not all the same."""
    numbers = numbers_of(expected)
    useful = sum(number != 0 and (not isinstance(number, float) or math.isfinite(number)) for number in numbers)
    if 2 * useful < len(numbers) or useful == 0:
        raise AssertionError(f"of {len(numbers)} expected values {useful} are finite and not zero")
    if len(numbers) > 1 and len(set(numbers)) == 1:
        raise AssertionError(f"all expected values are {numbers[0]}")
    return expected
