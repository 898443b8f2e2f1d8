"""Results of many groups: sums by key and by index, scans, histograms over several axes, all pairs."""
import builtins

import numpy as _numpy

from . import _core


def scan(x, operation="sum", axis=None, exclusive=False, dtype=None, offsets=(), device=None, nan="propagate"):
    """The reduction of every prefix: result i has the bits of the reduction of the elements up to i.

    Parameters
    ----------
    x : array
    operation : {'sum', 'product', 'min', 'max', 'count_nonzero'}
    axis : int, optional
        Along which, for each position along the others; by default over all elements in C order.
    exclusive : bool
        Result i is that of the elements before i.
    dtype : numpy.float32, optional
        Sums of floats are rounded once to float32 instead of to float64.
    offsets : sequence of int, optional
        Where the scan begins anew: ascending indices in C order, the first of which is 0.

    Returns
    -------
    numpy.ndarray
        Of the shape of `x`.
    """
    to_float = dtype is not None and _numpy.dtype(dtype) == _numpy.float32
    if dtype is not None and not to_float and _numpy.dtype(dtype) != _numpy.float64:
        raise ValueError(f"dtype has to be None, float64 or float32, not {_numpy.dtype(dtype)}")
    return _core.scan(x, operation, axis, exclusive, to_float, [int(offset) for offset in offsets], nan, device)


def cumsum(x, axis=None, dtype=None, out=None, device=None, nan="propagate"):
    """The exact sums of all prefixes, each rounded once. Without `axis` of the elements in C order, as one axis."""
    result = scan(x, "sum", axis, False, dtype, (), device, nan)
    if axis is None:
        result = result.reshape(-1)
    if out is None:
        return result
    if out.shape != result.shape or out.dtype != result.dtype:
        raise ValueError(f"out has the shape {out.shape} and the type {out.dtype}: this result has {result.shape} and {result.dtype}")
    out[...] = result
    return out


class GroupBy:
    """Elements with equal keys as groups, in ascending order of the keys.

    `keys` holds the key of each group, in the order of all results.
    """

    def __init__(self, keys):
        keys = _numpy.asarray(keys)
        if keys.dtype.kind in "iub":
            self._by = _core.By.keys_of(keys)
            self.keys = self._by.keys.astype(keys.dtype, copy=False)
        else:  # of any type that can be sorted: by their ranks
            self.keys, ranks = _numpy.unique(keys, return_inverse=True)
            self._by = _core.By.keys_of(ranks.reshape(keys.shape))

    def sum(self, x, nan="propagate"):
        """The exact sum of each group, rounded once; of integers int64 or uint64."""
        return self._by.reduce(x, "sum", 0, nan)

    def mean(self, x, nan="propagate"):
        return self._by.reduce(x, "mean", 0, nan)

    def var(self, x, ddof=0, nan="propagate"):
        """The variance of each group, rounded once; NaN for one of no more than `ddof` elements."""
        return self._by.reduce(x, "var", ddof, nan)

    def min(self, x, nan="propagate"):
        """Of floats as float64, of integers as int64 or uint64."""
        return self._by.reduce(x, "min", 0, nan)

    def max(self, x, nan="propagate"):
        return self._by.reduce(x, "max", 0, nan)

    def count(self, x):
        """The elements of each group, NaNs included."""
        return self._by.reduce(x, "count", 0, None)

    def __len__(self):
        return self._by.groups

    def __repr__(self):
        return f"<samesum.GroupBy of {len(self)} groups>"


def groupby(keys):
    """The groups of equal keys: ``samesum.groupby(keys).sum(x)``.

    Examples
    --------
    >>> samesum.groupby([7, 3, 7]).sum([1e16, 2.0, 1.0])
    array([2.0e+00, 1.0e+16])
    """
    return GroupBy(keys)


def _indices(x):
    x = _numpy.asarray(x)
    if x.size and x.dtype.kind not in "iu":
        raise TypeError(f"samesum: indices have to be integers, not {x.dtype}")
    return x if x.size else x.astype(_numpy.int64)


def bincount(x, weights=None, minlength=0):
    """How often each of 0, 1, … occurs in `x`; with `weights` the exact sum of theirs, rounded once, of integers exact."""
    x = _indices(x)
    groups = max(int(x.max()) + 1 if x.size else 0, minlength)
    if groups == 0:
        return _numpy.zeros(0, _numpy.int64 if weights is None else _numpy.float64)
    if weights is None:
        return _core.sum_at(_numpy.broadcast_to(_numpy.ones((), _numpy.int8), x.shape), x, groups, None)
    return _core.sum_at(weights, x, groups, None)


