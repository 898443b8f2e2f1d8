"""Correctly rounded sums, statistics and histograms, with the same bits on the CPU, OpenCL and CUDA.

    >>> import samesum
    >>> samesum.sum([1e100, 1.0, -1e100])
    1.0

The functions have numpy's names and arguments. They read arrays of numpy, tensors, array.array, pandas and polars Series and everything
with the buffer protocol or ``__array_interface__`` without a copy, and arrays on a GPU (``__cuda_array_interface__``) where they lie, on
the current stream of their framework. Without ``axis`` the result is a Python number; with it an array of numpy, or `out`.

Arguments that the functions share:

``axis``
    None for all elements, an axis, or a tuple of axes.
``dtype``
    ``numpy.float32`` rounds the exact result once to float32, instead of to float64.
``out``
    Where to write: an array of the result's shape and type, in host memory or on the GPU of `x`.
``keepdims``
    The result keeps the axes, with extent 1.
``where``
    An array of bool that broadcasts to the shape of `x`: which elements to take.
``device``
    None (where the elements lie, or by their size), a `Device`, or its selector: ``'cpu'``, ``'opencl:0'``, ``'cuda:0'``.
``nan``
    ``'propagate'`` (a NaN makes the result NaN) or ``'skip'``.

Errors: `SamesumError` (a ValueError) for a bad argument, `NoAnswerError` (an ArithmeticError too) where there is no answer, as for the mean
of no elements, `DeviceError` (a RuntimeError) where a device fails.
"""
import json as _json
from fractions import Fraction as _Fraction

import numpy as _numpy

from . import _core
from ._core import Accumulator, Device, DeviceError, Histogram, NoAnswerError, SamesumError, Statistics, devices
from ._histograms import install as _install
from ._groups import GroupBy, add_at, bincount, bins_of as _bins_of, cumsum, groupby, histogram2d, histogramdd, pairs, scan

__version__ = _core.version()
__all__ = ["Accumulator", "Device", "DeviceError", "GroupBy", "Histogram", "NoAnswerError", "SamesumError", "Statistics", "add_at", "all", "any",
           "argmax", "argmin", "bincount", "count_nonzero", "cumsum", "devices", "dot", "groupby", "histogram", "histogram2d", "histogramdd",
           "map", "max", "mean", "median", "min", "norm", "pairs", "prod", "quantile", "reduce", "scan", "selftest", "stats", "std", "sum",
           "sum_map", "var"]

_AXIS = _core.AxisReduction
_MEAN, _VAR, _STD, _NORM = _core.Average.mean, _core.Average.var, _core.Average.std, _core.Average.norm


def _axes(axis):
    return None if axis is None else list(axis) if isinstance(axis, (tuple, list)) else [axis]


def _to_float(dtype):
    if dtype is None:
        return False
    dtype = _numpy.dtype(dtype)
    if dtype not in (_numpy.float32, _numpy.float64):
        raise ValueError(f"dtype has to be None, float64 or float32, not {dtype}: integers are summed exactly without it")
    return dtype == _numpy.float32


def _each(function, x, axis, keepdims, out, where):
    """`function` of the elements at each position along the other axes: for what the library does not do along axes."""
    if hasattr(x, "__cuda_array_interface__"):
        raise ValueError("arrays on a GPU have no where=, and this function has no axis= and out= for them: use their framework's indexing")
    if isinstance(x, _numpy.ma.MaskedArray):
        where, x = _numpy.logical_and(~_numpy.ma.getmaskarray(x), where), x.data
    x = _numpy.asarray(x)
    axes = set()
    for a in range(x.ndim) if axis is None else _axes(axis):
        if not -x.ndim <= a < x.ndim or a % x.ndim in axes:
            raise ValueError(f"axis {a} is none of an array of {x.ndim} axes, or named twice")
        axes.add(a % x.ndim)
    last = range(x.ndim - len(axes), x.ndim)
    moved = _numpy.moveaxis(x, sorted(axes), last)
    rest = moved.shape[:x.ndim - len(axes)]
    if where is True:
        results = [function(moved[position]) for position in _numpy.ndindex(rest)]
    else:
        taken = _numpy.moveaxis(_numpy.broadcast_to(where, x.shape), sorted(axes), last)
        results = [function(moved[position][taken[position]]) for position in _numpy.ndindex(rest)]
    if axis is None and not keepdims and out is None:
        return results[0]
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape)) if keepdims else rest
    results = _numpy.array(results).reshape(shape)
    return results if out is None else _into(out, results)


def _into(out, results):
    if out.shape != results.shape or not _numpy.can_cast(results.dtype, out.dtype, "same_kind"):
        raise ValueError(f"out has the shape {out.shape} and the type {out.dtype}: this result has {results.shape} and {results.dtype}")
    out[...] = results
    return out


