#!/usr/bin/env python3
"""The polynomials of src/formula/transcendental/ that are no Taylor series: of least greatest error, by the exchange of Remez (1934).

Needs mpmath. Prints the coefficients as they stand there, the highest first, and the greatest error.
"""
import struct

import mpmath
from mpmath import mp, mpf

mp.prec = 200


def best(function, weight, low, high, degree):
    """The polynomial p of that degree for which the greatest |p - function| weight between `low` and `high` is least, and that error."""
    count = degree + 2
    places = [(low + high) / 2 - (high - low) / 2 * mpmath.cos(mpmath.pi * k / (count - 1)) for k in range(count)]
    grid = [(low + high) / 2 - (high - low) / 2 * mpmath.cos(mpmath.pi * k / (24 * count)) for k in range(24 * count + 1)]
    for _ in range(30):
        system = mpmath.matrix(count, count)
        for i, x in enumerate(places):
            for j in range(degree + 1):
                system[i, j] = x**j
            system[i, degree + 1] = (-1)**i / weight(x)
        solution = mpmath.lu_solve(system, mpmath.matrix([function(x) for x in places]))
        terms = [solution[j] for j in range(degree, -1, -1)]
        errors = [(mpmath.polyval(terms, x) - function(x)) * weight(x) for x in grid]
        extremes, start = [], 0  # of each run of errors of one sign the greatest
        for k in range(1, len(grid) + 1):
            if k == len(grid) or (errors[k] > 0) != (errors[start] > 0):
                extremes.append(max(range(start, k), key=lambda i: abs(errors[i])))
                start = k
        while len(extremes) > count:
            del extremes[0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1]
        sizes = [abs(errors[k]) for k in extremes]
        if len(extremes) < count or max(sizes) < min(sizes) * mpf("1.02"):
            break
        places = [grid[k] for k in extremes]
    return terms, max(sizes)


def of_square(function, first, second):
    """(f(t)/t - 1)/t² as a function of z = t², which begins with first + second z."""
    def value(z):
        t = mpmath.sqrt(z)
        return first + second * z if z < mpf(2)**-40 else (function(t) / t - 1) / z
    return value


def erf_less(z):
    t = mpmath.sqrt(z)
    return 2 / mpmath.sqrt(mpmath.pi) * (1 - z / 3) - 1 if z < mpf(2)**-40 else mpmath.erf(t) / t - 1


def erfc_factor(k):
    """(1 + 2a) e^(a²) erfc(a) as a function of t = (a - k)/(a + k)."""
    def value(t):
        a = k * (1 + t) / (1 - t)
        return (1 + 2 * a) * mpmath.exp(a * a) * mpmath.erfc(a)
    return value


def show(name, polynomial, single):
    terms, error = polynomial
    print(f"{name}: error 2^{float(mpmath.log(error, 2)):.1f}")
    for term in terms:
        rounded = struct.unpack("f", struct.pack("f", term))[0] if single else float(term)
        print("  " + rounded.hex() + ("f" if single else ""))


def main():
    octant, least = (mpmath.sqrt(2) - 1)**2, mpf(1) / 10**6
    atan = of_square(mpmath.atan, -mpf(1) / 3, mpf(1) / 5)
    asin = of_square(mpmath.asin, mpf(1) / 6, mpf(3) / 40)
    for single, degrees, k, top in ((True, (4, 4, 6, 9), 2, mpf("10.3")), (False, (10, 12, 12, 22), 3, mpf("27.5"))):
        kind = "float32" if single else "float64"
        show(f"atan {kind}", best(atan, lambda z: z, least, octant, degrees[0]), single)
        show(f"asin {kind}", best(asin, lambda z: z, least, mpf(1) / 4, degrees[1]), single)
        show(f"erf {kind}", best(erf_less, lambda z: mpf(1), mpf(0), mpf(1), degrees[2]), single)
        half = mpf("0.5")
        show(f"erfc {kind}", best(erfc_factor(k), lambda t: mpf(1), (half - k) / (half + k), (top - k) / (top + k), degrees[3]), single)


if __name__ == "__main__":
    main()
