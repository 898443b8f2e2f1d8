"""Results of many groups: sums by index, scans, all pairs."""
from __future__ import annotations

import operator as _operator
from typing import TYPE_CHECKING, Any, Sequence

import numpy as _numpy

from . import _core
from ._arrays import every, is_complex, text, whole_nans
from ._docs import documented
from ._formulas import used
from ._narrow import once
from ._progress import watched
from ._reductions import _to_float, into, one_axis
from ._times import cumulated, times

if TYPE_CHECKING:
    from ._docs import DeviceLike, Progress


def _offsets(offsets: Sequence[int]) -> list[int]:
    found = [_operator.index(offset) for offset in offsets]
    for i, offset in enumerate(found):
        if not 0 <= offset < 2**64:
            raise ValueError(f"offset {i} is {offset}: it has to be an index")
    return found


@documented
def scan(x: Any, operation: str = "sum", axis: int | None = None, exclusive: bool = False, dtype: Any = None, offsets: Sequence[int] = (),
         device: DeviceLike = None, nan: str = "propagate") -> Any:
    """The reduction of every prefix: result i has the bits of the reduction of the elements up to i.

    Parameters
    ----------
    {x}
    operation : {'sum', 'product', 'min', 'max', 'count_nonzero'}
        Of which every prefix is taken.
    axis : int, optional
        Along which, for each position along the others; by default over all elements in C order.
    exclusive : bool
        Result i is that of the elements before i.
    {dtype}
    offsets : sequence of int, optional
        Where the scan begins anew: ascending indices in C order, the first of which is 0.
    {device nan}

    Returns
    -------
    numpy.ndarray
        Of the shape of `x`.

    Examples
    --------
    >>> samesum.scan([3, 7, 5, 9], 'max')
    array([3, 7, 7, 9])
    >>> samesum.scan([1, 2, 3, 4], offsets=[0, 2])
    array([1, 3, 3, 7])
    """
    axis = None if axis is None else one_axis(axis)
    found = _core.scan(x, text(operation, "the operation"), axis, bool(exclusive), _to_float(dtype, x), _offsets(offsets), nan, device)
    if dtype is None or found.dtype == dtype:
        return found
    if operation == "product" and found.dtype.kind == "f":
        raise TypeError(f"samesum: products of floats are {found.dtype}, and {_numpy.dtype(dtype)} would round them again: pass no dtype")
    return found.astype(dtype)  # exact integers, or elements


@documented
def cumsum(x: Any, axis: int | None = None, dtype: Any = None, out: Any = None, device: DeviceLike = None, nan: str = "propagate") -> Any:
    """The exact sums of all prefixes, each rounded once.

    Parameters
    ----------
    {x}
    axis : int, optional
        Along which; by default over all elements in C order, as one axis.
    {dtype}
    out : numpy.ndarray, optional
        Where to write: of the result's shape.
    {device nan}

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> samesum.cumsum([1e16, 1.0, -1e16])
    array([1.e+16, 1.e+16, 1.e+00])
    """
    if getattr(getattr(x, "dtype", None), "kind", "") == "c" or (isinstance(x, (list, tuple)) and is_complex(x)):
        _to_float(dtype, x)
        x = every(x) if nan != "skip" else whole_nans(every(x))
        result = _numpy.empty(x.shape, _numpy.complex128)
        result.real, result.imag = (scan(part, "sum", axis, False, None, (), device, nan) for part in (x.real, x.imag))
        return into(out, result.reshape(-1) if axis is None else result)
    try:
        result = scan(x, "sum", axis, False, dtype, (), device, nan)
    except TypeError:
        if times(x) is None or dtype is not None:
            raise
        return cumulated(x, axis, out, device, nan)
    return into(out, result.reshape(-1) if axis is None else result)