def _simple(x, where):
    """Whether the library takes all elements of `x` along axes as they are."""
    return where is True and not (isinstance(x, _numpy.ma.MaskedArray) and _numpy.ma.is_masked(x))


def _along(reduction, whole, x, axis, out, keepdims, where, device, nan):
    """A reduction along axes; `whole`: the same of all elements."""
    if not _simple(x, where):
        return _each(whole, x, axis, keepdims, out, where)
    return _core.along(reduction, x, _axes(axis), keepdims, nan, device, out)


def sum(x, axis=None, dtype=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The exact sum: of floats rounded once to the nearest float64 (`dtype` float32: float32), of integers exact.

    Without `axis` a sum of integers may have any size; with it the result is int64 or uint64, and NoAnswerError is raised where one
    does not fit. Complex numbers are summed by parts. Parameters: see the module.

    Examples
    --------
    >>> samesum.sum([1e16, 1.0, -1e16])
    1.0
    """
    to_float = dtype is not None and _to_float(dtype)
    if axis is None and where is True and out is None and not keepdims:
        return _core.sum(x, nan, device, to_float)
    if to_float:
        return _as_float32(_each(lambda part: _core.sum(part, nan, device, True), x, axis, keepdims, out, where))
    return _along(_AXIS.sum, lambda part: _core.sum(part, nan, device, False), x, axis, out, keepdims, where, device, nan)


def _as_float32(result):
    return result.astype(_numpy.float32, copy=False) if isinstance(result, _numpy.ndarray) and result.dtype == _numpy.float64 else result


def _average(what, reduction, x, axis, dtype, out, keepdims, where, nan, device, ddof=0):
    to_float = dtype is not None and _to_float(dtype)
    if axis is None and where is True and out is None and not keepdims:
        return _core.average(x, what, ddof, nan, device, to_float)
    if to_float or ddof:
        result = _each(lambda part: _core.average(part, what, ddof, nan, device, to_float), x, axis, keepdims, out, where)
        return _as_float32(result) if to_float and out is None else result
    return _along(reduction, lambda part: _core.average(part, what, 0, nan, device, False), x, axis, out, keepdims, where, device, nan)


def mean(x, axis=None, dtype=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The exact mean, rounded once."""
    return _average(_MEAN, _AXIS.mean, x, axis, dtype, out, keepdims, where, nan, device)


def var(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True, device=None, nan="propagate"):
    """The variance in exact arithmetic, rounded once; divided by n - `ddof`."""
    return _average(_VAR, _AXIS.var, x, axis, dtype, out, keepdims, where, nan, device, ddof)


def std(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True, device=None, nan="propagate"):
    """The standard deviation: the root of the exact variance, rounded once."""
    return _average(_STD, _AXIS.std, x, axis, dtype, out, keepdims, where, nan, device, ddof)


def norm(x, axis=None, dtype=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The Euclidean norm of all elements, rounded once; nothing overflows on the way."""
    return _average(_NORM, _AXIS.norm, x, axis, dtype, out, keepdims, where, nan, device)


def dot(a, b, device=None, nan="propagate"):
    """The sum of the products of elements of two arrays of one shape and type: of floats rounded once, of integers exact."""
    return _core.dot(a, b, nan, device)


def _extreme(greatest, index, reduction, x, axis, out, keepdims, where, device, nan):
    if axis is None and where is True and out is None and not keepdims:
        return _core.extremum(x, greatest, index, nan, device)
    return _along(reduction, lambda part: _core.extremum(part, greatest, index, nan, device), x, axis, out, keepdims, where, device, nan)


def min(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The least element; -0.0 is less than 0.0."""
    return _extreme(False, False, _AXIS.min, x, axis, out, keepdims, where, device, nan)


def max(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The greatest element."""
    return _extreme(True, False, _AXIS.max, x, axis, out, keepdims, where, device, nan)


def argmin(x, axis=None, out=None, keepdims=False, device=None, nan="propagate"):
    """The lowest index of the least element, in C order; of the first NaN where there is one and it is not skipped."""
    return _extreme(False, True, _AXIS.argmin, _unmasked(x), axis, out, keepdims, True, device, nan)


def argmax(x, axis=None, out=None, keepdims=False, device=None, nan="propagate"):
    """The lowest index of the greatest element. As `argmin`."""
    return _extreme(True, True, _AXIS.argmax, _unmasked(x), axis, out, keepdims, True, device, nan)


def _unmasked(x):
    if not _simple(x, True):
        raise TypeError("samesum: elements are masked, so positions are not those of x: pass x.compressed(), or x.filled(numpy.nan) with nan='skip'")
    return x


def prod(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The product: of integers exact, of any size; of floats by the balanced binary tree over the index, the same bits everywhere."""
    if axis is None and where is True and out is None and not keepdims:
        return _core.product(x, nan, device)
    return _each(lambda part: _core.product(part, nan, device), x, axis, keepdims, out, where)


def count_nonzero(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """How many elements are not zero."""
    if axis is None and where is True and out is None and not keepdims:
        return _core.count_nonzero(x, nan, device)
    return _along(_AXIS.count_nonzero, lambda part: _core.count_nonzero(part, nan, device), x, axis, out, keepdims, where, device, nan)


def any(x, axis=None, keepdims=False, where=True, device=None):
    """Whether any element is not zero; a NaN is not zero."""
    return count_nonzero(x, axis, None, keepdims, where, device) > 0


def all(x, axis=None, keepdims=False, where=True, device=None):
    """Whether no element is zero; a NaN is not."""
    if not _simple(x, where):
        whole = lambda part: _core.count_nonzero(part, "propagate", device) == part.size
        return _each(whole, x, axis, keepdims, None, where)
    shape = getattr(x, "shape", None)
    if shape is None:
        x = _numpy.asarray(x)
        shape = x.shape
    positions = 1
    for i in range(len(shape)) if axis is None else _axes(axis):
        positions *= shape[i]
    return count_nonzero(x, axis, None, keepdims, True, device) == positions


def stats(x, device=None):
    """Count, extrema and their positions, sum, mean, variance, norm and more from one pass, as `Statistics`."""
    return _core.stats(x, device)


def quantile(x, q, axis=None, out=None, method="linear", keepdims=False, where=True, device=None, nan="propagate"):
    """Exact quantiles; `q` in [0, 1] is a number or a list of them. `method`: linear, lower, higher, nearest, midpoint, as numpy's.

    With `axis`, `q` is a number.
    """
    if axis is not None or keepdims or where is not True or out is not None:
        return _each(lambda part: _core.quantiles(part, [float(q)], method, nan, device)[0], x, axis, keepdims, out, where)
    if _numpy.ndim(q) == 0:
        return _core.quantiles(x, [float(q)], method, nan, device)[0]
    return _numpy.array(_core.quantiles(x, [float(each) for each in q], method, nan, device))


def median(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The exact median."""
    return quantile(x, 0.5, axis, out, "linear", keepdims, where, device, nan)


def histogram(x, bins=10, range=None, device=None):
    """The number of samples in each bin, as a `Histogram`, which unpacks like numpy's pair: ``counts, edges = histogram(x)``.

    `bins`: their number, or ascending edges; `range`: the outer edges, by default the least and the greatest finite sample. Samples outside
    and NaNs are counted apart.
    """
    return _core.histogram(x, _bins_of(x, bins, range), device)


def reduce(x, operator, identity=None, device=None):
    """The elements reduced by a formula of `a` and `b`, such as ``'gcd(a, b)'``, over a fixed tree: docs/formulas.md has the formulas."""
    return _core.reduce(x, operator, identity, device)


def map(formula, **inputs):
    """The values of a formula at each position: arrays and numbers by name. A tuple's components come as a tuple of arrays.

    Examples
    --------
    >>> samesum.map('sqrt(x^2 + y^2)', x=[3.0], y=[4.0])
    array([5.])
    """
    results = _core.map(formula, inputs)
    return results[0] if len(results) == 1 else tuple(results)


def sum_map(formula, device=None, nan="propagate", **inputs):
    """The exact sum of a formula's values, rounded once, without an array of them: ``sum_map('w*(x - m)^2', w=w, x=x, m=3.0)``."""
    return _core.sum_map(formula, inputs, nan, device)


def selftest(device="cpu"):
    """Whether a device gives the right bits: a dict with ``passed``. Takes seconds."""
    return _json.loads(_core.selftest(device))


def _fraction(self):
    """The exact sum as a fractions.Fraction. NoAnswerError where a NaN or an infinity was added."""
    if self.nan_count or self.infinities:
        raise NoAnswerError("a sum with NaNs or infinities is no fraction")
    return _Fraction(self._fixed(), 1 << 1074)


def _round(self, nan="propagate"):
    """The sum, rounded once to the nearest float64."""
    return self._round(nan)


def _value(self):
    """An int where all elements were integers, else the rounded float."""
    return self._integer() if self._whole and self.count else self._round(None)


def _words(self):
    """82 words of int64 that merge by addition: for MPI, NCCL and torch.distributed."""
    return _numpy.array(self._words(), _numpy.int64)


Accumulator.fraction = _fraction
Accumulator.round = _round
Accumulator.value = _value
Accumulator.words = _words
Accumulator.from_words = staticmethod(lambda words: Accumulator._from_words(_numpy.asarray(words, _numpy.int64).tolist()))
Accumulator.__float__ = lambda self: self._round(None)
Accumulator.__repr__ = lambda self: f"<samesum.Accumulator of {self.count} elements: {self._round(None)!r}>"
Statistics.__repr__ = lambda self: f"<samesum.Statistics of {self.count}: mean {self.mean!r}>" if self.count else "<samesum.Statistics of 0>"
_install(Histogram, Statistics)
