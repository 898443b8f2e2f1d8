"""What results have for those who draw them: the protocol of UHI (mplhep, hist, boost-histogram), matplotlib, notebooks."""
from __future__ import annotations

from typing import Any, Iterable, Iterator

import numpy as _numpy

from ._core import Device, Histogram, Statistics


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


def _uhi(edges: Iterable[Any], outside: bool, storage: dict[str, Any]) -> dict[str, Any]:
    """UHI's form for exchange, which hist and boost-histogram read; `outside`: the values begin with under and end with over."""
    axes = [{"type": "variable", "edges": each, "underflow": outside, "overflow": outside, "circular": False} for each in edges]
    return {"uhi_schema": 1, "axes": axes, "storage": storage}


class HistogramNd(tuple):  # type: ignore[type-arg]
    """Cells of counts or of sums of weights, over one axis or several: `histogramdd`, `histogram2d` and `histogram` of weights make it.

    It is the tuple that numpy's function gives, and has the protocol of UHI.

    Parameters
    ----------
    items : tuple
        What it unpacks as.
    cells : numpy.ndarray
        The counts or sums.
    edges : list of numpy.ndarray
        Those of each axis.
    squares : numpy.ndarray, optional
        The sums of squared weights; of counts `cells` itself.

    Attributes
    ----------
    kind : str
        'COUNT', as UHI has it.

    Examples
    --------
    >>> h = samesum.histogram2d([0.5, 1.5, 1.5], [0.5, 0.5, 0.5], 2, [(0, 2), (0, 2)], weights=[1.0, 2.0, 3.0], squares=True)
    >>> h.values()
    array([[1., 0.],
           [5., 0.]])
    >>> h.variances()
    array([[ 1.,  0.],
           [13.,  0.]])
    >>> list(h.axes[0])
    [(0.0, 1.0), (1.0, 2.0)]
    """

    kind = "COUNT"
    cells: Any
    edges: list[Any]
    squares: Any

    def __new__(cls, items: tuple[Any, ...], cells: Any, edges: list[Any], squares: Any = None) -> HistogramNd:
        self = super().__new__(cls, items)
        self.cells, self.edges, self.squares = cells, edges, squares
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.cells, self.edges, self.squares

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes, as UHI has them."""
        return tuple(Axis(each) for each in self.edges)

    def values(self) -> Any:
        """The cells as float64.

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> samesum.histogramdd([[0.0, 1.0, 1.0]], 2).values()
        array([1., 2.])
        """
        return self.cells.astype(float)

    def variances(self) -> Any:
        """The variances: of counts the counts, of weights the sums of their squares, or None where these were not kept.

        Returns
        -------
        numpy.ndarray or None

        Examples
        --------
        >>> samesum.histogramdd([[0.0, 1.0, 1.0]], 2, weights=[1, 2, 3], squares=True).variances()
        array([ 1., 13.])
        """
        return None if self.squares is None else self.squares.astype(float)

    def counts(self) -> Any:
        """The samples in each cell: of weights the effective number, values² / variances, or None where these were not kept.

        Returns
        -------
        numpy.ndarray or None

        Examples
        --------
        >>> samesum.histogramdd([[0.0, 1.0, 1.0]], 2).counts()
        array([1., 2.])
        """
        if self.squares is self.cells:
            return self.values()
        values, variances = self.values(), self.variances()
        return None if variances is None else _numpy.divide(values**2, variances, out=_numpy.zeros_like(values), where=variances != 0)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw it with matplotlib: of one axis as steps, of two as a map.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; by default the current one.
        **options
            Those of Axes.stairs, or of Axes.pcolormesh.

        Returns
        -------
        matplotlib.patches.StepPatch or matplotlib.collections.QuadMesh

        Examples
        --------
        >>> samesum.histogram2d([0.0, 1.0], [0.0, 3.0], 2).plot()  # doctest: +SKIP
        """
        if len(self.edges) > 2:
            raise ValueError(f"a histogram over {len(self.edges)} axes cannot be drawn: sum its cells over some of them")
        ax = _axes_or_current(ax)
        return ax.stairs(self.cells, self.edges[0], **options) if len(self.edges) == 1 else ax.pcolormesh(*self.edges, self.cells.T, **options)

    def _to_uhi_(self) -> dict[str, Any]:
        if self.squares is self.cells:
            return _uhi(self.edges, False, {"type": "int", "values": self.cells})
        variances = self.variances()
        if variances is None:
            return _uhi(self.edges, False, {"type": "double", "values": self.values()})
        return _uhi(self.edges, False, {"type": "weighted", "values": self.values(), "variances": variances})

    def _repr_html_(self) -> str:
        rows = [(f"axis {i}", f"{len(each) - 1} bins from {each[0]:.6g} to {each[-1]:.6g}") for i, each in enumerate(self.edges)]
        drawing = _map(self.cells) if len(self.edges) == 2 else ""
        return drawing + _listed([*rows, ("cells", self.cells.size), ("greatest", self.cells.max()), ("least", self.cells.min())])


