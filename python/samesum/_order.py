"""What depends on the order of elements or on which are zero: extrema, quantiles, counts; and all statistics at once."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as _numpy

from . import _core
from ._arrays import is_complex, listed, present, text, whole_nans
from ._core import Statistics
from ._docs import documented
from ._progress import watched
from ._reductions import _AXIS, _KINDS, _along, _axes, _each, _simple, _without, into, numbered, numbers, of_kind, of_those_taken, written
from ._times import or_times

if TYPE_CHECKING:
    from ._docs import Axis, DeviceLike, Progress


def _extreme(name: str, x: Any, axis: Axis, out: Any, keepdims: bool, where: Any, device: DeviceLike, nan: str) -> Any:
    greatest = name == "max"
    try:
        if axis is None and where is True and out is None and not keepdims:
            return _core.extremum(x, greatest, False, nan, device)
        return _along(getattr(_AXIS, name), lambda part: _core.extremum(part, greatest, False, nan, device), x, axis, out, keepdims, where, device,
                      nan)
    except TypeError:
        return or_times(name, x, axis, None, out, keepdims, where, device, nan)


def _place(name: str, x: Any, axis: Axis, out: Any, keepdims: bool, device: DeviceLike, nan: str) -> Any:
    try:
        if axis is None and out is None and not keepdims:
            return _core.extremum(x, name == "argmax", True, nan, device)
        return written(getattr(_AXIS, name), x, axis, bool(keepdims), nan, device, out)
    except TypeError:
        return or_times(name, x, axis, None, out, keepdims, True, device, nan)


@documented
def min(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None, nan: str = "propagate",
        progress: Progress = None) -> Any:
    """The least element; -0.0 is less than 0.0.

    Parameters
    ----------
    {x axis out keepdims where device nan progress}

    Returns
    -------
    int, float or numpy.ndarray

    Raises
    ------
    NoAnswerError
        Where there are no elements.

    Examples
    --------
    >>> samesum.min([2.0, 0.0, -0.0])
    -0.0
    """
    if progress is not None:
        return watched(min, locals())
    return _extreme("min", x, axis, out, keepdims, where, device, nan)


@documented
def max(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None, nan: str = "propagate",
        progress: Progress = None) -> Any:
    """The greatest element; 0.0 is greater than -0.0.

    Parameters
    ----------
    {x axis out keepdims where device nan progress}

    Returns
    -------
    int, float or numpy.ndarray

    Raises
    ------
    NoAnswerError
        Where there are no elements.

    Examples
    --------
    >>> samesum.max([[1, 5], [7, 3]], axis=1)
    array([5, 7])
    """
    if progress is not None:
        return watched(max, locals())
    return _extreme("max", x, axis, out, keepdims, where, device, nan)


@documented
def argmin(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, device: DeviceLike = None, nan: str = "propagate",
           progress: Progress = None) -> Any:
    """The lowest index of the least element, in C order; of the first NaN where there is one and it is not skipped.

    Parameters
    ----------
    {x axis out keepdims device nan progress}

    Returns
    -------
    int or numpy.ndarray

    Raises
    ------
    NoAnswerError
        Where there are no elements.

    Examples
    --------
    >>> samesum.argmin([4, 1, 1])
    1
    """
    if progress is not None:
        return watched(argmin, locals())
    return _place("argmin", x, axis, out, keepdims, device, nan)


@documented
def argmax(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, device: DeviceLike = None, nan: str = "propagate",
           progress: Progress = None) -> Any:
    """The lowest index of the greatest element, in C order; of the first NaN where there is one and it is not skipped.

    Parameters
    ----------
    {x axis out keepdims device nan progress}

    Returns
    -------
    int or numpy.ndarray

    Raises
    ------
    NoAnswerError
        Where there are no elements.

    Examples
    --------
    >>> samesum.argmax([4.0, float('nan'), 5.0], nan='skip')
    2
    """
    if progress is not None:
        return watched(argmax, locals())
    return _place("argmax", x, axis, out, keepdims, device, nan)


@documented
def count_nonzero(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None,
                  nan: str = "propagate", progress: Progress = None) -> Any:
    """How many elements are not zero; a NaN is not.

    Parameters
    ----------
    {x axis out keepdims where device nan progress}

    Returns
    -------
    int or numpy.ndarray

    Examples
    --------
    >>> samesum.count_nonzero([0.0, -0.0, 5e-324])
    1
    """
    if progress is not None:
        return watched(count_nonzero, locals())
    try:
        if axis is None and where is True and out is None and not keepdims:
            return _core.count_nonzero(x, nan, device)
        return _along(_AXIS.count_nonzero, lambda part: _core.count_nonzero(part, nan, device), x, axis, out, keepdims, where, device, nan)
    except _core.SamesumError:
        if not is_complex(x):
            raise
        x = x if hasattr(x, "dtype") else _numpy.asarray(x)
        with _numpy.errstate(invalid="ignore"):  # of signalling NaNs
            found = (whole_nans(x, 0) if nan == "skip" else x) != 0
        return count_nonzero(found, axis, out, keepdims, where, device, nan)


def _truths(compared: Any, found: Any) -> Any:
    """What a comparison of counts gives: of an array an array, where numpy makes a scalar if it has no axes."""
    return _numpy.asarray(compared) if isinstance(found, _numpy.ndarray) else compared


@documented
def any(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None) -> Any:
    """Whether any element is not zero; a NaN is not zero.

    Parameters
    ----------
    {x axis out keepdims where device}

    Returns
    -------
    bool or numpy.ndarray

    Examples
    --------
    >>> samesum.any([[0, 0], [0, 3]], axis=1)
    array([False,  True])
    """
    found = count_nonzero(x, axis, None, keepdims, where, device)
    return into(out, _truths(found > 0, found))


@documented
def all(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None) -> Any:
    """Whether no element is zero; a NaN is not zero.

    Parameters
    ----------
    {x axis out keepdims where device}

    Returns
    -------
    bool or numpy.ndarray

    Examples
    --------
    >>> samesum.all([1.0, float('nan')])
    True
    """
    x = listed(x)
    if not _simple(x, where):
        return _each(lambda part: count_nonzero(part, device=device) == part.size, x, axis, keepdims, out, where, lambda _: bool)
    x, _ = present(x)
    x = x if hasattr(x, "shape") else _numpy.asarray(x)
    positions = math.prod(x.shape[i] for i in numbered(axis, len(x.shape)))
    found = count_nonzero(x, axis, None, keepdims, True, device)
    return into(out, _truths(found == positions, found))


@documented
def stats(x: Any, device: DeviceLike = None, progress: Progress = None) -> Statistics:
    """Count, extrema and their positions, sum, mean, variance, norm and more from one pass.

    Parameters
    ----------
    {x device progress}

    Returns
    -------
    Statistics

    Examples
    --------
    >>> found = samesum.stats([1.0, 2.0, 6.0])
    >>> found.mean, found.max, found.argmax
    (3.0, 6.0, 2)
    """
    if progress is not None:
        return watched(stats, locals())
    return _core.stats(x, device)


@documented
def quantile(x: Any, q: Any, axis: Axis = None, out: Any = None, method: str = "linear", keepdims: bool = False, where: Any = True,
             device: DeviceLike = None, nan: str = "propagate", progress: Progress = None) -> Any:
    """Exact quantiles.

    Parameters
    ----------
    {x}
    q : float or array_like of float
        In [0, 1]. Of several, the results lie along the first axis.
    {axis out}
    method : {'linear', 'lower', 'higher', 'nearest', 'midpoint'}
        What is between two elements, as numpy's.
    {keepdims where device nan progress}

    Returns
    -------
    int, float or numpy.ndarray

    Raises
    ------
    NoAnswerError
        Where there are no elements.

    Examples
    --------
    >>> samesum.quantile([1.0, 2.0, 4.0, 8.0], [0.0, 0.5])
    array([1., 3.])
    """
    if progress is not None:
        return watched(quantile, locals())
    q = listed(q)
    if _numpy.asarray(q).dtype.kind not in "fiub" or _numpy.ndim(q) > 1:
        raise TypeError(f"q is a number from 0 to 1, or a sequence of such: {q!r}")
    between = text(method, "method") in ("linear", "midpoint")  # two elements
    single = _numpy.ndim(q) == 0
    wanted = [float(q)] if single else [float(each) for each in q]
    if axis is not None or keepdims or where is not True or out is not None:
        taken = (x, nan) if _simple(x, where) else _without(x, where, "quantile", nan)
        if taken is not None and (axis is not None or keepdims or out is not None):
            found = of_those_taken(_core.quantiles_along, taken[0], wanted, _axes(axis), bool(keepdims), method, taken[1], device)
            found = found[0, ...] if single else found
            return into(out, found if taken[0] is x else of_kind(found, x, lambda dtype: _numpy.float64 if between else _KINDS["min"](dtype)))
        if single:
            return _each(lambda part: _core.quantiles(part, wanted, method, nan, device)[0], x, axis, keepdims, out, where,
                         lambda dtype: _numpy.float64 if between else _KINDS["min"](dtype))
        found = [quantile(x, each, axis, None, method, keepdims, where, device, nan) for each in wanted or [0.5]]
        return into(out, _numpy.array(found)[: len(wanted)])  # of no q, too, with the axes of the results
    found = _core.quantiles(x, wanted, method, nan, device)
    return found[0] if single else numbers(found, _numpy.float64 if between else None)


@documented
def median(x: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, where: Any = True, device: DeviceLike = None, nan: str = "propagate",
           progress: Progress = None) -> Any:
    """The exact median.

    Parameters
    ----------
    {x axis out keepdims where device nan progress}

    Returns
    -------
    int, float or numpy.ndarray

    Raises
    ------
    NoAnswerError
        Where there are no elements.

    Examples
    --------
    >>> samesum.median([5.0, 1.0, 3.0])
    3.0
    """
    if progress is not None:
        return watched(median, locals())
    return quantile(x, 0.5, axis, out, "linear", keepdims, where, device, nan)
