"""Random shapes, strides, types and axes, as hypothesis finds them, against fractions.Fraction."""
import os
import sys
import unittest
from fractions import Fraction

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
try:
    import hypothesis
    import numpy as np
    import samesum
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as hnp
except ImportError as error:
    raise unittest.SkipTest(f"hypothesis has no tests here: {error}")

examples = hypothesis.settings(max_examples=int(os.environ.get("SAMESUM_EXAMPLES", 60)), deadline=None, derandomize=True, database=None)
FLOATS = st.sampled_from(["<f2", "<f4", "<f8", ">f2", ">f4", ">f8"])
INTEGERS = st.sampled_from(["<i1", "<u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", ">i4", ">u8"])


@st.composite
def arrays(draw, dtypes=FLOATS | INTEGERS, finite=True, least=0):
    """Arrays with any strides: of slices, turned around, transposed, repeated."""
    dtype = np.dtype(draw(dtypes))
    elements = {"allow_nan": not finite, "allow_infinity": not finite} if dtype.kind == "f" else None
    x = draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=3, min_side=least, max_side=9), elements=elements))
    steps = tuple(slice(None, None, draw(st.sampled_from([1, 1, 2, -1, -2]))) for _ in x.shape)
    x = x[steps]
    if draw(st.booleans()):
        x = x.transpose(draw(st.permutations(range(x.ndim))))
    if draw(st.integers(0, 4)) == 0:
        x = np.broadcast_to(x, (3, *x.shape))
    return x


@st.composite
def with_axes(draw, **named):
    """An array, some of its axes, and its elements by positions along the others."""
    x = draw(arrays(**named))
    axes = draw(st.lists(st.integers(0, x.ndim - 1), min_size=1, unique=True))
    moved = np.moveaxis(x, sorted(axes), range(x.ndim - len(axes), x.ndim))
    count = int(np.prod([x.shape[i] for i in axes]))
    rows = moved.reshape(-1, count) if x.size else np.zeros((int(np.prod(moved.shape[:x.ndim - len(axes)])), count), x.dtype)
    signed = tuple(i - x.ndim if draw(st.booleans()) else i for i in axes)
    return x, signed, rows


def fractions(x):
    return [Fraction(v) for v in np.asarray(x).ravel().tolist()]


def nearest(q):
    """Rounded to the nearest float64; beyond the greatest infinite."""
    try:
        return float(q)
    except OverflowError:
        return float("inf") if q > 0 else float("-inf")


def bits(x):
    """Floats as integers; 0.0 and -0.0 are told apart, but by signs of zero sums, which test_signs_of_zeros has."""
    return (np.asarray(x, np.float64) + 0.0).view(np.int64).ravel().tolist()


class Exact(unittest.TestCase):
    @examples
    @hypothesis.given(arrays())
    def test_sum(self, x):
        wanted = sum(fractions(x))
        if x.dtype.kind == "f":
            self.assertEqual(bits(samesum.sum(x)), bits(nearest(wanted)))
        else:
            self.assertEqual(samesum.sum(x), int(wanted))
        self.assertEqual(samesum.Accumulator(x).fraction(), wanted)

    @examples
    @hypothesis.given(with_axes())
    def test_sum_along_axes(self, given):
        x, axes, rows = given
        wanted = [sum(fractions(row)) for row in rows]
        if x.dtype.kind == "f":
            self.assertEqual(bits(samesum.sum(x, axis=axes)), bits([nearest(each) for each in wanted]))
        elif all(-2**63 <= each < (2**64 if x.dtype.kind == "u" else 2**63) for each in wanted) and not (x.dtype.kind == "u" and min(wanted, default=0) < 0):
            self.assertEqual(samesum.sum(x, axis=axes).ravel().tolist(), wanted)
        else:
            with self.assertRaises(samesum.NoAnswerError):
                samesum.sum(x, axis=axes)

    @examples
    @hypothesis.given(with_axes(least=1), st.integers(0, 2))
    def test_mean_and_variance(self, given, ddof):
        x, axes, rows = given
        means, variances = [], []
        for row in rows:
            values = fractions(row)
            mean = sum(values) / len(values)
            means.append(nearest(mean))
            if len(values) > ddof:
                variances.append(nearest(sum((v - mean) ** 2 for v in values) / (len(values) - ddof)))
        self.assertEqual(bits(samesum.mean(x, axis=axes)), bits(means))
        if len(variances) == len(means):
            self.assertEqual(bits(samesum.var(x, axis=axes, ddof=ddof)), bits(variances))
        else:
            with self.assertRaises(samesum.NoAnswerError):
                samesum.var(x, axis=axes, ddof=ddof)

    @examples
    @hypothesis.given(arrays(dtypes=FLOATS, least=1), st.data())
    def test_prefixes(self, x, data):
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        found = np.moveaxis(samesum.cumsum(x, axis=axis), axis, -1).reshape(-1, x.shape[axis])
        for line, prefixes in zip(np.moveaxis(x, axis, -1).reshape(found.shape), found):
            self.assertEqual(bits(prefixes), bits([nearest(sum(fractions(line[:i + 1]))) for i in range(len(line))]))

    @examples
    @hypothesis.given(arrays(least=1), st.data())
    def test_keys(self, x, data):
        x = x.ravel()
        keys = data.draw(hnp.arrays(np.int16, x.shape, elements=st.integers(-3, 3)))
        groups = samesum.groupby(keys)
        wanted = [sum(fractions(x[keys == key])) for key in groups.keys]
        self.assertEqual(groups.keys.tolist(), sorted(set(keys.tolist())))
        if x.dtype.kind == "f":
            self.assertEqual(bits(groups.sum(x)), bits([nearest(each) for each in wanted]))
        elif all(-2**63 <= each < 2**63 for each in wanted):
            self.assertEqual(groups.sum(x).tolist(), wanted)

    @examples
    @hypothesis.given(arrays(finite=False), st.lists(st.floats(-100, 100), min_size=2, max_size=8, unique=True))
    def test_histogram(self, x, edges):
        edges = sorted(edges)
        hypothesis.assume(edges[0] < edges[-1])
        h = samesum.histogram(x, edges)
        values = x.ravel().tolist()
        wanted = [sum(low <= v < high or (high == edges[-1] and v == high) for v in values) for low, high in zip(edges, edges[1:])]
        self.assertEqual(h.counts().tolist(), wanted)
        self.assertEqual((h.under, h.over, h.nan_count), (sum(v < edges[0] for v in values), sum(v > edges[-1] for v in values), sum(v != v for v in values)))

    @examples
    @hypothesis.given(arrays(dtypes=FLOATS, finite=False))
    def test_numbers_that_are_not_finite(self, x):
        values = x.ravel().tolist()
        infinite = {v for v in values if v in (float("inf"), float("-inf"))}
        wanted = float("nan") if any(v != v for v in values) or len(infinite) == 2 else infinite.pop() if infinite else nearest(sum(fractions(x)))
        np.testing.assert_equal(samesum.sum(x) + 0.0, wanted + 0.0)
        kept = x[~np.isnan(x)]
        np.testing.assert_equal(samesum.sum(x, nan="skip"), samesum.sum(kept))

    def test_signs_of_zeros(self):
        for values, sign in (([], False), ([-0.0], True), ([-0.0, -0.0], True), ([-0.0, 0.0], False), ([1.0, -1.0], False)):
            self.assertEqual(np.signbit(samesum.sum(np.array(values))), sign)


if __name__ == "__main__":
    unittest.main()
