"""Exact sums of tensors over the processes of torch.distributed.

`all_reduce_exact` is torch.distributed.all_reduce with the exact sum, rounded once: the same bits on every rank, for any order of the
ranks, any backend and any algorithm of its all-reduce. ``import samesum`` alone does not import torch.
"""
from __future__ import annotations

import functools as _functools
from typing import Any

import torch as _torch
import torch.distributed as _distributed

from . import _digits
from ._core import SamesumError

__all__ = ["all_reduce_exact"]

_MOST_RANKS = 1 << 20  # so many words of 32 bits add up in 53 bits, which a float64 holds


def all_reduce_exact(tensor: Any, group: Any = None, block: int = 1 << 16) -> Any:
    """Replaces each element, on every rank, with the exact sum of those of all ranks, rounded once to the tensor's type.

    Each element is sent as an integer of as many words of 32 bits, in int64, as the exponents of its block need on all ranks together; their
    all-reduce is a sum of integers.

    Parameters
    ----------
    tensor : torch.Tensor
        float16, bfloat16, float32, float64 or integers, dense, of one shape and type on all ranks. It is written.
    group : torch.distributed.ProcessGroup, optional
        By default all ranks.
    block : int, optional
        So many elements are sent at once, each as at most 66 words: it bounds the memory. The same on all ranks.

    Returns
    -------
    torch.Tensor
        The tensor itself.

    Raises
    ------
    SamesumError
        Where shapes, types or blocks differ between the ranks: on all of them, and no tensor has been written.
    NoAnswerError
        Where a sum of integers does not fit into their type: on all ranks; blocks before it have been written.

    Examples
    --------
    >>> samesum.distributed.all_reduce_exact(torch.tensor([1.0, 2.0]))  # doctest: +SKIP
    tensor([8., 16.])
    """
    if tensor.layout != _torch.strided:
        raise TypeError(f"samesum.distributed: all_reduce_exact takes dense tensors, not {tensor.layout}: to_dense() makes one")
    if tensor.dtype not in _digits.FLOATS and tensor.dtype not in _digits.INTEGERS:
        raise TypeError(f"samesum.distributed: all_reduce_exact takes floats and integers, not {tensor.dtype}: convert first")
    if block < 1:
        raise SamesumError(f"samesum.distributed: a block has to have elements, not {block}")
    if _distributed.get_world_size(group) > _MOST_RANKS:
        raise SamesumError(f"samesum.distributed: there are more than {_MOST_RANKS} ranks")
    flat = tensor.detach().reshape(-1)  # a copy where the tensor is not contiguous
    _check_equal(flat, tensor.shape, block, group)
    blocks = flat.split(block) if flat.numel() else ()
    if flat.dtype in _digits.INTEGERS:
        for part in blocks:
            words = _digits.of_integers(part)
            _distributed.all_reduce(words, group=group)
            part.copy_(_digits.to_integers(words, part.dtype))
    else:
        for part, (high, low, special) in zip(blocks, _ranges(blocks, group)):
            _reduce(part, high, -low, special > 0, group)
    if flat.data_ptr() != tensor.data_ptr():
        tensor.detach().copy_(flat.reshape(tensor.shape))
    return tensor


def _check_equal(flat: Any, shape: Any, block: int, group: Any) -> None:
    """That all ranks have the same to do: else they would wait for each other, or add what does not belong together."""
    kinds = list(_digits.FLOATS + _digits.INTEGERS)
    mine = [flat.numel(), kinds.index(flat.dtype), block, _functools.reduce(lambda of, extent: (of * 1000003 + extent + 1) % (2**61 - 1), shape, 0)]
    both = _torch.tensor(mine + [-each for each in mine], dtype=_torch.int64, device=flat.device)
    _distributed.all_reduce(both, op=_distributed.ReduceOp.MAX, group=group)
    most, least = both[:len(mine)], -both[len(mine):]
    if not _torch.equal(most, least):
        raise SamesumError(f"samesum.distributed: the ranks have tensors of different shapes or types, or different blocks; this one has "
                           f"{tuple(shape)} of {flat.dtype}, block={block}")


def _ranges(blocks: Any, group: Any) -> Any:
    """For each block the highest and the negated lowest digit in use on any rank, and whether there are NaNs, infinities or -0.0."""
    if not blocks:
        return []
    found = _torch.stack([_digits.range_of(part) for part in blocks])
    _distributed.all_reduce(found, op=_distributed.ReduceOp.MAX, group=group)
    return found.tolist()


def _reduce(part: Any, high: int, low: int, special: bool, group: Any) -> None:
    words = None
    if high >= low:
        words = _digits.of_floats(part, low, high)
        _distributed.all_reduce(words, group=group)
    result = _digits.rounded(words, low, part)
    if special:
        counts = _digits.specials(part)
        _distributed.all_reduce(counts, group=group)
        result = _digits.with_specials(result, counts)
    part.copy_(result)

