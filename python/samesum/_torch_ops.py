"""The operators of `samesum.torch` (torch.library.custom_op): what they compute, their shapes for torch.compile, their gradients."""
from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Callable, Sequence

import numpy
import torch

from . import _core
from . import _narrow
from ._core import NoAnswerError, SamesumError

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
DEVICES = ("cpu", "cuda")
_PROPAGATE = "propagate"
# The type as samesum has it, the elements of a SumRecord, and that with the sum.
_RECORDS = {torch.float32: ("float32", 6, 4), torch.float64: ("float64", 3, 0)}
_stream: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # none in a torch without CUDA


def _element(record: Any, _size: Any, _stride: Any, place: int) -> Any:
    return record.select(0, place)


# A tensor at another's memory, as compiled code of torch's makes it: past the dispatcher, which takes a microsecond.
_at: Any = getattr(getattr(getattr(torch._C, "_dynamo", None), "guards", None), "_reinterpret_tensor", _element)
_AVERAGES = {"mean": _core.Average.mean, "var": _core.Average.var, "std": _core.Average.std, "norm": _core.Average.norm}


def result_type(name: str, x: Any, integers: bool = True) -> Any:
    """The type of a sum of such elements; a TypeError where samesum has none."""
    if x.dtype in FLOATS:
        return x.dtype
    if integers and x.dtype in INTEGERS:
        return torch.int64
    raise TypeError(f"samesum.torch: {name} takes floats{' and integers' if integers else ''}, not {x.dtype}: convert first")


def check(name: str, x: Any) -> None:
    """Raises an error that says what to do where samesum does not read a tensor's memory."""
    if x.layout != torch.strided:
        raise TypeError(f"samesum.torch: {name} takes dense tensors, not {x.layout}: to_dense() makes one")
    if x.device.type not in DEVICES:
        raise SamesumError(f"samesum.torch: {name} takes tensors on {' and '.join(DEVICES)}, not on {x.device.type}: pass x.cpu()")


def enqueued_sum(x: Any) -> Any:
    """The sum of a tensor on CUDA, in its type, float32 or float64, enqueued without waiting. None: it cannot be. Each call of torch's counts here."""
    size = x.numel()
    if size == 0 or x.dtype not in _RECORDS:
        return None
    if x.is_neg() or not x.is_contiguous():
        x = x.resolve_neg().contiguous()
    name, length, place = _RECORDS[x.dtype]
    device = x.get_device()
    record = x.new_empty(length)
    # torch never destroys its streams, so that the module itself stands for what keeps them alive.
    _core.enqueue_sum(x.data_ptr(), size, name, device, _stream(device), torch, record.data_ptr())
    return _at(record, (), (), place)


def _axes(x: Any, dim: Sequence[int] | None) -> list[int]:
    """The axes to reduce; no axes stand for all of them, as in torch."""
    if not dim:
        return list(range(x.dim()))
    rank = max(x.dim(), 1)
    for axis in dim:
        if not -rank <= axis < rank:
            raise IndexError(f"samesum.torch: dim {axis} is none of a tensor of {x.dim()} dimensions")
    axes = sorted({axis % rank for axis in dim})
    if len(axes) != len(dim):
        raise IndexError(f"samesum.torch: a dimension is named twice in {tuple(dim)}")
    return axes if x.dim() else []


def _shape(x: Any, axes: list[int], keepdim: bool) -> list[int]:
    return [1 if i in axes else n for i, n in enumerate(x.shape) if keepdim or i not in axes]


def _plain(x: Any) -> Any:
    return x.detach().resolve_neg()


def _tensor(found: Any, x: Any) -> Any:
    """A tensor on the device of `x` from an array of numpy: of integers int64."""
    if found.dtype == numpy.uint64:
        if found.size and int(found.max()) >= 2**63:
            raise NoAnswerError("samesum.torch: a sum needs more than the 63 bits of an int64")
        found = found.astype(numpy.int64)
    return torch.from_numpy(numpy.ascontiguousarray(found).reshape(found.shape)).to(x.device)


def _number(value: Any, kind: Any, x: Any) -> Any:
    if isinstance(value, int) and not -2**63 <= value < 2**63:
        raise NoAnswerError(f"samesum.torch: the sum is {value}, which needs more than the 63 bits of an int64")
    return torch.tensor(value, dtype=kind, device=x.device)


