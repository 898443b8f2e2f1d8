"""Reductions with numpy's names and arguments."""
from __future__ import annotations

import builtins
import math
import operator
from typing import TYPE_CHECKING, Any, Callable

import numpy as _numpy

from . import _core
from ._arrays import as_array, is_complex, mask, present, whole_nans, widened
from ._docs import documented
from ._lazy import lazy_sum
from ._narrow import halfway, once, part, root, rounded, squares, variance
from ._progress import watched
from ._times import or_times

if TYPE_CHECKING:
    from ._docs import Axis, DeviceLike, Progress

_AXIS = _core.AxisReduction
_MEAN, _VAR, _STD, _NORM = _core.Average.mean, _core.Average.var, _core.Average.std, _core.Average.norm


def one_axis(axis: Any) -> int:
    if not hasattr(axis, "__index__"):
        raise TypeError(f"samesum: an axis is an integer, not {axis!r}")
    index = operator.index(axis)
    if not -2**31 <= index < 2**31:
        raise ValueError(f"axis {index} is none of an array")
    return index


def _axes(axis: Axis) -> list[int] | None:
    if axis is None:
        return None
    return [one_axis(each) for each in axis] if isinstance(axis, (tuple, list)) else [one_axis(axis)]


def numbered(axis: Axis, rank: int) -> list[int]:
    """The axes from 0 on, in ascending order; None: all."""
    if axis is None:
        return list(range(rank))
    found: set[int] = set()
    for each in _axes(axis) or []:
        if not -rank <= each < rank:
            raise _core.SamesumError(f"axis {each} is none of an array of {rank} axes")
        if each % rank in found:
            raise _core.SamesumError(f"axis {each} is named twice")
        found.add(each % rank)
    return sorted(found)


def _to_float(dtype: Any, x: Any = None) -> bool:
    """Whether results are float32. `x`: elements whose results are complex if they are, for which there is no dtype."""
    if dtype is None:
        return False
    if x is not None and is_complex(x):
        raise TypeError(f"samesum: dtype is {_numpy.dtype(dtype)}, and the results are complex numbers: pass the real and the imaginary parts")
    dtype = _numpy.dtype(dtype)
    if dtype not in (_numpy.float32, _numpy.float64):
        raise ValueError(f"dtype has to be None, float64 or float32, not {dtype}: integers are summed exactly without it")
    return bool(dtype == _numpy.float32)


def _summed(dtype: Any) -> Any:
    """The type of sums along axes of elements of a type."""
    return _numpy.int64 if dtype.kind == "i" else _numpy.uint64 if dtype.kind in "ub" else _averaged(dtype)


def _element(dtype: Any) -> Any:
    return _numpy.uint8 if dtype.kind == "b" else dtype.newbyteorder("=")


def _averaged(dtype: Any) -> Any:
    return _numpy.complex128 if dtype.kind == "c" else _numpy.float64


# The types of results along axes, by the elements' type. Of products, as of others that are not here, integers are as numbers() has them.
_KINDS: dict[str, Callable[[Any], Any]] = {
    "sum": _summed, "mean": _averaged, "count_nonzero": lambda _: _numpy.int64,
    "argmin": lambda _: _numpy.int64, "argmax": lambda _: _numpy.int64, "min": _element, "max": _element,
    "prod": lambda dtype: None if dtype.kind in "iub" else _averaged(dtype)}


def _float64(_: Any) -> Any:
    return _numpy.float64


def numbers(results: list[Any], dtype: Any = None) -> Any:
    """An array of results. Without a type integers stay exact: where they fit neither int64 nor uint64, as Python's."""
    if dtype is not None:
        try:
            return _numpy.array(results, dtype)
        except OverflowError:
            raise _core.NoAnswerError(f"a result does not fit into {_numpy.dtype(dtype)}: convert to a wider type, or to floats, first") from None
    if not builtins.all(isinstance(each, int) and not isinstance(each, bool) for each in results):
        return _numpy.array(results)
    low, high = builtins.min(results, default=0), builtins.max(results, default=0)
    fits = -2**63 <= low and high < 2**63
    return _numpy.array(results, _numpy.int64 if fits else _numpy.uint64 if 0 <= low and high < 2**64 else object)


