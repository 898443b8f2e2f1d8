"""What histograms have for those who draw them: the protocol of UHI (mplhep, hist, boost-histogram), matplotlib, notebooks."""
import numpy as _numpy


class Axis:
    """An axis of bins as UHI has it: a sequence of intervals (low, high)."""

    class traits:  # pylint: disable=invalid-name,missing-class-docstring
        circular, discrete = False, False

    def __init__(self, edges):
        self.edges = edges

    @property
    def centers(self):
        return (self.edges[1:] + self.edges[:-1]) / 2

    def __len__(self):
        return len(self.edges) - 1

    def __getitem__(self, index):
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"there are {count} bins, not {index}")
        return float(self.edges[index % count]), float(self.edges[index % count + 1])

    def __eq__(self, other):
        return isinstance(other, Axis) and _numpy.array_equal(self.edges, other.edges)


def plot(self, ax=None, **options):
    """Draw the counts as steps with matplotlib, on `ax` or the current axes; returns what was drawn. `options`: those of Axes.stairs."""
    if ax is None:
        import matplotlib.pyplot
        ax = matplotlib.pyplot.gca()
    return ax.stairs(self.counts(), self.edges, **options)


def _bars(counts, low, high, width=400, height=120, most=400):
    """An SVG of bars; of many bins, several make one bar."""
    group = -(-len(counts) // most)
    bars = [int(counts[i:i + group].sum()) for i in range(0, len(counts), group)]
    greatest, step = max(max(bars), 1), width / len(bars)
    shapes = "".join(f'<rect x="{i * step:.2f}" y="{height - height * bar / greatest:.2f}" width="{step:.2f}" '
                     f'height="{height * bar / greatest:.2f}"><title>{bar}</title></rect>' for i, bar in enumerate(bars) if bar)
    return (f'<svg width="{width}" height="{height + 16}" fill="#4477aa">{shapes}<g font-size="11" fill="currentColor">'
            f'<text x="0" y="{height + 13}">{low:.6g}</text>'
            f'<text x="{width}" y="{height + 13}" text-anchor="end">{high:.6g}</text></g></svg>')


def _table(rows):
    return "<table>" + "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows) + "</table>"


def histogram_html(self):
    edges = self.edges
    return _bars(self.counts(), edges[0], edges[-1]) + _table((("samples", self.total), ("below", self.under), ("above", self.over), ("NaN", self.nan_count)))


def statistics_html(self):
    names = ("count", "nan_count", "sum", "mean", "norm", "min", "max") if self.count else ("count",)
    return _table((name, getattr(self, name)) for name in names)


def install(histogram, statistics):
    """Give the classes of the module these functions."""
    histogram.kind = "COUNT"
    histogram.edges = property(lambda self: self.bins.edges, doc="One more than bins.")
    histogram.axes = property(lambda self: (Axis(self.edges),), doc="The axis of the bins, as UHI has it.")
    histogram.values = lambda self: self.counts().astype(float)
    histogram.variances = histogram.values  # of counts
    histogram.plot = plot
    histogram._repr_html_ = histogram_html
    histogram.__iter__ = lambda self: iter((self.counts(), self.edges))
    histogram.__repr__ = lambda self: f"<samesum.Histogram of {self.total} samples in {len(self.edges) - 1} bins>"
    statistics._repr_html_ = statistics_html