def _map(cells: Any, width: int = 400, height: int = 300, most: int = 64) -> str:
    """An SVG of the cells of two axes, x to the right and y upwards; of many, blocks of cells make one."""
    for axis in (0, 1):
        group = -(-cells.shape[axis] // most)
        cells = _numpy.add.reduceat(cells, _numpy.arange(0, cells.shape[axis], group), axis=axis)
    low, high = float(cells.min()), float(cells.max())
    dx, dy = width / cells.shape[0], height / cells.shape[1]
    shapes = "".join(f'<rect x="{i * dx:.2f}" y="{height - (j + 1) * dy:.2f}" width="{dx:.2f}" height="{dy:.2f}" '
                     f'fill-opacity="{(float(value) - low) / ((high - low) or 1):.3f}"><title>{value}</title></rect>'
                     for (i, j), value in _numpy.ndenumerate(cells))
    return f'<svg width="{width}" height="{height}" fill="#4477aa">{shapes}</svg>'


def _axes_or_current(ax: Any) -> Any:
    if ax is None:
        import matplotlib.pyplot
        ax = matplotlib.pyplot.gca()
    return ax


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
    return _axes_or_current(ax).stairs(self.counts(), self.edges, **options)


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


def _escaped(cell: Any) -> str:
    import html  # imported late, as few programs show tables
    return html.escape(str(cell))


def table(titles: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A table of HTML."""
    def line(tag: str, cells: Iterable[Any]) -> str:
        return "<tr>" + "".join(f"<{tag}>{_escaped(cell)}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + line("th", titles) + "".join(line("td", row) for row in rows) + "</table>"


def _listed(rows: Iterable[tuple[str, Any]]) -> str:
    """A table of names and their values."""
    return "<table>" + "".join(f"<tr><th>{name}</th><td>{_escaped(value)}</td></tr>" for name, value in rows) + "</table>"


def _histogram_html(self: Any) -> str:
    edges = self.edges
    told = (("samples", self.total), ("below", self.under), ("above", self.over), ("NaN", self.nan_count))
    return _bars(self.counts(), edges[0], edges[-1]) + _listed(told)


def _statistics_html(self: Any) -> str:
    names = ("count", "nan_count", "sum", "mean", "norm", "min", "max") if self.count else ("count",)
    return _listed((name, getattr(self, name)) for name in names)


def _histogram_to_uhi(self: Any) -> dict[str, Any]:
    values = _numpy.concatenate([[self.under], self.counts(), [self.over]])
    return _uhi([self.edges], True, {"type": "int", "values": values.astype(_numpy.int64)})


def _to_boost_histogram(self: Any) -> Any:
    """What boost_histogram.Histogram() takes."""
    import boost_histogram
    return boost_histogram.Histogram(self._to_uhi_())


def install() -> None:
    """Give the classes of the module these functions."""
    histogram: Any = Histogram
    statistics: Any = Statistics
    device: Any = Device
    histogram.kind = "COUNT"
    histogram.edges = property(lambda self: self.bins.edges, doc="The edges of the bins: one more than bins.")
    histogram.axes = property(lambda self: (Axis(self.edges),), doc="The axis of the bins, as UHI has it.")
    histogram.values = _values
    histogram.variances = _variances
    histogram.plot = _plot
    histogram._to_uhi_ = _histogram_to_uhi
    histogram._to_boost_histogram_ = HistogramNd._to_boost_histogram_ = _to_boost_histogram  # type: ignore[attr-defined]
    histogram._repr_html_ = _histogram_html
    histogram.__iter__ = lambda self: iter((self.counts(), self.edges))
    histogram.__getitem__ = lambda self, i: (self.counts(), self.edges)[i]
    histogram.__len__ = lambda self: 2
    histogram.__repr__ = lambda self: f"<samesum.Histogram of {self.total} samples in {len(self.edges) - 1} bins>"
    statistics._repr_html_ = _statistics_html
    device._repr_html_ = lambda self: _listed(self.info.items())
