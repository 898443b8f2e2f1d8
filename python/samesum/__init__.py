"""Correctly rounded sums, statistics, exact histograms and products: the same bits on every device.

    >>> import samesum
    >>> samesum.sum([1e100, 1.0, -1e100])
    1.0

The functions have the signatures of numpy's, and take what numpy can look at without a copy: arrays, buffers, torch tensors, pandas and polars
Series. What lies on a CUDA device (torch, CuPy, JAX) is reduced there, in the framework's current stream.
"""
import ctypes

import numpy

from . import _library
from ._arrays import Device, options as _options, view as _view
from ._library import DeviceError, Extremum, Handle, Input, REDUCTIONS, SamesumError, Value, check as _check, library as _lib

__version__ = _lib.samesum_version().decode()
__all__ = ["Accumulator", "Device", "DeviceError", "Histogram", "SamesumError", "Statistics", "all", "any", "argmax", "argmin", "count_nonzero",
           "dot", "histogram", "max", "mean", "median", "min", "norm", "prod", "quantile", "reduce", "selftest", "stats", "std", "sum",
           "sum_map", "var"]

_builtin_max = max


def _number(function, x, how, kind=ctypes.c_double, before=()):
    result = kind()
    _check(function(x.reference(), *before, how, ctypes.byref(result)))
    return result


def _reduce(name, x, axis, keepdims, out, where, device, nan, whole):
    """A reduction of all elements by `whole`, or along axes."""
    if where is not True:
        x = numpy.asarray(x)
        mask = numpy.broadcast_to(where, x.shape)
        if axis is not None:
            raise NotImplementedError("where= together with axis= is not there yet: select the elements first")
        x = x[mask]
    v, how = _view(x), _options(device, nan)
    if axis is None and not keepdims and out is None:
        return whole(v, how)
    rank = len(v.shape)
    axes = tuple(range(rank)) if axis is None else (axis,) if numpy.isscalar(axis) else tuple(axis)
    reduced = {a % rank if -rank <= a < rank else a for a in axes} if rank else set()
    shape = tuple(1 if i in reduced else n for i, n in enumerate(v.shape) if keepdims or i not in reduced)
    dtype = numpy.dtype("float64")
    if name in ("min", "max"):
        if v.dtype == "bfloat16":
            raise NotImplementedError("min and max of bfloat16 along axes")
        dtype = v.dtype
    elif name in ("argmin", "argmax", "count_nonzero"):
        dtype = numpy.dtype("uint64")
    elif name == "sum" and v.dtype != "bfloat16" and v.dtype.kind in "iu":
        dtype = numpy.dtype("int64" if v.dtype.kind == "i" else "uint64")
    result = numpy.empty(shape, dtype) if out is None else out
    to = _view(result)
    if to.dtype != dtype or to.shape != shape:
        raise ValueError(f"out has the shape {to.shape} and the type {to.dtype}: this result has {shape} and {dtype}")
    _check(_lib.samesum_reduce_axes(v.reference(), REDUCTIONS[name], (ctypes.c_int64 * _builtin_max(len(axes), 1))(*axes),
                                    ctypes.c_size_t(len(axes)), int(bool(keepdims)), how, to.reference()))
    return result.view(numpy.int64) if dtype == numpy.uint64 and name != "sum" and out is None else result


def _simple(function):
    return lambda v, how: _number(function, v, how).value


