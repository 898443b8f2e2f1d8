"""Every kernel compiled by clang's OpenCL front end: finds errors without a device, with file and line. PoCL depends on clang-15."""
import os
import re
import shutil
import subprocess
import unittest

PROGRAM = os.environ.get("SAMESUM_PROGRAM", "samesum")
CLANG = next((path for path in map(shutil.which, ["clang-15", "clang", "clang-16", "clang-14"]) if path), None)

# Kernels whose last group reads what the others have written: the entry, and what orders it. Statistics need no order: a ticket draws a tile,
# another one says which group gathers, and this one polls words that say whether they are present.
LAST_GROUPS = {("sum", "single_pass"): ("single_pass", ["fence", "ticket", "fence"]),
               ("reduce", "stats"): ("statistics", ["ticket", "ticket"])}


def run(*arguments, **options):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False, text=True, **options)


def check(source):
    return run(CLANG, "-x", "cl", "-cl-std=CL3.0", "-Xclang", "-finclude-default-header", "-fsyntax-only", "-Werror", "-Wno-unused-function",
               "-D__OPENCL_VERSION__=300", "--target=spir64", "-", input=source)


def opencl_device():
    listed = run(PROGRAM, "devices").stdout
    return next(iter(re.findall(r"^(opencl:\d+)", listed, re.M)), None)


@unittest.skipIf(CLANG is None, "no clang")
class Syntax(unittest.TestCase):
    def test_every_kernel(self):
        device = opencl_device()
        if device is None:
            self.skipTest("no OpenCL device to assemble the kernels for")
        kinds = []
        for line in run(PROGRAM, "kernel").stdout.splitlines():
            pattern, variants = line.split(": ")
            # Of the barrier's variants, `best` includes the whole file of methods.
            kinds += [[pattern, variant] for variant in variants.split() if pattern != "barrier" or variant == "best"]
        # Kernels of pairs for other functions and reductions; --group selects a GPU's shape.
        for f, reduction, components in [("gaussian", "sum", "1"), ("sqdist", "argmin", "3"), ("invdist", "max", "4")]:
            kinds.append(["pairs", "register_blocks", "--group", "16", "--f", f, "--reduce", reduction, "--components", components])
        kinds.append(["pairs", "compensated", "--f", "gaussian"])
        checked = 0
        for kind in kinds:
            with self.subTest(kind=kind):
                shown = run(PROGRAM, "kernel", *kind, "--device", device)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                folder = {"sum": "reduce", "barrier": "samesum/device", "reduce": "product" if kind[1] == "product" else "reduce"}
                self.assertRegex(shown.stdout, "#line 1 \"(ladder/)?%s/" % folder.get(kind[0], kind[0]))
                self.assertIn("// --- build log", shown.stdout)
                for source in shown.stdout.split("#line 1 \"defines\"")[1:]:
                    result = check(source)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    checked += 1
                    if tuple(kind) in LAST_GROUPS and "#define SAMESUM_DEVICE_FENCE 1" in source:
                        self.check_last_group(source, *LAST_GROUPS[tuple(kind)])
        self.assertGreater(checked, 15)

    def test_orders_of_memory(self):
        """A processor with a stronger memory order hides missing orders: so this checks the requested orders. 4 is memory_order_acq_rel,
        2 memory_scope_device."""
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "src", "device", "dialect", "opencl.h"), encoding="utf-8") as file:
            prelude = file.read()
        kernel = "KERNEL void probe(GLOBAL uint* p) { fence_device(); p[1] = atomic_add_ordered_global32(p, 1); }"
        shown = run(CLANG, "-x", "cl", "-cl-std=CL3.0", "-Xclang", "-finclude-default-header", "-D__OPENCL_VERSION__=300",
                    "-DSAMESUM_DEVICE_FENCE=1", "--target=spir64", "-O1", "-S", "-emit-llvm", "-o", "-", "-", input=prelude + kernel)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"call .*atomic_work_item_fence\w*\(i32 (noundef )?2, i32 (noundef )?4, i32 (noundef )?2\)")
        self.assertRegex(shown.stdout, r"call .*atomic_fetch_add_explicit\w*\(.*, i32 (noundef )?1, i32 (noundef )?4, i32 (noundef )?2\)")

    def test_orders_of_the_barrier(self):
        """The same of grid_barrier.h: 3 is memory_order_release, 2 memory_order_acquire."""
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "include", "samesum", "device", "grid_barrier.h"), encoding="utf-8") as file:
            barrier = file.read()
        kernel = "__kernel void probe(__global uint* p) { grid_store_release(p, grid_load_acquire(p + 1)); p[2] = grid_add(p + 3, 1); }"
        shown = run(CLANG, "-x", "cl", "-cl-std=CL3.0", "-Xclang", "-finclude-default-header", "-D__OPENCL_VERSION__=300", "--target=spir64", "-O1", "-S",
                    "-emit-llvm", "-o", "-", "-", input=barrier + kernel)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        body = re.search(r"^define [^\n]*@probe\(.*?^}", shown.stdout, re.M | re.S).group()
        orders = re.findall(r"@\w*atomic_(load|store|fetch_add)_explicit\w*\(.*i32 (?:noundef )?(\d), i32 (?:noundef )?2\)", body)
        self.assertEqual(orders, [("load", "2"), ("store", "3"), ("fetch_add", "4")])

    def check_last_group(self, source, entry, expected):
        """What groups have written is read by the last of them, found by a ticket: it is ordered before the ticket that each draws, and after
        the last one's, for all work-items of that group."""
        steps = {"fence": r"@\w*atomic_work_item_fence\w*\(i32 (?:noundef )?2, i32 (?:noundef )?4, i32 (?:noundef )?2\)",
                 "ordered ticket": r"@\w*atomic_fetch_add_explicit\w*\(.*, i32 (?:noundef )?1, i32 (?:noundef )?4, i32 (?:noundef )?2\)",
                 "ticket": r"@\w*atomic_add\w*\(i32 addrspace\(1\)\*.*, i32 (?:noundef )?1\)"}
        code = run(CLANG, "-x", "cl", "-cl-std=CL3.0", "-Xclang", "-finclude-default-header", "-D__OPENCL_VERSION__=300", "--target=spir64",
                   "-O1", "-S", "-emit-llvm", "-o", "-", "-", input=source)
        self.assertEqual(code.returncode, 0, code.stderr)
        body = re.search(r"^define [^\n]*@%s\(.*?^}" % entry, code.stdout, re.M | re.S).group()
        self.assertEqual([name for line in body.splitlines() for name, pattern in steps.items() if re.search(pattern, line)], expected)

    def test_that_it_finds_errors(self):
        self.assertEqual(check("__kernel void k(__global float* x) { x[0] = 1; }").returncode, 0)
        self.assertIn("undeclared", check("__kernel void k(__global float* x) { x[0] = y; }").stderr)
        self.assertNotEqual(check("void f(__local float* p); __kernel void k(__global float* x) { f(x); }").returncode, 0)


if __name__ == "__main__":
    unittest.main()