def _each(function: Callable[[Any], Any], x: Any, axis: Axis, keepdims: bool, out: Any, where: Any,
          kind: Callable[[Any], Any] = lambda _: None) -> Any:
    """`function` of the elements at each position along the other axes: for what the library does not do along axes. `kind`: of the elements'
    type that of the results; None: by the results."""
    if hasattr(x, "__cuda_array_interface__"):
        raise ValueError("arrays on a GPU have no where=, and this function has no axis= and out= for them: use their framework's indexing")
    if isinstance(x, _numpy.ma.MaskedArray):
        where, x = ~_numpy.ma.getmaskarray(x) & mask(where), x.data
    elif where is not True:
        where = mask(where)
    x, missing = present(x)
    if missing and where is not True:
        raise TypeError("samesum: elements are missing, so where= does not say which of the others to take: fill or drop them first")
    x = widened(as_array(x))
    if x.dtype.kind in "mM":
        raise TypeError(f"samesum: this is not defined for {x.dtype}; convert it to float64 first")
    axes = numbered(axis, x.ndim)
    last = range(x.ndim - len(axes), x.ndim)
    moved = _numpy.moveaxis(x, axes, last)
    rest = moved.shape[:x.ndim - len(axes)]
    if where is True:
        results = [function(moved[position]) for position in _numpy.ndindex(rest)]
    else:
        taken = _numpy.moveaxis(_numpy.broadcast_to(where, x.shape), axes, last)
        results = [function(moved[position][taken[position]]) for position in _numpy.ndindex(rest)]
    if axis is None and not keepdims and out is None:
        return results[0]
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape)) if keepdims else rest
    return into(out, numbers(results, kind(x.dtype)).reshape(shape))


def into(out: Any, results: Any) -> Any:
    """`out` with the results, or the results where it is None. A type that would round them, or that does not hold them, is refused."""
    if out is None:
        return results
    if not hasattr(out, "dtype"):
        raise TypeError(f"samesum: out has to be a writable array of numpy, not {out!r}")
    results = _numpy.asarray(results)
    if out.shape != results.shape or not _numpy.can_cast(results.dtype, out.dtype):
        raise _core.SamesumError(f"out has the shape {out.shape} and the type {out.dtype}: this result has {results.shape} and {results.dtype}")
    out[...] = results
    return out


def _simple(x: Any, where: Any) -> bool:
    """Whether the library takes all elements of `x` along axes as they are."""
    return where is True and not (isinstance(x, _numpy.ma.MaskedArray) and bool(_numpy.ma.is_masked(x)))


def _without(x: Any, where: Any, what: str, nan: str) -> tuple[Any, str] | None:
    """`x` whose elements that are not to be taken change nothing: zeros in sums of integers, else NaNs, which nan='skip' leaves out, in floats
    or in integers as float64. None: not in host memory, or not so for this reduction."""
    if isinstance(x, _numpy.ma.MaskedArray):
        where, x = ~_numpy.ma.getmaskarray(x) & mask(where), x.data
    if type(x) is not _numpy.ndarray or x.dtype.kind not in "fiub" or x.dtype.itemsize > 8:
        return None
    taken = _numpy.broadcast_to(mask(where), x.shape)
    if x.dtype.kind != "f":
        if what in ("sum", "norm", "count_nonzero"):
            return _numpy.where(taken, x, x.dtype.type(0)), nan
        if x.dtype.itemsize == 8 and x.size != 0 and not (-2**53 <= int(x.min()) and int(x.max()) <= 2**53):
            return None
        x = x.astype(_numpy.float64)
    if what not in ("sum", "mean", "var", "std", "norm", "min", "max", "quantile") or (nan == "propagate" and bool((_numpy.isnan(x) & taken).any())):
        return None
    return _numpy.where(taken, x, x.dtype.type("nan")), "skip"


def of_those_taken(call: Callable[..., Any], *arguments: Any) -> Any:
    """A call whose elements are those of _without(): NaNs stand for elements that where= leaves out, too, and messages say so."""
    try:
        return call(*arguments)
    except _core.NoAnswerError as error:
        raise _core.NoAnswerError(str(error).replace("all are NaN, and left out", "all are left out")) from None


def of_kind(found: Any, x: Any, kind: Callable[[Any], Any]) -> Any:
    """Results of elements that were taken as float64, in the type that those of `x` have."""
    return _numpy.asarray(found, kind(x.dtype)) if x.dtype.kind in "iub" else found


