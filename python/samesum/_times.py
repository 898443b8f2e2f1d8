"""Dates and durations of numpy (datetime64, timedelta64): exact in their integers, NaT as NaN is among floats."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy

from . import _core
from ._arrays import every, mask, of_integers
from ._core import NoAnswerError

if TYPE_CHECKING:
    from ._docs import Axis, DeviceLike

_NAT = -2**63
_SIGN = numpy.uint64(2**63)
Reducer = Callable[[str, Any], Any]  # an array of the reductions by name: 'sum', 'min', 'max', 'argmin', 'argmax'


def times(x: Any, positions: bool = True) -> Any:
    """`x` as an array of dates or durations, masked where it is so; None where it has other elements. Without `positions` what is missing from
    columns of polars, pyarrow and pandas' on Arrow is left out. Dates with a time zone are those of UTC."""
    try:
        if hasattr(getattr(x, "dtype", None), "tz") and (hasattr(x, "dt") or hasattr(x, "tz_convert")):  # of a series, or an index
            x = (x.dt if hasattr(x, "dt") else x).tz_convert(None)
        if not positions and (hasattr(x, "null_count") or hasattr(getattr(x, "dtype", None), "pyarrow_dtype")):
            dropped = next((getattr(x, name) for name in ("drop_nulls", "drop_null", "dropna") if hasattr(x, name)), None)
            x = x if dropped is None else dropped()
        x = x if isinstance(x, numpy.ma.MaskedArray) else every(x)
    except (TypeError, ValueError):
        return None
    return x if x.dtype.kind in "mM" else None


def _integers(x: Any) -> Any:
    return x.astype(x.dtype.newbyteorder("="), copy=False).view(numpy.int64)


def _divide(total: int, count: int) -> int:
    """The nearest integer, ties to even; NaT of nothing."""
    if count == 0:
        return _NAT
    quotient, rest = divmod(total, count)
    return quotient + (2 * rest > count or (2 * rest == count and quotient % 2 == 1))


def _total(reducer: Reducer, x: Any) -> Any:
    """The exact sums as Python's integers: those of int64 may need more bits than a sum along an axis has."""
    high, low = (numpy.asarray(reducer("sum", each)).astype(object) for each in (x >> 32, x & 0xFFFFFFFF))
    return high * 2**32 + low


def _checked(totals: Any, poisoned: Any, dtype: Any) -> Any:
    """Sums as int64, with 0 for those that a NaT makes NaT, whatever the others add up to."""
    totals = numpy.where(poisoned, 0, numpy.asarray(totals, object))
    if not all(-2**63 < each < 2**63 for each in totals.reshape(-1)):
        raise NoAnswerError(f"a sum does not fit into {dtype}: convert to a longer unit first")
    return totals.astype(numpy.int64)


def _reduced(what: str, ints: Any, taken: Any, poisoned: Any, dtype: Any, reducer: Reducer) -> Any:
    """The results as int64, of what `taken` says and is not NaT; NaT of nothing. Of what a NaT has `poisoned` sums are 0."""
    valid = (ints != _NAT) & taken
    if what in ("sum", "mean"):
        if what == "sum" and dtype.kind == "M":
            raise TypeError("samesum: dates have no sum: take their mean, or the sum of differences")
        totals = _total(reducer, numpy.where(valid, ints, 0))
        if what == "sum":
            return _checked(totals, poisoned, dtype)
        return numpy.asarray(numpy.frompyfunc(_divide, 2, 1)(totals, reducer("sum", valid.astype(numpy.int8))), object).astype(numpy.int64)
    # Keys in the order of times: that of nothing is 0, the least; one less it is the greatest.
    keys, less = numpy.where(valid, ints.view(numpy.uint64) ^ _SIGN, numpy.uint64(0)), numpy.uint64(what in ("min", "argmin"))
    with numpy.errstate(over="ignore"):
        found = numpy.asarray(reducer(what, keys - less))
        return found if what.startswith("arg") else ((found + less) ^ _SIGN).view(numpy.int64)


def _along(x: Any, axis: Axis, keepdims: bool, device: DeviceLike) -> Reducer:
    axes = None if axis is None else list(axis) if isinstance(axis, (tuple, list)) else [axis]

    def reducer(what: str, each: Any) -> Any:
        return _core.along(getattr(_core.AxisReduction, what), each, axes, keepdims, "propagate", device, None)
    return reducer


