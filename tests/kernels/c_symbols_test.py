"""The functions of the C interface are those of the list in the repository: none goes, none is added unseen."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "src" / "c" / "symbols.txt"


def shown(library):
    """The C functions that a shared library shows, which have a version."""
    names = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r" T (samesum_\w+)@@SAMESUM_0$", names, re.MULTILINE)))


def declarations():
    """Those of the functions in the headers, one a line."""
    headers = "".join(path.read_text() for path in sorted((ROOT / "include" / "samesum" / "c").glob("*.h")))
    return "\n".join(" ".join(one.split()) for one in re.findall(r"^SAMESUM_C_API ([^;]*);", headers, re.MULTILINE)) + "\n"


# Calls every function with null pointers and zeros. What returns a status refuses them.
NULLS = """
import ctypes, re, sys
library = ctypes.CDLL(sys.argv[1])
library.samesum_message.restype = ctypes.c_char_p
for line in sys.stdin:
    result, name, parameters = re.fullmatch(r"(.*?)(samesum_\\w+)\\((.*)\\)\\n", line).groups()
    if name.startswith("samesum_image_"):
        continue  # of another library
    arguments = []
    for parameter in [] if parameters == "void" else parameters.split(", "):
        if "*" in parameter or "[" in parameter or parameter.startswith("samesum_next"):
            arguments.append(ctypes.c_void_p(None))
        elif parameter.startswith("double"):
            arguments.append(ctypes.c_double(0))
        else:
            arguments.append(ctypes.c_uint64(0))
    function = getattr(library, name)
    function.restype = ctypes.c_int if result.strip() == "samesum_status" else ctypes.c_void_p
    found = function(*arguments)
    if result.strip() == "samesum_status" and name != "samesum_fail" and (found != 2 or not library.samesum_message()):
        print(name, found, library.samesum_message())
"""


@unittest.skipUnless(LIST.exists() and "SAMESUM_LIBRARY" in os.environ, "compared in a build tree")
class Symbols(unittest.TestCase):
    def test_the_library_has_those_of_the_list(self):
        listed = LIST.read_text().split()
        self.assertEqual(listed, sorted(set(listed)))
        core = pathlib.Path(os.environ["SAMESUM_LIBRARY"])
        image = core.with_name(core.name.replace("libsamesum", "libsamesum_image"))
        self.assertEqual(sorted(shown(core) + shown(image)), listed)
        self.assertTrue(all(name.startswith("samesum_image_") for name in shown(image)))

    def test_null_pointers_are_refused(self):
        needed = subprocess.run(["nm", "-D", "--undefined-only", os.environ["SAMESUM_LIBRARY"]], capture_output=True, text=True, check=True).stdout
        if re.search(r" U __[at]san_", needed):
            self.skipTest("Python does not load a library with sanitizers")
        # In a process of its own, as what is tested is that it does not crash.
        run = subprocess.run([sys.executable, "-c", NULLS, os.environ["SAMESUM_LIBRARY"]], input=declarations(), capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_the_header_declares_those_of_the_list(self):
        self.assertEqual(sorted(re.findall(r"\b(samesum_\w+)\(", declarations())), LIST.read_text().split())


if __name__ == "__main__":
    unittest.main()