def _along(reduction: Any, whole: Callable[[Any], Any], x: Any, axis: Axis, out: Any, keepdims: bool, where: Any, device: DeviceLike,
           nan: str, ddof: int = 0) -> Any:
    """A reduction along axes; `whole`: the same of all elements."""
    if not _simple(x, where):
        without = None if axis is None else _without(x, where, reduction.name, nan)
        if without is None:
            return _each(whole, x, axis, keepdims, out, where, _KINDS.get(reduction.name, _float64))
        found = of_those_taken(_core.along, reduction, without[0], _axes(axis), bool(keepdims), without[1], device, None, ddof)
        return into(out, of_kind(found, x, _KINDS.get(reduction.name, _float64)))
    return written(reduction, x, axis, bool(keepdims), nan, device, out, ddof)


def written(reduction: Any, x: Any, axis: Axis, keepdims: bool, nan: str, device: DeviceLike, out: Any, ddof: int = 0) -> Any:
    """_core.along, which takes `out` of the results' own type alone: results for others are written here."""
    kind = _KINDS.get(reduction.name, _float64)
    if not isinstance(out, _numpy.ndarray) or (type(x) is _numpy.ndarray and out.dtype == kind(x.dtype)):
        return _core.along(reduction, x, _axes(axis), keepdims, nan, device, out, ddof)
    return into(out, _core.along(reduction, x, _axes(axis), keepdims, nan, device, None, ddof))


def _narrowed(reduction: Any, whole: Callable[[Any, str], float], x: Any, axis: Axis, out: Any, keepdims: bool, where: Any, device: DeviceLike,
              nan: str, ddof: int = 0) -> Any:
    """A reduction along axes rounded once to float32: as float64 in one go, and where that is halfway by `whole`, the same of the elements
    alone. None: not of these."""
    taken = None if axis is None else (x, nan) if _simple(x, where) else _without(x, where, reduction.name, nan)
    if taken is None:
        return None
    x, nan = taken
    interface = getattr(x, "__cuda_array_interface__", None) if type(x) is not _numpy.ndarray else {"typestr": x.dtype.str}
    if interface is None or interface["typestr"][1] not in "fiub":
        return None
    axes = _axes(axis) or []
    try:
        wide = _numpy.asarray(_core.along(reduction, x, axes, False, nan, device, None, ddof), _numpy.float64)
    except _core.NoAnswerError:
        if interface["typestr"][1] == "f" or reduction.name != "sum":
            raise
        return None  # a sum of integers beyond 64 bits is no float beyond its range
    axes = [each % x.ndim for each in axes]
    found = once(wide, _numpy.dtype(_numpy.float32))
    for place in halfway(wide, found.dtype):
        found[place] = whole(part(x, axes, place), nan)
    return into(out, _numpy.expand_dims(found, tuple(axes)) if keepdims else found)


def _summing(nan: str, device: DeviceLike, to_float: bool) -> Callable[[Any], Any]:
    """The sum of all elements, as a function; made here, as variables that a function shares with one inside it are slower."""
    return lambda part: _core.sum(part, nan, device, to_float)


@documented
def sum(x: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None,
        nan: str = "propagate", progress: Progress = None, lazy: bool = False) -> Any:
    """The exact sum: of floats rounded once to the nearest float64, of integers exact.

    Parameters
    ----------
    {x axis dtype out keepdims where device nan progress}
    lazy : bool, optional
        The result of an array of torch or CuPy on a GPU is an array there, of float64, int64 or uint64. Without `axis` it is enqueued on
        the current stream, and nothing waits for it, so that a CUDA graph can capture it. For others, this has no effect.

    Returns
    -------
    int, float, complex, numpy.timedelta64 or numpy.ndarray
        Without `axis` a number: of integers an int of any size. With it an array: of integers int64 or uint64.

    Raises
    ------
    NoAnswerError
        Where a sum of integers along an axis, or one of durations, needs more than 64 bits.

    Notes
    -----
    Complex numbers are summed by parts. A NaT among durations makes the sum NaT, as a NaN does, or is left out.

    Examples
    --------
    >>> samesum.sum([1e16, 1.0, -1e16])
    1.0
    >>> samesum.sum(numpy.array([[2, 3], [5, 7]]), axis=0)
    array([ 7, 10])
    >>> samesum.sum(numpy.array([90, 45], 'm8[s]')).item().seconds
    135
    """
    if progress is not None:
        return watched(sum, locals())
    to_float = dtype is not None and _to_float(dtype, x)
    if lazy and where is True and out is None and device is None and not to_float:
        found = lazy_sum(x, _axes(axis), keepdims, nan)
        if found is not None:
            return found
    if dtype is not None and not to_float and not hasattr(out, "__cuda_array_interface__"):
        try:
            return into(out, _as_float64(sum(x, axis, None, None, keepdims, where, device, nan)))
        except _core.NoAnswerError:
            if hasattr(x, "__cuda_array_interface__"):
                raise
            return _each(lambda part: float(_core.sum(part, nan, device, False)), x, axis, keepdims, out, where, _float64)
    if nan == "skip":
        x = whole_nans(x)
    try:
        if axis is None and where is True and out is None and not keepdims:
            return _core.sum(x, nan, device, to_float)
        if to_float:
            found = _narrowed(_AXIS.sum, lambda part, nan: _core.sum(part, nan, device, True), x, axis, out, keepdims, where, device, nan)
            return found if found is not None else _each(_summing(nan, device, True), x, axis, keepdims, out, where, _float32)
        return _along(_AXIS.sum, _summing(nan, device, False), x, axis, out, keepdims, where, device, nan)
    except TypeError:
        return or_times("sum", x, axis, dtype, out, keepdims, where, device, nan)


