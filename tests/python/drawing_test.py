"""What results have for those who draw them: notebooks, matplotlib, and the protocol of UHI."""
import importlib.util
import os
import sys
import unittest
import xml.etree.ElementTree

from support.informative import informative

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
try:
    import numpy as np
    import samesum
except ImportError as error:
    raise unittest.SkipTest(f"the Python package cannot be imported: {error}")


def page(thing):
    return xml.etree.ElementTree.fromstring("<p>" + thing._repr_html_() + "</p>")


def cells(thing):
    """The lines of the table that notebooks show."""
    return [[cell.text for cell in line] for line in page(thing).iter("tr")]


def titles(thing):
    return [float(title.text) for title in page(thing).iter("title")]


class Notebooks(unittest.TestCase):
    def test_histograms(self):
        for x, bins in (([0.0, 1.0, 1.0], 2), (np.arange(5000.0), 1003), ([], 3)):
            h = samesum.histogram(x, bins)
            self.assertEqual(sum(titles(h)), h.counts().sum())
            self.assertLessEqual(len(titles(h)), 400)
            self.assertIn(["samples", str(h.total)], cells(h))

    def test_grids(self):
        x, y = np.random.default_rng(1).normal(size=(2, 5000))
        for bins in ([3, 5], [200, 7]):
            h = samesum.histogram2d(x, y, bins)
            self.assertEqual(sum(informative(titles(h))), 5000)
            self.assertLessEqual(len(titles(h)), 64 * 64)
            self.assertIn(f"{bins[1]} bins", cells(h)[1][1])
        first = page(samesum.histogram2d([0.1, 0.9, 0.9], [0.1, 0.9, 0.9], 2))
        opaque = [each for each in first.iter("rect") if each.get("fill-opacity") == "1.000"]
        self.assertEqual([(each.get("x"), each.get("y")) for each in opaque], [("200.00", "0.00")], "to the right and upwards")
        self.assertEqual(len(cells(samesum.histogramdd([x, y, x], 2))), 6)
        self.assertEqual(titles(samesum.histogram(x, 3, weights=y)), [])

    def test_statistics_and_devices(self):
        self.assertIn(["mean", "2.0"], cells(samesum.stats([1.0, 3.0])))
        self.assertEqual(cells(samesum.stats([])), [["count", "0"]])
        listed = samesum.devices()
        found = cells(listed)
        self.assertEqual(found[0][:2], ["selector", "name"])
        self.assertEqual([line[0] for line in found[1:]], [each["selector"] for each in listed])
        self.assertEqual(samesum.Device("cpu").info, listed[0])
        self.assertIn(["selector", "cpu"], cells(samesum.Device("cpu")))
        listed[0]["name"] = "a <b> & c"
        self.assertEqual(cells(listed)[1][1], "a <b> & c")


