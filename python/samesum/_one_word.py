"""Tensors as one integer of 64 bits an element, and back: what `samesum.distributed` sends where exponents lie close enough.

Pieces of `PIECE` elements have an exponent each, and fit or do not fit as a whole. Everything is enqueued on the tensor's device, on its current
stream; nothing here waits for it.
"""
from __future__ import annotations

from typing import Any

import torch

from . import _core

PIECE: int = _core.ElementWords.PIECE


def pieces(count: int) -> int:
    return -(-count // PIECE)


class Words:
    """Words of parts of tensors like this one, of up to `ranks` ranks."""

    def __init__(self, like: Any, ranks: int) -> None:
        if like.device.type not in ("cpu", "cuda"):
            raise _core.SamesumError(f"samesum.distributed: all_reduce_exact takes tensors on cpu and cuda, not on {like.device.type}")
        kind = str(like.dtype)[len("torch."):]
        ordinal = like.get_device() if like.is_cuda else None
        stream = torch.cuda.current_stream(like.device).cuda_stream if like.is_cuda else 0
        self._words = _core.ElementWords(kind, ranks, ordinal, stream, torch)  # torch never destroys its streams

    def exponents(self, x: Any) -> Any:
        """For each piece the least e with all magnitudes below 2**e; far above all of them where one is not finite."""
        found = torch.empty(pieces(x.numel()), dtype=torch.int64, device=x.device)
        self._words.exponents(x.data_ptr(), x.numel(), found.data_ptr())
        return found

    def of(self, x: Any, exponents: Any) -> Any:
        """A word for each element, and behind them one for each piece, which is not 0 if the piece does not fit."""
        words = torch.empty(x.numel() + pieces(x.numel()), dtype=torch.int64, device=x.device)
        self._words.words(x.data_ptr(), x.numel(), exponents.data_ptr(), words.data_ptr())
        return words

    def round(self, words: Any, exponents: Any, x: Any) -> None:
        """Replaces the elements of x by the numbers of added words, each rounded once, but for pieces that do not fit on some rank."""
        self._words.round(words.data_ptr(), exponents.data_ptr(), x.data_ptr(), x.numel())