def _float32(_: Any) -> Any:
    return _numpy.float32


def _as_float64(found: Any) -> Any:
    """Exact integers rounded once to float64; floats as they are."""
    if getattr(getattr(found, "dtype", None), "kind", "f") in "mM":
        raise ValueError("results of times are of their own type: pass no dtype")
    return found.astype(_numpy.float64, copy=False) if isinstance(found, _numpy.ndarray) else float(found)


def _average(what: Any, reduction: Any, x: Any, axis: Axis, dtype: Any, out: Any, keepdims: bool, where: Any, nan: str, device: DeviceLike,
             ddof: int = 0) -> Any:
    to_float = dtype is not None and _to_float(dtype, x if what is _MEAN else None)
    ddof = _correction(ddof)
    if nan == "skip":
        x = whole_nans(x)
    whole = axis is None and where is True and out is None and not keepdims
    if what is not _MEAN and not (whole and what is _NORM) and getattr(getattr(x, "dtype", None), "kind", "") == "c":
        return _each(lambda part: _of_complex(what.name, part, ddof, nan, to_float), x, axis, keepdims, out, where, _float32 if to_float else _float64)
    if whole:
        return _core.average(x, what, ddof, nan, device, to_float)
    if to_float:
        found = _narrowed(reduction, lambda part, nan: _core.average(part, what, ddof, nan, device, True), x, axis, out, keepdims, where, device, nan,
                          ddof)
        if found is not None:
            return found
    if to_float:
        return _each(lambda part: _core.average(part, what, ddof, nan, device, True), x, axis, keepdims, out, where, _float32)
    return _along(reduction, lambda part: _core.average(part, what, ddof, nan, device, False), x, axis, out, keepdims, where, device, nan, ddof)


def _correction(ddof: Any) -> int:
    found: int = operator.index(int(ddof) if isinstance(ddof, float) and ddof.is_integer() else ddof)
    if found < 0:
        raise ValueError(f"ddof is {ddof}: it must not be negative")
    return min(found, 2**63 - 1)  # more than there are elements


def _of_complex(what: str, x: Any, ddof: int, nan: str, to_float: bool) -> float:
    """The variance, deviation or norm of complex numbers, which are those of the distances from the mean or from 0, rounded once."""
    kept = x[~_numpy.isnan(x)] if nan == "skip" else x
    if what != "norm" and kept.size <= ddof:
        raise _core.NoAnswerError(f"a {what} with ddof {ddof} needs more than {ddof} elements: there are {kept.size}")
    if not _numpy.isfinite(kept).all():
        return math.nan if what != "norm" or _numpy.isnan(kept).any() else math.inf
    square = squares(kept.real) + squares(kept.imag) if what == "norm" else (
        variance(kept.real, kept.size, ddof) + variance(kept.imag, kept.size, ddof))
    try:
        wide = root(square) if what != "var" else float(square)
    except OverflowError:
        return math.inf
    return float(rounded(wide, _numpy.float32, lambda _: (square, 1 if what == "var" else 2))) if to_float else wide


