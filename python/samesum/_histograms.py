"""Histograms over one axis or several."""
from __future__ import annotations

import builtins
import operator as _operator
from typing import TYPE_CHECKING, Any

import numpy as _numpy

from . import _core
from ._arrays import listed, present, widened
from ._docs import documented
from ._drawing import HistogramNd
from ._progress import watched

if TYPE_CHECKING:
    from ._docs import DeviceLike, Progress


def _bins_of(x: Any, bins: Any, limits: Any, weighted: bool = False) -> Any:
    """Bins as numpy's functions take them: a number, edges, or the name of a rule."""
    if isinstance(bins, str):
        if weighted:
            raise TypeError(f"the rule {bins!r} knows no weights: pass the number of bins, or edges")
        bins = _numpy.histogram_bin_edges(widened(_numpy.asarray(present(x)[0])), bins, limits)
    if _numpy.ndim(bins) > 1:
        raise ValueError(f"bins has {_numpy.ndim(bins)} axes: it is a number of bins, or edges along one axis")
    if _numpy.ndim(bins) > 0:
        return _core.Bins.between([float(edge) for edge in bins])
    if not hasattr(bins, "__index__"):
        raise TypeError(f"bins is a number of bins, edges along one axis, or the name of a rule, not {bins!r}")
    if not 0 <= _operator.index(bins) < 2**63:
        raise ValueError(f"bins is a number of bins, which is not {bins!r}")
    if limits is not None and len(limits) != 2:
        raise ValueError(f"range has to be two numbers, not {limits!r}")
    return _core.Bins.spanning(x, bins) if limits is None else _core.Bins.even(float(limits[0]), float(limits[1]), bins)


@documented
def histogram(x: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None, squares: bool = False, device: DeviceLike = None,
              progress: Progress = None) -> Any:
    """The number of samples in each bin, or the exact sum of their weights, rounded once.

    Parameters
    ----------
    {x}
    bins : int, sequence of float or str, optional
        Their number, or ascending edges, or the name of a rule of numpy.histogram_bin_edges.
    range : tuple of float, optional
        The outer edges; by default the least and the greatest finite sample.
    {density weights squares device progress}

    Returns
    -------
    Histogram or HistogramNd
        It unpacks like numpy's pair: ``counts, edges = histogram(x)``. A `Histogram` of samples without weights counts also what lies outside
        and NaNs.

    Examples
    --------
    >>> counts, edges = samesum.histogram([0.0, 1.0, 1.5, 4.0], bins=4)
    >>> counts, edges
    (array([1, 2, 0, 1]), array([0., 1., 2., 3., 4.]))
    >>> samesum.histogram([0.0, 1.0, 1.5, 4.0], bins=2, weights=[1.0, 1e16, 2.0, 0.5])[0]
    array([1.e+16, 5.e-01])
    """
    if progress is not None:
        return watched(histogram, locals())
    x, bins, weights = listed(x), listed(bins), listed(weights)
    if weights is None and not density:
        return _core.histogram(x, _bins_of(x, bins, range), device)
    cells = _filled([x], [_bins_of(x, bins, range, weights is not None)], density, weights, squares, device)
    return HistogramNd((cells[0], cells[1][0]), *cells)


@documented
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None, squares: bool = False,
                device: DeviceLike = None, progress: Progress = None) -> HistogramNd:
    """Counts over the cells of a grid, or the exact sums of weights in them, rounded once.

    Parameters
    ----------
    sample : array_like of shape (N, D), or sequence of D array_like
        The coordinates of the samples.
    bins : int or sequence, optional
        A number, or for each axis a number or edges.
    range : sequence, optional
        For each axis the outer edges, or None.
    {density weights squares device progress}

    Returns
    -------
    HistogramNd
        It unpacks as numpy's pair: the cells, and a list of the edges of each axis.

    Examples
    --------
    >>> samesum.histogramdd([[0.0, 1.0, 1.0], [0.0, 3.0, 3.0]], 2)
    (array([[1, 0],
           [0, 2]]), [array([0. , 0.5, 1. ]), array([0. , 1.5, 3. ])])
    """
    if progress is not None:
        return watched(histogramdd, locals())
    sample, weights = listed(sample), listed(weights)
    if not isinstance(sample, (list, tuple)):
        sample = _numpy.asarray(sample)
        sample = [sample[:, i] for i in builtins.range(sample.shape[1])] if sample.ndim == 2 else [sample]
    else:
        sample = [listed(x) for x in sample]
    each: list[Any] = [bins] * len(sample) if _numpy.isscalar(bins) else list(bins)
    limits = [None] * len(sample) if range is None else list(range)
    if len(each) != len(sample) or len(limits) != len(sample):
        raise ValueError(f"there are {len(sample)} axes: bins and range have {len(each)} and {len(limits)}")
    for i, count in enumerate(each):
        if _numpy.ndim(count) == 0 and not isinstance(count, str) and not (hasattr(count, "__index__") and count > 0):
            raise ValueError(f"bins[{i}] is {count!r}: it is a number of bins, or edges")
    axes = [_bins_of(x, count, limit, weights is not None) for x, count, limit in zip(sample, each, limits)]
    cells = _filled(list(sample), axes, density, weights, squares, device)
    return HistogramNd(cells[:2], *cells)


@documented
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None, squares: bool = False,
                device: DeviceLike = None, progress: Progress = None) -> HistogramNd:
    """The histogram of the samples (x[i], y[i]), or the exact sums of weights in its cells, rounded once.

    Parameters
    ----------
    x, y : array_like
        The coordinates of the samples.
    bins : int or sequence, optional
        A number, edges, or for each of the two axes a number or edges.
    range : sequence, optional
        For each axis the outer edges, or None.
    {density weights squares device progress}

    Returns
    -------
    HistogramNd
        It unpacks as numpy's triple: the cells, the edges of x, those of y.

    Examples
    --------
    >>> cells, x_edges, y_edges = samesum.histogram2d([0.0, 1.0, 1.0], [0.0, 3.0, 3.0], 2)
    >>> cells
    array([[1, 0],
           [0, 2]])
    """
    if progress is not None:
        return watched(histogram2d, locals())
    if not _numpy.isscalar(bins) and len(bins) != 2:
        bins = [bins, bins]
    found = histogramdd([x, y], bins, range, density, weights, squares, device)
    return HistogramNd((found.cells, *found.edges), found.cells, found.edges, found.squares)


def _filled(sample: list[Any], axes: list[Any], density: bool, weights: Any, squares: bool, device: DeviceLike) -> tuple[Any, list[Any], Any]:
    """The cells, the edges, and the sums of squared weights or None."""
    if density and squares:
        raise ValueError("a density has no sums of squares: density or squares")
    if weights is None:
        cells = second = _core.count_cells(sample, axes, device)
    else:
        cells, second = _core.weigh_cells(sample, weights, axes, squares, device)
    edges = [axis.edges for axis in axes]
    if density:  # in numpy's order of operations
        total, second = cells.sum(), None
        for i, each in enumerate(edges):
            cells = cells / _numpy.diff(each).reshape([-1 if k == i else 1 for k in builtins.range(len(edges))])
        cells = cells / total
    return cells, edges, second
