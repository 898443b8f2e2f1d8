"""Exact reductions of dask's arrays and of columns of its data frames, as trees of accumulators: the same bits for any chunks.

    >>> import dask.array, samesum.dask
    >>> x = dask.array.from_array(numpy.array([1e16, 1.0, -1e16]), chunks=1)
    >>> float(samesum.dask.sum(x))
    1.0

The results are dask's arrays, which compute when they are asked for. ``import samesum`` alone does not import dask.
"""
from __future__ import annotations

import builtins
from typing import Any, Sequence, Union

import dask as _untyped_dask
import dask.array as _untyped_array
import numpy as _numpy

from . import _dask_parts as _parts
from ._histograms import histogram as _histogram
from ._reductions import _correction, numbered as _numbered

__all__ = ["GroupBy", "dot", "groupby", "histogram", "mean", "norm", "std", "sum", "var"]

_dask: Any = _untyped_dask  # many of its functions have no types
_array: Any = _untyped_array
Axis = Union[None, int, Sequence[int]]
_FEW = 16  # parts that one task merges


def _taken(x: Any) -> Any:
    """An array of dask, or a column of one of its data frames."""
    x = x if hasattr(x, "to_delayed") and hasattr(x, "dtype") else _array.asarray(x)
    if _kind(x) not in "biuf" and getattr(x.dtype, "name", "") != "bfloat16":
        raise TypeError(f"samesum.dask: elements of type {x.dtype} are no real numbers that it knows; convert them to float64 first")
    return x


def _kind(x: Any) -> str:
    return str(getattr(x.dtype, "kind", "O"))


def _chunks(x: Any) -> list[Any]:
    return list(_numpy.ravel(_numpy.array(x.to_delayed(), dtype=object)))


def _task(function: Any, *arguments: Any) -> Any:
    return _dask.delayed(function, pure=True)(*arguments)


def _tree(parts: list[Any], merge: Any) -> Any:
    while len(parts) > 1:
        parts = [_task(merge, parts[i:i + _FEW]) for i in range(0, len(parts), _FEW)]
    return parts[0]


def _type(what: str, *inputs: Any) -> Any:
    """The type of the results, which is known before the elements are."""
    kinds = {_kind(x) for x in inputs}
    if what != "sum" or not kinds <= set("biu"):
        return _numpy.dtype(_numpy.float64)
    return _numpy.dtype(_numpy.int64 if "i" in kinds else _numpy.uint64)


def _reduced(what: str, x: Any, axis: Axis, keepdims: bool, ddof: int, nan: str) -> Any:
    x, ddof = _taken(x), _correction(ddof)
    rank = getattr(x, "ndim", 1)
    dtype = _type(what, x)
    axes = _numbered(axis, rank)
    if len(axes) == rank:
        parts = [_task(_parts.collected, chunk, what) for chunk in _chunks(x)]
        result = _task(_parts.shown, _tree(parts, _parts.merged), what, ddof, nan, dtype)
        whole = _array.from_delayed(result, (), dtype=dtype)
        return whole.reshape((1,) * rank) if keepdims else whole
    blocks = _numpy.moveaxis(x.to_delayed(), axes, builtins.range(rank - len(axes), rank))
    kept = [i for i in builtins.range(rank) if i not in axes]
    results = _numpy.empty(blocks.shape[:len(kept)], dtype=object)
    for place in _numpy.ndindex(results.shape):
        parts = [_task(_parts.along, chunk, tuple(axes), what) for chunk in _numpy.ravel(blocks[place])]
        result = _task(_parts.shown_along, _tree(parts, _parts.merged_along), what, ddof, nan, dtype)
        results[place] = _array.from_delayed(result, tuple(x.chunks[i][at] for i, at in zip(kept, place)), dtype=dtype)
    result = _array.block(results.tolist())
    return result[tuple(None if i in axes else slice(None) for i in builtins.range(rank))] if keepdims else result


