"""samesum pairs. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import os
import pty
import signal
import struct
import subprocess
import time
import unittest

from support.program import PROGRAM, Case, header, npy


class Pairs(Case):
    def matrix(self, name, rows, kind="f"):
        descr = {"d": "'<f8'", "f": "'<f4'"}[kind]
        values = [value for row in rows for value in row]
        self.write(name, npy(header(descr, "(%d, %d)" % (len(rows), len(rows[0]))), struct.pack("<%d%s" % (len(values), kind), *values)))
        return name

    def test_products(self):
        self.array("a.npy", [1, 2, -0.5], "f")
        self.array("b.npy", [3, 4], "f")
        self.assertEqual(self.succeed("pairs", "a.npy", "b.npy").split(), ["7", "14", "-3.5"])
        self.array("w.npy", [2, 0], "f")
        self.assertEqual(self.succeed("pairs", "a.npy", "b.npy", "--weights", "w.npy").split(), ["6", "12", "-3"])

    def test_forms(self):
        self.array("a.npy", [1, 0.1], "f")
        self.array("b.npy", [1], "f")
        self.assertEqual(self.succeed("pairs", "a.npy", "b.npy", "--csv"), "x,value\n0,1\n1,0.1\n")
        self.assertEqual(self.succeed("pairs", "a.npy", "b.npy", "--plain", "--hex").split(), ["0x1p+0", "0x1.99999ap-4"])
        found = self.json("pairs", "a.npy", "b.npy", "--reduce", "argmin")
        self.assertEqual((found["dtype"], [value["value"] for value in found["values"]]), ("int64", [0, 0]))
        self.assertEqual([value["bits"] for value in self.json("pairs", "a.npy", "b.npy")["values"]], ["0x3f800000", "0x3dcccccd"])
        for option in ("--plain", "--csv"):
            self.assertIn("with --out they are not", self.refuse("pairs", "a.npy", "b.npy", option, "-o", "c.npy"))
        self.array("none.npy", [], "f")
        self.assertEqual(self.succeed("pairs", "none.npy", "b.npy", "-o", "c.npy"), "")
        self.assertEqual(self.plain("sum", "c.npy"), "0")
        # Misaligned elements.
        text = header("'<f4'", "(2,)")
        for blanks in range(4):
            self.write("odd.npy", npy(text.rstrip() + " " * blanks + "\n", struct.pack("<2f", 1, 0.1)))
            self.assertEqual(self.succeed("pairs", "odd.npy", "odd.npy", "--weights", "odd.npy"), self.succeed("pairs", "a.npy", "a.npy", "--weights", "a.npy"))

    def test_an_error_on_the_way_leaves_the_file(self):
        self.array("a.npy", [1], "f")
        self.array("b.npy", [1, 2], "d")
        self.write("c.npy", b"old")
        self.assertIn("a.npy, b.npy: A and B are of one type", self.refuse("pairs", "a.npy", "b.npy", "-o", "c.npy"))
        self.assertEqual(self.read("c.npy"), b"old")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.npy", "b.npy", "c.npy"])

    def test_nearest_to_a_file(self):
        self.matrix("a.npy", [[0, 0], [5, 5], [1, 0]])
        self.matrix("b.npy", [[4, 4], [0, 1], [0, 1]])
        text, note = self.noted("pairs", "a.npy", "b.npy", "--f", "sqdist", "--reduce", "argmin", "-v", "-o", "c.npy")
        self.assertEqual(text, "")
        self.assertIn("c.npy: 3 int64\n", note)
        data = self.read("c.npy")
        self.assertEqual((data[:6], len(data) % 64, data[-24:]), (b"\x93NUMPY", 24, struct.pack("<3q", 1, 0, 1)))
        self.assertEqual(self.succeed("pairs", "a.npy", "b.npy", "--f", "sqdist", "--reduce", "argmin", "-o", "c.npy"), "")
        piped = self.run_program("pairs", "a.npy", "b.npy", "--f", "sqdist", "--reduce", "argmin", "-o", "-")
        self.assertEqual((piped.returncode, piped.stdout), (0, data))
        self.assertEqual(self.json("pairs", "a.npy", "b.npy", "-o", "d.npy")["dtype"], "float32")
        self.assertEqual(self.succeed("sum", "--plain", "d.npy").strip(), "54")

    def test_exact(self):
        self.array("a.npy", [1.0])
        self.array("b.npy", [1e300, 1.0, -1e300])
        self.assertEqual(self.succeed("pairs", "a.npy", "b.npy", "--accuracy", "exact").split(), ["1"])

    def test_refusals(self):
        self.array("a.npy", [1, 2, 3, 4])
        self.matrix("b.npy", [[1, 2]], "d")
        self.assertIn("vectors of 1 components, b.npy of 2", self.refuse("pairs", "a.npy", "b.npy"))
        self.array("f.npy", [1], "f")
        self.assertIn("a.npy, f.npy: ", self.refuse("pairs", "a.npy", "f.npy"))
        self.assertIn("t.csv:1:1: 'a' is no number", self.refuse("pairs", "a.npy", self.write("t.csv", b"a,b\n1,2\n")))
        self.assertIn("is no function f", self.refuse("pairs", "a.npy", "a.npy", "--f", "cosine"))
        self.assertIn("one of the inputs", self.refuse("pairs", "a.npy", "a.npy", "-o", "a.npy"))
        self.assertIn("cannot be written", self.refuse("pairs", "a.npy", "a.npy", "-o", "nowhere/c.npy"))

    def test_interrupted(self):
        self.array("a.npy", [0.5] * 300000, "f")
        process = subprocess.Popen([PROGRAM, "pairs", "a.npy", "a.npy", "--device", "cpu", "--accuracy", "exact", "-o", "c.npy"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual((process.returncode, os.listdir(self.folder)), (-signal.SIGINT, ["a.npy"]))

    def test_progress_on_a_terminal(self):
        self.array("a.npy", [0.5] * 300000, "f")
        master, slave = pty.openpty()
        process = subprocess.Popen([PROGRAM, "pairs", "a.npy", "a.npy", "--device", "cpu", "--accuracy", "exact", "-o", "c.npy"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        told = b""
        try:
            while b"left" not in told:
                told += os.read(master, 1000)
        except OSError:
            pass  # its end
        process.kill()
        process.wait()
        os.close(master)
        self.assertRegex(told, rb"% of 9e\+10 pairs, about .* left")


if __name__ == "__main__":
    unittest.main()
