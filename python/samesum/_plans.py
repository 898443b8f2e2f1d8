"""Operations that are prepared once."""
from __future__ import annotations

from typing import Any

from . import _core


class Plan:
    """An operation with all that it needs, made once and called any number of times: kernels are compiled and memory is allocated here.

    Parameters
    ----------
    operation : str
        'sum', 'dot', 'extrema', 'product' or 'statistics'.
    x : array_like
        An array like those to come: on their device and of their type; other sizes give the same results, perhaps more slowly. If it has
        gaps, the plan takes arrays with gaps, too.
    nan : str, optional
        'propagate' or 'skip'.

    Examples
    --------
    >>> x = numpy.array([1e16, 1.0, -1e16])
    >>> plan = samesum.Plan('sum', x)
    >>> plan.enqueue(x)
    >>> plan.result().value()
    1.0
    """

    def __init__(self, operation: str, x: Any, nan: str = "propagate") -> None:
        self._plan = _core.PlanFor(operation, x, nan)

    def enqueue(self, *arrays: Any, out: Any = None) -> None:
        """Enqueues the operation on the current stream of the arrays' framework as it was when the plan was made. Nothing waits on a GPU.

        Parameters
        ----------
        *arrays : array_like
            One, or two for 'dot', of the type and on the device of the plan's. They must not change until the work is complete.
        out : array, optional
            Where the record goes, in the same memory: 24 bytes of 'sum', 'dot' and 'product', 48 of 'extrema', 128 of 'statistics',
            whose parts docs/plans.md names. The first eight of a sum are the float64.

        Returns
        -------
        None

        Examples
        --------
        >>> x, record = numpy.array([0.5, 0.25]), numpy.empty(3)
        >>> samesum.Plan('dot', x).enqueue(x, x, out=record)
        >>> record[0]
        np.float64(0.3125)
        """
        self._plan.enqueue(list(arrays), out)

    def result(self) -> Any:
        """The result of the latest call, for which it waits; of 'extrema' and 'product' of the latest one without `out`.

        Returns
        -------
        Accumulator, Statistics, int or float
            Of 'sum'; of 'extrema' and 'statistics'; of 'dot' and 'product'.

        Examples
        --------
        >>> plan = samesum.Plan('extrema', numpy.zeros(3))
        >>> plan.enqueue(numpy.array([2.0, 7.0, 1.0]))
        >>> plan.result().max
        7.0
        """
        return self._plan.result()

    @property
    def configuration(self) -> str:
        """How it is computed, for those who measure."""
        return str(self._plan.configuration())