def sum(x: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """The exact sum: of floats rounded once to float64, of integers exact.

    Parameters
    ----------
    x : dask.array.Array or column of a dask.dataframe.DataFrame
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all elements.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.
    nan : {'propagate', 'skip'}, optional
        Whether a NaN makes the result NaN, or is left out.

    Returns
    -------
    dask.array.Array
        Of floats float64, of integers int64 or uint64; its computation raises NoAnswerError where a sum does not fit.

    Examples
    --------
    >>> samesum.dask.sum(dask.array.from_array(numpy.array([[2, 3], [5, 7]]), chunks=1), axis=0).compute()
    array([ 7, 10])
    """
    return _reduced("sum", x, axis, keepdims, 0, nan)


def mean(x: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """The exact mean, rounded once.

    Parameters
    ----------
    x : dask.array.Array or column of a dask.dataframe.DataFrame
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all elements.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.
    nan : {'propagate', 'skip'}, optional
        Whether a NaN makes the result NaN, or is left out.

    Returns
    -------
    dask.array.Array
        Along axes NaN where there are no elements; of all elements its computation then raises NoAnswerError.

    Examples
    --------
    >>> float(samesum.dask.mean(dask.array.from_array(numpy.array([1e300, 1.7e308, 1.7e308]), chunks=2)))
    1.1333333366666667e+308
    """
    return _reduced("mean", x, axis, keepdims, 0, nan)


def var(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False, nan: str = "propagate") -> Any:
    """The variance in exact arithmetic, rounded once.

    Parameters
    ----------
    x : dask.array.Array or column of a dask.dataframe.DataFrame
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all elements.
    ddof : int, optional
        The variance is divided by n - `ddof`.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.
    nan : {'propagate', 'skip'}, optional
        Whether a NaN makes the result NaN, or is left out.

    Returns
    -------
    dask.array.Array
        Along axes NaN where there are no more than `ddof` elements; of all elements its computation then raises NoAnswerError.

    Examples
    --------
    >>> float(samesum.dask.var(dask.array.arange(1, 4, chunks=2), ddof=1))
    1.0
    """
    return _reduced("var", x, axis, keepdims, ddof, nan)


def std(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False, nan: str = "propagate") -> Any:
    """The root of the exact variance, rounded once.

    Parameters
    ----------
    x : dask.array.Array or column of a dask.dataframe.DataFrame
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all elements.
    ddof : int, optional
        The variance is divided by n - `ddof`.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.
    nan : {'propagate', 'skip'}, optional
        Whether a NaN makes the result NaN, or is left out.

    Returns
    -------
    dask.array.Array
        Along axes NaN where there are no more than `ddof` elements; of all elements its computation then raises NoAnswerError.

    Examples
    --------
    >>> float(samesum.dask.std(dask.array.from_array(numpy.array([1.0, 3.0]), chunks=1)))
    1.0
    """
    return _reduced("std", x, axis, keepdims, ddof, nan)


def norm(x: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """The Euclidean norm, rounded once; nothing overflows on the way.

    Parameters
    ----------
    x : dask.array.Array or column of a dask.dataframe.DataFrame
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all elements.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.
    nan : {'propagate', 'skip'}, optional
        Whether a NaN makes the result NaN, or is left out.

    Returns
    -------
    dask.array.Array

    Examples
    --------
    >>> float(samesum.dask.norm(dask.array.from_array(numpy.array([3e300, 4e300]), chunks=1)))
    5e+300
    """
    return _reduced("norm", x, axis, keepdims, 0, nan)


def _aligned(a: Any, b: Any) -> tuple[list[Any], list[Any]]:
    """The chunks of two vectors of one length, or of two columns of one data frame."""
    if hasattr(a, "chunks") and hasattr(b, "chunks"):
        if a.ndim != 1 or b.ndim != 1:
            raise ValueError(f"samesum.dask: this takes arrays of one axis, not of {a.ndim} and {b.ndim}")
        if a.shape != b.shape and not _numpy.isnan(a.shape[0] + b.shape[0]):
            raise ValueError(f"samesum.dask: the arrays have {a.shape[0]} and {b.shape[0]} elements")
        _, (a, b) = _array.core.unify_chunks(a, "i", b, "i")
    left, right = _chunks(a), _chunks(b)
    if len(left) != len(right):
        raise ValueError(f"samesum.dask: the columns have {len(left)} and {len(right)} partitions: take both from one data frame")
    return left, right


def dot(a: Any, b: Any, nan: str = "propagate") -> Any:
    """The exact sum of the products of two vectors: of floats rounded once, of integers exact.

    Parameters
    ----------
    a, b : dask.array.Array or columns of one dask.dataframe.DataFrame
        Of one axis and one type.
    nan : {'propagate', 'skip'}, optional
        Whether a NaN makes the result NaN, or is left out.

    Returns
    -------
    dask.array.Array

    Examples
    --------
    >>> a = dask.array.from_array(numpy.array([1e20, 1.0, -1e20]), chunks=2)
    >>> float(samesum.dask.dot(a, dask.array.from_array(numpy.array([1e20, 2.0, 1e20]), chunks=1)))
    2.0
    """
    a, b = _taken(a), _taken(b)
    if a.dtype != b.dtype:
        raise ValueError(f"samesum.dask: a and b are of different types, {a.dtype} and {b.dtype}: convert one of them")
    dtype = _type("sum", a, b)
    parts = [_task(_parts.products, *pair) for pair in zip(*_aligned(a, b))]
    return _array.from_delayed(_task(_parts.shown_product, _tree(parts, _parts.merged), nan, dtype), (), dtype=dtype)


def histogram(x: Any, bins: Any = 10, range: Any = None) -> tuple[Any, Any]:
    """The number of samples in each bin.

    Parameters
    ----------
    x : dask.array.Array or column of a dask.dataframe.DataFrame
        Numbers.
    bins : int or sequence of float, optional
        Their number, or ascending edges.
    range : tuple of float, optional
        The outer edges; needed where `bins` is a number.

    Returns
    -------
    counts : dask.array.Array
        Of int64.
    edges : numpy.ndarray

    Examples
    --------
    >>> counts, edges = samesum.dask.histogram(dask.array.arange(10, chunks=3), bins=2, range=(0, 10))
    >>> counts.compute(), edges
    (array([5, 5]), array([ 0.,  5., 10.]))
    """
    x = _taken(x)
    if _numpy.ndim(bins) == 0 and range is None:
        raise ValueError("samesum.dask: a number of bins needs range=(low, high), or pass edges: the elements are not there yet")
    edges = _histogram([], bins, range).edges
    parts = [_task(_histogram, chunk, bins, range) for chunk in _chunks(x)]
    counts = _task(_parts.counts, _tree(parts, _parts.merged))
    return _array.from_delayed(counts, (len(edges) - 1,), dtype=_numpy.int64), edges


class GroupBy:
    """Elements with equal keys as groups, in ascending order of the keys: `groupby` makes it.

    Parameters
    ----------
    keys : dask.array.Array or column of a dask.dataframe.DataFrame
        One for each element, of any type that can be sorted.

    Attributes
    ----------
    keys : dask.array.Array
        The key of each group, in the order of all results. Its length is not known before it is computed.
    """

    def __init__(self, keys: Any) -> None:
        self._keys = keys if hasattr(keys, "to_delayed") else _array.asarray(keys)
        parts = [_task(_parts.keys, chunk) for chunk in _chunks(self._keys)]
        dtype = self._keys.dtype if isinstance(self._keys.dtype, _numpy.dtype) else _numpy.dtype(object)
        self.keys = _array.from_delayed(_tree(parts, _parts.merged_keys), (_numpy.nan,), dtype=dtype)

    def _reduced(self, what: str, x: Any, ddof: int = 0, nan: str = "propagate") -> Any:
        x, ddof = _taken(x), _correction(ddof)
        dtype = _numpy.dtype(_numpy.int64) if what == "count" else _type("sum" if what in ("min", "max") else what, x)
        parts = [_task(_parts.grouped, keys, values, what) for keys, values in zip(*_aligned(self._keys, x))]
        result = _task(_parts.shown_groups, _tree(parts, _parts.merged_groups), what, ddof, nan, dtype)
        return _array.from_delayed(result, (_numpy.nan,), dtype=dtype)

    def sum(self, x: Any, nan: str = "propagate") -> Any:
        """The exact sum of each group, rounded once."""
        return self._reduced("sum", x, nan=nan)

    def mean(self, x: Any, nan: str = "propagate") -> Any:
        """The mean of each group, rounded once."""
        return self._reduced("mean", x, nan=nan)

    def var(self, x: Any, ddof: int = 0, nan: str = "propagate") -> Any:
        """The variance of each group, rounded once; NaN for one of no more than `ddof` elements."""
        return self._reduced("var", x, ddof, nan)

    def std(self, x: Any, ddof: int = 0, nan: str = "propagate") -> Any:
        """The root of the exact variance of each group, rounded once; NaN for one of no more than `ddof` elements."""
        return self._reduced("std", x, ddof, nan)

    def min(self, x: Any, nan: str = "propagate") -> Any:
        """The least element of each group."""
        return self._reduced("min", x, nan=nan)

    def max(self, x: Any, nan: str = "propagate") -> Any:
        """The greatest element of each group."""
        return self._reduced("max", x, nan=nan)

    def count(self, x: Any) -> Any:
        """The elements of each group, NaNs included."""
        return self._reduced("count", x)


def groupby(keys: Any) -> GroupBy:
    """The groups of equal keys.

    Parameters
    ----------
    keys : dask.array.Array or column of a dask.dataframe.DataFrame
        One for each element, of any type that can be sorted.

    Returns
    -------
    GroupBy
        With ``keys``, and ``sum(x)``, ``mean``, ``var``, ``std``, ``min``, ``max`` and ``count``.

    Examples
    --------
    >>> groups = samesum.dask.groupby(dask.array.from_array(numpy.array([7, 3, 7]), chunks=2))
    >>> total = groups.sum(dask.array.from_array(numpy.array([1e16, 2.0, 1.0]), chunks=1))
    >>> dask.compute(groups.keys, total)
    (array([3, 7]), array([2.e+00, 1.e+16]))
    """
    return GroupBy(keys)
