"""run_unittest.py FILE: runs the unittest cases in FILE and writes their counts where GoogleTest would (GTEST_OUTPUT)."""
import importlib.util
import os
import sys
import unittest
from xml.sax.saxutils import quoteattr

path = os.path.abspath(sys.argv[1])
specification = importlib.util.spec_from_file_location("tests", path)
module = importlib.util.module_from_spec(specification)
sys.path.insert(0, os.path.dirname(os.path.dirname(path)))
specification.loader.exec_module(module)
result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromModule(module))

output = os.environ.get("GTEST_OUTPUT", "")
if output.startswith("xml:"):
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    with open(output[4:], "w", encoding="utf-8") as file:
        file.write(f'<testsuites tests="{result.testsRun}" failures="{failed}" disabled="0" errors="0">\n')
        for case, reason in result.skipped:
            file.write(f'<testcase name={quoteattr(str(case))} result="skipped"><skipped message={quoteattr(reason)}/></testcase>\n')
        file.write("</testsuites>\n")
sys.exit(not result.wasSuccessful())
