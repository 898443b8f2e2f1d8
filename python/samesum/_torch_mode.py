"""`samesum.torch.deterministic`: functions of torch that are replaced by exact ones within a block."""
from __future__ import annotations

from typing import Any, Callable

import torch
from torch.overrides import TorchFunctionMode

from . import _torch_ops as ops


def _taken(*tensors: Any) -> bool:
    """Whether samesum has exact sums of these."""
    return all(type(x) in (torch.Tensor, torch.nn.Parameter) and x.layout == torch.strided and x.device.type in ops.DEVICES
               and (x.dtype in ops.FLOATS or x.dtype in ops.INTEGERS) for x in tensors)


def _typed(x: Any, dtype: Any) -> Any:
    """`x` with the type in which torch would sum, or NotImplemented."""
    x = x if dtype is None or not _taken(x) else x.to(dtype)
    return x if _taken(x) else NotImplemented


def _sum(input: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False, dtype: Any = None,
         out: Any = None) -> Any:
    dim = axis if dim is None else dim
    dim = [dim] if isinstance(dim, int) else dim
    x = _typed(input, dtype)
    if out is not None or x is NotImplemented or not all(isinstance(each, int) for each in dim or []):
        return NotImplemented
    result = ops.sum(x, None if dim is None else list(dim), keepdim or keepdims, 0)
    return result if dtype is None else result.to(dtype)


def _cumsum(input: Any, dim: Any = None, *, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    dim = axis if dim is None else dim
    x = _typed(input, dtype)
    if out is not None or x is NotImplemented or not isinstance(dim, int):
        return NotImplemented
    result = ops.cumsum(x.reshape(1), 0).reshape(()) if x.dim() == 0 else ops.cumsum(x, dim)
    return result if dtype is None else result.to(dtype)


def _scaled(x: Any, alpha: Any) -> Any:
    return x if alpha == 1 else x * alpha


def _index_add(input: Any, dim: Any, index: Any, source: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    if out is not None or not isinstance(dim, int) or not _taken(input, index, source) or input.dtype != source.dtype or input.dtype == torch.bool:
        return NotImplemented
    return ops.add_along(input, dim, index, _scaled(source, alpha))


def _scatter_add(input: Any, dim: Any, index: Any, src: Any, *, out: Any = None) -> Any:
    if out is not None or not isinstance(dim, int) or not _taken(input, index, src) or input.dtype != src.dtype or input.dtype == torch.bool:
        return NotImplemented
    return ops.scatter_along(input, dim, index, src)


def _bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    if weights is None:
        return None  # counts are exact as they are
    if not _taken(input, weights) or input.dim() != 1 or input.shape != weights.shape or input.dtype not in ops.INTEGERS:
        return NotImplemented
    kind = weights.dtype if weights.dtype == torch.float32 else torch.float64
    if weights.dtype not in ops.FLOATS:
        return NotImplemented
    size = max(int(input.max()) + 1 if input.numel() else 0, minlength)
    return ops.add_along(torch.zeros(size, dtype=kind, device=weights.device), 0, input, weights.detach())


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def written(input: Any, *args: Any, **named: Any) -> Any:
        result = function(input, *args, **named)
        return result if result is NotImplemented else input.copy_(result)
    return written


REPLACED: dict[Any, Callable[..., Any]] = {
    torch.sum: _sum, torch.Tensor.sum: _sum,
    torch.cumsum: _cumsum, torch.Tensor.cumsum: _cumsum, torch.Tensor.cumsum_: _in_place(_cumsum),
    torch.index_add: _index_add, torch.Tensor.index_add: _index_add, torch.Tensor.index_add_: _in_place(_index_add),
    torch.scatter_add: _scatter_add, torch.Tensor.scatter_add: _scatter_add, torch.Tensor.scatter_add_: _in_place(_scatter_add),
    torch.bincount: _bincount, torch.Tensor.bincount: _bincount,
}


class Deterministic(TorchFunctionMode):  # type: ignore[misc,unused-ignore]
    """Within the block calls of the functions above go to samesum; `strict`: what it does not take raises TypeError."""

    def __init__(self, strict: bool = False) -> None:
        super().__init__()
        self.strict = strict

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        replacement = REPLACED.get(func)
        result = None if replacement is None else replacement(*args, **kwargs)
        if result is NotImplemented and self.strict:
            raise TypeError(f"samesum.torch: there is no exact {func.__name__} of these arguments")
        return func(*args, **kwargs) if result is None or result is NotImplemented else result
