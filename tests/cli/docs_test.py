"""The examples in README, docs/ and --help work: every command is run, every C++ snippet is compiled and run.

In README and docs/ each block of code stands between ``` and has a language: cpp, opencl (the `source` of the next cpp block), sh, console
(`$ command`, and what it prints), python (run by tests/python), or text for what is none of these. A cpp block with a main() is a program of its own, with OpenCL. Commands run with inputs of these names that are made here, and `bench` with
few data; what cannot be run stands in NOT_RUN, with the reason.
"""
import gzip
import json
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

from support.images import jpeg, png
from support.program import PROGRAM, Case

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(PROGRAM).resolve().parent.parent
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]
LANGUAGES = {"cpp", "opencl", "sh", "console", "text", "python"}

NOT_RUN = {
    "make demo": "builds, and installs packages",
    "make test": "builds, installs packages, and runs this very test",
    "samesum selftest --device opencl:0": "takes seconds; 'samesum selftest' is run, on the CPU",
    "samesum selftest --json >> report.txt": "likewise",
    "samesum warm": "compiles for many minutes; a part of it is run by tests/cli/warm_test.py",
    "samesum warm --device opencl:0 --operation sum --operation histogram": "likewise",
    "samesum warm --dtype float32": "likewise",
    "mpicxx -std=c++20 sum.cpp -lsamesum": "the example is built and run by the test example_mpi_sum",
    "mpirun -n 8 ./a.out": "likewise",
    "mpirun -n 8 samesum-mpi sum big.npy": "the program is run by the test mpi_program",
}
HELPS = [[], ["sum"], ["merge"], ["compare"], ["devices"], ["selftest"], ["bench"], ["bench", "sum"], ["bench", "ceiling"], ["bench", "barrier"],
         ["bench", "histogram"], ["bench", "pairs"], ["bench", "reduce"], ["hist"], ["hist2d"], ["pairs"], ["kernel"], ["check"], ["stats"], ["mean"], ["argmax"], ["dot"], ["median"],
         ["quantile"], ["reduce"], ["max"], ["scan"], ["tune"], ["warm"], ["completion"]]

# Members whose names say all, and those between a comment and its other overloads.
UNDOCUMENTED = {"merge", "round", "view", "fraction", "norm", "tell", "Pending"}

# Options that make a measurement short: the size (an option and its value), and the others.
SHORT = {
    "sum": ("--size 2^12", "--runs 1"),
    "ceiling": ("--size 64K", "--runs 1"),
    "histogram": ("--size 2^10", "--runs 1"),
    "pairs": ("--size 64", "--runs 1"),
    "reduce": ("--size 2^10", "--runs 1"),
    "barrier": ("--rounds 10", "--runs 1 --group 64 --no-shapes"),
}


def blocks(page):
    """(language, lines) of each block of code."""
    found, language, lines = [], None, []
    before = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            if language is None:
                language, lines = line[3:].strip(), []
                if language not in LANGUAGES:
                    raise AssertionError(f"{page.name}:{number}: a block of code says its language: {', '.join(sorted(LANGUAGES))}")
            else:
                found.append((language, lines))
                language = None
        elif language is not None:
            lines.append(line)
        elif line.startswith("    ") and not before.strip():
            raise AssertionError(f"{page.name}:{number}: an indented block of code: it stands between ```, with its language")
        before = line
    if language is not None:
        raise AssertionError(f"{page.name}: ``` is not closed")
    return found


def kernel_device():
    """The selector of the first device that runs kernels; None if there is none."""
    listed = json.loads(subprocess.run([PROGRAM, "devices", "--json"], capture_output=True, check=True, text=True).stdout)
    return next((device["selector"] for device in listed["devices"] if device["selector"] != "cpu"), None)


