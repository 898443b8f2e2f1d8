"""Exact sums of tensors over the processes of torch.distributed.

`all_reduce_exact` is torch.distributed.all_reduce with the exact sum, rounded once: the same bits on every rank, for any order of the
ranks, any backend and any algorithm of its all-reduce. ``import samesum`` alone does not import torch.
"""
from __future__ import annotations

import collections as _collections
import functools as _functools
from typing import Any

import torch as _torch
import torch.distributed as _distributed

from . import _digits, _one_word
from ._core import SamesumError

__all__ = ["all_reduce_exact"]

_MOST_RANKS = 1 << 20  # so many words of 32 bits add up in 53 bits, which a float64 holds
_WIDE_BLOCK = 1 << 16  # elements that are sent at once as up to 66 words each
_MOST_PIECES = 1 << 12  # that are copied to be sent so
_AHEAD = 2             # blocks that are sent while others are rounded


def all_reduce_exact(tensor: Any, group: Any = None, block: int = 1 << 24) -> Any:
    """Replaces each element, on every rank, with the exact sum of those of all ranks, rounded once to the tensor's type.

    Each element is sent as one integer of 64 bits, where the exponents of its piece of 1024 lie close enough on all ranks together: of float32 and two
    ranks about 34 apart. Otherwise the piece is sent again, as as many words of 32 bits, in int64, as it needs. Their all-reduce is a sum of integers.

    Parameters
    ----------
    tensor : torch.Tensor
        float16, bfloat16, float32, float64 or integers, dense, of one shape and type on all ranks. It is written.
    group : torch.distributed.ProcessGroup, optional
        By default all ranks.
    block : int, optional
        So many elements are sent at once: it bounds the memory, to some 30 bytes for each of them. The same on all ranks.

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
    flat = tensor.detach().resolve_neg().contiguous().reshape(-1)  # a copy where the tensor is not contiguous
    _check_equal(flat, tensor.shape, block, group)
    if flat.dtype in _digits.INTEGERS:
        for part in flat.split(block) if flat.numel() else ():
            words = _digits.of_integers(part)
            _distributed.all_reduce(words, group=group)
            part.copy_(_digits.to_integers(words, part.dtype))
    elif flat.numel():
        left = _reduce_words(flat, block, group)
        for pieces in left.split(_MOST_PIECES) if left.numel() else ():
            places = (pieces[:, None] * _one_word.PIECE + _torch.arange(_one_word.PIECE, device=flat.device)).reshape(-1)
            places = places[places < flat.numel()]
            elements = flat[places]
            parts = elements.split(_WIDE_BLOCK)
            for part, (high, low, special) in zip(parts, _ranges(parts, group)):
                _reduce(part, high, -low, special > 0, group)
            flat[places] = elements
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


def _reduce_words(flat: Any, block: int, group: Any) -> Any:
    """Adds up the pieces of which one word an element is enough; returns which are the others, which are as they were."""
    form = _one_word.Words(flat, _distributed.get_world_size(group))
    exponents = form.exponents(flat)
    _distributed.all_reduce(exponents, op=_distributed.ReduceOp.MAX, group=group)
    pieces = _one_word.pieces(block)
    sent: Any = _collections.deque()
    misfits = []

    def finish() -> None:
        part, powers, words, work = sent.popleft()
        work.wait()
        form.round(words, powers, part)
        misfits.append(words[part.numel():].clone())  # a view would keep all words in memory

    for part, powers in zip(flat.split(pieces * _one_word.PIECE), exponents.split(pieces)):
        words = form.of(part, powers)
        sent.append((part, powers, words, _distributed.all_reduce(words, group=group, async_op=True)))
        if len(sent) > _AHEAD:
            finish()
    while sent:
        finish()
    return _torch.cat(misfits).nonzero()[:, 0]


def _ranges(blocks: Any, group: Any) -> Any:
    """For each block the highest and the negated lowest digit in use on any rank, and whether there are NaNs, infinities or -0.0."""
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