def sum(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The sum, rounded once to float64; of integers exact, or an error beyond 64 bits.

    Parameters
    ----------
    x : array
        Of any type but complex; any strides; in host memory or on a CUDA device.
    axis : int or tuple of int, optional
        Along which to add up; by default all elements.
    out : array, optional
        Where to write, of the result's shape and type; on the device of `x` too.
    keepdims : bool
        The result keeps the axes, with extent 1.
    where : array of bool
        Which elements to take.
    device : str or Device, optional
        Where to compute; by default where `x` is, or on the fastest device for its size.
    nan : {'propagate', 'skip'}
    """
    return _reduce("sum", x, axis, keepdims, out, where, device, nan, lambda v, how: _number(_lib.samesum_sum_value, v, how, Value).get())


def mean(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The mean, rounded once. Parameters as those of sum()."""
    return _reduce("mean", x, axis, keepdims, out, where, device, nan, _simple(_lib.samesum_mean))


def _spread(name, function, x, axis, ddof, out, keepdims, where, device, nan):
    if axis is not None and ddof != 0:
        raise NotImplementedError("ddof together with axis is not there yet")
    return _reduce(name, x, axis, keepdims, out, where, device, nan,
                   lambda v, how: _number(function, v, how, before=(ctypes.c_uint64(ddof),)).value)


def var(x, axis=None, ddof=0, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The variance, divided by n - ddof, rounded once. Other parameters as those of sum()."""
    return _spread("var", _lib.samesum_variance, x, axis, ddof, out, keepdims, where, device, nan)


def std(x, axis=None, ddof=0, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The standard deviation: the root of the exact variance, rounded once. Parameters as those of var()."""
    return _spread("std", _lib.samesum_standard_deviation, x, axis, ddof, out, keepdims, where, device, nan)


def norm(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The Euclidean norm, rounded once. Parameters as those of sum()."""
    return _reduce("norm", x, axis, keepdims, out, where, device, nan, _simple(_lib.samesum_norm))


def _extreme(name, x, axis, keepdims, out, where, device, nan, index):
    function = _lib.samesum_min if name.endswith("min") else _lib.samesum_max

    def whole(v, how):
        found = _number(function, v, how, Extremum)
        return found.index if index else found.value.get()
    return _reduce(name, x, axis, keepdims, out, where, device, nan, whole)


def min(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The least element; -0.0 is less than 0.0. Parameters as those of sum()."""
    return _extreme("min", x, axis, keepdims, out, where, device, nan, False)


def max(x, axis=None, out=None, keepdims=False, where=True, device=None, nan="propagate"):
    """The greatest element. Parameters as those of sum()."""
    return _extreme("max", x, axis, keepdims, out, where, device, nan, False)


def argmin(x, axis=None, out=None, keepdims=False, device=None, nan="propagate"):
    """The lowest index, in C order, of the least element. Parameters as those of sum()."""
    return _extreme("argmin", x, axis, keepdims, out, True, device, nan, True)


def argmax(x, axis=None, out=None, keepdims=False, device=None, nan="propagate"):
    """The lowest index, in C order, of the greatest element. Parameters as those of sum()."""
    return _extreme("argmax", x, axis, keepdims, out, True, device, nan, True)


def count_nonzero(x, axis=None, keepdims=False, device=None):
    """The number of elements that are not zero."""
    return _reduce("count_nonzero", x, axis, keepdims, None, True, device, "propagate",
                   lambda v, how: _number(_lib.samesum_count_nonzero, v, how, ctypes.c_uint64).value)


def any(x, device=None):
    """Whether any element is not zero."""
    return count_nonzero(x, device=device) != 0


def all(x, device=None):
    """Whether no element is zero."""
    v = _view(x)
    return count_nonzero(v, device=device) == v.size


def prod(x, device=None, nan="propagate"):
    """The product: of floats by the fixed tree over the index, of integers exact, or an error with the exact value."""
    return _number(_lib.samesum_product, _view(x), _options(device, nan), Value).get()


def dot(a, b, device=None, nan="propagate"):
    """The sum of a[i]·b[i], rounded once."""
    return _number(_lib.samesum_dot, _view(a), _options(device, nan), before=(_view(b).reference(),)).value


def quantile(x, q, nan="propagate"):
    """The quantile at q in [0, 1] as numpy defines it, exact; a list for several q."""
    v, how = _view(x), _options(None, nan)
    if not numpy.isscalar(q):
        return [quantile(v, one, nan) for one in q]
    return _number(_lib.samesum_quantile, v, how, before=(ctypes.c_double(q),)).value


def median(x, nan="propagate"):
    """The middle element, or the mean of both."""
    return quantile(x, 0.5, nan)


def sum_map(formula, device=None, nan="propagate", **names):
    """The exact sum of what a formula gives at each position, rounded once: ``sum_map("w*(x-m)^2", w=w, x=x, m=3.0)``."""
    inputs, views = (Input * _builtin_max(len(names), 1))(), []
    for i, (name, x) in enumerate(names.items()):
        views.append(_view(numpy.asarray(x) if numpy.isscalar(x) else x))
        inputs[i].name, inputs[i].array = name.encode(), views[-1].array
    result = ctypes.c_double()
    _check(_lib.samesum_sum_map(formula.encode(), inputs, ctypes.c_size_t(len(names)), _options(device, nan), ctypes.byref(result)))
    return result.value


def reduce(x, combine, identity=None, device=None):
    """By an associative operator of one's own, a formula of a and b: ``reduce(x, "gcd(a, b)", 0)``; by the fixed tree over the index."""
    start = None
    if identity is not None:
        whole = isinstance(identity, int)
        start = Value(_library.TYPES["int64" if whole else "float64"])
        setattr(start, "integer" if whole else "real", identity)
        start = ctypes.byref(start)
    return _number(_lib.samesum_reduce_by, _view(x), _options(device), Value, before=(combine.encode(), start)).get()


class Accumulator(Handle):
    """An exact sum as a value: add to it, merge it with those of other parts, round it once. It pickles."""
    kind = "accumulator"

    def __init__(self, x=None):
        if not isinstance(x, ctypes.c_void_p):
            pointer = ctypes.c_void_p()
            _check(_lib.samesum_accumulator_new(ctypes.byref(pointer)))
            super().__init__(pointer)
            if x is not None:
                self.add(x)
        else:
            super().__init__(x)

    def add(self, x, device=None):
        """Adds the elements of an array, or a number; returns itself."""
        if isinstance(x, float):
            _check(_lib.samesum_accumulator_add_number(self.pointer, ctypes.c_double(x)))
        else:
            _check(_lib.samesum_accumulator_add(self.pointer, _view(x).reference(), _options(device)))
        return self

    def merge(self, other):
        """Adds another exact sum; returns itself."""
        _check(_lib.samesum_accumulator_merge(self.pointer, other.pointer))
        return self

    __iadd__ = merge

    def __add__(self, other):
        return Accumulator().merge(self).merge(other)

    def __float__(self):
        result = ctypes.c_double()
        _check(_lib.samesum_accumulator_round(self.pointer, ctypes.byref(result)))
        return result.value

    def value(self):
        """An int where all elements were integers, else a float."""
        result = Value()
        _check(_lib.samesum_accumulator_value(self.pointer, ctypes.byref(result)))
        return result.get()

    def words(self):
        """int64 words that merge by addition, for MPI, NCCL and torch.distributed."""
        words = numpy.empty(82, numpy.int64)
        _check(_lib.samesum_accumulator_words(self.pointer, words.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))))
        return words

    @classmethod
    def from_words(cls, words):
        words = numpy.ascontiguousarray(words, numpy.int64)
        if words.shape != (82,):
            raise ValueError(f"an accumulator has 82 words, not {words.shape}")
        return cls.make(_lib.samesum_accumulator_from_words, words.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)))

    @property
    def count(self):
        return _lib.samesum_accumulator_count(self.pointer)

    def __repr__(self):
        return f"<samesum.Accumulator {float(self)!r} of {self.count}>"


