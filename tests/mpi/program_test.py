"""samesum-mpi: the answer of samesum over the ranks of MPI, and one message where a rank fails."""
import os
import signal
import subprocess
import time
import unittest

import numpy

from support.program import PROGRAM, Case

RUN = os.environ.get("SAMESUM_MPIRUN", "mpirun -n").split()
OVER_MPI = os.path.join(os.path.dirname(PROGRAM), "samesum-mpi")


class OverMpi(Case):
    def setUp(self):
        super().setUp()
        generator = numpy.random.default_rng(1)
        numpy.save(self.path("x.npy"), generator.standard_normal(997) * 2.0 ** generator.integers(-200, 200, 997))
        numpy.save(self.path("y.npy"), generator.random(997, dtype="f4"))

    def run_ranks(self, ranks, *arguments):
        return subprocess.run([*RUN, str(ranks), OVER_MPI, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=100,
                              check=False)

    def test_answers(self):
        for ranks, command in ((2, ["sum", "--hex", "x.npy"]), (3, ["stats", "--total", "--csv", "x.npy", "y.npy"]),
                               (2, ["hist", "--range", "-1", "1", "--csv", "x.npy"])):
            result = self.run_ranks(ranks, *command)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertEqual(result.stdout.decode(), self.succeed(*command))

    def test_pairs(self):
        command = ["pairs", "--device", "cpu", "--f", "sqdist", "--reduce", "argmin", "x.npy", "z.npy"]
        numpy.save(self.path("z.npy"), numpy.linspace(-3, 3, 61))
        result = self.run_ranks(3, *command)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(result.stdout.decode(), self.succeed(*command))
        self.assertGreater(len(set(result.stdout.split())), 10)
        self.assertEqual(self.run_ranks(2, *command, "-o", "ranks.npy").returncode, 0)
        self.succeed(*command, "--out", "whole.npy")
        self.assertEqual(self.read("ranks.npy"), self.read("whole.npy"))

    def test_groups_of_rows(self):
        for i, rows in enumerate(("a,1e100\nb,2\n", "b,3\na,1\nc,5\n", "a,-1e100\n")):
            self.write("%d.csv" % i, b"key,x\n" + rows.encode())
        command = ["sum", "--by", "key", "--column", "x", "--csv", "0.csv", "1.csv", "2.csv"]
        result = self.run_ranks(2, *command)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(result.stdout.decode(), self.succeed(*command))
        self.assertIn("a,1\n", result.stdout.decode())

    def test_a_rank_that_fails_ends_all_with_one_message(self):
        result = self.run_ranks(3, "sum", "nowhere.npy", "--partial", "p")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertEqual(result.stderr.count(b"nowhere.npy"), 1, result.stderr)
        self.assertIn(b"samesum-mpi: rank 0 of 3: samesum: nowhere.npy: ", result.stderr)
        self.assertFalse(os.path.exists(self.path("p")))
        self.assertIn(b"COMMAND is one of sum", self.run_ranks(1, "median", "x.npy").stderr)

    def test_a_rank_that_is_killed_ends_all(self):
        with open(self.path("big"), "wb") as file:
            file.truncate(1 << 40)  # sparse: hours of work
        command = [*RUN, "2", OVER_MPI, "sum", "--dtype", "f8", "--threads", "1", self.path("big")]
        process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        workers = self.wait_for(lambda found: len(found) == 2, "sum\0--part")
        ranks = self.processes("samesum-mpi\0sum")
        os.kill(min(rank for rank in ranks if rank != process.pid), signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(out, b"")
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(self.wait_for(lambda found: not found, "sum\0--part"), [])
        self.assertEqual(len(workers), 2)

    def processes(self, words):
        """Those that work on this test's file."""
        found = []
        for name in os.listdir("/proc"):
            try:
                with open("/proc/%s/cmdline" % name, "rb") as file:
                    line = file.read().decode("latin1")
            except OSError:
                continue
            if name.isdigit() and words in line and self.path("big") in line and "mpirun" not in line.split("\0")[0]:
                found.append(int(name))
        return found

    def wait_for(self, good, words):
        for _ in range(300):
            found = self.processes(words)
            if good(found):
                break
            time.sleep(0.1)
        return found


if __name__ == "__main__":
    unittest.main()