def _indices(x: Any) -> Any:
    x = every(x)
    if x.size and x.dtype.kind not in "iu":
        raise TypeError(f"samesum: indices have to be integers, not {x.dtype}")
    return x if x.size else x.astype(_numpy.int64)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each of 0, 1, … occurs, or the exact sum of the weights there.

    Parameters
    ----------
    x : array_like of int
        None is negative.
    weights : array_like, optional
        Of the shape of `x`.
    minlength : int, optional
        The result has at least so many elements.

    Returns
    -------
    numpy.ndarray
        Sums of floats are rounded once to float64, those of integers are exact.

    Examples
    --------
    >>> samesum.bincount([0, 2, 2])
    array([1, 0, 2])
    >>> samesum.bincount([0, 2, 2], weights=[0.5, 1e16, 1.0])
    array([5.e-01, 0.e+00, 1.e+16])
    """
    x = _indices(x)
    if x.ndim != 1:
        raise ValueError(f"bincount takes an array of one axis, not of {x.ndim}: x.ravel() makes one")
    if _operator.index(minlength) < 0:
        raise ValueError(f"minlength is {minlength}: it must not be negative")
    groups = max(min(int(x.max()) + 1, 2**63) if x.size else 0, minlength, int(x.size != 0))
    if groups == 0:
        return _numpy.zeros(0, _numpy.int64 if weights is None else _numpy.float64)
    if weights is None:
        if x.size == 0 or (x.min() >= 0 and groups < 2**40):
            return _numpy.bincount(x.astype(_numpy.int64, copy=False), minlength=groups)
        # An error, which names the element.
        return _core.sum_at(_numpy.broadcast_to(_numpy.ones((), _numpy.int8), x.shape), x, groups, None)
    return _core.sum_at(weights, x, groups, None)


def add_at(out: Any, indices: Any, values: Any) -> None:
    """``out[indices] += values`` with repeated indices: each element of `out` becomes its exact sum with all values for it, rounded once.

    Parameters
    ----------
    out : numpy.ndarray
        Of one axis; float16, float32, float64, int64 or uint64.
    indices : array_like of int
        Negative ones count from the end, as in numpy.
    values : array_like
        Of the shape of `indices`, or broadcast to it.

    Examples
    --------
    >>> out = numpy.zeros(3)
    >>> samesum.add_at(out, [0, 0, -1], [1e16, 1.0, 2.0])
    >>> out
    array([1.e+16, 0.e+00, 2.e+00])
    """
    indices = _indices(indices)
    if not isinstance(out, _numpy.ndarray) or out.ndim != 1 or out.dtype not in (_numpy.float16, _numpy.float32, _numpy.float64, _numpy.int64, _numpy.uint64):
        raise ValueError("out has to be an array of numpy of one axis, of float16, float32, float64, int64 or uint64")
    if indices.dtype.kind == "i":
        indices = indices.astype(_numpy.int64, copy=False)  # where the length of `out` fits
        if indices.size and int(indices.min()) < -len(out):
            at = int(_numpy.argmin(indices))
            raise ValueError(f"element {at} has the index {indices.reshape(-1)[at]}, and out has {len(out)} elements")
        indices = _numpy.where(indices < 0, indices + len(out), indices)
    values = _numpy.broadcast_to(every(values), indices.shape)
    if not _numpy.can_cast(values.dtype, out.dtype, "same_kind"):
        raise ValueError(f"values of {values.dtype} cannot be added to {out.dtype}")
    result = _core.sum_at(values, indices, len(out), out)
    if result.dtype.kind != out.dtype.kind:
        raise ValueError(f"values of {values.dtype} cannot be added to {out.dtype}")
    out[...] = once(result, out.dtype) if out.dtype.kind == "f" else result


def pairs_arguments(f: Any, reduction: Any, accuracy: Any, h: Any, softening: Any, weights: Any, k: Any, combine: Any, finish: Any,
                    identity: Any, inputs: Any) -> tuple[Any, ...]:
    """The arguments of `pairs` after the arrays, where they are what they have to be."""
    for name, value in (("f", f), ("reduction", reduction), ("accuracy", accuracy), ("combine", combine), ("finish", finish)):
        text(value, name)
    for name, value in (("h", h), ("softening", softening)):
        if not hasattr(value, "__float__"):
            raise TypeError(f"samesum: {name} has to be a number, not {value!r}")
    if not hasattr(k, "__index__"):
        raise TypeError(f"samesum: k has to be an integer, not {k!r}")
    if not 1 <= k <= 128:
        raise ValueError(f"k is {k}: it has to be 1 to 128")
    if k != 1 and reduction not in ("smallest", "argsmallest"):
        raise ValueError(f"k is of 'smallest' and 'argsmallest', and the reduction is '{combine or reduction}': leave it out")
    if not isinstance(inputs, (dict, type(None))):
        raise TypeError(f"samesum: inputs has to be a dict, of names and what they stand for, not {inputs!r}")
    used(inputs or {}, f, combine, finish)
    return f, reduction, accuracy, float(h), float(softening), weights, _operator.index(k), combine, finish, identity, inputs or {}


@documented
def pairs(a: Any, b: Any, f: str = "product", reduction: str = "sum", accuracy: str = "exact", h: float = 1.0, softening: float = 0.0,
          weights: Any = None, device: DeviceLike = None, progress: Progress = None, k: int = 1, combine: str = "", finish: str = "",
          identity: int | float | tuple[int | float, ...] | None = None, inputs: dict[str, Any] | None = None) -> Any:
    """For each vector of `a` the reduction over all vectors of `b` of f(a, b): nearest neighbours, densities, potentials.

    Parameters
    ----------
    a, b : array_like
        Of one axis, or of two with a vector in each row; of one type. Complex numbers have one axis.
    f : str
        'product', 'difference', 'absdiff', 'sqdist', 'gaussian', 'invdist', or a formula such as 'exp(-sqdist(a, b))'.
    reduction : {'sum', 'min', 'max', 'argmin', 'argmax', 'product', 'logsumexp', 'smallest', 'argsmallest'}
        Over the vectors of `b`.
    accuracy : {'exact', 'compensated', 'fast'}
        Of sums: docs/pairs.md has the bounds.
    h, softening : float
        Of gaussian and of invdist.
    weights : array_like, optional
        One for each vector of `b`, which multiplies f.
    {device progress}
    k : int
        How many, of smallest and argsmallest: 1 to 128.
    combine, finish : str
        In place of `reduction`: an operator as a formula of `a` and `b`, and what is made of its result `a`.
    identity : int, float or tuple, optional
        Of `combine`: the result for no vectors of `b`; a tuple if it has several numbers.
    inputs : dict, optional
        What formulas take by name: numbers, and of `f` arrays with a number for each vector of `b`, or with a vector under a name such as ``'v[]'``.

    Returns
    -------
    numpy.ndarray
        A number for each vector of `a`; a row where there are several: of smallest, of a formula or an operator that gives several.

    Examples
    --------
    >>> samesum.pairs([[0.0, 0.0], [5.0, 5.0]], [[4.0, 4.0], [1.0, 0.0]], 'sqdist', 'argmin')
    array([1, 0])
    >>> samesum.pairs([1, 5], [4, 3, 9], 'absdiff', 'argsmallest', k=2)
    array([[1, 0],
           [0, 1]])
    >>> samesum.pairs([0.0, 1.0], [2.0, 5.0], 'q*exp(-s*sqdist(a, b))', inputs={'q': [1.0, 2.0], 's': 0.0})
    array([3., 3.])
    """
    if progress is not None:
        return watched(pairs, locals())
    return _core.pairs(a, b, *pairs_arguments(f, reduction, accuracy, h, softening, weights, k, combine, finish, identity, inputs), device)