def add_at(out, indices, values):
    """``out[indices] += values`` with repeated indices: each element of `out` becomes its exact sum with all values for it, rounded once.

    Parameters
    ----------
    out : numpy.ndarray
        Of one axis; float32, float64, int64 or uint64.
    indices : array of int
        Negative ones count from the end, as in numpy.
    values : array
        Of the shape of `indices`, or broadcast to it.
    """
    indices = _indices(indices)
    if out.ndim != 1 or out.dtype not in (_numpy.float32, _numpy.float64, _numpy.int64, _numpy.uint64):
        raise ValueError("out has to be an array of numpy of one axis, of float32, float64, int64 or uint64")
    if indices.dtype.kind == "i":
        indices = _numpy.where(indices < 0, indices + len(out), indices)
    values = _numpy.broadcast_to(values, indices.shape)
    if not _numpy.can_cast(values.dtype, out.dtype, "same_kind"):
        raise ValueError(f"values of {values.dtype} cannot be added to {out.dtype}")
    result = _core.sum_at(values, indices, len(out), out)
    if result.dtype.kind != out.dtype.kind:
        raise ValueError(f"values of {values.dtype} cannot be added to {out.dtype}")
    out[...] = result


def histogramdd(sample, bins=10, range=None, weights=None, device=None):
    """Counts over the cells of a grid, or the exact sums of weights in them, rounded once: numpy's function.

    `sample`: an array of shape (N, D), or a sequence of D arrays. `bins`: a number, or for each axis a number or edges. Returns the cells
    and a list of the edges of each axis.
    """
    if not isinstance(sample, (list, tuple)):
        sample = _numpy.asarray(sample)
        sample = [sample[:, i] for i in builtins.range(sample.shape[1])] if sample.ndim == 2 else [sample]
    each = [bins] * len(sample) if _numpy.isscalar(bins) else list(bins)
    limits = [None] * len(sample) if range is None else list(range)
    if len(each) != len(sample) or len(limits) != len(sample):
        raise ValueError(f"there are {len(sample)} axes: bins and range have {len(each)} and {len(limits)}")
    axes = [bins_of(x, count, limit) for x, count, limit in zip(sample, each, limits)]
    if weights is None:
        cells = _core.count_cells(list(sample), axes, device)
    else:
        cells = _core.weigh_cells(list(sample), weights, axes, "sums")
    return cells, [axis.edges for axis in axes]


def histogram2d(x, y, bins=10, range=None, weights=None, device=None):
    """The histogram of the samples (x[i], y[i]): cells, edges of x, edges of y."""
    if not _numpy.isscalar(bins) and len(bins) != 2:
        bins = [bins, bins]
    cells, (x_edges, y_edges) = histogramdd([x, y], bins, range, weights, device)
    return cells, x_edges, y_edges


def bins_of(x, bins, limits):
    """Bins as numpy's functions take them: a number, or edges."""
    if _numpy.ndim(bins) > 0:
        return _core.Bins.between([float(edge) for edge in bins])
    return _core.Bins.spanning(x, bins) if limits is None else _core.Bins.even(float(limits[0]), float(limits[1]), bins)


def pairs(a, b, f="product", reduction="sum", accuracy="exact", h=1.0, softening=0.0, weights=None, device=None):
    """For each vector of `a` the reduction over all vectors of `b` of f(a, b): nearest neighbours, densities, potentials.

    Parameters
    ----------
    a, b : arrays of one axis, or of two with a vector in each row
        Both float32 or both float64.
    f : str
        'product', 'difference', 'absdiff', 'sqdist', 'gaussian', 'invdist', or a formula such as 'exp(-sqdist(a, b))'.
    reduction : {'sum', 'min', 'max', 'argmin', 'argmax'}
    accuracy : {'exact', 'compensated', 'fast'}
        Of sums: docs/pairs.md has the bounds.
    h, softening : float
        Of gaussian and of invdist.
    weights : array, optional
        One for each vector of `b`, which multiplies f.
    """
    return _core.pairs(a, b, f, reduction, accuracy, h, softening, weights, device)


