"""Output files: complete or not written at all, never an input. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import math
import os
import random
import resource
import signal
import stat
import subprocess
import time
import unittest
import zipfile

from support.informative import informative
from support.program import PROGRAM, Case


class Partial(Case):
    def setUp(self):
        super().setUp()
        random.seed(3)
        self.parts = [[random.gauss(0, 1) * 10 ** random.randint(-200, 200) for _ in range(200)] for _ in range(3)]
        for i, values in enumerate(self.parts):
            self.array("%d.npy" % i, values)
            self.succeed("sum", "%d.npy" % i, "--partial", "%d.sum" % i)
        self.right = informative(math.fsum(value for values in self.parts for value in values))

    def test_merge(self):
        self.assertEqual(self.plain("merge", "0.sum", "1.sum", "2.sum"), repr(self.right))
        self.assertEqual(self.plain("merge", "2.sum", "0.sum", "1.sum"), repr(self.right))
        self.assertEqual(self.json("merge", "0.sum", "1.sum", "2.sum")["count"], 600)
        self.assertEqual(self.succeed("merge", "0.sum", "1.sum").splitlines()[-1].split("\t")[1], "total")

    def test_partial_sums_of_partial_sums(self):
        self.succeed("merge", "0.sum", "1.sum", "--partial", "01.sum")
        self.assertEqual(self.plain("merge", "01.sum", "2.sum"), repr(self.right))
        self.succeed("sum", "2.npy", "1.npy", "0.npy", "--partial", "all.sum")
        self.succeed("merge", "01.sum", "2.sum", "--partial", "again.sum")
        self.assertEqual(self.read("all.sum"), self.read("again.sum"))

    def test_the_file_is_whole_and_readable(self):
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "sum" in name), ["0.sum", "1.sum", "2.sum"])
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("0.sum")).st_mode), 0o666 & ~mask)
        self.succeed("sum", "0.npy", "--partial", "0.sum")  # replaces
        os.symlink("1.sum", self.path("link"))
        self.succeed("sum", "2.npy", "--partial", "link")
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(self.plain("merge", "1.sum"), repr(math.fsum(self.parts[2])))

    def test_to_nowhere(self):
        self.assertEqual(self.plain("sum", "0.npy", "--partial", "/dev/null"), self.plain("sum", "0.npy"))
        self.assertEqual(self.succeed("scan", "0.npy", "-o", "/dev/null"), "")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_where_it_may_not_go(self):
        before = self.read("0.npy")
        os.symlink("0.npy", self.path("link.npy"))
        for target in ("0.npy", "./0.npy", "link.npy"):
            self.assertIn("one of the inputs", self.refuse("sum", "0.npy", "--partial", target))
        self.assertIn("one of the inputs", self.refuse("merge", "0.sum", "--partial", "0.sum"))
        self.assertEqual(self.read("0.npy"), before)
        self.assertIn("no regular file", self.refuse("sum", "0.npy", "--partial", "/dev/zero"))
        self.assertIn("no regular file", self.refuse("sum", "0.npy", "--partial", "."))
        self.assertIn("nowhere/x: cannot be written", self.refuse("sum", "0.npy", "--partial", "nowhere/x"))

    def test_an_archive_is_an_input_by_its_members(self):
        with zipfile.ZipFile(self.path("z.npz"), "w") as archive:
            archive.writestr("x.npy", self.read("0.npy"))
        os.link(self.path("z.npz"), self.path("again.npz"))
        before = self.read("z.npz")
        for target in ("z.npz", "again.npz"):
            self.assertIn("one of the inputs", self.refuse("sum", "z.npz:x", "--partial", target))
            self.assertIn("one of the inputs", self.refuse("pairs", "z.npz:x", "0.npy", "-o", target))
        self.assertEqual(self.read("z.npz"), before)
        self.succeed("sum", "z.npz:x", "--partial", "z.sum")
        self.assertEqual(self.read("z.sum"), self.read("0.sum"))

    def test_what_is_no_partial_sum(self):
        good = self.read("0.sum")
        for name, content, words in [("empty", b"", "not a partial sum"), ("cut", good[:-1], "truncated"), ("short", good[:9], "truncated"),
                                     ("longer", good + b"x", "bytes expected"), ("flipped", good[:60] + b"\x00\x01" + good[62:], "checksum"),
                                     ("future", good[:8] + b"\x02" + good[9:], "version 2"), ("long", good + bytes(100000), "bytes expected")]:
            self.write(name, content)
            message = self.refuse("merge", "0.sum", name)
            self.assertTrue(message.startswith(name + ": ") and words in message, message)
        self.assertIn("not a partial sum", self.refuse("merge", "0.npy"))
        self.assertIn("samesum merge", self.refuse("sum", "0.sum"))
        self.assertIn("nowhere: cannot be opened", self.refuse("merge", "nowhere"))
        self.assertIn(".: ", self.refuse("merge", "."))

    def test_from_a_pipe(self):
        for name in ("/dev/stdin", "-"):
            command = ["sh", "-c", 'cat 0.sum | "$0" merge --plain ' + name, PROGRAM]
            result = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, check=True)
            self.assertEqual(result.stdout.decode().strip(), repr(math.fsum(self.parts[0])))


class Outputs(Case):
    def setUp(self):
        super().setUp()
        self.array("x.npy", [0.5] * 2000)
        self.write("edges.txt", b"0 0.3 1\n")
        # Each command that writes a file: its arguments without the file's name, and its inputs.
        self.commands = [(["sum", "x.npy", "--partial"], ["x.npy"]),
                         (["hist", "x.npy", "--edges", "@edges.txt", "--plot"], ["x.npy", "edges.txt"]),
                         (["hist", "edges.txt", "--letters", "4", "--plot"], ["edges.txt"]),
                         (["pairs", "x.npy", "x.npy", "--weights", "w.npy", "-o"], ["x.npy", "w.npy"])]
        self.array("w.npy", [1.0] * 2000)

    def files(self):
        return {name: self.read(name) for name in os.listdir(self.folder)}

    def test_no_output_is_an_input(self):
        for name in ("x.npy", "edges.txt", "w.npy"):
            os.link(self.path(name), self.path("hard-" + name + ".svg"))
            os.symlink(name, self.path("soft-" + name + ".svg"))
        before = self.files()
        for command, inputs in self.commands:
            for name in inputs:
                for target in ("hard-" + name + ".svg", "soft-" + name + ".svg", "./hard-" + name + ".svg"):
                    self.assertIn("it is one of the inputs", self.refuse(*command, target), (command, target))
        with open(self.path("x.npy"), "rb") as file:  # as standard input too
            self.assertIn("it is one of the inputs", self.refuse("sum", "-", "--partial", "x.npy", stdin=file))
        self.assertIn("one of the inputs", self.refuse("sum", "x.npy", "--partial", "x.npy"))
        self.assertIn("ends in .svg", self.refuse("hist", "x.npy", "--plot", "x.npy"))
        self.assertEqual(self.files(), before)

    def test_a_write_that_fails_leaves_the_old_file(self):
        self.write("old.svg", b"what was there")
        before = self.files()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (32, 32))

        for command, _ in self.commands:
            for arguments, reason in [({"preexec_fn": limit}, "File too large"), ({"environment": self.disk("full")}, "No space left on device")]:
                message = self.refuse(*command, "old.svg", **arguments)
                self.assertIn("old.svg: cannot be written, and is as it was: " + reason, message, command)
                self.assertEqual(self.files(), before, command)

    def disk(self, kind):
        """The environment that simulates a disk by fake_disk.cpp."""
        library = os.path.join(os.environ.get("SAMESUM_FAKES", ""), "libfake_disk.so")
        if not os.path.exists(library):
            self.skipTest("SAMESUM_FAKES does not name the folder of libfake_disk.so")
        return {"LD_PRELOAD": library, "SAMESUM_FAKE_DISK": kind, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def test_signals_leave_nothing_behind(self):
        self.write("old.svg", b"what was there")
        before = self.files()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXCPU):
            with subprocess.Popen([PROGRAM, "hist", "x.npy", "--plot", "old.svg"], cwd=self.folder, env=dict(os.environ, **self.disk("slow")),
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))) as process:
                while not any(name.startswith(".samesum-") for name in os.listdir(self.folder)):
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)
                process.send_signal(number)
                self.assertEqual(process.wait(20), -number)
            self.assertEqual(self.files(), before, number)

    def test_permissions_are_kept(self):
        for command, _ in self.commands:
            self.write("out.svg", b"old")
            os.chmod(self.path("out.svg"), 0o640)
            self.run_program(*command, "out.svg")
            self.assertEqual(stat.S_IMODE(os.stat(self.path("out.svg")).st_mode), 0o640, command)
            self.assertNotEqual(self.read("out.svg"), b"old")
        name = "n" * 251 + ".svg"  # as long as a name may be
        self.succeed("hist", "x.npy", "--plot", name)
        self.assertTrue(self.read(name).startswith(b"<svg"))

    def test_standard_output(self):
        self.succeed("hist", "x.npy", "--plot", "a.svg")
        self.assertEqual(self.succeed("hist", "x.npy", "--plot", "-").encode(), self.read("a.svg"))
        self.succeed("sum", "x.npy", "--partial", "x.sum")
        result = self.run_program("sum", "x.npy", "--partial", "-")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, self.read("x.sum"), b"1000\n"))
        self.assertNotIn("-", os.listdir(self.folder))

    def test_endings(self):
        for name in ("a.png", "a", "svg", "a.svg.gz"):
            self.assertIn("ends in .svg", self.refuse("hist", "x.npy", "--plot", name))
        self.succeed("hist", "x.npy", "--plot", "A.SVG")
        self.assertIn("nowhere: cannot be opened: No such file", self.refuse("hist", "x.npy", "--edges", "@nowhere", "--plot", "b.svg"))
        self.assertIn(".: cannot be read: Is a directory", self.refuse("hist", "x.npy", "--edges", "@."))
        self.assertNotIn("b.svg", os.listdir(self.folder))


if __name__ == "__main__":
    unittest.main()
