"""run_unittest.py FILE: runs the unittest cases in FILE and writes their counts where GoogleTest would (GTEST_OUTPUT)."""
import importlib.util
import os
import sys
import unittest
from xml.sax.saxutils import quoteattr


def write(tests, failed, skipped):
    """`skipped`: pairs of a case and the reason."""
    output = os.environ.get("GTEST_OUTPUT", "")
    if not output.startswith("xml:"):
        return
    with open(output[4:], "w", encoding="utf-8") as file:
        file.write(f'<testsuites tests="{tests}" failures="{failed}" disabled="0" errors="0">\n')
        for case, reason in skipped:
            file.write(f'<testcase name={quoteattr(str(case))} result="skipped"><skipped message={quoteattr(reason)}/></testcase>\n')
        file.write("</testsuites>\n")


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
result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromModule(module))
write(result.testsRun, len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses), result.skipped)
sys.exit(not result.wasSuccessful())
