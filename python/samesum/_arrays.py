"""Objects that do not offer the buffer protocol in a form that samesum reads: how their elements are reached."""
from __future__ import annotations

import sys
from typing import Any

import numpy

from . import _core

_OTHERS = ("__array__", "__array_interface__", "__arrow_c_array__", "__arrow_c_stream__")
# bfloat16 where ml_dtypes is not there to name it: numpy has no such numbers, so these elements only move.
_BFLOAT16 = numpy.dtype([("bfloat16", numpy.uint16)])


def _is_bfloat16(dtype: Any) -> bool:
    return bool(dtype == _BFLOAT16) or dtype.name == "bfloat16"


def text(value: Any, name: str) -> Any:
    """What has to be a text, as it is."""
    if not isinstance(value, str):
        raise TypeError(f"samesum: {name} has to be a text, not {value!r}")
    return value


def on_host(x: Any) -> Any:
    """Tensors in host memory as arrays of numpy, without a copy: of torch, and of what has nothing but DLPack. Others as they are."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        x = x.detach()
        if x.device.type != "cpu":
            return x
        if x.dtype == torch.bfloat16:
            return x.view(torch.uint16).numpy().view(_BFLOAT16)
        return x.resolve_conj().resolve_neg().numpy()
    if hasattr(x, "__dlpack__") and not any(hasattr(x, name) for name in _OTHERS):
        x, bfloat16 = _core.read_dlpack(x)
        return x.view(_BFLOAT16) if bfloat16 else x
    return x


def widened(x: Any) -> Any:
    """An array of numpy whose elements it can compute with: bfloat16 as float32, which is exact."""
    if not _is_bfloat16(x.dtype):
        return x
    return (x.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)


def _is_labelled(x: Any) -> bool:
    """Whether this is an array with names, as xarray's: to Arrow it is a table, which has its coordinates too."""
    return hasattr(x, "__array__") and hasattr(x, "dims") and hasattr(x, "coords")


def present(x: Any) -> tuple[Any, bool]:
    """The elements of an array that are not masked and not missing, and whether there are others.

    numpy.asarray copies nothing of what this returns for tensors and for columns of pandas, polars and pyarrow.
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
    x = on_host(x)
    if hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__"):
        if _is_labelled(x):
            return x, False
        x, missing = _core.read_arrow(x)
        return x, missing != 0
    return x, False


def listed(x: Any) -> Any:
    """Generators, sets and other iterables without subscripts as lists, for what reads them more than once; others as they are."""
    if hasattr(x, "__getitem__") or not hasattr(x, "__iter__") or hasattr(x, "__dlpack__") or any(hasattr(x, name) for name in _OTHERS):
        return x
    return list(x)


def as_array(x: Any) -> Any:
    """numpy.asarray, but lists of integers are uint64 if it holds all, and arrays of objects if they have no common type of 64 bits: numpy makes
    float64 of some."""
    found = numpy.asarray(x)
    if found.ndim == 0 and found.dtype.kind == "O" and hasattr(x, "__iter__") and not isinstance(x, dict):  # generators, sets
        x = list(x)
        found = numpy.asarray(x)
    if isinstance(x, (list, tuple)) and found.dtype.kind == "f" and (numpy.abs(found) >= 2**53).any():
        objects = numpy.asarray(x, object)
        if _integers(objects):
            return objects.astype(numpy.uint64) if all(0 <= each < 2**64 for each in objects.flat) else objects
    return found


def _integers(objects: Any) -> bool:
    return all(isinstance(each, (int, numpy.integer)) for each in objects.flat)


def of_integers(what: str, x: Any) -> int | float | None:
    """The sum, mean, min, max, argmin or argmax of a list of integers, some of which have more than 64 bits. None: `x` is no such list."""
    if not isinstance(x, (list, tuple)):
        return None
    objects = as_array(x)
    if objects.dtype.kind != "O" or not _integers(objects):
        return None
    numbers = [int(each) for each in objects.flat]
    if what in ("sum", "mean"):
        return sum(numbers) if what == "sum" else sum(numbers) / len(numbers)  # which Python rounds once
    extreme = (min if what.endswith("min") else max)(numbers)
    return numbers.index(extreme) if what.startswith("arg") else extreme


def every(x: Any) -> Any:
    """An array of numpy of elements of any type, whose positions are those of `x`: nothing may be missing."""
    x, missing = (on_host(x), False) if hasattr(x, "__array__") else present(x)
    nulls = getattr(x, "null_count", 0)
    extension = hasattr(x, "isna") and not isinstance(getattr(x, "dtype", None), numpy.dtype)
    if missing or (nulls() if callable(nulls) else nulls) or (extension and numpy.any(x.isna())) or numpy.ma.is_masked(x):
        raise TypeError("samesum: elements are missing or masked, so the positions of the others are not theirs: fill or drop them first")
    return widened(as_array(x))


def mask(where: Any) -> Any:
    """`where` as an array of bool. Of integers 0 and 1 alone: others may be meant as indices."""
    where = every(where)
    whole = where.dtype.kind in "iu" and bool(((where == 0) | (where == 1)).all())
    objects = where.dtype.kind == "O" and all(isinstance(each, (bool, numpy.bool_)) for each in where.flat)
    if where.size and where.dtype.kind != "b" and not (whole or objects):
        raise TypeError(f"samesum: where has elements of {where.dtype} that are neither bool nor 0 and 1: pass a condition such as x > 0")
    return where.astype(bool, copy=False)


def validity(x: Any) -> Any:
    """Which elements of a masked array, or of a column of pandas, polars or pyarrow, are there; None of others."""
    if isinstance(x, numpy.ma.MaskedArray):
        return ~numpy.ma.getmaskarray(x)
    missing = x.is_null() if hasattr(x, "is_null") else x.isna() if hasattr(x, "isna") else None
    return None if missing is None else ~numpy.asarray(missing, bool)


def is_complex(x: Any) -> bool:
    dtype = x.dtype if hasattr(x, "dtype") else numpy.asarray(x).dtype
    return getattr(dtype, "kind", "") == "c" or "complex" in str(dtype)


def whole_nans(x: Any, number: complex = complex(numpy.nan, numpy.nan)) -> Any:
    """Complex numbers with `number` for each that has a NaN in a part: the library leaves out parts, and numpy's functions whole numbers."""
    if not is_complex(x):
        return x
    x = x if hasattr(x, "dtype") else numpy.asarray(x)
    if hasattr(x, "masked_fill"):  # a tensor of torch
        return x.masked_fill(x.isnan(), number)
    return (numpy.ma if isinstance(x, numpy.ma.MaskedArray) else numpy).where(numpy.isnan(x), x.dtype.type(number), x)