class Statistics(Handle):
    """Several statistics of a sequence, from one pass; those of a later part can be added."""
    kind = "statistics"

    def _get(self, name, nan="propagate", kind=ctypes.c_double, before=()):
        result = kind()
        _check(getattr(_lib, "samesum_statistics_" + name)(self.pointer, *before, int(nan == "skip"), ctypes.byref(result)))
        return result

    def merge(self, later):
        """Adds those of the elements that follow; returns itself."""
        _check(_lib.samesum_statistics_merge(self.pointer, later.pointer))
        return self

    __iadd__ = merge
    count = property(lambda self: _lib.samesum_statistics_count(self.pointer))
    min = property(lambda self: self._get("min", kind=Extremum).value.get())
    max = property(lambda self: self._get("max", kind=Extremum).value.get())
    argmin = property(lambda self: self._get("min", kind=Extremum).index)
    argmax = property(lambda self: self._get("max", kind=Extremum).index)
    sum = property(lambda self: self._get("sum").value)
    mean = property(lambda self: self._get("mean").value)
    norm = property(lambda self: self._get("norm").value)

    def std(self, ddof=0, nan="propagate"):
        return self._get("standard_deviation", nan, before=(ctypes.c_uint64(ddof),)).value

    def var(self, ddof=0, nan="propagate"):
        return self._get("variance", nan, before=(ctypes.c_uint64(ddof),)).value

    def __repr__(self):
        return f"<samesum.Statistics of {self.count}: mean {self.mean!r}>" if self.count else "<samesum.Statistics of 0>"


