"""Exact results rounded once to types narrower than float64: float32, float16 and bfloat16.

A float64 that was rounded once and is rounded again can only go wrong where it lies exactly halfway between two numbers of the narrow type.
There it is moved by one unit towards the exact result, which Fraction computes.
"""
from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any, Callable

import numpy

from . import _core

if TYPE_CHECKING:  # where it is needed it is imported late: few calls are such
    from fractions import Fraction

NEAR = 2.0**-50  # a few units of a float64


def to_odd(wide: Any) -> Any:
    """float64 as float32, rounded to odd: a second rounding to float16 or bfloat16 then gives what one rounding gives."""
    narrow = wide.astype(numpy.float32)
    back = narrow.astype(numpy.float64)
    bits = narrow.view(numpy.uint32) - (numpy.abs(back) > numpy.abs(wide))
    return (bits | ((back != wide) & ~numpy.isnan(wide))).astype(numpy.uint32).view(numpy.float32)


def once(wide: Any, dtype: Any) -> Any:
    """float64s rounded once to another type of floats."""
    with numpy.errstate(over="ignore", under="ignore", invalid="ignore"):
        return wide.astype(dtype) if dtype.itemsize > 2 else to_odd(wide).astype(dtype)


def halfway(wide: Any, dtype: Any) -> list[tuple[int, ...]]:
    """Where float64s that were rounded may lie on the other side of the middle of two numbers of a narrower type, or on it."""
    with numpy.errstate(over="ignore"):
        ties = numpy.isfinite(wide) & (once(wide * (1 + NEAR), dtype) != once(wide * (1 - NEAR), dtype))
    if wide.ndim == 0:
        return [()] * bool(ties)
    return [tuple(int(i) for i in position) for position in zip(*ties.nonzero())]


def rounded(wide: Any, dtype: Any, exact: Callable[[tuple[int, ...]], tuple[Fraction, int]]) -> Any:
    """Exact results, given as float64s rounded once, rounded once to `dtype`.

    `exact(position)` is (q, p): the exact result to the power of p is q. Asked for at few positions: about one in 2^27 of random float32s.
    """
    dtype = numpy.dtype(dtype)
    wide = numpy.array(wide, numpy.float64)  # a copy
    if dtype == numpy.float64:
        return wide
    for place in halfway(wide, dtype):
        from fractions import Fraction
        power, p = exact(place)
        here = Fraction(float(wide[place])) ** p
        if power != here:
            wide[place] = numpy.nextafter(wide[place], numpy.inf if power > here else -numpy.inf)
    return numpy.asarray(once(wide, dtype))


def part(x: Any, axes: list[int], position: tuple[int, ...]) -> Any:
    """The elements that a reduction of `x` along `axes` takes for the result at `position`."""
    rest = iter(position)
    return x[tuple(slice(None) if i in axes else next(rest) for i in range(x.ndim))]


def prefixes(x: Any, axis: int) -> Callable[[tuple[int, ...]], tuple[Fraction, int]]:
    """The exact sums of prefixes along an axis, each asked for after those before it."""
    added: dict[tuple[int, ...], tuple[Any, int]] = {}  # the last prefix of each line

    def exact(place: tuple[int, ...]) -> tuple[Fraction, int]:
        line, end = place[:axis] + place[axis + 1:], place[axis] + 1
        total, start = added.get(line, (_core.Accumulator(), 0))
        total.add(x[place[:axis] + (slice(start, end),) + place[axis + 1:]])
        added[line] = total, end
        return total.fraction(), 1
    return exact


def squares(x: Any) -> Fraction:
    """The exact sum of squares."""
    from fractions import Fraction
    total, unit = _core.exact_dot(x, x)
    return Fraction(total, 1 << unit)


def variance(x: Any, n: int, correction: Any) -> Fraction:
    """The exact variance of `n` elements, for a divisor that need not be an integer."""
    from fractions import Fraction
    total = _core.Accumulator(x).fraction()
    return (n * squares(x) - total * total) / (n * (n - Fraction(correction)))


def power(what: str, x: Any, n: int, correction: Any = 0) -> tuple[Fraction, int]:
    """(q, p): the sum, mean, var, std or norm of `x` to the power of p is q."""
    if what == "sum":
        return _core.Accumulator(x).fraction(), 1
    if what == "mean":
        return _core.Accumulator(x).fraction() / n, 1
    return (squares(x), 2) if what == "norm" else (variance(x, n, correction), 2 if what == "std" else 1)


def root(q: Fraction) -> float:
    """The square root of a fraction that is not negative, rounded once to float64."""
    from fractions import Fraction
    if q == 0:
        return 0.0
    # A root of at least 66 bits, with a last bit that says whether it is inexact.
    scale = max(0, (q.denominator.bit_length() - q.numerator.bit_length()) // 2 + 67)
    whole, rest = divmod(q.numerator << (2 * scale), q.denominator)
    found = isqrt(whole)
    inexact = bool(rest) or found * found != whole
    return float(Fraction(2 * found + inexact, 2 << scale))
