"""The functions of the C interface are those of the list in the repository: none goes, none is added unseen."""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "src" / "c" / "symbols.txt"


@unittest.skipUnless(LIST.exists() and "SAMESUM_LIBRARY" in os.environ, "compared in a build tree")
class Symbols(unittest.TestCase):
    def test_the_library_has_those_of_the_list(self):
        listed = LIST.read_text().split()
        self.assertEqual(listed, sorted(set(listed)))
        names = subprocess.run(["nm", "-D", "--defined-only", os.environ["SAMESUM_LIBRARY"]], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sorted(set(re.findall(r" T (samesum_\w+)$", names, re.MULTILINE))), listed)

    def test_the_header_declares_those_of_the_list(self):
        header = (ROOT / "include" / "samesum" / "samesum.h").read_text()
        self.assertEqual(sorted(re.findall(r"^SAMESUM_C_API[^(]*\b(samesum_\w+)\(", header, re.MULTILINE)), LIST.read_text().split())


if __name__ == "__main__":
    unittest.main()
