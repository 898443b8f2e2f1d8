"""Fractions rounded to the types of torch, for tests."""
from fractions import Fraction

import torch

# Of each type the bits of the significand, and the exponent of the least positive number.
FORMS = {torch.float16: (11, -24), torch.bfloat16: (8, -133), torch.float32: (24, -149), torch.float64: (53, -1074)}


def rounded(value, dtype):
    """The nearest number of the type, ties to even, as a Fraction or an infinity."""
    digits, lowest = FORMS[dtype]
    if value == 0:
        return 0.0
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    exponent -= abs(value) < Fraction(2)**exponent  # 2**exponent <= |value| < 2**(exponent + 1)
    unit = Fraction(2)**max(exponent - digits + 1, lowest)
    nearest = round(value / unit) * unit
    greatest = Fraction(torch.finfo(dtype).max)
    return float(nearest) if abs(nearest) <= greatest else float("inf") if nearest > 0 else float("-inf")
