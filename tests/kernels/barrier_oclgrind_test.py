"""The grid barrier in Oclgrind, which interprets kernels and looks at every access: bounds, uninitialised values, races within a group.

Oclgrind knows OpenCL C 1.2, in which groups cannot synchronise: its atomics, which it runs one after the other, stand here for those that
order memory. So it checks the barrier's logic, not its order; and what passes between groups through the barrier it takes for races.
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include", "samesum", "device", "grid_barrier.h")

ATOMICS = """
#undef __OPENCL_C_VERSION__
#define __OPENCL_C_VERSION__ 200
#define atomic_uint uint
#define atomic_load_explicit(p, order, scope) atomic_or(p, 0u)
#define atomic_store_explicit(p, value, order, scope) atomic_xchg(p, value)
#define atomic_fetch_add_explicit(p, value, order, scope) atomic_add(p, value)
"""

KERNEL = """
__kernel void check(__global uint* state, __global uint* data, __global uint* counts, uint rounds) {
  __local uint scratch[GRID_BARRIER_LOCAL_WORDS];
  GridBarrier grid;
  if (!grid_barrier_begin(&grid, state, scratch)) return;
  const uint n = grid.groups * get_local_size(0);
  const uint me = grid.group * get_local_size(0) + get_local_id(0);
  const uint next = (me + get_local_size(0)) % n;
  uint stale = 0;
  for (uint round = 1; round <= rounds; ++round) {
    data[me] = round;  // DATA
    if (!grid_barrier(&grid)) return;
    stale += data[next] != round;  // DATA
    if (!grid_barrier(&grid)) return;
  }
  atomic_add(&counts[0], stale);
  atomic_add(&counts[1], 1);
}
"""

ITEMS, ROUNDS = 4, 9


@unittest.skipUnless(shutil.which("oclgrind-kernel"), "Oclgrind is not installed (Debian package oclgrind)")
class Oclgrind(unittest.TestCase):
    def run_kernel(self, groups, threads, options=(), many=200, counters=0, poll_limit=0, edit=lambda header: header):
        """Stale reads, completed work-items, the state's words, and Oclgrind's other messages."""
        with open(HEADER) as file:
            header = edit(file.read())
        state = [0] * 160
        state[1] = poll_limit
        state[96] = state[128] = counters
        self.source = "#define GRID_BARRIER_MANY %d\n" % many + ATOMICS + header + KERNEL
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "check.cl"), "w") as file:
                file.write(self.source)
            with open(os.path.join(folder, "check.sim"), "w") as file:
                file.write("check.cl\ncheck\n%d 1 1\n%d 1 1\n<size=640 uint dump>\n%s\n<size=%d fill=0 uint>\n<size=8 fill=0 uint dump>\n"
                           "<size=4 uint>\n%d\n" % (groups * ITEMS, ITEMS, " ".join(map(str, state)), 4 * groups * ITEMS, ROUNDS))
            done = subprocess.run(["oclgrind-kernel", "--num-threads", str(threads), "--max-errors", "100000", *options, "check.sim"],
                                  cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
        text = done.stdout.decode(errors="replace")
        values = {name: {int(i): int(v) for i, v in re.findall(r"%s\[(\d+)\] = (\d+)" % name, text)} for name in ("state", "counts")}
        self.assertIn(1, values["counts"], text)
        return values["counts"][0], values["counts"][1], values["state"], text.split("\nArgument '")[0]

    def test_passes_with_a_thread_for_each_group(self):
        for groups, many in ((1, 200), (2, 200), (2, 2), (3, 2), (4, 2)):
            for counters in (0, 0xc0000000):  # the next barrier wraps
                with self.subTest(groups=groups, many=many, counters=counters):
                    stale, ended, state, said = self.run_kernel(groups, groups, ["--uninitialized"], many, counters)
                    self.assertEqual((stale, ended, state[9]), (0, groups * ITEMS, 0))
                    self.assertEqual(said.strip(), "")

    def test_only_what_passes_the_barrier_races(self):
        for many in (200, 2):
            stale, ended, _, said = self.run_kernel(2, 2, ["--data-races"], many)
            self.assertEqual((stale, ended), (0, 2 * ITEMS))
            self.assertNotIn("local memory", said)
            lines = self.source.split("\n")
            for line in re.findall(r"At line (\d+)", said):
                self.assertIn("// DATA", lines[int(line) - 1])

    def test_a_missing_barrier_of_the_group_is_found(self):
        def without(header):
            text = "  grid_group_barrier();\n  grid->group = scratch[1];\n"
            self.assertIn(text, header)
            return header.replace(text, text.split("\n", 1)[1])
        _, _, _, said = self.run_kernel(2, 2, ["--data-races"], poll_limit=2, edit=without)
        self.assertIn("data race at local memory", said)

    def test_groups_that_run_one_after_the_other_end_in_the_watchdog(self):
        _, ended, state, _ = self.run_kernel(3, 1, poll_limit=2)
        self.assertEqual((ended, state[9], state[10], state[11]), (0, 1, 1, 1))  # a time-out, at barrier 1, with one group there


if __name__ == "__main__":
    unittest.main()
