"""The model of the grid barrier and of discovery, checked by spin: no deadlock, no lost wake-up, no group passes early."""
import os
import shutil
import subprocess
import tempfile
import unittest

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "barrier_model.pml")
COMPILER = next((found for found in map(shutil.which, ("gcc", "cc", "clang")) if found), None)


@unittest.skipUnless(shutil.which("spin"), "spin is not installed (Debian package spin)")
@unittest.skipUnless(COMPILER, "spin needs a C compiler")
class Model(unittest.TestCase):
    def check(self, *defines):
        """The number of errors found by spin's exhaustive search."""
        with tempfile.TemporaryDirectory() as folder:
            def run(*command):
                return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240, check=True).stdout.decode()
            run("spin", "-a", *["-D" + define for define in defines], MODEL)
            run(COMPILER, "-O1", "-w", "-DSAFETY", "-DMEMLIM=2048", "-o", "pan", "pan.c")
            report = run("./pan", "-m1000000")
            self.assertNotIn("Search not completed\n", report if "errors: 0" in report else "", report)
            self.assertNotIn("max search depth too small", report)
            self.assertRegex(report, r"errors: \d+")
            return int(report.split("errors: ")[1].split()[0])

    def test_the_barrier(self):
        for defines in [[], ["LAUNCHED=1"], ["LAUNCHED=2", "ROUNDS=9"], ["LAUNCHED=4", "ROUNDS=5"]]:
            self.assertEqual(self.check(*defines), 0, defines)

    def test_several_counters(self):
        for defines in [["SHARDS=2"], ["LAUNCHED=4", "SHARDS=3", "ROUNDS=4"], ["LAUNCHED=2", "SHARDS=4", "ROUNDS=9"]]:
            self.assertEqual(self.check(*defines), 0, defines)

    def test_discovery_where_not_all_groups_are_resident(self):
        for slots in range(1, 4):
            self.assertEqual(self.check("DISCOVER", "LAUNCHED=4", "SLOTS=%d" % slots, "ROUNDS=3"), 0, slots)
            self.assertEqual(self.check("DISCOVER", "SHARDS=2", "LAUNCHED=4", "SLOTS=%d" % slots, "ROUNDS=2"), 0, slots)

    def test_a_group_that_leaves_ends_in_the_watchdog(self):
        for leaver in (1, 2, 5):
            self.assertEqual(self.check("LEAVER=%d" % leaver), 0, leaver)
            self.assertEqual(self.check("LEAVER=%d" % leaver, "SHARDS=2"), 0, leaver)

    def test_mistakes_are_found(self):
        self.assertNotEqual(self.check("TEXTBOOK"), 0, "the counter that is reset loses wake-ups")
        self.assertNotEqual(self.check("SHARDS=2", "PHASES=2"), 0, "one bit of phase is too few for two counters")
        self.assertNotEqual(self.check("LAUNCHED=3", "SLOTS=2"), 0, "more groups than can be resident, without discovery")


if __name__ == "__main__":
    unittest.main()