@documented
def mean(x: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None,
         nan: str = "propagate", progress: Progress = None) -> Any:
    """The exact mean, rounded once; of dates and durations to the nearest of their unit, ties to even.

    Parameters
    ----------
    {x axis dtype out keepdims where device nan progress}

    Returns
    -------
    float, complex, numpy.datetime64, numpy.timedelta64 or numpy.ndarray

    Raises
    ------
    NoAnswerError
        Where there are no elements.

    Examples
    --------
    >>> samesum.mean([1e300, 1.7e308, 1.7e308])
    1.1333333366666667e+308
    """
    if progress is not None:
        return watched(mean, locals())
    try:
        return _average(_MEAN, _AXIS.mean, x, axis, dtype, out, keepdims, where, nan, device)
    except TypeError:
        return or_times("mean", x, axis, dtype, out, keepdims, where, device, nan)


@documented
def var(x: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False, where: Any = True,
        device: DeviceLike = None, nan: str = "propagate", progress: Progress = None) -> Any:
    """The variance in exact arithmetic, rounded once.

    Parameters
    ----------
    {x axis dtype out ddof keepdims where device nan progress}

    Returns
    -------
    float or numpy.ndarray

    Raises
    ------
    NoAnswerError
        Where there are no more than `ddof` elements.

    Examples
    --------
    >>> samesum.var([1e9 + 1, 1e9 + 2, 1e9 + 3], ddof=1)
    1.0
    """
    if progress is not None:
        return watched(var, locals())
    return _average(_VAR, _AXIS.var, x, axis, dtype, out, keepdims, where, nan, device, ddof)


@documented
def std(x: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False, where: Any = True,
        device: DeviceLike = None, nan: str = "propagate", progress: Progress = None) -> Any:
    """The standard deviation: the root of the exact variance, rounded once.

    Parameters
    ----------
    {x axis dtype out ddof keepdims where device nan progress}

    Returns
    -------
    float or numpy.ndarray

    Raises
    ------
    NoAnswerError
        Where there are no more than `ddof` elements.

    Examples
    --------
    >>> samesum.std([1.0, 3.0])
    1.0
    """
    if progress is not None:
        return watched(std, locals())
    return _average(_STD, _AXIS.std, x, axis, dtype, out, keepdims, where, nan, device, ddof)


@documented
def norm(x: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None,
         nan: str = "propagate", progress: Progress = None) -> Any:
    """The Euclidean norm of all elements, rounded once; nothing overflows on the way.

    Parameters
    ----------
    {x axis dtype out keepdims where device nan progress}

    Returns
    -------
    float or numpy.ndarray

    Examples
    --------
    >>> samesum.norm([3e300, 4e300])
    5e+300
    """
    if progress is not None:
        return watched(norm, locals())
    return _average(_NORM, _AXIS.norm, x, axis, dtype, out, keepdims, where, nan, device)


@documented
def prod(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None, nan: str = "propagate",
         progress: Progress = None) -> Any:
    """The product: of integers exact, of any size; of floats by the balanced binary tree over the index, the same bits everywhere.

    Parameters
    ----------
    {x axis out keepdims where device nan progress}

    Returns
    -------
    int, float, complex or numpy.ndarray
        Along an axis, integers that fit neither int64 nor uint64 are Python's, in an array of objects.

    Examples
    --------
    >>> samesum.prod([2**40, 2**40])
    1208925819614629174706176
    """
    if progress is not None:
        return watched(prod, locals())
    if nan == "skip":
        x = whole_nans(x, 1)
    if axis is None and where is True and out is None and not keepdims:
        return _core.product(x, nan, device)
    if _simple(x, where):
        try:
            return into(out, _as_numbers(_core.along(_AXIS.prod, x, _axes(axis), bool(keepdims), nan, device, None)))
        except (TypeError, ValueError, _core.SamesumError):
            pass  # complex numbers, integers of more than 64 bits, times; or it is wrong, and the message is that of the other way
    return _each(lambda part: _core.product(part, nan, device), x, axis, keepdims, out, where, _KINDS["prod"])


def _as_numbers(products: Any) -> Any:
    """An array as numbers() makes it of Python's numbers: of float64, or of int64 where it holds all."""
    if products.dtype.kind == "f":
        return products.astype(_numpy.float64, copy=False)
    return products.astype(_numpy.int64, copy=False) if not products.size or products.max() < 2**63 else products
