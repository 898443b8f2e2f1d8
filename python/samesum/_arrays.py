"""Objects that do not offer the buffer protocol in a form that samesum reads: how their elements are reached."""
from __future__ import annotations

import sys
from typing import Any

import numpy

from . import _core


def present(x: Any) -> tuple[Any, bool]:
    """The elements of an array that are not masked and not missing, and whether there are others.

    numpy.asarray copies nothing of what this returns for columns of pandas, polars and pyarrow.
    """
    if isinstance(x, numpy.ma.MaskedArray):
        masked = bool(numpy.ma.is_masked(x))
        return (x.compressed() if masked else x.data), masked
    if type(x).__module__.partition(".")[0] == "pandas":
        dtype: Any = getattr(x, "dtype", None)
        if hasattr(dtype, "pyarrow_dtype"):
            x = x.array.__arrow_array__()
        elif hasattr(dtype, "numpy_dtype"):  # pandas' own types with missing values
            missing = x.isna()
            return x[~missing].to_numpy(dtype=dtype.numpy_dtype), bool(missing.any())
        else:
            return x, False
    if hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__"):
        x, missing = _core.read_arrow(x)
        return x, missing != 0
    return x, False


def every(x: Any) -> Any:
    """An array of numpy of elements of any type, whose positions are those of `x`: nothing may be missing."""
    x, missing = (x, False) if hasattr(x, "__array__") else present(x)
    nulls = getattr(x, "null_count", 0)
    extension = hasattr(x, "isna") and not isinstance(getattr(x, "dtype", None), numpy.dtype)
    if missing or (nulls() if callable(nulls) else nulls) or (extension and numpy.any(x.isna())) or numpy.ma.is_masked(x):
        raise TypeError("samesum: elements are missing or masked, so the positions of the others are not theirs: fill or drop them first")
    return numpy.asarray(x)


def as_buffer(x: Any) -> tuple[Any, bool, bool]:
    """An array with the buffer protocol, whether its uint16 stand for bfloat16, and whether elements were missing or masked.

    numpy.asarray copies nothing for pandas and polars Series of numbers, CPU tensors and __array_interface__.
    """
    x, missing = present(x)
    if type(x).__module__.partition(".")[0] == "torch":
        import torch
        x = x.detach()
        if x.dtype == torch.bfloat16:
            return x.view(torch.uint16).numpy(), True, missing
    x = x if type(x) is numpy.ndarray else numpy.asarray(x)
    if x.dtype.name == "bfloat16":
        return x.view(numpy.uint16), True, missing
    if x.dtype.byteorder == ">" or (x.dtype.byteorder == "=" and sys.byteorder == "big"):
        return x.astype(x.dtype.newbyteorder("<")), False, missing
    if x.dtype.kind not in "biufc":
        raise TypeError(f"samesum: elements of type {x.dtype} are no numbers that it knows; convert them to float64 first")
    return x, False, missing


def cuda_place(x: Any, stream: int | None) -> tuple[int, int, Any]:
    """The stream on which an array on a GPU is to be read, the number of the GPU, and what keeps the stream alive, or None where that is not
    known. `stream`: what its interface names, or None: then the current stream of its framework, where that is known, else the default one."""
    device = getattr(x, "device", None)
    ordinal = next((n for n in (getattr(device, "index", None), getattr(device, "id", None)) if isinstance(n, int)), 0)
    if stream is None:
        module = type(x).__module__.partition(".")[0]
        if module == "torch":
            import torch
            current = torch.cuda.current_stream(device)
            return current.cuda_stream, ordinal, current
        if module == "cupy":
            import cupy
            current = cupy.cuda.get_current_stream()
            return current.ptr, ordinal, current
        stream = 0
    return stream, ordinal, None  # 1 and 2 stand for the default streams, in the interface and in CUDA's drivers


def integer(digits: list[int], unit: int) -> int:
    """The integer whose digits to the base 2**32 these are, the lowest of which weighs 2**-unit."""
    value = 0
    for digit in reversed(digits):
        value = (value << 32) + digit
    return value >> unit


def as_complex(parts: Any) -> Any:
    """Complex numbers from an array whose last axis has their two parts."""
    return parts.view(numpy.complex128)[..., 0]
