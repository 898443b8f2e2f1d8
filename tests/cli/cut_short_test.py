"""Files that change while the program reads them, in every command that maps them: the message names the file, the exit code is 2. Run with
SAMESUM_PROGRAM=build/release/cli/samesum."""
import os
import struct
import subprocess
import time
import unittest

from support.program import PROGRAM, Case, header, npy


class CutShort(Case):
    def sparse(self, name, elements):
        """float32 zeros in a sparse file."""
        with open(self.path(name), "wb") as file:
            file.write(npy(header("'<f4'", "(%d,)" % elements), b""))
            file.truncate(file.tell() + 4 * elements)

    def disturb(self, arguments, victim, work):
        """Changes the file by `work` once the program has mapped it. Returns the program's message; None where it had already ended."""
        with subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            end = time.monotonic() + 60
            while time.monotonic() < end and process.poll() is None:
                with open("/proc/%d/maps" % process.pid, encoding="utf-8") as maps:
                    if self.path(victim) in maps.read():
                        break
            work()
            out, error = process.communicate()
        if process.returncode == 0:
            self.assertTrue(out)
            return None
        self.assertEqual((process.returncode, out), (2, b""), error)
        return error.decode()

    def check(self, arguments, victim, make, work, expected):
        for _ in range(3):
            make()
            said = self.disturb(arguments, victim, work)
            if said is not None:
                self.assertRegex(said, expected)
                return

    def test_it_is_the_second_file_of_a_dot_product(self):
        def make():
            self.sparse("a.npy", 1 << 27)
            self.sparse("b.npy", 1 << 27)
        self.check(["dot", "--device", "cpu", "a.npy", "b.npy"], "b.npy", make, lambda: os.truncate(self.path("b.npy"), 4096),
                   r"\Asamesum: b.npy: (became shorter|was changed|truncated)")

    def test_statistics_and_histograms(self):
        for command in (["stats", "--device", "cpu"], ["hist", "--device", "cpu", "--range", "0", "1", "--json"]):
            self.check([*command, "x.npy"], "x.npy", lambda: self.sparse("x.npy", 1 << 28), lambda: os.truncate(self.path("x.npy"), 4096),
                       r"\Asamesum: x.npy: (became shorter|was changed|truncated)")

    def test_pairs(self):
        self.sparse("a.npy", 30000)
        for victim in ("b.npy", "w.npy"):
            def make():
                self.sparse("b.npy", 30000)
                self.sparse("w.npy", 30000)
            arguments = ["pairs", "a.npy", "b.npy", "--weights", "w.npy", "--accuracy", "exact", "--device", "cpu", "-o", "c.npy"]
            # A missing page is detected at once, other changes at the end.
            self.check(arguments, victim, make, lambda name=victim: os.truncate(self.path(name), 4096),
                       r"\Asamesum: %s: (became shorter|was changed|truncated)" % victim)
            self.check(arguments, victim, make, lambda name=victim: self.touch(name), r"\Asamesum: %s: was changed" % victim)
            self.assertNotIn("c.npy.", " ".join(os.listdir(self.folder)))

    def touch(self, name):
        with open(self.path(name), "r+b") as file:
            file.seek(-4, os.SEEK_END)
            file.write(struct.pack("<f", 1))

    def test_a_ladder(self):
        self.check(["bench", "sum", "--device", "cpu", "--runs", "1", "--data", "x.npy"], "x.npy", lambda: self.sparse("x.npy", 1 << 24),
                   lambda: os.truncate(self.path("x.npy"), 4096), r"\Asamesum: x.npy: (became shorter|was changed|truncated)")


if __name__ == "__main__":
    unittest.main()
