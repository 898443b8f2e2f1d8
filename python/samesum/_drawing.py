"""What results have for those who draw them: the protocol of UHI (mplhep, hist, boost-histogram), matplotlib, notebooks."""
from __future__ import annotations

from typing import Any, Iterable, Iterator

import numpy as _numpy

from ._core import Histogram, Statistics


class Axis:
    """An axis of bins as UHI has it: a sequence of intervals (low, high).

    Parameters
    ----------
    edges : numpy.ndarray
        One more than bins.

    Examples
    --------
    >>> list(samesum.histogram([0.0, 1.0, 2.0], 2).axes[0])
    [(0.0, 1.0), (1.0, 2.0)]
    """

    class traits:  # pylint: disable=invalid-name,missing-class-docstring
        circular, discrete = False, False

    def __init__(self, edges: Any) -> None:
        self.edges = edges

    @property
    def centers(self) -> Any:
        """The middle of each bin."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __getitem__(self, index: int) -> tuple[float, float]:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"there are {count} bins, not {index}")
        return float(self.edges[index % count]), float(self.edges[index % count + 1])

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axis) and bool(_numpy.array_equal(self.edges, other.edges))


def _plot(self: Any, ax: Any = None, **options: Any) -> Any:
    """Draw the counts as steps with matplotlib.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        Where; by default the current one.
    **options
        Those of Axes.stairs.

    Returns
    -------
    matplotlib.patches.StepPatch

    Examples
    --------
    >>> samesum.histogram([0.0, 1.0, 1.0], 2).plot(color='red')  # doctest: +SKIP
    """
    if ax is None:
        import matplotlib.pyplot
        ax = matplotlib.pyplot.gca()
    return ax.stairs(self.counts(), self.edges, **options)


def _values(self: Any) -> Any:
    """The counts as float64, as UHI has them.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> samesum.histogram([0.0, 1.0, 1.0], 2).values()
    array([1., 2.])
    """
    return self.counts().astype(float)


def _variances(self: Any) -> Any:
    """The variances of counts, as UHI has them: the counts.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> samesum.histogram([0.0, 1.0, 1.0], 2).variances()
    array([1., 2.])
    """
    return self.counts().astype(float)


def _bars(counts: Any, low: float, high: float, width: int = 400, height: int = 120, most: int = 400) -> str:
    """An SVG of bars; of many bins, several make one bar."""
    group = -(-len(counts) // most)
    bars = [int(counts[i:i + group].sum()) for i in range(0, len(counts), group)]
    greatest, step = max(max(bars), 1), width / len(bars)
    shapes = "".join(f'<rect x="{i * step:.2f}" y="{height - height * bar / greatest:.2f}" width="{step:.2f}" '
                     f'height="{height * bar / greatest:.2f}"><title>{bar}</title></rect>' for i, bar in enumerate(bars) if bar)
    return (f'<svg width="{width}" height="{height + 16}" fill="#4477aa">{shapes}<g font-size="11" fill="currentColor">'
            f'<text x="0" y="{height + 13}">{low:.6g}</text>'
            f'<text x="{width}" y="{height + 13}" text-anchor="end">{high:.6g}</text></g></svg>')


def _table(rows: Iterable[tuple[str, Any]]) -> str:
    return "<table>" + "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows) + "</table>"


def _histogram_html(self: Any) -> str:
    edges = self.edges
    return _bars(self.counts(), edges[0], edges[-1]) + _table((("samples", self.total), ("below", self.under), ("above", self.over), ("NaN", self.nan_count)))


def _statistics_html(self: Any) -> str:
    names = ("count", "nan_count", "sum", "mean", "norm", "min", "max") if self.count else ("count",)
    return _table((name, getattr(self, name)) for name in names)


def install() -> None:
    """Give the classes of the module these functions."""
    histogram: Any = Histogram
    statistics: Any = Statistics
    histogram.kind = "COUNT"
    histogram.edges = property(lambda self: self.bins.edges, doc="The edges of the bins: one more than bins.")
    histogram.axes = property(lambda self: (Axis(self.edges),), doc="The axis of the bins, as UHI has it.")
    histogram.values = _values
    histogram.variances = _variances
    histogram.plot = _plot
    histogram._repr_html_ = _histogram_html
    histogram.__iter__ = lambda self: iter((self.counts(), self.edges))
    histogram.__repr__ = lambda self: f"<samesum.Histogram of {self.total} samples in {len(self.edges) - 1} bins>"
    statistics._repr_html_ = _statistics_html
