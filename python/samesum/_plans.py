"""Operations that are prepared once."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._arrays import text
from ._formulas import used, using
from ._groups import pairs_arguments
from ._histograms import _bins_of
from ._reductions import _axes

if TYPE_CHECKING:
    from ._docs import Axis


class Plan:
    """An operation with all that it needs, made once and called any number of times: kernels are compiled and memory is allocated here.

    Plan.histogram, Plan.pairs, Plan.map and Plan.reduce make the plans of the functions with these names.

    Parameters
    ----------
    operation : str
        'sum', 'dot', 'extrema', 'product' or 'statistics'; with `axis` 'sum' or 'mean', and on the CPU also 'var', 'std', 'norm', 'min', 'max',
        'argmin', 'argmax' or 'count_nonzero'.
    x : array_like
        An array like those to come: on their device and of their type; other sizes give the same results, perhaps more slowly. If it has
        gaps, the plan takes arrays with gaps, too. With `axis` the arrays to come have its shape and strides.
    nan : str, optional
        'propagate' or 'skip'.
    axis : int or tuple of int, optional
        The axes to reduce; None: all elements.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Examples
    --------
    >>> x = numpy.array([1e16, 1.0, -1e16])
    >>> plan = samesum.Plan('sum', x)
    >>> plan.enqueue(x)
    >>> plan.result().value()
    1.0
    >>> rows = samesum.Plan('mean', numpy.zeros((2, 3)), axis=1)
    >>> rows.enqueue(numpy.array([[1.0, 2.0, 6.0], [1e16, 1.0, -1e16]]))
    >>> rows.result()
    array([3.        , 0.33333333])
    """

    def __init__(self, operation: str, x: Any, nan: str = "propagate", axis: Axis = None, keepdims: bool = False) -> None:
        text(operation, "the operation")
        if axis is None:
            self._plan = _core.plan(operation, x, nan)
            return
        reduction = getattr(_core.AxisReduction, operation, None)
        if reduction is None:
            raise _core.SamesumError(f"there is no plan of {operation!r} along axes: one of {', '.join(_core.AxisReduction.__members__)}")
        self._plan = _core.plan_along(reduction, x, _axes(axis), keepdims, nan)

    @classmethod
    def _of(cls, plan: Any) -> Plan:
        made = cls.__new__(cls)
        made._plan = plan
        return made

    @classmethod
    def histogram(cls, x: Any, bins: Any = 10, range: Any = None) -> Plan:
        """A plan of `samesum.histogram` over bins that are chosen now.

        Parameters
        ----------
        x : array_like
            An array like those to come.
        bins : int, sequence of float or str, optional
            Their number, or ascending edges, or the name of a rule of numpy.histogram_bin_edges.
        range : tuple of float, optional
            The outer edges; by default the least and the greatest finite element of `x`.

        Returns
        -------
        Plan
            Its result is a `Histogram`, its record n + 3 counts of uint64: below, in each of the n bins, above, of NaNs.

        Examples
        --------
        >>> plan, counts = samesum.Plan.histogram(numpy.zeros(4), 2, (0.0, 1.0)), numpy.empty(5, numpy.uint64)
        >>> plan.enqueue(numpy.array([-1.0, 0.25, 0.5, 1.0]), out=counts)
        >>> counts
        array([1, 1, 2, 0, 0], dtype=uint64)
        """
        return cls._of(_core.plan_of_histogram(x, _bins_of(x, bins, range)))

    @classmethod
    def pairs(cls, a: Any, b: Any, f: str = "product", reduction: str = "sum", accuracy: str = "exact", h: float = 1.0, softening: float = 0.0,
              weights: Any = None, k: int = 1, combine: str = "", finish: str = "",
              identity: int | float | tuple[int | float, ...] | None = None, inputs: dict[str, Any] | None = None) -> Plan:
        """A plan of `samesum.pairs`, which is called with two arrays.

        Parameters
        ----------
        a, b : array_like
            Arrays like those to come; without `out`, these have no more elements than the larger one. They are contiguous.
        f, reduction, accuracy, h, softening
            As of `samesum.pairs`.
        weights : array_like, optional
            One for each vector of the `b` to come. Copied now.
        k, combine, finish, identity
            As of `samesum.pairs`.
        inputs : dict, optional
            As of `samesum.pairs`; for each vector of the `b` to come. Copied now.

        Returns
        -------
        Plan
            Its result is an array as of `samesum.pairs`, its record that array.

        Examples
        --------
        >>> a, b = numpy.array([1.0, 5.0]), numpy.array([4.0, 3.0, 9.0])
        >>> plan = samesum.Plan.pairs(a, b, 'absdiff', 'argmin')
        >>> plan.enqueue(a, b)
        >>> plan.result()
        array([1, 0])
        """
        return cls._of(_core.plan_of_pairs(a, b, *pairs_arguments(f, reduction, accuracy, h, softening, weights, k, combine, finish, identity, inputs)))

    @classmethod
    def map(cls, formula: str, nan: str = "propagate", **inputs: Any) -> Plan:
        """A plan of the statistics of a formula's values, in one pass that writes no values.

        Parameters
        ----------
        formula : str
            Of the names of `inputs`; no integer operation in it may fail.
        nan : str, optional
            'propagate' or 'skip'.
        **inputs : array_like, int or float
            Numbers, and arrays like those to come, by name. The plan is called with an array for each of these, in this order.

        Returns
        -------
        Plan
            Its result is a `Statistics`, its record 128 bytes as of 'statistics'.

        Examples
        --------
        >>> w, x = numpy.array([0.5, 0.25]), numpy.array([2.0, 4.0])
        >>> plan = samesum.Plan.map('w*x^2', w=w, x=x)
        >>> plan.enqueue(w, x)
        >>> plan.result().mean
        3.0
        """
        return cls._of(_core.plan_of_map(using(formula, inputs), inputs, nan))

    @classmethod
    def reduce(cls, x: Any, operator: str, identity: int | float | None = None, **parameters: int | float) -> Plan:
        """A plan of `samesum.reduce`.

        Parameters
        ----------
        x : array_like
            An array like those to come.
        operator : str
            A formula of `a` and `b`; no integer operation in it may fail.
        identity : int or float, optional
            The result of no elements.
        **parameters : int or float
            Numbers that the formula takes by name.

        Returns
        -------
        Plan
            Its result is a number, its record 8 bytes: a float64, a float32 in the first half, or an integer of 64 bits.

        Examples
        --------
        >>> plan = samesum.Plan.reduce(numpy.zeros(3), 'b == 0 ? a : b')
        >>> plan.enqueue(numpy.array([7.0, 2.0, 0.0]))
        >>> plan.result()
        2.0
        """
        used(parameters, text(operator, "the operator"))
        return cls._of(_core.plan_of_operator(x, operator, identity, parameters))

    def enqueue(self, *arrays: Any, out: Any = None) -> None:
        """Enqueues the operation on the current stream of the arrays' framework as it was when the plan was made. Nothing waits on a GPU.

        Parameters
        ----------
        *arrays : array_like
            One, two of 'dot' and pairs, or one for each array of a formula; of the type and on the device of the plan's. They must not
            change until the work is complete.
        out : array, optional
            Where the record goes, in the same memory: 24 bytes of 'sum', 'dot' and 'product', 48 of 'extrema', 128 of 'statistics',
            whose parts docs/plans.md names. The first eight of a sum are the float64. Along axes the results, in C order.

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
        try:
            self._plan.enqueue(list(arrays), out)
        except _core.SamesumError as error:
            raise type(error)(str(error).replace("with Layout::strided", "for an array with gaps")) from None

    def result(self) -> Any:
        """The result of the latest call, for which it waits; of 'extrema', 'product', axes, pairs and operators of the latest without `out`.

        Returns
        -------
        Accumulator, Statistics, Histogram, numpy.ndarray, int or float
            Of 'sum'; of 'extrema', 'statistics' and formulas; of histograms; of pairs and along axes; of 'dot', 'product' and operators.

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