class Commands(Case):
    ran = set()  # help and pages show some commands alike

    def setUp(self):
        super().setUp()
        self.device = kernel_device()
        generator = numpy.random.default_rng(1)
        for name in ("x.npy", "a.npy", "b.npy", "m.npy", "v.npy", "w.npy", "dem.npy", "grid.npy", "data.npy"):
            numpy.save(self.path(name), generator.random(300, dtype="f4"))
        numpy.save(self.path("result.npy"), [numpy.load(self.path("x.npy")).sum(dtype="f8")])
        numpy.save(self.path("image.npy"), generator.random((40, 50), dtype="f4"))
        for name in ("z.npy", "u.npy"):
            numpy.save(self.path(name), (generator.standard_normal(300) + 1j).astype("c8"))
        numpy.save(self.path("n.npy"), generator.integers(1, 1000, 300, dtype="i4"))
        numpy.save(self.path("N.npy"), generator.integers(1, 1000, (30, 20), dtype="i4"))
        for name in ("A.npy", "B.npy"):
            numpy.save(self.path(name), generator.random((30, 3)))
        for name in ("masses.npy", "w.npy"):
            numpy.save(self.path(name), generator.random(30))
        numpy.save(self.path("center.npy"), numpy.load(self.path("A.npy")).mean(0))
        numpy.save(self.path("counts.npy"), generator.integers(0, 1000, 300))
        numpy.save(self.path("o.npy"), [0, 10, 10, 300])
        for name in ("k.npy", "cells.npy"):
            numpy.save(self.path(name), generator.integers(-5, 5, 300))
        numpy.save(self.path("lengths.npy"), [10, 0, 290])
        for name in ("dump.raw", "a.raw", "b.raw"):
            self.write(name, generator.random(1000).tobytes())
        numpy.savez(self.path("arrays.npz"), x=generator.random(10))
        shutil.copy(self.path("arrays.npz"), self.path("z.npz"))
        for name in ("values.txt.gz", "x.csv.gz"):
            self.write(name, gzip.compress(b"1.5\n2\n-0.25\n"))
        self.write("x.txt", b"1.5\n2\n")
        for name in ("a.txt", "b.txt", "table.txt", "shops.txt", "homes.txt"):
            self.write(name, b"x,y\n1.5,2\n0,-1\n")
        numpy.save(self.path("stack.npy"), generator.random((5, 4, 3)).astype("f4"))
        for name in ("sales.csv", "t.csv", "2023.csv", "2024.csv"):
            self.write(name, b"region,price,amount,b,c,d,e,city,year\nnorth,1.50,1,2,3,4,5,Oslo,2024\nsouth,2,1,2,3,4,5,Rome,2023\n")
        self.write("t.tsv", b"region\tprice\tcount\nnorth\t1.50\t7\n")
        self.write("eu.txt", "Ort;Land;Preis\nK\u00f6ln;DE;1.234,50\n".encode())
        self.write("x", generator.random(1500).astype("f4").tobytes())
        self.write("book.txt", b"It was the best of times\n")
        self.write("photo.png", png(generator.integers(0, 256, (20, 30, 3), dtype="u1")))
        self.write("mask.png", png(generator.integers(0, 2, (20, 30, 3), dtype="u1")))
        self.write("photo.jpg", jpeg())
        self.write("my.cl", b"")
        for name in ("a", "b"):
            self.succeed("sum", "--partial", name + ".sum", name + ".npy")
        tools = tempfile.TemporaryDirectory()
        self.addCleanup(tools.cleanup)
        os.symlink(PROGRAM, os.path.join(tools.name, "samesum"))
        if shutil.which("jq") is None:  # without jq, only checks that its input is JSON
            jq = pathlib.Path(tools.name) / "jq"
            jq.write_text("#!/usr/bin/python3\nimport json, sys\njson.load(sys.stdin)\n", encoding="utf-8")
            jq.chmod(0o755)
        self.environment = {**os.environ, "PATH": tools.name + ":" + os.environ["PATH"], "TYPE": "float64", "SIZE": "2^12", "DATA": "uniform"}
        if (SOURCE / "data").exists():
            os.symlink(SOURCE / "data", self.path("data"))

    def user_kernel(self, pattern):
        """my.cl is a kernel of the measured pattern."""
        self.write("my.cl", {
            "reduce": b"KERNEL void reduce(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {\n  if (local_id() != 0) return;\n"
                      b"  REAL all = IDENTITY;\n  for (ulong i = group_id(); i < n; i += group_count()) all = combine(all, in[i]);\n"
                      b"  out[group_id()] = all;\n}\n",
            "barrier": b"FN bool synchronize(GridBarrier* grid, GLOBAL uint* words) { return grid_barrier(grid); }\n",
            "sum": b"KERNEL void sum(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {\n  if (local_id() != 0) return;\n"
                   b"  REAL total = 0;\n  for (ulong i = group_id(); i < n; i += group_count()) total += in[i];\n"
                   b"  out[group_id()] = total;\n}\n",
            "pairs": b"KERNEL void pairs(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {\n"
                     b"  REAL total = 0;\n  for (ulong y = 0; y < y_count; ++y) total += a[global_id()] * b[y];\n"
                     b"  if (global_id() < x_count) c[global_id()] = total;\n}\n",
            "histogram": b"KERNEL void histogram(GLOBAL const uchar* data, ulong n, GLOBAL uint* counts) {\n"
                         b"  for (ulong i = global_id(); i < n; i += global_size()) atomic_add_global32(&counts[data[i]], 1);\n}\n"}[pattern])

    def short(self, command):
        """The same with little data, on an existing device; None if there is none."""
        words = command
        on_kernels = "--device cuda" in words or "--device opencl" in words
        words = re.sub(r"--device (cuda|opencl)\S*", f"--device {self.device}", words)
        if "--report" in words:
            words = re.sub(r" --only \S+", "", words) + " --only barrier --device cpu" + ("" if "--quick" in words else " --quick")
        measured = re.search(r"samesum bench (\w+)", words)
        if measured:
            pattern = measured[1]
            size, others = SHORT[pattern]
            option = size.split()[0]
            if option in words:
                words = re.sub(option + r" \S+", size, words)
            elif "--rows" not in words and "--atomics" not in words and not re.search(r"--data \S+\.", words):
                words += " " + size
            for other in re.findall(r"--\S+(?: [^-]\S*)?", others):
                if other.split()[0] not in words:
                    words += " " + other
            if "--kernel" in words:
                self.user_kernel(pattern)
                words += " --variant my.cl"
        words = words.replace("*.npy", "[!uz]*.npy")  # u.npy and z.npy hold complex numbers, which are not summed together with real ones
        if "samesum tune" in words:
            words = "export SAMESUM_TUNING=records.json; " + re.sub(r"--seconds \S+", "", words)
            words = re.sub(r"--kind \S+", "--kind generic", words).replace("src/tuning/", "")  # this device is of no other kind
            words += f" --device {self.device}" + ("" if re.search("--(show|reset)", words) else " --seconds 1")
            on_kernels = True
        if re.search(r"samesum (kernel --file|check) ?my.cl|samesum kernel --file", words):
            self.user_kernel("reduce")
            if "kernel" in words.split() and "--device" not in words:
                on_kernels = True
                words += f" --device {self.device}"
            if "check" in words.split() and not (
                    glob.glob("/usr/lib/oclgrind/liboclgrind-rt-icd.so") + glob.glob("/usr/lib/*/oclgrind/liboclgrind-rt-icd.so")):
                return None
        if re.search(r"samesum (bench barrier|kernel \w+ \w+|bench .*--(?:variant|atomics))", words) and "--device" not in words:
            on_kernels = True
            words += f" --device {self.device}"
        elif re.search(r"samesum (bench \w+|selftest)", words) and "--device" not in words:
            words += " --device cpu"
        return None if on_kernels and self.device is None else words

    def check(self, command, where):
        if command in NOT_RUN:
            self.left_out.add(command)
            return ""
        short = self.short(command)
        if short is None:
            self.missing.append(command)
            return ""
        done = subprocess.run(["bash", "-o", "pipefail", "-c", short], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f"{where}: {command}\nrun as: {short}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run_all(self, wanted):
        self.left_out, self.missing = set(), []
        once = {}
        for where, command in wanted:
            once.setdefault(command.split("#")[0].strip(), where)
        for command, where in once.items():
            with self.subTest(where=where, command=command):
                if command in NOT_RUN or command not in self.ran:
                    self.check(command, where)
                    self.ran.add(command)
        if self.missing:
            print(f"no device here runs kernels, so these were not run: {self.missing}")

    @unittest.skipUnless((SOURCE / "docs").exists(), "README's and docs' commands are run in a checkout")
    def test_those_of_the_pages(self):
        self.run_all([(page.name, line) for page in PAGES for language, lines in blocks(page) if language == "sh" for line in lines if line])
        self.assertLessEqual({command for command in NOT_RUN if command.startswith("make")}, self.left_out, "NOT_RUN names what no page shows")

    @unittest.skipUnless((SOURCE / "docs").exists(), "README's and docs' commands are run in a checkout")
    def test_what_they_print(self):
        """Whole lines, except those about devices."""
        for page in PAGES:
            for language, lines in blocks(page):
                if language != "console":
                    continue
                self.left_out, self.missing = set(), []
                printed = self.check(lines[0].removeprefix("$ "), page.name).splitlines()
                for line in lines[1:]:
                    value = re.match(r"  (?:\w+:\d+|cpu)\s+(\S+  \S+)  ", line)
                    if value:
                        self.assertTrue(any(value[1] in found for found in printed), (line, printed))
                    elif "devices agree" not in line:
                        self.assertIn(line, printed)

    def test_those_of_help(self):
        wanted = []
        for command in HELPS:
            text = self.succeed(*command, "--help")
            examples = text.partition("\nExamples:\n")[2].partition("\n\n")[0].replace("\\\n", "").splitlines()
            self.assertTrue(examples, command)
            for line in examples:
                self.assertLessEqual(len(line), 88, "this line of help is too long: " + line)
                self.assertNotRegex(line.partition("#")[0].strip(), r" {2,}\S", "what is no part of a command stands behind #: " + line)
                if "--help" not in line:
                    wanted.append(("samesum " + " ".join(command), line.strip()))
        self.run_all(wanted)


# The variables that snippets use: each snippet is in its own function, and may redeclare names.
FIXTURE = """
#include <samesum/barrier.hpp>
#include <samesum/bench.hpp>
#include <samesum/pairs.hpp>
#include <samesum/samesum.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static void require(double found, double expected, const char* what) {
  if (found == expected) return;
  std::printf("%s is %.17g, not %.17g\\n", what, found, expected);
  std::exit(1);
}

static const samesum::Device device = samesum::open_devices("all", 0).back();  // one that runs kernels, if there is one
static const std::vector<float> samples = {0.25f, 0.5f, 0.75f, 1.0f};
static const samesum::Array view = samples;
static const std::uint64_t n = 4;
static const samesum::Buffer memory(device, 4 * n), result(device, 48);
static const samesum::Array array((memory.write(samples.data(), 4 * n), memory), n, samesum::DType::float32);
static const samesum::Buffer from(device, 64), to(device, 64);
static const unsigned side = 16, steps = 3;
"""


@unittest.skipUnless((BUILD / "CMakeCache.txt").exists() and (SOURCE / "docs").exists(), "snippets are compiled with the library of a build tree")
class Snippets(unittest.TestCase):
    def test_compile_and_run(self):
        includes, functions, calls, kernel = [], [], [], ""
        for page in PAGES:
            for language, lines in blocks(page):
                if language == "opencl":
                    kernel = "\n".join(lines)
                elif language == "cpp" and "int main() {" in lines:
                    with self.subTest(page=page.name):
                        self.whole_program(lines)
                elif language == "cpp":
                    includes += [line for line in lines if line.startswith("#include")]
                    body = [self.checked(line) for line in lines if not line.startswith("#include")]
                    name = f"{page.stem.replace('-', '_')}_{len(calls)}"
                    on_kernels = any(call in "".join(body) for call in ("launch_grid", "samesum::launch(", "sum_rounds"))
                    functions.append(f'static void {name}() {{\n  const std::string source = R"kernel({kernel})kernel";\n'
                                     f'#line 1 "{page.name}, a snippet"\n' + "\n".join(body) + "\n}\n")
                    calls.append(f"  if ({str(not on_kernels).lower()} || device.info().has(samesum::Capability::kernels)) {name}();\n")
                    kernel = ""
            self.assertEqual(kernel, "", f"{page.name}: no cpp block behind the kernel has it for its `source`")
        self.assertGreater(len(calls), 3)
        program = "\n".join(dict.fromkeys(includes)) + FIXTURE + "".join(functions) + "int main() {\n" + "".join(calls) + "}\n"
        library = next(BUILD.glob("lib/**/libsamesum.so")).parent
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE))
        with tempfile.TemporaryDirectory() as folder:
            source, binary = pathlib.Path(folder) / "snippets.cpp", pathlib.Path(folder) / "snippets"
            source.write_text(program, encoding="utf-8")
            done = subprocess.run([cache["CMAKE_CXX_COMPILER"], "-std=c++20", "-Wall", "-Wextra", "-Wno-unused", "-Wno-unused-result", *cache["CMAKE_CXX_FLAGS"].split(), source,
                                   "-I", SOURCE / "include", "-L", library, "-lsamesum", "-Wl,-rpath," + str(library), "-o", binary],
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr + program)
            done = subprocess.run([binary], capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def whole_program(self, lines):
        """Compiles a program that ends with a status of its own, with the machine's OpenCL, and runs it if there is a device."""
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE))
        loader = cache.get("SAMESUM_OPENCL_LOADER", "NOTFOUND")
        if loader.endswith("NOTFOUND"):
            print("no OpenCL loader here, so a program for it was not compiled")
            return
        with tempfile.TemporaryDirectory() as folder:
            source, binary = pathlib.Path(folder) / "program.cpp", pathlib.Path(folder) / "program"
            source.write_text("\n".join(lines) + "\n", encoding="utf-8")
            done = subprocess.run([cache["CMAKE_CXX_COMPILER"], "-std=c++20", "-Wall", "-Wextra", "-Wno-deprecated-declarations", *cache["CMAKE_CXX_FLAGS"].split(), source,
                                   loader, "-o", binary], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
            if kernel_device() is not None:
                done = subprocess.run([binary], capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                self.assertNotEqual(done.stdout, "")

    def test_whole_programs_of_text(self):
        """Blocks of text with a main() are programs: they print what stands in the comments behind their printf(), or below `$ ./program` in the next block."""
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE))
        library = next(BUILD.glob("lib/**/libsamesum.so")).parent
        found = 0
        for page in PAGES:
            texts = [lines for language, lines in blocks(page) if language == "text"]
            for program, after in zip(texts, [*texts, []][1:], strict=True):
                source = "\n".join(program) + "\n"
                if not re.search(r"^int main\(", source, re.M):
                    continue
                found += 1
                expected = re.findall(r"printf\(.*;  (?://|/\*) ([-+.\w]+)", source)
                shown = [line for line in after if line.startswith("$ ./")]
                expected += after[after.index(shown[0]) + 1:] if shown else []
                self.assertTrue(expected, f"{page.name}: a whole program that does not say what it prints")
                c, mpi = "<stdio.h>" in source, "mpi.hpp" in source
                compiler = shutil.which("mpicxx" if mpi else cache["CMAKE_C_COMPILER" if c else "CMAKE_CXX_COMPILER"])
                if compiler is None:
                    print(f"no mpicxx here, so a program of {page.name} was not compiled")
                    continue
                with self.subTest(page=page.name, program=program[0]), tempfile.TemporaryDirectory() as folder:
                    file, binary = pathlib.Path(folder) / ("program.c" if c else "program.cpp"), pathlib.Path(folder) / "program"
                    file.write_text(source, encoding="utf-8")
                    done = subprocess.run([compiler, "-std=c11" if c else "-std=c++20", *cache["CMAKE_CXX_FLAGS"].split(), file, "-I", SOURCE / "include", "-L", library,
                                           "-lsamesum", "-Wl,-rpath," + str(library), "-o", binary], capture_output=True, text=True, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    done = subprocess.run([binary], capture_output=True, text=True, timeout=300, check=False)
                    self.assertEqual((done.returncode, done.stdout.splitlines()), (0, expected), done.stderr)
        self.assertGreaterEqual(found, 3)

    def checked(self, line):
        """`expression;  // 1.0` and `double x = expression;  // 1.0 …`: checks the values."""
        found = re.match(r"((?:[\w:]+ (\w+) = )?([^=]+));\s+// (-?[\d.]+)(?=$|;)", line)
        if not found:
            return line
        declared = f"{found[1]}; " if found[2] else ""
        return f'{declared}require(static_cast<double>({found[2] or found[3]}), {found[4]}, R"line({line})line");'


class Headers(unittest.TestCase):
    @unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
    def test_every_function_has_its_comment(self):
        """Public functions are documented, each by itself or as an overload right below one that is. Operators and constructors say what they are."""
        with tempfile.TemporaryDirectory() as folder:
            settings = (f"INPUT={SOURCE}/include\nRECURSIVE=YES\nOUTPUT_DIRECTORY={folder}\nGENERATE_HTML=NO\nGENERATE_LATEX=NO\nGENERATE_XML=YES\nQUIET=YES\n"
                        "EXTRACT_ALL=NO\nJAVADOC_AUTOBRIEF=YES\nMACRO_EXPANSION=YES\nPREDEFINED=SAMESUM_EXPORT= SAMESUM_C_API= SAMESUM_HIDDEN=\n"
                        "EXCLUDE_PATTERNS=*/device/* *samesum_core.hpp\nTYPEDEF_HIDES_STRUCT=YES\n")
            done = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True, timeout=300, check=True)
        found = re.findall(r"^(.*?):(\d+): warning: Member (.*) \(function\) of (?!.*detail::).* (\S+) is not documented", done.stderr, re.M)
        self.assertTrue(found, "Doxygen knows no overload that its neighbour documents: it says nothing")
        for path, line, signature, owner in found:
            name = re.match(r"operator[^(]+|[\w~]+", signature)[0]
            if name.startswith("operator") or name == owner.split("::")[-1] or name in UNDOCUMENTED:
                continue
            above = pathlib.Path(path).read_text(encoding="utf-8").splitlines()[:int(line) - 1]
            while above and above[-1].strip() and not re.search(rf"\b{name}\s*\(", above[-1]):
                above.pop()
            self.assertTrue(above and above[-1].strip(), f"{path}:{line}: {signature} has no comment")


    def test_every_c_function_has_its_comment(self):
        """Each stands below a comment, or in a block of functions that begins with one."""
        headers = sorted((SOURCE / "include/samesum/c").glob("*.h"))
        self.assertGreater(len(headers), 5)
        for header in headers:
            for block in re.split(r"\n\s*\n", header.read_text(encoding="utf-8")):
                functions = re.search(r"^SAMESUM_C_API .*", block, re.M)
                if functions:
                    self.assertIn("*/", block[:functions.start()] + functions[0], f"{header.name}: {functions[0]}")


