"""Objects that do not offer the buffer protocol in a form that samesum reads: how their elements are reached."""
from __future__ import annotations

import sys
from typing import Any

import numpy


def as_buffer(x: Any) -> tuple[Any, bool]:
    """An array with the buffer protocol, and whether its uint16 stand for bfloat16. Masked elements are left out.

    numpy.asarray copies nothing for pandas and polars Series of numbers, CPU tensors and __array_interface__.
    """
    if isinstance(x, numpy.ma.MaskedArray):
        x = x.compressed() if numpy.ma.is_masked(x) else x.data
    nulls = getattr(x, "null_count", 0)
    if nulls() if callable(nulls) else nulls:
        raise TypeError("samesum: values are missing (null); pass x.drop_nulls() or x.drop_null()")
    if type(x).__module__.partition(".")[0] == "torch":
        import torch
        x = x.detach()
        if x.dtype == torch.bfloat16:
            return x.view(torch.uint16).numpy(), True
    x = x if type(x) is numpy.ndarray else numpy.asarray(x)
    if x.dtype.name == "bfloat16":
        return x.view(numpy.uint16), True
    if x.dtype.byteorder == ">" or (x.dtype.byteorder == "=" and sys.byteorder == "big"):
        return x.astype(x.dtype.newbyteorder("<")), False
    if x.dtype.kind not in "biufc":
        raise TypeError(f"samesum: elements of type {x.dtype} are no numbers that it knows; convert them to float64 first")
    return x, False


def cuda_place(x: Any, stream: int | None) -> tuple[int, int]:
    """The stream on which an array on a GPU is to be read, and the number of the GPU. `stream`: what its interface names, or None: then
    the current stream of its framework, where that is known, else the default stream."""
    device = getattr(x, "device", None)
    ordinal = next((n for n in (getattr(device, "index", None), getattr(device, "id", None)) if isinstance(n, int)), 0)
    if stream is None:
        stream, module = 0, type(x).__module__.partition(".")[0]
        if module == "torch":
            import torch
            stream = torch.cuda.current_stream(device).cuda_stream
        elif module == "cupy":
            import cupy
            stream = cupy.cuda.get_current_stream().ptr
    return stream, ordinal  # 1 and 2 stand for the default streams, in the interface and in CUDA's drivers


def integer(digits: list[int], unit: int) -> int:
    """The integer whose digits to the base 2**32 these are, the lowest of which weighs 2**-unit."""
    value = 0
    for digit in reversed(digits):
        value = (value << 32) + digit
    return value >> unit


def as_complex(parts: Any) -> Any:
    """Complex numbers from an array whose last axis has their two parts."""
    return parts.view(numpy.complex128)[..., 0]
