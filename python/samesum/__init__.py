"""Correctly rounded sums, statistics and histograms, with the same bits on the CPU, OpenCL and CUDA.

    >>> import samesum
    >>> samesum.sum([1e100, 1.0, -1e100])
    1.0

The functions have numpy's names and arguments. They read arrays of numpy, tensors, array.array, pandas and polars Series and everything
with the buffer protocol or ``__array_interface__`` without a copy, and arrays on a GPU (``__cuda_array_interface__``) where they lie, on
the current stream of their framework. Without ``axis`` the result is a Python number; with it an array of numpy, or `out`.

Errors: `SamesumError` (a ValueError) for a bad argument, `NoAnswerError` (an ArithmeticError too) where there is no answer, as for the mean
of no elements, `DeviceError` (a RuntimeError) where a device fails.
"""
from . import _core
from ._core import Accumulator, Device, DeviceError, Histogram, NoAnswerError, SamesumError, Statistics
from ._devices import devices, selftest, tune
from ._drawing import HistogramNd, install as _install_drawing
from ._formulas import map, reduce, sum_map
from ._groupby import GroupBy, groupby
from ._groups import add_at, bincount, cumsum, pairs, scan
from ._histograms import histogram, histogram2d, histogramdd
from ._order import all, any, argmax, argmin, count_nonzero, max, median, min, quantile, stats
from ._plans import Plan
from ._products import dot, matmul, vdot, vecdot
from ._reductions import mean, norm, prod, std, sum, var
from ._values import install as _install_methods

__version__: str = _core.version()
__all__ = ["Accumulator", "Device", "DeviceError", "GroupBy", "Histogram", "HistogramNd", "NoAnswerError", "Plan", "SamesumError",
           "Statistics", "add_at", "all", "any", "argmax", "argmin", "bincount", "count_nonzero", "cumsum", "devices", "dot", "groupby", "histogram",
           "histogram2d", "histogramdd", "map", "matmul", "max", "mean", "median", "min", "norm", "pairs", "prod", "quantile", "reduce", "scan",
           "selftest", "stats", "std", "sum", "sum_map", "tune", "var", "vdot", "vecdot"]

_install_methods()
_install_drawing()