def as_buffer(x: Any) -> tuple[Any, bool, bool]:
    """An array with the buffer protocol, whether its uint16 stand for bfloat16, and whether elements were missing or masked.

    numpy.asarray copies nothing for pandas and polars Series of numbers and __array_interface__.
    """
    x, missing = present(x)
    if hasattr(x, "__cuda_array_interface__"):  # a tensor of torch that needed its gradient
        return x, False, missing
    x = x if type(x) is numpy.ndarray else as_array(x)
    if _is_bfloat16(x.dtype):
        return x.view(numpy.uint16), True, missing
    if x.dtype.byteorder == ">" or (x.dtype.byteorder == "=" and sys.byteorder == "big"):
        return x.astype(x.dtype.newbyteorder("<")), False, missing
    if x.dtype.kind == "O" and _integers(x):
        raise TypeError("samesum: integers that fit neither int64 nor uint64: sum, mean, min, max, argmin and argmax of all elements of a list take "
                        "them; convert them to float64 first, which rounds them")
    if x.dtype.kind not in "biufc":
        raise TypeError(f"samesum: elements of type {x.dtype} are no numbers that it knows; convert them to float64 first")
    return x, False, missing


def torch_memory(x: Any) -> Any:
    """Of a tensor of torch on a GPU its address, type, shape, strides in elements, and what cuda_place gives; in fewer microseconds than its
    __cuda_array_interface__ takes. None: its memory does not show its elements as they are."""
    torch: Any = sys.modules["torch"]
    if x.layout is not torch.strided or x.is_neg() or x.is_conj():
        return None
    device = x.get_device()
    # torch never destroys its streams, so that the module itself stands for what keeps them alive.
    return x.data_ptr(), str(x.dtype)[6:], x.shape, x.stride(), (torch._C._cuda_getCurrentRawStream(device), device, torch)


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
        if hasattr(x, "block_until_ready"):  # JAX, which names no stream of its own
            x.block_until_ready()
        stream = 0
    return stream, ordinal, None  # 1 and 2 stand for the default streams, in the interface and in CUDA's drivers


def integer(digits: list[int], unit: int) -> int:
    """The integer whose digits to the base 2**32 these are, the lowest of which weighs 2**-unit."""
    value = 0
    for digit in reversed(digits):
        value = (value << 32) + digit
    return value >> unit


def of_digits(digits: str) -> int:
    """The integer of this decimal; int() takes no more than 4300 digits."""
    if digits[0] == "-":
        return -of_digits(digits[1:])
    if len(digits) <= 600:
        return int(digits)
    half = len(digits) // 2
    unit: int = 10**half
    return of_digits(digits[:-half]) * unit + of_digits(digits[-half:])


def as_complex(parts: Any) -> Any:
    """Complex numbers from an array whose last axis has their two parts."""
    return parts.view(numpy.complex64 if parts.dtype == numpy.float32 else numpy.complex128)[..., 0]
