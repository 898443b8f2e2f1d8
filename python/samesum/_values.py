"""Methods of the library's values that are written in Python."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as _numpy

from ._core import Accumulator, NoAnswerError, Statistics
from ._reductions import _correction

if TYPE_CHECKING:
    from fractions import Fraction


def _fraction(self: Any) -> Fraction:
    """The exact sum.

    Returns
    -------
    fractions.Fraction

    Raises
    ------
    NoAnswerError
        Where a NaN or an infinity was added.

    Examples
    --------
    >>> samesum.Accumulator([0.1, 0.25]).fraction()
    Fraction(12610078956637389, 36028797018963968)
    """
    if self.nan_count or self.infinities:
        raise NoAnswerError("a sum with NaNs or infinities is no fraction")
    from fractions import Fraction
    return Fraction(self._fixed(), 1 << 1074)


def _round(self: Any, nan: str = "propagate") -> float:
    """The sum, rounded once to the nearest float64.

    Parameters
    ----------
    nan : {'propagate', 'skip'}, optional
        Whether NaNs that were added make it NaN.

    Returns
    -------
    float

    Examples
    --------
    >>> samesum.Accumulator([1e16, 1.0, -1e16]).round()
    1.0
    """
    return self._round(nan)  # type: ignore[no-any-return]


def _value(self: Any) -> int | float:
    """The sum: exact where all elements were integers, else rounded once.

    Returns
    -------
    int or float

    Examples
    --------
    >>> samesum.Accumulator([2**62, 2**62]).value()
    9223372036854775808
    """
    return self._integer() if self._whole and self.count else self._round(None)  # type: ignore[no-any-return]


def _words(self: Any) -> Any:
    """Words that merge by addition: for MPI, NCCL and torch.distributed.

    Returns
    -------
    numpy.ndarray
        82 of int64.

    Examples
    --------
    >>> both = samesum.Accumulator([1e16]).words() + samesum.Accumulator([1.0]).words()
    >>> samesum.Accumulator.from_words(both) == samesum.Accumulator([1e16, 1.0])
    True
    """
    return _numpy.array(self._words(), _numpy.int64)


def _from_words(words: Any) -> Accumulator:
    """The accumulator of these words, or of the sum of several.

    Parameters
    ----------
    words : array_like
        82 of int64.

    Returns
    -------
    Accumulator

    Raises
    ------
    SamesumError
        Where these are no words of an accumulator.

    Examples
    --------
    >>> samesum.Accumulator.from_words(samesum.Accumulator([2.5]).words()).round()
    2.5
    """
    words = _numpy.asarray(words)
    if words.dtype.kind not in "iu":
        raise TypeError(f"words are 82 of int64, and these are {words.dtype}")
    return Accumulator._from_words(words.astype(_numpy.int64, copy=False).reshape(-1).tolist())


_variance, _deviation = Statistics.var, Statistics.std


def _var(self: Any, ddof: int = 0, nan: str = "propagate") -> float:
    """The variance in exact arithmetic, rounded once.

    Parameters
    ----------
    ddof : int, optional
        The variance is divided by n - `ddof`.
    nan : {'propagate', 'skip'}, optional
        Whether a NaN makes it NaN, or is left out.

    Returns
    -------
    float

    Examples
    --------
    >>> samesum.stats([1.0, 2.0, 3.0]).var(ddof=1)
    1.0
    """
    return _variance(self, _correction(ddof), nan)


def _std(self: Any, ddof: int = 0, nan: str = "propagate") -> float:
    """The root of the exact variance, rounded once.

    Parameters
    ----------
    ddof : int, optional
        The variance is divided by n - `ddof`.
    nan : {'propagate', 'skip'}, optional
        Whether a NaN makes it NaN, or is left out.

    Returns
    -------
    float

    Examples
    --------
    >>> samesum.stats([1.0, 3.0]).std()
    1.0
    """
    return _deviation(self, _correction(ddof), nan)


def install() -> None:
    """Give the classes of the module these methods."""
    methods: dict[str, Any] = {"fraction": _fraction, "round": _round, "value": _value, "words": _words, "from_words": staticmethod(_from_words),
                               "__float__": lambda self: self._round(None),
                               "__repr__": lambda self: f"<samesum.Accumulator of {self.count} elements: {self.value()!r}>"}
    for name, method in methods.items():
        setattr(Accumulator, name, method)
    setattr(Statistics, "var", _var)
    setattr(Statistics, "std", _std)
    setattr(Statistics, "__repr__", lambda self: (f"<samesum.Statistics of {self.count}: mean {self.mean!r}>" if self.count
                                                  else "<samesum.Statistics of 0>"))