@unittest.skipUnless((SOURCE / "docs").exists(), "the tasks are documents of a checkout")
class Tasks(unittest.TestCase):
    def test_each_takes_three_pages_and_one_snippet(self):
        """The pages of each task in docs/tasks.md are at most three; each is linked from one before it, README being the first. One answer has one snippet."""
        def links(page):
            return {(page.parent / target).resolve() for target in re.findall(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8"))}

        text = (SOURCE / "docs/tasks.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (\d+) \| .*? \| README(.*?) \|$", text, re.M)
        self.assertEqual([int(number) for number, _ in rows], list(range(1, 13)))
        answers = re.split(r"^## ", text, flags=re.M)[1:]
        self.assertEqual(len(answers), 12)
        for (number, way), answer in zip(rows, answers, strict=True):
            with self.subTest(task=number):
                self.assertTrue(answer.startswith(f"{number}. "))
                self.assertLessEqual(answer.count("```"), 2)
                seen = [SOURCE / "README.md"]
                for target in re.findall(r"\]\(([\w-]+\.md)(?:#[\w-]+)?\)", way):
                    page = SOURCE / "docs" / target
                    self.assertTrue(any(page in links(before) for before in seen), f"no page of {[one.name for one in seen]} links {target}")
                    seen.append(page)
                self.assertLessEqual(len(seen), 3)


@unittest.skipUnless((SOURCE / "docs").exists(), "the pages are documents of a checkout")
class Links(unittest.TestCase):
    def test_they_lead_somewhere(self):
        """Links between the documents lead to a file and to a heading of it."""
        def places(page):
            heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S), re.M)
            return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", re.sub(r"\]\([^)]*\)", "", head)).strip().lower()) for head in heads}

        for page in [*PAGES, *(SOURCE / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"))]:
            text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
            for target, place in re.findall(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)", text):
                with self.subTest(page=page.name, link=target + place):
                    to = (page.parent / target).resolve() if target else page
                    self.assertTrue(to.exists())
                    if place:
                        self.assertIn(place[1:], places(to))

    @unittest.skipUnless(shutil.which("mkdocs", path=SOURCE / "build/docs/tools/bin"), "MkDocs is not there: 'make docs' fetches it")
    def test_the_site(self):
        """make docs, elsewhere: no warning, and each link of the site leads to a page and a place in it."""
        with tempfile.TemporaryDirectory() as folder:
            pages, site = folder + "/pages", folder + "/site"
            environment = {**os.environ, "SAMESUM_PAGES": pages, "NO_MKDOCS_2_WARNING": "1"}
            for command in ([SOURCE / "tools/make-docs.py", PROGRAM, pages],
                            [SOURCE / "build/docs/tools/bin/mkdocs", "build", "--strict", "--site-dir", site], [SOURCE / "tools/check-links.py", site]):
                done = subprocess.run(command, cwd=SOURCE, env=environment, capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


@unittest.skipUnless((SOURCE / "docs").exists(), "plots are drawn in a checkout")
class Plots(unittest.TestCase):
    def test_they_show_the_figures(self):
        """docs/pictures has what tools/plot-figures.py draws from docs/lab/figures.json."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, SOURCE / "tools/plot-figures.py", folder], check=True)
            drawn = sorted(pathlib.Path(folder).iterdir())
            self.assertEqual(len(drawn), 6)
            for picture in drawn:
                kept = SOURCE / "docs/pictures" / picture.name
                self.assertEqual(kept.read_text(encoding="utf-8"), picture.read_text(encoding="utf-8"), "run tools/plot-figures.py")


if __name__ == "__main__":
    unittest.main()
