"""A plugin of pytest: numpy's own tests, with samesum's functions in the place of numpy's. numpy_suite_test.py runs it.

The shim is thin: it gives numbers as numpy's scalars, and histograms as tuples. Tests whose outcome is another one are in DEVIATIONS, with the
reason; each of them has to fail, so that none is listed in vain.
"""
import fnmatch
import functools
import inspect
import sys
import types

import numpy
import pytest
import samesum

# Which tests are run: of these classes, in these files of numpy.
TESTS = {
    "lib/tests/test_histograms.py": ["TestHistogram", "TestHistogramOptimBinNums", "TestHistogramdd"],
    "lib/tests/test_twodim_base.py": ["TestHistogram2d"],
    "lib/tests/test_function_base.py": ["TestBincount", "TestCumsum"],
    "_core/tests/test_multiarray.py": ["TestStats"],
    "_core/tests/test_numeric.py": ["TestNonarrayArgs"],
    "_core/tests/test_ufunc.py": ["TestUfunc"],
}
# Of classes about all sorts of functions: the tests of these.
NAMES = {"TestNonarrayArgs": ("test_sum", "test_mean", "test_var", "test_std", "test_cumsum"), "TestUfunc": ("test_sum",)}

_FINITE = "edges are finite: what lies beyond them is counted as under and over"
_TEXT = "the error is a ValueError too, with another text"
_DOUBLE = "edges are float64"
_NOTHING = "the mean or variance of no elements (or of no more than ddof) raises NoAnswerError, where numpy warns and gives NaN"
_MEAN = "there is no mean=: an exact variance needs none"
_TYPES = "there are no numbers of longdouble, and no objects such as Decimal"
_INITIAL = "there is no initial=: add it to the result, or to an Accumulator"
DEVIATIONS = {
    "TestHistogram::test_density": _FINITE,
    "TestHistogram::test_arr_weights_mismatch": _TEXT,
    "TestHistogram::test_bool_conversion": "bools are the integers 0 and 1, without a warning",
    "TestHistogram::test_exotic_weights": "weights are real numbers, no complex ones and no objects",
    "TestHistogram::test_invalid_range": _TEXT,
    "TestHistogram::test_bin_array_dims": _TEXT,
    "TestHistogram::test_object_array_of_0d": "without range= bins span the finite samples, where numpy raises for infinite ones",
    "TestHistogram::test_datetime": "samples are numbers, no dates",
    "TestHistogram::test_precision": _DOUBLE,
    "TestHistogram::test_small_value_range": "a range too small for so many bins gives bins without width, which are empty",
    "TestHistogramdd::test_inf_edges": _FINITE,
    "TestHistogramdd::test_edge_dtype": _DOUBLE,
    "TestHistogramdd::test_large_integers": _DOUBLE,
    "TestHistogram2d::test_dispatch": "the functions are not numpy's, so __array_function__ does not see them",
    "TestHistogram2d::test_bad_length*": _TEXT,
    "TestStats::test_python_type": _NOTHING,
    "TestStats::test_dtype_from_input": "results are float64 whatever the elements are, but for dtype=float32",
    "TestStats::test_ddof_too_big": _NOTHING,
    "TestStats::test_mean_values": _TYPES,
    "TestStats::test_mean_where": _NOTHING,
    "TestStats::test_var_values": _TYPES,
    "TestStats::test_var_complex_values*clongdouble*": _TYPES,
    "TestStats::test_var_where": _NOTHING,
    "TestStats::test_std_values": _TYPES,
    "TestStats::test_std_where": _NOTHING,
    "TestNonarrayArgs::test_mean": _NOTHING,
    "TestNonarrayArgs::test_std_with_mean_keyword*": _MEAN,
    "TestNonarrayArgs::test_std": _NOTHING,
    "TestNonarrayArgs::test_var_with_mean_keyword*": _MEAN,
    "TestNonarrayArgs::test_var": _NOTHING,
    "TestUfunc::test_sum_complex": _TYPES,
    "TestUfunc::test_sum_initial": _INITIAL,
    "TestUfunc::test_sum_where": _INITIAL,
    "TestUfunc::test_sum": "the sum of float16 is a float64, which holds what float16 does not",
}


def shim(function):
    """A function of samesum that gives what numpy's gives."""
    @functools.wraps(function)
    def call(*args, **named):
        found = function(*args, **named)
        if isinstance(found, (tuple, samesum.Histogram)):
            return tuple(found)
        return numpy.asarray(found)[()] if isinstance(found, (int, float, complex)) else found
    return call


REPLACED = {name: shim(getattr(samesum, name)) for name in ("sum", "mean", "var", "std", "histogram", "histogram2d", "histogramdd", "bincount",
                                                            "cumsum")}


class Numpy(types.ModuleType):
    """numpy with these functions in the place of its own."""

    def __getattr__(self, name):
        return REPLACED[name] if name in REPLACED else getattr(numpy, name)


def pytest_collection_modifyitems(config, items):
    chosen = []
    for item in items:
        owner = item.cls.__name__ if item.cls else ""
        file = next((file for file in TESTS if str(item.path).endswith(file)), None)
        if file is None or owner not in TESTS[file] or not item.name.startswith(NAMES.get(owner, ("test",))):
            continue
        module = sys.modules[item.cls.__module__]
        module.np = Numpy("numpy")
        for name, function in REPLACED.items():
            for place in (name, "_" + name):  # numpy's methods are these
                if inspect.isroutine(getattr(module, place, None)) or place in vars(module):
                    setattr(module, place, function)
        if hasattr(item, "callspec"):
            for name, value in item.callspec.params.items():
                item.callspec.params[name] = next((REPLACED[each] for each in REPLACED if value is getattr(numpy, each)), value)
        why = next((why for name, why in DEVIATIONS.items() if fnmatch.fnmatchcase(f"{owner}::{item.name}", name)), None)
        if why is not None:
            item.add_marker(pytest.mark.xfail(reason=why, strict=True))
        chosen.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