def once(wide: Any, kind: Any) -> Any:
    """float64s rounded once to another type of floats; torch itself rounds twice, by way of float32."""
    if kind in (torch.float32, torch.float64):
        return wide.to(kind)
    odd = wide.float()  # rounded to odd, as _narrow.to_odd
    bits = odd.view(torch.int32) - (odd.double().abs() > wide.abs()).int()
    return (bits | (odd.double() != wide).int()).view(torch.float32).to(kind)


def narrowed(wide: Any, kind: Any, exact: Callable[[tuple[int, ...]], tuple[Fraction, int]]) -> Any:
    """Exact results, given as float64s rounded once, rounded once to `kind`: _narrow.rounded of tensors."""
    if kind == torch.float64:
        return wide
    ties = wide.isfinite() & (once(wide * (1 + _narrow.NEAR), kind) != once(wide * (1 - _narrow.NEAR), kind))
    places = [tuple(place) for place in ties.nonzero().tolist()]
    if places:
        wide = wide.clone()
    for place in places:
        here = float(wide[place])
        power, p = exact(place)
        if power != Fraction(here) ** p:
            wide[place] = math.nextafter(here, math.inf if power > Fraction(here) ** p else -math.inf)
    return once(wide, kind)


def _reduced(what: str, x: Any, dim: Sequence[int] | None, correction: int, keepdim: bool) -> Any:
    check(what, x)
    kind = result_type(what, x, what == "sum")
    axes, x = _axes(x, dim), _plain(x)
    shape, n = _shape(x, axes, False), _count(x, axes)
    if len(axes) == x.dim():
        found = enqueued_sum(x) if what == "sum" and x.is_cuda else None
        if found is not None:
            return found.reshape(_shape(x, axes, keepdim))
        if what == "sum":
            wide: Any = _core.sum(x, _PROPAGATE, None, kind == torch.float32)
        else:
            wide = _core.average(x, _AVERAGES[what], correction, _PROPAGATE, None, kind == torch.float32)
        wide = _number(wide, kind if kind in INTEGERS else torch.float64, x)
    elif correction:  # the library has no other divisor than n along axes
        rows = x.movedim(axes, list(range(x.dim() - len(axes), x.dim()))).reshape(math.prod(shape), n)
        wide = torch.tensor([_core.average(row, _AVERAGES[what], correction, _PROPAGATE, None, False) for row in rows], dtype=torch.float64,
                            device=x.device).reshape(shape)
    elif x.device.type == "cuda":
        wide = torch.empty(shape, dtype=kind if kind in INTEGERS else torch.float64, device=x.device)
        _core.along(getattr(_core.AxisReduction, what), x, axes, False, _PROPAGATE, None, wide)
    else:
        wide = _tensor(_core.along(getattr(_core.AxisReduction, what), x, axes, False, _PROPAGATE, None, None), x).reshape(shape)
    if kind in INTEGERS:
        return wide.reshape(_shape(x, axes, keepdim))
    if len(axes) == x.dim() and kind == torch.float32:
        return wide.float().reshape(_shape(x, axes, keepdim))
    found = narrowed(wide, kind, lambda place: _narrow.power(what, _narrow.part(x, axes, place), n, correction))
    return found.reshape(_shape(x, axes, keepdim))


def _spread(g: Any, x: Any, dim: Sequence[int] | None, keepdim: bool) -> Any:
    """What belongs to a result, at every element that it was made of."""
    axes = _axes(x, dim)
    return (g if keepdim else g.reshape(_shape(x, axes, True))).expand(x.shape)


def _count(x: Any, axes: Sequence[int]) -> int:
    return math.prod(x.shape[i] for i in axes)


def _operator(name: str, schema: str, compute: Any, fake: Any, backward: Any, save: Any) -> Any:
    operator = torch.library.custom_op(f"samesum::{name}", compute, mutates_args=(), schema=schema)
    operator.register_fake(fake)
    operator.register_autograd(backward, setup_context=save)
    return operator


