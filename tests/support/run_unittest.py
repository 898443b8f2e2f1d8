"""run_unittest.py FILE: runs the unittest cases in FILE as GoogleTest would: which ones says GTEST_FILTER, by Class.method; their counts go to
GTEST_OUTPUT."""
import fnmatch
import importlib.util
import os
import sys
import time
import unittest
from xml.sax.saxutils import quoteattr


def write(tests, failed, skipped, seconds=()):
    """`skipped`: pairs of a case and the reason. `seconds`: pairs of a case and its time."""
    output = os.environ.get("GTEST_OUTPUT", "")
    if not output.startswith("xml:"):
        return
    with open(output[4:], "w", encoding="utf-8") as file:
        file.write(f'<testsuites tests="{tests}" failures="{failed}" disabled="0" errors="0">\n')
        for case, took in seconds:
            file.write(f'<testcase name={quoteattr(case)} time="{took:.3f}"/>\n')
        for case, reason in skipped:
            file.write(f'<testcase name={quoteattr(str(case))} result="skipped"><skipped message={quoteattr(reason)}/></testcase>\n')
        file.write("</testsuites>\n")


class Result(unittest.TextTestResult):
    """Knows what each case took."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.seconds = []

    def startTest(self, test):
        self.started = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.seconds.append((name_of(test), time.monotonic() - self.started))


def name_of(case):
    return ".".join(case.id().split(".")[-2:])


def chosen(suite):
    """The cases of a suite that GTEST_FILTER names: POSITIVE:…-NEGATIVE:…"""
    wanted, _, left_out = os.environ.get("GTEST_FILTER", "").partition("-")
    wanted, left_out = (wanted or "*").split(":"), left_out.split(":")
    found = unittest.TestSuite()
    for case in suite:
        if isinstance(case, unittest.TestSuite):
            found.addTest(chosen(case))
        elif any(fnmatch.fnmatchcase(name_of(case), p) for p in wanted) and not any(fnmatch.fnmatchcase(name_of(case), p) for p in left_out):
            found.addTest(case)
    return found


path = os.path.abspath(sys.argv[1])
specification = importlib.util.spec_from_file_location("tests", path)
module = importlib.util.module_from_spec(specification)
sys.path.insert(0, os.path.dirname(os.path.dirname(path)))
try:
    specification.loader.exec_module(module)
except unittest.SkipTest as skip:  # the whole file: it counts as one case
    print(f"skipped: {skip}")
    write(1, 0, [(os.path.basename(path), str(skip))])
    sys.exit(0)
result = unittest.TextTestRunner(verbosity=2, resultclass=Result).run(chosen(unittest.defaultTestLoader.loadTestsFromModule(module)))
write(result.testsRun, len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses), result.skipped, result.seconds)
sys.exit(not result.wasSuccessful())