def reduced(what: str, x: Any, axis: Axis, out: Any, keepdims: bool, where: Any, device: DeviceLike, nan: str) -> Any:
    """'sum', 'mean', 'min', 'max', 'argmin' or 'argmax' of times along axes."""
    if isinstance(x, numpy.ma.MaskedArray):
        if what.startswith("arg"):
            x = every(x)  # refuses what is masked
        else:
            where, x = ~numpy.ma.getmaskarray(x) & mask(where), x.data
    if nan not in ("propagate", "skip"):
        raise _core.SamesumError(f"nan has to be 'propagate' or 'skip', not '{nan}'")
    ints, taken = _integers(x), numpy.broadcast_to(mask(where), x.shape)
    reducer = _along(x, axis, keepdims, device)
    missing = (ints == _NAT) & taken
    poisoned = numpy.asarray(reducer("sum", missing.astype(numpy.int8))) > 0 if nan == "propagate" else numpy.False_
    counted = numpy.asarray(reducer("sum", (taken & ~missing).astype(numpy.int8)))
    if what != "sum" and numpy.any((counted == 0) & ~poisoned):
        raise NoAnswerError(f"there is no {what} of no elements" + (": all are NaT, and left out" if nan == "skip" and x.size else ""))
    result = numpy.asarray(_reduced(what, ints, taken, poisoned, x.dtype, reducer))
    if what.startswith("arg"):
        result = numpy.where(poisoned, reducer("argmax", missing.astype(numpy.uint8)), result).astype(numpy.int64)
    else:
        result = numpy.where(poisoned, _NAT, result).view(x.dtype.newbyteorder("="))
    if out is None:
        return (int(result) if what.startswith("arg") else result[()]) if result.ndim == 0 and axis is None else result
    if out.shape != result.shape or out.dtype != result.dtype:
        raise ValueError(f"out has the shape {out.shape} and the type {out.dtype}: this result has {result.shape} and {result.dtype}")
    out[...] = result
    return out


def or_times(what: str, x: Any, axis: Axis, dtype: Any, out: Any, keepdims: bool, where: Any, device: DeviceLike, nan: str) -> Any:
    """The answer for times and for lists of integers of more than 64 bits, where the library has just refused `x`; of other elements its
    refusal stands."""
    found = times(x, what.startswith("arg"))
    if found is None:
        if axis is None and dtype is None and out is None and not keepdims and where is True:
            exact = of_integers(what, x)
            if exact is not None:
                return exact
        raise  # noqa: PLE0704: what the caller is handling
    if dtype is not None:
        raise ValueError(f"results of times are of their own type: pass no dtype, not {dtype}")
    return reduced(what, found, axis, out, keepdims, where, device, nan)


def by_key(what: str, x: Any, by: Any, nan: str) -> Any:
    """'sum', 'mean', 'min', 'max' or 'count' of the times of each group; NaT where a group has none."""
    if what not in ("sum", "mean", "min", "max", "count"):
        raise TypeError(f"samesum: times have no {what}: convert them to float64 first")
    if nan not in ("propagate", "skip"):
        raise _core.SamesumError(f"nan has to be 'propagate' or 'skip', not '{nan}'")
    x = every(x)
    ints = _integers(x)
    if what == "count":
        return by.reduce(ints, "count", 0, None)

    def reducer(name: str, each: Any) -> Any:
        return by.reduce(each, name, 0, None)
    poisoned = reducer("sum", (ints == _NAT).astype(numpy.int8)) > 0 if nan == "propagate" else numpy.False_
    result = numpy.where(poisoned, _NAT, _reduced(what, ints, numpy.True_, poisoned, x.dtype, reducer))
    return result.view(x.dtype.newbyteorder("="))


def cumulated(x: Any, axis: int | None, out: Any, device: DeviceLike, nan: str) -> Any:
    """The exact sums of all prefixes of durations."""
    x = every(x)
    if x.dtype.kind == "M":
        raise TypeError("samesum: dates have no sum: take the differences first")
    if axis is None:
        x, axis = x.reshape(-1), 0
    ints = _integers(x)
    missing = ints == _NAT
    poisoned = numpy.logical_or.accumulate(missing, axis=axis) if nan == "propagate" else numpy.False_
    sums = _core.scan(numpy.where(missing | poisoned, 0, ints), "sum", axis, False, False, [], None, device)
    result = numpy.where(poisoned, _NAT, _checked(sums, poisoned, x.dtype))
    result = result.view(x.dtype.newbyteorder("="))
    if out is None:
        return result
    if out.shape != result.shape or out.dtype != result.dtype:
        raise ValueError(f"out has the shape {out.shape} and the type {out.dtype}: this result has {result.shape} and {result.dtype}")
    out[...] = result
    return out