class Drawing(unittest.TestCase):
    def needs(self, name):
        if importlib.util.find_spec(name) is None:
            self.skipTest(f"{name} is not installed")

    def test_given_axes(self):
        class Axes:
            def stairs(self, values, edges, **options):
                return "stairs", values.tolist(), edges.tolist(), options

            def pcolormesh(self, x, y, values, **options):
                return "map", x.tolist(), y.tolist(), values.tolist(), options

        self.assertEqual(samesum.histogram([0.0, 1.0, 1.0], 2).plot(Axes(), color="red"), ("stairs", [1, 2], [0.0, 0.5, 1.0], {"color": "red"}))
        self.assertEqual(samesum.histogram([0.0, 1.0, 1.0], 2, weights=[1, 2, 4]).plot(Axes()), ("stairs", [1, 6], [0.0, 0.5, 1.0], {}))
        grid = samesum.histogram2d([0.0, 2.0, 2.0], [0.0, 0.0, 3.0], [1, 2])
        self.assertEqual(grid.plot(Axes(), cmap="Blues"), ("map", [0.0, 2.0], [0.0, 1.5, 3.0], [[2], [1]], {"cmap": "Blues"}))
        with self.assertRaisesRegex(ValueError, "3 axes"):
            samesum.histogramdd([[0.0]] * 3).plot(Axes())

    def test_matplotlib(self):
        self.needs("matplotlib")
        import matplotlib
        matplotlib.use("agg")
        import matplotlib.pyplot as plt
        steps = samesum.histogram([0.0, 1.0, 1.0], 2).plot(color="red")
        self.assertEqual((steps.get_data().values.tolist(), steps.axes), ([1, 2], plt.gca()))
        mesh = samesum.histogram2d([0.0, 2.0, 2.0], [0.0, 0.0, 3.0], [1, 2]).plot()
        self.assertEqual(mesh.get_array().tolist(), [[2], [1]])
        plt.close("all")

    def test_protocol(self):
        grid = samesum.histogram2d([0.5, 1.5, 1.5], [0.5, 0.5, 0.5], 2, [(0, 2), (0, 2)], weights=[1.0, 2.0, 3.0], squares=True)
        counted = samesum.histogram([0.0, 1.0, 1.0], 2)
        self.assertEqual((grid.values().tolist(), grid.variances().tolist()), ([[1, 0], [5, 0]], [[1, 0], [13, 0]]))
        self.assertEqual(grid.counts().tolist(), [[1, 0], [25 / 13, 0]])
        self.assertEqual((counted.values().tolist(), counted.variances().tolist(), counted.counts().tolist()), ([1, 2], [1, 2], [1, 2]))
        self.needs("uhi")
        from uhi.typing.plottable import PlottableAxisGeneric, PlottableHistogram
        for h in (grid, counted, samesum.histogram([0.0, 1.0], 2, weights=[1, 2])):
            self.assertIsInstance(h, PlottableHistogram)
            for axis in h.axes:
                self.assertIsInstance(axis, PlottableAxisGeneric)

    def test_form_for_exchange(self):
        form = samesum.histogram([-1.0, 0.0, 1.0, 1.0, 7.0, 8.0], 2, (0, 1))._to_uhi_()
        self.assertEqual((form["storage"]["values"].tolist(), form["axes"][0]["underflow"]), ([1, 1, 2, 2], True))
        form = samesum.histogram([0.0, 1.0, 1.0], 2, weights=[1, 2, 3], squares=True)._to_uhi_()
        self.assertEqual((form["storage"]["type"], form["storage"]["variances"].tolist(), form["axes"][0]["overflow"]), ("weighted", [1, 13], False))
        self.assertEqual(samesum.histogram([0.0, 1.0], 2, weights=[1, 2])._to_uhi_()["storage"]["type"], "double")

    def test_mplhep(self):
        self.needs("mplhep")
        import matplotlib
        matplotlib.use("agg")
        import mplhep
        drawn = mplhep.histplot(samesum.histogram([0.0, 1.0, 1.0], 2))
        self.assertEqual(drawn[0].stairs.get_data().values.tolist(), [1, 2])
        mplhep.hist2dplot(samesum.histogram2d([0.0, 2.0, 2.0], [0.0, 0.0, 3.0], [1, 2]))

    def test_hist(self):
        self.needs("hist")
        import boost_histogram
        import hist
        taken = hist.Hist(samesum.histogram([-1.0, 0.0, 1.0, 1.0, 7.0, 8.0, 9.0], 2, (0, 1)))
        self.assertEqual((taken.values(flow=True).tolist(), taken.axes[0].edges.tolist()), ([1, 1, 2, 3], [0.0, 0.5, 1.0]))
        self.assertEqual(boost_histogram.Histogram(samesum.histogram([0.0, 1.0, 1.0], 2)).values().tolist(), [1, 2])
        x, y = [0.0, 2.0, 2.0], [0.0, 0.0, 3.0]
        for options in ({}, {"weights": [1, 2, 4]}, {"weights": [1, 2, 4], "squares": True}):
            grid = samesum.histogram2d(x, y, [1, 2], **options)
            taken = hist.Hist(grid)
            self.assertEqual(taken.values().tolist(), grid.values().tolist())
            self.assertEqual(boost_histogram.Histogram(grid).values().tolist(), grid.values().tolist())
            if grid.variances() is not None:
                self.assertEqual(taken.variances().tolist(), grid.variances().tolist())


if __name__ == "__main__":
    unittest.main()
