"""Sums that stay in a GPU's memory, enqueued on the current stream of its framework without waiting: a CUDA graph can capture them."""
from __future__ import annotations

import math
import sys
from typing import Any

from . import _core

_NARROW = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32")  # fewer than 2^31 of these do not overflow


def _enqueued(x: Any, name: str, place: Any) -> bool:
    """Enqueues the sum of adjacent elements, its record of 24 bytes to `place`. False: of elements that a record does not do for."""
    torch: Any = sys.modules.get("torch")
    size = math.prod(x.shape)
    if size == 0 or not (name.startswith(("float", "bfloat")) or (name in _NARROW and size < 2**31)):
        return False
    if torch is not None and isinstance(x, torch.Tensor):
        device = x.device.index
        # torch never destroys its streams, so that the module itself stands for what keeps them alive.
        _core.enqueue_sum(x.data_ptr(), size, name, device, torch._C._cuda_getCurrentRawStream(device), torch, place.data_ptr())
    else:
        import cupy
        stream = cupy.cuda.get_current_stream()
        _core.enqueue_sum(x.data.ptr, size, "uint8" if name == "bool" else name, x.device.id, stream.ptr, stream, place.data.ptr)
    return True


def lazy_sum(x: Any, axes: list[int] | None, keepdims: bool, nan: str) -> Any:
    """samesum.sum as an array of the library of `x`, on its device; of floats float64. None: there is no such array."""
    torch: Any = sys.modules.get("torch")
    cupy: Any = sys.modules.get("cupy")
    if torch is not None and isinstance(x, torch.Tensor) and x.is_cuda:
        x, library, name = x.detach().resolve_neg(), torch, str(x.dtype)[6:]
        place: dict[str, Any] = {"device": x.device}
    elif cupy is not None and isinstance(x, cupy.ndarray):
        library, name, place = cupy, x.dtype.name, {}
    else:
        return None
    if "complex" in name:
        return None
    if axes is None and nan == "propagate":
        record = library.empty(3, dtype=library.float64, **place)
        if _enqueued(x.contiguous() if library is torch else cupy.ascontiguousarray(x), "uint8" if name == "bool" else name, record):
            found = record[0] if "float" in name else record.view(library.int64)[1]
            return found.reshape([1] * x.ndim) if keepdims else found
    axes = [i % x.ndim for i in (range(x.ndim) if axes is None else axes)]
    shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
    unsigned = name.startswith("uint") or name == "bool"
    kind = library.float64 if "float" in name else library.uint64 if unsigned else library.int64
    found = library.empty(shape, dtype=kind, **place)
    _core.along(_core.AxisReduction.sum, x, axes, keepdims, nan, None, found)
    return found
