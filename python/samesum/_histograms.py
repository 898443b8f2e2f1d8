"""Histograms over one axis or several."""
from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as _numpy

from . import _core
from ._core import Histogram
from ._docs import documented

if TYPE_CHECKING:
    from ._docs import DeviceLike


def bins_of(x: Any, bins: Any, limits: Any) -> Any:
    """Bins as numpy's functions take them: a number, or edges."""
    if _numpy.ndim(bins) > 0:
        return _core.Bins.between([float(edge) for edge in bins])
    return _core.Bins.spanning(x, bins) if limits is None else _core.Bins.even(float(limits[0]), float(limits[1]), bins)


@documented
def histogram(x: Any, bins: Any = 10, range: Any = None, device: DeviceLike = None) -> Histogram:
    """The number of samples in each bin; samples outside and NaNs are counted apart.

    Parameters
    ----------
    {x}
    bins : int or sequence of float, optional
        Their number, or ascending edges.
    range : tuple of float, optional
        The outer edges; by default the least and the greatest finite sample.
    {device}

    Returns
    -------
    Histogram
        It unpacks like numpy's pair: ``counts, edges = histogram(x)``.

    Examples
    --------
    >>> counts, edges = samesum.histogram([0.0, 1.0, 1.5, 4.0], bins=4)
    >>> counts, edges
    (array([1, 2, 0, 1]), array([0., 1., 2., 3., 4.]))
    """
    return _core.histogram(x, bins_of(x, bins, range), device)


@documented
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, device: DeviceLike = None) -> Any:
    """Counts over the cells of a grid, or the exact sums of weights in them, rounded once.

    Parameters
    ----------
    sample : array_like of shape (N, D), or sequence of D array_like
        The coordinates of the samples.
    bins : int or sequence, optional
        A number, or for each axis a number or edges.
    range : sequence, optional
        For each axis the outer edges, or None.
    weights : array_like, optional
        One for each sample.
    {device}

    Returns
    -------
    cells : numpy.ndarray
        Of D axes.
    edges : list of numpy.ndarray
        Those of each axis.

    Examples
    --------
    >>> samesum.histogramdd([[0.0, 1.0, 1.0], [0.0, 3.0, 3.0]], 2)
    (array([[1, 0],
           [0, 2]]), [array([0. , 0.5, 1. ]), array([0. , 1.5, 3. ])])
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


@documented
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, device: DeviceLike = None) -> Any:
    """The histogram of the samples (x[i], y[i]), or the exact sums of weights in its cells, rounded once.

    Parameters
    ----------
    x, y : array_like
        The coordinates of the samples.
    bins : int or sequence, optional
        A number, edges, or for each of the two axes a number or edges.
    range : sequence, optional
        For each axis the outer edges, or None.
    weights : array_like, optional
        One for each sample.
    {device}

    Returns
    -------
    cells, x_edges, y_edges : numpy.ndarray
        As numpy's.

    Examples
    --------
    >>> samesum.histogram2d([0.0, 1.0, 1.0], [0.0, 3.0, 3.0], 2)[0]
    array([[1, 0],
           [0, 2]])
    """
    if not _numpy.isscalar(bins) and len(bins) != 2:
        bins = [bins, bins]
    cells, (x_edges, y_edges) = histogramdd([x, y], bins, range, weights, device)
    return cells, x_edges, y_edges
