"""docs/opencl-cheat-sheet.md: its names and numbers are those of the headers of OpenCL and CUDA, of the library and of its dialect."""
import glob
import pathlib
import re
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = SOURCE / "docs/opencl-cheat-sheet.md"
HEADER = pathlib.Path("/usr/include/CL/cl.h")
CUDA_HEADERS = [*glob.glob("/usr/local/cuda*/include/cuda.h"), *glob.glob("/usr/local/cuda*/include/nvrtc.h")]
CLANG_HEADERS = glob.glob("/usr/lib/llvm-*/lib/clang/*/include/opencl-c*.h")


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def table(section):
    """The rows of the table of the section whose heading begins so, as lists of cells."""
    text = read(PAGE).split("\n## " + section)[1].split("\n## ")[0]
    rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def functions(cell):
    return [name for code in quoted(cell) for name in re.findall(r"\b([a-z_]\w*)\(", code) if name != "__attribute__"]


def codes(header):
    """Number by name. Statuses of a build are negative, too, but are no error codes: they follow those."""
    errors = re.search(r"/\* Error Codes \*/(.*?)(?:/\* cl_bool \*/|\Z)", header, re.S)[1]
    return {name: int(number) for name, number in re.findall(r"^#define (CL_\w+)\s+(-?\d+)\s*$", errors, re.M)}


@unittest.skipUnless(PAGE.exists(), "the page is read in a checkout")
class OpenclPage(unittest.TestCase):
    @unittest.skipUnless(HEADER.exists(), "CL/cl.h is not installed (package opencl-c-headers)")
    def test_error_codes_are_those_of_the_header(self):
        wanted = codes(read(HEADER))
        self.assertGreater(len(wanted), 60)
        extensions = read(HEADER.parent / "cl_ext.h")
        found = {}
        for number, name, cause, remedy in table("Error codes"):
            self.assertTrue(cause and remedy, name)
            if name == "none":
                continue
            (name,) = quoted(name)
            if name.endswith("_KHR"):
                self.assertTrue(re.search(rf"#define {name}\s+{number}\s", extensions), "not there")
            else:
                self.assertNotIn(name, found)
                found[name] = int(number)
        self.assertEqual(found, wanted)

    def test_the_library_has_a_name_for_each(self):
        source = read(SOURCE / "src/device/opencl/api.cpp")
        known = set(re.findall(r"SAMESUM_CODE\((CL_\w+),", source))  # the number is the macro of that name
        known |= {name for number, name in re.findall(r"\{(-\d+), \"(CL_\w+)\"", source)}
        self.assertEqual({name for row in table("Error codes") for name in quoted(row[1])} - {"CL_SUCCESS"}, known)

    @unittest.skipUnless(HEADER.exists(), "CL/cl.h is not installed (package opencl-c-headers)")
    def test_calls_and_constants_are_in_the_header(self):
        header = read(HEADER)
        names = set(re.findall(r"\b(cl[A-Z]\w+|CL_\w+)\b", read(PAGE))) - {"CL_TARGET_OPENCL_VERSION", "CL_PLATFORM_NOT_FOUND_KHR", "CL_DEVICE_TYPE_"}
        self.assertGreater(len(names), 100)
        for name in sorted(names):
            with self.subTest(name=name):
                self.assertTrue(re.search(rf"\b{name}\b", header), "not there")

    @unittest.skipUnless(len(CUDA_HEADERS) > 1, "cuda.h and nvrtc.h are not installed")
    def test_calls_of_cuda_are_in_its_headers(self):
        headers = "".join(map(read, CUDA_HEADERS))
        calls = [name for row in table("The host's calls") for name in quoted(row[3]) if re.match("cu|nvrtc", name)]
        self.assertGreater(len(calls), 30)
        for name in calls:
            with self.subTest(name=name):
                self.assertTrue(re.search(rf"\b{name}\(", headers), "not there")

    @unittest.skipUnless(CLANG_HEADERS, "no header of OpenCL C's functions (opencl-c.h of clang) is installed")
    def test_functions_of_kernels_are_those_of_clang(self):
        header = "".join(map(read, CLANG_HEADERS))
        built_in = {"printf", "reqd_work_group_size"}  # of the compiler itself
        names = [name for row in table("Words of kernels") for name in functions(row[1]) if name not in built_in]
        self.assertGreater(len(names), 15)
        for name in names:
            with self.subTest(name=name):
                self.assertTrue(re.search(rf"\b(?:{name}\(|define {name}\b)", header), "not there")

    def test_words_of_the_dialect_are_in_both_preludes(self):
        words = [word for row in table("Words of kernels") for code in quoted(row[3]) for word in re.findall(r"^[\w]+", code)]
        self.assertGreater(len(words), 30)
        for prelude in ("opencl.h", "cuda.h"):
            text = "".join(read(SOURCE / "src/device/dialect" / part) for part in (prelude, "ptx.h"))  # ptx.h follows either
            for word in words:
                with self.subTest(prelude=prelude, word=word):
                    if word not in ("ulong", "as_uint") or prelude == "cuda.h":  # words of OpenCL C itself
                        self.assertTrue(re.search(rf"(?m)^\s*(#define {word}\b|FN .*\b{word}\(|typedef .*\b{word};)", text), "not there")


if __name__ == "__main__":
    unittest.main()
