"""Tensors as one integer of 64 bits an element, and back: what `samesum.distributed` sends where the exponents of a block lie close enough.

An element x becomes x * 2**scale, a whole number, and below it a field of a few bits that counts what is not -0.0. Everything is enqueued on the
tensor's device; nothing here waits for it.
"""
from __future__ import annotations

from typing import Any

import torch

_SPECIAL = 1 << 20  # the exponent of a block with a NaN or an infinity
_MOST = 900         # exponents beyond this may leave the range of a float64


def exponent_of(x: Any) -> Any:
    """The least e with all magnitudes below 2**e; far above all of them where one is not finite."""
    greatest = x.abs().max().double()
    return torch.where(torch.isfinite(greatest), torch.frexp(greatest).exponent.long(), _SPECIAL)


def _power_of_two(exponent: Any) -> Any:
    return ((exponent + 1023) << 52).view(torch.float64)


class Words:
    """The form of a block's words, of up to `ranks` ranks. `exponent`: exponent_of() the blocks of all ranks at most, an integer on the device."""

    def __init__(self, exponent: Any, ranks: int) -> None:
        self._bits = ranks.bit_length()  # for counts, and for carries
        self._usable = exponent.abs() <= _MOST
        self._scale = torch.where(self._usable, 62 - 2 * self._bits - exponent, 0)

    def of(self, x: Any) -> Any:
        """A word for each element, and one that is not 0 if some element is no multiple of 2**-scale."""
        scaled = x.double() * _power_of_two(self._scale)
        whole = scaled.long()
        fits = (whole == scaled).all() & self._usable
        if x.dtype == torch.float64:  # which may have become 0
            fits = fits & ((scaled == 0) == (x == 0)).all()
        other = (x != 0) | ~torch.signbit(x)
        return torch.cat([(whole << self._bits) + other, (~fits).long().reshape(1)])

    def sums(self, words: Any, old: Any) -> Any:
        """The numbers of added words, each rounded once to the type of `old`; `old` where some rank's elements did not fit."""
        whole = words[:-1] >> self._bits
        if old.dtype != torch.float64:
            # Rounded to the neighbour whose last bit is 1, of 52 bits or more: a further rounding to fewer bits is then as one.
            odd = ((whole >> 9) | ((whole & 511) != 0).long()) << 9
            whole = torch.where(whole.abs() >= 1 << 53, odd, whole)
        result = whole.double() * _power_of_two(-self._scale)
        if old.dtype in (torch.float16, torch.bfloat16):  # conversions to these go by float32
            narrow = result.float()
            rest = result - narrow.double()
            even = narrow.view(torch.int32) & 1 == 0
            odd = torch.nextafter(narrow, torch.where(rest > 0, float("inf"), float("-inf")).to(torch.float32))
            result = torch.where((rest != 0) & even, odd, narrow)
        result = result.to(old.dtype)
        result = torch.where(words[:-1] == 0, -torch.zeros_like(result), result)  # nothing but -0.0 was added
        return torch.where(words[-1] == 0, result, old)