def stats(x, device=None):
    """Count, extrema, sum, mean, variance, norm from one pass."""
    return Statistics.make(_lib.samesum_statistics_collect, _view(x).reference(), _options(device))


class _Bins(Handle):
    kind = "bins"


class Histogram(Handle):
    """Counts over bins, and of what lies outside; those of other parts can be added."""
    kind = "histogram"
    edges = None

    def merge(self, other):
        """Adds the counts over the same bins; returns itself."""
        _check(_lib.samesum_histogram_merge(self.pointer, other.pointer))
        return self

    __iadd__ = merge

    @property
    def counts(self):
        size = ctypes.c_uint64()
        found = _lib.samesum_histogram_counts(self.pointer, ctypes.byref(size))
        return numpy.ctypeslib.as_array(found, (size.value,)).copy()

    def _outside(self, which):
        numbers = [ctypes.c_uint64() for _ in range(3)]
        _lib.samesum_histogram_outside(self.pointer, *map(ctypes.byref, numbers))
        return numbers[which].value

    under = property(lambda self: self._outside(0))
    over = property(lambda self: self._outside(1))
    nan = property(lambda self: self._outside(2))

    def __iter__(self):  # counts, edges = samesum.histogram(x), as numpy
        return iter((self.counts, self.edges))


def histogram(x, bins=10, range=None, device=None):
    """Exact counts: `bins` even ones from the least to the greatest element, or over `range`; or between given edges.

    The result unpacks as numpy's: ``counts, edges = samesum.histogram(x)``. It also has under, over and nan, and merges.
    """
    v = _view(x)
    if numpy.isscalar(bins):
        if range is None:
            found = stats(v) if v.size else None
            low, high = (float(found.min), float(found.max)) if found else (0.0, 1.0)
            low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        else:
            low, high = range
        edges = _Bins.make(_lib.samesum_bins_even, ctypes.c_double(low), ctypes.c_double(high), ctypes.c_uint64(bins))
    else:
        given = numpy.ascontiguousarray(bins, numpy.float64)
        edges = _Bins.make(_lib.samesum_bins_between, given.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), ctypes.c_size_t(given.size))
    result = Histogram.make(_lib.samesum_histogram_of, v.reference(), edges.pointer, _options(device))
    count = _lib.samesum_bins_count(edges.pointer)
    result.edges = numpy.ctypeslib.as_array(_lib.samesum_bins_edges(edges.pointer), (count + 1,)).copy()
    return result


def selftest(device="cpu"):
    """Whether a device gives the right bits: DeviceError with the failures where not. Takes seconds."""
    _check(_lib.samesum_device_selftest((Device(device) if isinstance(device, str) else device).pointer))
