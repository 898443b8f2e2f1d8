"""Tensors as integers of words of 32 bits, in units of 2**-1074, and back: what `samesum.distributed` sends."""
from __future__ import annotations

from typing import Any

import numpy
import torch

from . import _core
from ._core import NoAnswerError

_LOW = 0xFFFFFFFF
_UNIT = 1074
# For each type the integers of its size, the bits of its fraction, and the weight of the lowest one of a subnormal number, in units of 2**-1074.
_FORMS = {torch.float16: (torch.int16, 10, 1050), torch.bfloat16: (torch.int16, 7, 941), torch.float32: (torch.int32, 23, 925),
          torch.float64: (torch.int64, 52, 0)}
_BITS = {torch.int16: 16, torch.int32: 32, torch.int64: 64}
FLOATS = tuple(_FORMS)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _fields(x: Any) -> tuple[Any, Any, Any, Any]:
    """Of floats the significand, the weight of its lowest bit, whether they are negative, and whether they are finite. Of NaNs and infinities
    the significand is 0."""
    kind, fraction, lowest = _FORMS[x.dtype]
    bits = x.view(kind).long()
    top = (1 << (_BITS[kind] - 1 - fraction)) - 1
    exponent = (bits >> fraction) & top
    significand = (bits & ((1 << fraction) - 1)) | ((exponent > 0).long() << fraction)
    finite = exponent != top
    return significand * finite, (exponent.clamp(min=1) - 1) + lowest, bits < 0, finite


def _digits(x: Any) -> tuple[Any, list[Any], Any]:
    """The place of the lowest of three digits, these, and whether the number is negative."""
    significand, weight, negative, _ = _fields(x)
    place, shift = weight >> 5, weight & 31
    first = (significand & _LOW) << shift
    rest = ((significand >> 32) << shift) + (first >> 32)
    return place, [first & _LOW, rest & _LOW, rest >> 32], negative


def range_of(x: Any) -> Any:
    """The highest and the negated lowest place of a digit that is not 0, and whether there is a NaN, an infinity or a -0.0."""
    place, digits, negative = _digits(x)
    high, low = torch.full_like(place, -1), torch.full_like(place, 1000)
    zero = torch.ones_like(negative)
    for i, digit in enumerate(digits):
        used = digit != 0
        high = torch.where(used, place + i, high)
        low = torch.where(used & zero, place + i, low)
        zero = zero & ~used
    special = zero & (negative | ~_fields(x)[3])
    return torch.stack([high.max(), -low.min(), special.any().long()])


def of_floats(x: Any, low: int, high: int) -> Any:
    """The digits at the places from `low` to `high` of each element, in a row for each place."""
    words = torch.zeros((high - low + 1, x.numel()), dtype=torch.int64, device=x.device)
    place, digits, negative = _digits(x)
    for i, digit in enumerate(digits):
        at, = digit.nonzero(as_tuple=True)
        words[place[at] + (i - low), at] = torch.where(negative, -digit, digit)[at]
    return words


def specials(x: Any) -> Any:
    """Two words of each element: NaNs and infinities of both signs, 21 bits each; and whether it is not -0.0."""
    negative, finite = _fields(x)[2:]
    infinite = torch.isinf(x)
    first = torch.isnan(x).long() | ((infinite & ~negative).long() << 21) | ((infinite & negative).long() << 42)
    return torch.stack([first, (~(negative & finite & (x == 0))).long()])


def with_specials(result: Any, counts: Any) -> Any:
    """The results where NaNs, infinities and -0.0 were added."""
    field = (1 << 21) - 1
    nan, up, down = counts[0] & field, (counts[0] >> 21) & field, counts[0] >> 42
    result = result.masked_fill(counts[1] == 0, -0.0)
    result = result.masked_fill(up > 0, float("inf")).masked_fill(down > 0, float("-inf"))
    return result.masked_fill((nan > 0) | ((up > 0) & (down > 0)), float("nan"))


def _along(rows: Any) -> Any:
    return _core.along(_core.AxisReduction.sum, rows, [1], False, "propagate", None, None)


def _quotient(words: Any, low: int) -> float:
    """The number, rounded once; for numbers whose digits are beyond the greatest float64."""
    whole = 0
    for word in words[::-1]:
        whole = (whole << 32) + int(word)
    try:
        return (whole << (32 * low)) / (1 << _UNIT)
    except OverflowError:
        return float("inf") if whole > 0 else float("-inf")


def _to_odd(nearest: Any, rest: Any, kind: Any) -> Any:
    """What is not a number of this type rounded to the neighbour whose last bit is 1: a further rounding to fewer bits is then as one.
    `rest`: what the nearest number lacks."""
    other = numpy.nextafter(nearest, numpy.where(rest > 0, numpy.inf, -numpy.inf).astype(nearest.dtype))
    return numpy.where((rest != 0) & (nearest.view(kind) & 1 == 0), other, nearest)


def rounded(words: Any, low: int, like: Any) -> Any:
    """The numbers with these digits, from the place `low` on, each rounded once to the type of `like`; None: all of them 0."""
    if words is None:
        return torch.zeros_like(like)
    rows = words.cpu().numpy().T
    weights = 32 * (low + numpy.arange(rows.shape[1])) - _UNIT
    with numpy.errstate(over="ignore", invalid="ignore"):
        terms = numpy.ldexp(rows.astype(numpy.float64), weights)
        if like.dtype == torch.float64:
            beyond = numpy.any(rows[:, weights > 970] != 0, axis=1)  # a term or a sum of terms may overflow
            terms[beyond] = 0
            wide = _along(terms)
            for i in numpy.nonzero(beyond)[0]:
                wide[i] = _quotient(rows[i], low)
            return torch.from_numpy(wide).to(like.device)
        wide = _along(terms)
        wide = _to_odd(wide, _along(numpy.concatenate([terms, -wide[:, None]], axis=1)), numpy.int64)
        if like.dtype == torch.float16:
            return torch.from_numpy(wide.astype(numpy.float16)).to(like.device)
        narrow = wide.astype(numpy.float32)
        if like.dtype == torch.bfloat16:
            rest = numpy.where(numpy.isfinite(narrow), wide - narrow, 0)
            bits = _to_odd(narrow, rest, numpy.int32).view(numpy.uint32)
            half = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
            return torch.from_numpy(half.astype(numpy.uint16).view(numpy.int16)).view(torch.bfloat16).to(like.device)
    return torch.from_numpy(narrow).to(like.device)


def of_integers(x: Any) -> Any:
    """Integers as words that add up without an overflow."""
    x = x.long() if x.dtype != torch.int64 else x
    return torch.stack([x & _LOW, x >> 32])


def to_integers(words: Any, dtype: Any) -> Any:
    """The integers of the sums of such words. A NoAnswerError where one does not fit."""
    high, low = words[1] + (words[0] >> 32), words[0] & _LOW
    limits = torch.iinfo(dtype)
    inside = (high >= limits.min >> 32) & (high <= limits.max >> 32)
    value = (high << 32) | low
    inside &= (value >= limits.min) & (value <= limits.max)
    if not bool(inside.all()):
        raise NoAnswerError(f"samesum.distributed: a sum does not fit into {dtype}: convert to a wider type first")
    return value.to(dtype)