def _reduction(what: str, backward: Any) -> Any:
    """An operator that reduces along `dim`; `backward(g, x, result, dim, correction)` of what was spread over the elements."""
    def fake(x: Any, dim: Any, keepdim: bool, correction: int) -> Any:
        return x.new_empty(_shape(x, _axes(x, dim), keepdim), dtype=result_type(what, x, what == "sum"))

    def save(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.dim, ctx.keepdim, ctx.correction = inputs
        ctx.save_for_backward(x, output)

    def gradient(ctx: Any, g: Any) -> Any:
        x, output = ctx.saved_tensors
        g, output = (_spread(each, x, ctx.dim, ctx.keepdim) for each in (g, output))
        return backward(g, x, output, ctx.dim, ctx.correction), None, None, None

    def compute(x: Any, dim: Any, keepdim: bool, correction: int) -> Any:
        return _reduced(what, x, dim, correction, keepdim)

    return _operator(what, "(Tensor x, int[]? dim, bool keepdim, int correction) -> Tensor", compute, fake, gradient, save)


def _var_gradient(g: Any, x: Any, output: Any, dim: Any, correction: int) -> Any:
    n = _count(x, _axes(x, dim))
    return g * (x - mean(x, dim, True, 0).expand(x.shape)) * (2.0 / (n - correction) if n != correction else math.nan)


def _std_gradient(g: Any, x: Any, output: Any, dim: Any, correction: int) -> Any:
    return _var_gradient((g / (2 * output)).masked_fill(output == 0, 0), x, output, dim, correction)


sum = _reduction("sum", lambda g, x, output, dim, correction: g.clone())
mean = _reduction("mean", lambda g, x, output, dim, correction: g / _count(x, _axes(x, dim)))
var = _reduction("var", _var_gradient)
std = _reduction("std", _std_gradient)
norm = _reduction("norm", lambda g, x, output, dim, correction: g * (x / output).masked_fill(output == 0, 0))


def _dot(a: Any, b: Any) -> Any:
    kind = _dot_type(a, b)
    a, b = _plain(a), _plain(b)
    value = _core.dot(a, b, _PROPAGATE, None)
    if kind in INTEGERS:
        return _number(value, kind, a)

    def exact(place: tuple[int, ...]) -> tuple[Fraction, int]:
        total, unit = _core.exact_dot(a, b)
        return Fraction(total, 1 << unit), 1
    return narrowed(torch.tensor(value, dtype=torch.float64), kind, exact).to(a.device)


def _dot_type(a: Any, b: Any) -> Any:
    check("dot", a)
    check("dot", b)
    if a.dim() != 1 or a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
        raise ValueError(f"samesum.torch: dot takes two vectors of one size, type and device, not {tuple(a.shape)} of {a.dtype} on {a.device} "
                         f"and {tuple(b.shape)} of {b.dtype} on {b.device}")
    return result_type("dot", a)


def _save_inputs(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _dot_gradient(ctx: Any, g: Any) -> Any:
    a, b = ctx.saved_tensors
    return g * b, g * a


dot = _operator("dot", "(Tensor a, Tensor b) -> Tensor", _dot, lambda a, b: a.new_empty((), dtype=_dot_type(a, b)), _dot_gradient, _save_inputs)


def _index_add(start: Any, x: Any, index: Any) -> Any:
    for each in (start, x, index):
        check("index_sum", each)
        if each.device != start.device:
            raise SamesumError(f"samesum.torch: index_sum takes tensors on one device, not on {start.device} and {each.device}")
    to, x, index = (_plain(each) for each in (start, x, index))
    if x.numel() == 0:
        return to.clone()
    floating = start.dtype in FLOATS
    if start.device.type == "cuda":
        to = to if floating else to.long()
        found = torch.empty(to.shape, dtype=torch.float64 if floating else torch.int64, device=to.device)
        _core.sum_at_device(x, index, to, torch.arange(to.numel(), device=to.device), found)

        def exact(place: tuple[int, ...]) -> tuple[Fraction, int]:
            return _narrow.power("sum", torch.cat([to[place].reshape(1), x[index == place[0]].to(to.dtype)]), 1)
        result = narrowed(found, start.dtype, exact) if floating else found.to(start.dtype)
    else:
        found = _tensor(_core.sum_at(x, index, to.numel(), to.contiguous()), start)  # rounded to odd, if the type is narrow
        result = once(found, start.dtype) if floating else found.to(start.dtype)
    if not floating and not torch.equal(result.to(found.dtype), found):
        raise NoAnswerError(f"samesum.torch: a sum does not fit into {start.dtype}")
    return result


def _index_gradient(ctx: Any, g: Any) -> Any:
    index, = ctx.saved_tensors
    return g.clone(), g.index_select(0, index), None


# Vectors: element index[i] of the result is start[index[i]] and all x[i] of that index, rounded once.
index_add = _operator("index_add", "(Tensor start, Tensor x, Tensor index) -> Tensor", _index_add,
                      lambda start, x, index: torch.empty_like(start, memory_format=torch.contiguous_format), _index_gradient,
                      lambda ctx, inputs, output: ctx.save_for_backward(inputs[2]))


def _cumsum(x: Any, dim: int) -> Any:
    check("cumsum", x)
    kind = result_type("cumsum", x)
    if x.numel() == 0:
        return x.new_empty(x.shape, dtype=kind)
    narrow = kind == torch.float32
    if x.device.type == "cuda" and kind not in (torch.float16, torch.bfloat16):
        found = torch.empty(x.shape, dtype=kind, device=x.device)
        return _core.scan(_plain(x).contiguous(), "sum", dim, False, narrow, [], _PROPAGATE, None, found)
    x, place = _plain(x).cpu(), x.device
    found = _tensor(_core.scan(x, "sum", dim, False, narrow, [], _PROPAGATE, None), x)
    if kind in INTEGERS or narrow:
        return found.to(place)
    return narrowed(found, kind, _narrow.prefixes(x, dim % x.dim())).to(place)


def _save_dim(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.dim = inputs[1]


def _cumsum_gradient(ctx: Any, g: Any) -> Any:
    return torch.ops.samesum.cumsum(g.flip(ctx.dim), ctx.dim).flip(ctx.dim), None


cumsum = _operator("cumsum", "(Tensor x, int dim) -> Tensor", _cumsum, lambda x, dim: x.new_empty(x.shape, dtype=result_type("cumsum", x)),
                   _cumsum_gradient, _save_dim)


def _checked_indices(index: Any, size: int) -> Any:
    if index.numel() and not 0 <= int(index.min()) <= int(index.max()) < size:
        raise IndexError(f"samesum.torch: indices have to be from 0 to {size - 1}")
    return index.clone()


_in_range = torch.library.custom_op("samesum::in_range", _checked_indices, mutates_args=(), schema="(Tensor index, SymInt size) -> Tensor")
_in_range.register_fake(lambda index, size: torch.empty_like(index))


def add_along(start: Any, dim: int, index: Any, x: Any) -> Any:
    """torch.index_add: each element of `start` and all elements of `x` for it, rounded once."""
    check("index_sum", x)
    if start.dim() == 0:
        return add_along(start.reshape(1), 0, index.reshape(-1), x.reshape(-1)).reshape(())
    index = index.reshape(-1)
    if not -start.dim() <= dim < start.dim():
        raise IndexError(f"samesum.torch: dim {dim} is none of a tensor of {start.dim()} dimensions")
    to, x = start.movedim(dim, 0), x.movedim(dim, 0)
    if x.shape != (index.shape[0], *to.shape[1:]):
        raise ValueError(f"samesum.torch: {index.shape[0]} indices along dimension {dim} of {tuple(start.shape)} do not belong to elements of another shape")
    row = math.prod(to.shape[1:])
    places = index.long()
    if x.dim() > 1:
        places = _in_range(places, to.shape[0])
        places = (places[:, None] * row + torch.arange(row, device=x.device)).reshape(-1)
    return index_add(to.reshape(-1), x.reshape(-1), places).reshape(to.shape).movedim(0, dim)


def scatter_along(start: Any, dim: int, index: Any, x: Any) -> Any:
    """torch.scatter_add: the same with an index for each element."""
    check("scatter_add", x)
    if start.dim() == 0:
        return scatter_along(start.reshape(1), 0, index.reshape(-1), x.reshape(-1)).reshape(())
    dim %= start.dim()
    index = _in_range(index, start.shape[dim])
    x = x[tuple(slice(n) for n in index.shape)]
    places = torch.zeros_like(index)
    for i, extent in enumerate(start.shape):
        along = [-1 if j == i else 1 for j in range(start.dim())]
        places = places * extent + (index if i == dim else torch.arange(index.shape[i], device=x.device).reshape(along))
    return index_add(start.reshape(-1), x.reshape(-1), places.reshape(-1)).reshape(start.shape)
