"""Files that are larger than the memory: read in chunks, they give what mapped files give, in bounded memory. SAMESUM_MEMORY says what counts as large."""
import os
import re
import subprocess
import sys
import time
import unittest

import numpy

from support.program import PROGRAM, Case, sanitized

LARGE = {"SAMESUM_MEMORY": "1"}


def ugly(count, seed=1):
    """Numbers of all magnitudes, which cancel."""
    generator = numpy.random.default_rng(seed)
    values = generator.standard_normal(count) * 2.0 ** generator.integers(-300, 300, count)
    values[count // 2:] = -values[:count - count // 2]
    return values


class ReadAhead(Case):
    def same(self, *command):
        """The same output from both; returns it."""
        mapped = self.succeed(*command)
        self.assertEqual(self.succeed(*command, environment=LARGE), mapped, command)
        return mapped

    def test_commands_give_the_same(self):
        """Of files of three chunks and a bit, whose chunks lie elsewhere in each."""
        count = 1700001
        numpy.save(self.path("x.npy"), ugly(count))
        numpy.save(self.path("y.npy"), numpy.clip(ugly(count, 2), -1e38, 1e38).astype("f4"))
        numpy.save(self.path("z.npy"), ugly(count, 4))
        numpy.save(self.path("n.npy"), numpy.arange(count, dtype="i2"))
        self.write("raw", b"odd" + ugly(count, 3).tobytes())
        for command in (["sum", "x.npy", "y.npy"], ["stats", "x.npy", "y.npy", "n.npy"], ["stats", "--total", "x.npy", "n.npy"], ["dot", "x.npy", "z.npy"],
                        ["dot", "n.npy", "n.npy"], ["hist", "--range", "-1", "1", "--csv", "x.npy"], ["prod", "y.npy"], ["median", "x.npy"],
                        ["sum", "--dtype", "f8", "--offset", "3", "--count", "1600000", "raw"], ["sum", "--map", "x*y", "x.npy", "y.npy"]):
            self.same(*command)
        for parts in (1, 3):
            for command in (["stats", "x.npy"], ["sum", "--total", "x.npy", "n.npy", "y.npy"], ["dot", "x.npy", "z.npy"], ["dot", "n.npy", "n.npy"],
                            ["hist", "--range", "-1", "1", "--csv", "x.npy"]):
                names = []
                for k in range(1, parts + 1):
                    names.append("p.%d" % k)
                    self.succeed(*command, "--part", "%d/%d" % (k, parts), "--partial", names[-1], environment=LARGE)
                self.assertEqual(self.succeed("merge", *names), self.succeed(*command), (command, parts))

    def test_compare(self):
        """More than the piece of 32 MiB that is added up backwards at a time."""
        for type, count in (("f8", 4194304 + 5), ("f4", 2 * 8388608), ("f4", 1), ("f4", 0)):
            generator = numpy.random.default_rng(count)
            values = generator.standard_normal(count).astype(type)
            numpy.save(self.path("x.npy"), values)
            command = ["compare", "--json", "--device", "cpu", "x.npy"]
            found = self.json(*command, environment=LARGE)
            mapped = self.json(*command)
            self.assertEqual([device["bits"] for device in found["devices"]], [device["bits"] for device in mapped["devices"]])
            for name, order in (("plain_forward", values), ("plain_backward", values[::-1])):
                expected = numpy.cumsum(order, dtype=type)[-1] if count else 0
                self.assertEqual(found[name]["value"], expected, (name, type, count))

    def test_complex_numbers_and_fortran_order(self):
        z = ugly(900001) + 1j * ugly(900001, 2)
        numpy.save(self.path("z.npy"), z)
        numpy.save(self.path("w.npy"), (0.7 + z[:5000] * 0).astype("c8"))
        for command in ("sum", "mean", "norm"):
            self.same(command, "z.npy")
        self.same("prod", "w.npy")
        numpy.save(self.path("f.npy"), numpy.asfortranarray(ugly(1200000).reshape(1000, 1200)))
        for command in (["sum"], ["mean"], ["stats"], ["argmax"], ["prod"], ["hist", "--range", "-1", "1", "--csv"]):
            self.same(*command, "f.npy")

    def most_memory(self, *command, environment):
        """As a child of a small process, whose own memory would count."""
        text = "import os, sys; print(os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)]), 0)[1:])"
        result = subprocess.run([sys.executable, "-c", text, PROGRAM, *command], cwd=self.folder, env={**os.environ, **environment},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        status, most = re.fullmatch(r"\((\d+), .*ru_maxrss=(\d+).*\)\n", result.stdout.decode()).groups()
        self.assertEqual(int(status), 0, (command, result.stderr))
        return int(most) * 1024

    @unittest.skipIf(sanitized(), "sanitizers take memory")
    def test_memory_is_bounded(self):
        size = 1 << 29
        with open(self.path("big"), "wb") as file:
            file.truncate(size)
        raw = ["--dtype", "f8", "--device", "cpu", "big"]
        self.assertGreater(self.most_memory("sum", *raw, environment={}), size)
        for command in (["sum"], ["stats"], ["compare"], ["sum", "--checkpoint", "state"], ["stats", "--part", "1/1", "--partial", "p"],
                        ["hist", "--range", "-1", "1"], ["dot", "big"]):
            self.assertLess(self.most_memory(*command, *raw, environment=LARGE), 200 << 20, command)

    def test_a_file_that_is_cut_short_while_it_is_read(self):
        with open(self.path("big"), "wb") as file:
            file.truncate(1 << 30)
        command = [PROGRAM, "sum", "--dtype", "f8", "--threads", "1", "--checkpoint", "state", "--every", "0", "big"]
        for _ in range(20):
            process = subprocess.Popen(command, cwd=self.folder, env={**os.environ, **LARGE}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            while process.poll() is None and not os.path.exists(self.path("state")):
                time.sleep(0.0005)
            os.truncate(self.path("big"), 1 << 20)
            out, message = process.communicate()
            os.truncate(self.path("big"), 1 << 30)
            if process.returncode != 0:
                break
        self.assertEqual((process.returncode, out), (2, b""))
        self.assertIn(b"big: was changed while it was being read: run again", message)


if __name__ == "__main__":
    unittest.main()
