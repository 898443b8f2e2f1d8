"""array_api_suite.py SUITE [ARGUMENTS OF PYTEST]: samesum.array_api under the array API standard's own tests.

SUITE is a checkout of github.com/data-apis/array-api-tests with its submodule array-api. It needs pytest, hypothesis and ndindex of PyPI:

    SAMESUM_PYTHON_PACKAGE=build/release/python python3 tests/python/array_api_suite.py array-api-tests --max-examples 200

The namespace under test is numpy's with the functions of samesum.array_api in the place of its own.
"""
import functools
import os
import sys
import types

if "SAMESUM_PYTHON_PACKAGE" in os.environ:
    sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
import hypothesis
import numpy
import pytest
import samesum.array_api

# What the suite would have, and why it is otherwise here. A test that meets one of these takes other data.
DEVIATIONS = {
    "does not fit into": "integers whose sum does not fit raise NoAnswerError: the standard leaves the result open, and the suite takes a wrapped one",
    "no complex numbers": "there is no cumulative_prod of complex numbers",
    "overflow encountered in cast": "numpy warns where a finite element of x is infinite in the narrower dtype that is asked for",
}
FILES = {
    "test_statistical_functions.py": "test",
    "test_searching_functions.py": "argmax or argmin or count_nonzero",
    "test_utility_functions.py": "test_all or test_any",
    "test_signatures.py": " or ".join(f"test_func_signature[{name}]" for name in samesum.array_api.__all__),
    "test_special_cases.py": "test_nan_propagation or test_empty_arrays",
    "test_has_names.py": "statistical",
}


def overridden(function):
    @functools.wraps(function)
    def call(*args, **named):
        try:
            return function(*args, **named)
        except (samesum.NoAnswerError, TypeError, RuntimeWarning) as error:
            if any(each in str(error) for each in DEVIATIONS):
                hypothesis.reject()
            raise
    return call


def main():
    suite = os.path.abspath(sys.argv[1])
    xp = types.ModuleType("samesum_and_numpy")
    xp.__dict__.update({name: getattr(numpy, name) for name in dir(numpy) if not name.startswith("__")})
    xp.__dict__.update({name: overridden(getattr(samesum.array_api, name)) for name in samesum.array_api.__all__})
    xp.__array_api_version__ = "2024.12"
    sys.modules[xp.__name__] = xp
    os.environ["ARRAY_API_TESTS_MODULE"] = xp.__name__
    sys.path.insert(0, suite)
    os.chdir(suite)
    failed = 0
    for file, chosen in FILES.items():
        failed |= pytest.main(["-q", "--disable-warnings", "-p", "no:cacheprovider", f"{suite}/array_api_tests/{file}", "-k", chosen, *sys.argv[2:]])
    return failed


if __name__ == "__main__":
    sys.exit(main())
