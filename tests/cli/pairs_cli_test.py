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
        # The lines of a text are vectors.
        self.write("a.txt", b"x,y\n0,0\n3,4\n")
        self.write("b.txt", b"0 0\n0 1\n3 4.5\n")
        self.assertEqual(self.succeed("pairs", "a.txt", "b.txt", "--f", "sqdist").split(), ["30.25", "43.25"])
        self.assertEqual(self.succeed("pairs", "a.txt", "b.txt", "--f", "sqdist", "--reduce", "argmin").split(), ["0", "2"])
        self.assertIn("of 2 components", self.refuse("pairs", "a.txt", "-", input=b"1\n2\n"))
        self.write("named.csv", b"name;x;y\nfirst;0;0\nsecond;3,5;4\n")
        self.matrix("d.npy", [[0, 0], [3, 4]], "d")
        named = ["--sep", ";", "--decimal", ",", "--column", "x,y", "--f", "sqdist", "--reduce", "max"]
        self.assertEqual(self.succeed("pairs", "named.csv", "named.csv", *named).split(), ["28.25", "28.25"])
        self.assertEqual(self.succeed("pairs", "d.npy", "named.csv", *named).split(), ["28.25", "25"])
        self.assertIn("d.npy: a .npy file", self.refuse("pairs", "d.npy", "d.npy", *named))
        self.assertIn("no column 'z'", self.refuse("pairs", "named.csv", "named.csv", "--sep", ";", "--column", "z"))
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
        self.assertIn("--accuracy is that of sums", self.refuse("pairs", "a.npy", "b.npy", "--accuracy", "exact", "--reduce", "max"))

    def test_refusals(self):
        self.array("a.npy", [1, 2, 3, 4])
        self.matrix("b.npy", [[1, 2]], "d")
        self.assertIn("vectors of 1 component, b.npy of 2", self.refuse("pairs", "a.npy", "b.npy"))
        self.array("f.npy", [1], "f")
        self.assertIn("a.npy, f.npy: ", self.refuse("pairs", "a.npy", "f.npy"))
        self.assertIn("t.csv of 2", self.refuse("pairs", "a.npy", self.write("t.csv", b"a,b\n1,2\n")))
        self.assertIn("line 2: 'b' is no number", self.refuse("pairs", "a.npy", self.write("t.csv", b"a\nb\n1\n")))
        self.assertIn("is no function f", self.refuse("pairs", "a.npy", "a.npy", "--f", "cosine"))
        self.assertIn("one of the inputs", self.refuse("pairs", "a.npy", "a.npy", "-o", "a.npy"))
        self.assertIn("cannot be written", self.refuse("pairs", "a.npy", "a.npy", "-o", "nowhere/c.npy"))
        self.assertIn("--h is for '--f gaussian'", self.refuse("pairs", "a.npy", "a.npy", "--h", "3"))
        self.assertIn("--softening is for '--f invdist'", self.refuse("pairs", "a.npy", "a.npy", "--f", "gaussian", "--softening", "3"))
        self.assertIn("--param h=0.5", self.refuse("pairs", "a.npy", "a.npy", "--formula", "a*b/h", "--h", "0.5"))

    def test_formula(self):
        self.matrix("a.npy", [[0, 0], [3, 4]])
        self.matrix("b.npy", [[0, 1], [6, 8], [3, 4]])
        self.array("w.npy", [1, 2, -1], "f")
        self.matrix("p.npy", [[1, 2], [3, 4], [5, 6]])
        pairs = ["pairs", "a.npy", "b.npy"]
        for reduce in ("min", "max", "argmin", "argmax"):
            self.assertEqual(self.succeed(*pairs, "--formula", "sqdist(a,b)", "--reduce", reduce),
                             self.succeed(*pairs, "--f", "sqdist", "--reduce", reduce))
        self.assertEqual(self.succeed(*pairs, "--formula", "w*(a[0] + b[1])", "--weights", "w.npy").split(), ["13", "19"])
        self.assertEqual(self.succeed(*pairs, "--formula", "q*p[1] + k", "--of-y", "p=p.npy", "--of-y", "q=w.npy", "--param", "k=0.5").split(),
                         ["5.5", "5.5"])
        self.assertEqual(self.succeed(*pairs, "--formula", "sqdist(a, b) < h^2", "--param", "h=5.5").split(), ["2", "3"])
        found = self.json(*pairs, "--formula", "exp( -sqdist(a,b) )", "--native", "--accuracy", "exact")
        self.assertEqual((found["f"], found["components"]), ("exp(-sqdist(a, b))", 2))
        self.assertIn("sum of dot(a, b) over 2 x 3 pairs", self.noted(*pairs, "--formula", "dot(a,b)", "-v")[1])

    def test_refused_formulas(self):
        self.matrix("a.npy", [[0, 0], [3, 4]])
        self.array("w.npy", [1, 2], "f")
        pairs = ["pairs", "a.npy", "a.npy"]
        self.assertIn("a.npy, a.npy: formula, column 10: no input or parameter has the name 'c'; there are a, b\n  sqdist(a,c)\n           ^\n",
                      self.refuse(*pairs, "--formula", "sqdist(a,c)"))
        self.assertIn("formula, column 5: nothing was opened", self.refuse(*pairs, "--formula", "a[0]]"))
        self.assertIn("takes an f that gives one number", self.refuse(*pairs, "--formula", "a*b", "--reduce", "smallest"))
        self.assertIn("may fail", self.refuse(*pairs, "--formula", "int64(a[0])"))
        self.assertIn("--f and --formula", self.refuse(*pairs, "--formula", "dot(a,b)", "--f", "sqdist"))
        self.assertIn("those of a formula", self.refuse(*pairs, "--param", "h=1"))
        self.assertIn("--param h=1: the formula does not use 'h'", self.refuse(*pairs, "--formula", "dot(a,b)", "--param", "h=1"))
        self.assertIn("--native is for the functions of a formula", self.refuse(*pairs, "--native"))
        self.assertIn("'x' is no number", self.refuse(*pairs, "--formula", "h*a[0]", "--param", "h=x"))
        self.assertIn("write a name, '='", self.refuse(*pairs, "--formula", "h*a[0]", "--param", "h"))
        self.assertIn("takes as w", self.refuse(*pairs, "--formula", "a[0]", "--weights", "w.npy"))
        self.assertIn("nowhere.npy: cannot be opened", self.refuse(*pairs, "--formula", "m*a[0]", "--of-y", "m=nowhere.npy"))
        self.array("m.npy", [1, 2, 3], "f")
        self.assertIn("'m' has an element or a vector for each y", self.refuse(*pairs, "--formula", "m*a[0]", "--of-y", "m=m.npy"))

    def test_reductions_by_the_tree(self):
        self.matrix("a.npy", [[0, 0], [3, 4]])
        self.matrix("b.npy", [[0, 1], [6, 8], [3, 4], [0, 1]])
        pairs = ["pairs", "a.npy", "b.npy"]
        self.assertEqual(self.succeed(*pairs, "--f", "difference", "--reduce", "product").split(), ["98", "-0"])
        self.assertEqual(self.succeed(*pairs, "--formula", "0*a[0]", "--reduce", "logsumexp").split(), ["1.3862944"] * 2)
        self.assertEqual(self.succeed(*pairs, "--f", "sqdist", "--reduce", "argsmallest", "--k", "3").splitlines(), ["0 3 2", "2 0 3"])
        self.assertEqual(self.succeed(*pairs, "--f", "sqdist", "--reduce", "smallest", "--k", "2", "--csv"), "x,value0,value1\n0,1,1\n1,0,18\n")
        self.assertEqual(self.succeed(*pairs, "--formula", "b - a").splitlines(), ["9 14", "-3 -2"])
        self.assertEqual(self.succeed(*pairs, "--formula", "(a[0] + b[0], 1)", "--combine", "(a[0] + b[0], a[1] + b[1])",
                                      "--finish", "a[0]/a[1]").split(), ["2.25", "5.25"])
        self.assertEqual(self.succeed(*pairs, "--f", "sqdist", "--combine", "max(a, b*h)", "--param", "h=2").split(), ["200", "72"])
        found = self.json(*pairs, "--formula", "b - a", "--reduce", "min")
        self.assertEqual([[value["value"] for value in values] for values in found["values"]], [[0, 1], [-3, -3]])
        self.assertEqual(self.json(*pairs, "--f", "sqdist", "--combine", "a+b")["reduction"], "a + b")
        self.assertEqual(self.succeed(*pairs, "--formula", "b - a", "-o", "c.npy"), "")
        self.assertIn(b"'shape': (2, 2)", self.read("c.npy"))
        self.array("none.npy", [], "f")
        self.array("one.npy", [1], "f")
        self.assertEqual(self.succeed("pairs", "one.npy", "none.npy", "--combine", "a*b", "--identity", "1").split(), ["1"])
        self.assertIn("has no identity", self.run_program("pairs", "one.npy", "none.npy", "--combine", "a*b").stderr.decode())
        self.assertIn("--reduce smallest", self.refuse(*pairs, "--k", "3"))
        self.assertIn("at most the number of y, which is 4", self.refuse(*pairs, "--reduce", "smallest", "--k", "5"))
        self.assertIn("--combine", self.refuse(*pairs, "--finish", "a"))
        self.assertIn("--combine and --reduce", self.refuse(*pairs, "--combine", "a+b", "--reduce", "sum").replace("--reduce and --combine", "--combine and --reduce").replace(
            "--combine excludes --reduce", "--combine and --reduce"))

    def test_integers_and_halves(self):
        self.write("a.npy", npy(header("'<i2'", "(2,)"), struct.pack("<2h", 3, -4)))
        self.write("b.npy", npy(header("'<i2'", "(3,)"), struct.pack("<3h", 5, 6, 7)))
        found = self.json("pairs", "a.npy", "b.npy")
        self.assertEqual((found["dtype"], [value["value"] for value in found["values"]]), ("int64", [54, -72]))
        self.assertIn("division by zero in f of x = 0 and y = 1", self.run_program("pairs", "a.npy", "b.npy", "--formula", "a[0]/(b[0] - 6)").stderr.decode())
        self.write("h.npy", npy(header("'<f2'", "(2,)"), struct.pack("<2e", 0.5, -2)))
        found = self.json("pairs", "h.npy", "h.npy", "--f", "difference", "--reduce", "max")
        self.assertEqual((found["dtype"], [value["value"] for value in found["values"]]), ("float32", [2.5, 0]))

    def test_complex_numbers(self):
        """Printed as Python writes them, kept in files of complex numbers, refused where they have no order."""
        def write(name, kind, numbers):
            parts = [part for z in numbers for part in (z.real, z.imag)]
            self.write(name, npy(header("'<c%d'" % (8 if kind == "f" else 16), "(%d,)" % len(numbers)), struct.pack("<%d%s" % (len(parts), kind), *parts)))
        z, u, third = [1 + 2j, 3 - 1j], [2 + 1j, 1 - 1j, 0.5j], [1j, 2, -1]
        for kind, name in (("f", "complex64"), ("d", "complex128")):
            write("z.npy", kind, z), write("u.npy", kind, u), write("q.npy", kind, third)
            sums = [sum(a * b for b in u) for a in z]
            self.assertEqual([complex(text) for text in self.succeed("pairs", "z.npy", "u.npy").split()], sums)
            self.assertEqual(self.succeed("pairs", "z.npy", "u.npy", "--csv"), "x,value\n0,2+6.5j\n1,9.5-1.5j\n")
            found = self.json("pairs", "z.npy", "u.npy", "--accuracy", "exact")
            self.assertEqual((found["dtype"], [complex(v["real"]["value"], v["imag"]["value"]) for v in found["values"]]), (name, sums))
            self.succeed("pairs", "z.npy", "u.npy", "--formula", "a*conj(b)*q", "--of-y", "q=q.npy", "-o", "c.npy")
            self.assertEqual([complex(text) for text in self.succeed("pairs", "c.npy", "q.npy", "--formula", "a", "--reduce", "product").split()],
                             [sum(a * b.conjugate() * c for b, c in zip(u, third)) ** 3 for a in z])
            self.assertEqual(self.succeed("pairs", "z.npy", "u.npy", "--f", "sqdist", "--reduce", "argmin").split(), ["0", "1"])
            self.assertEqual(self.succeed("pairs", "z.npy", "u.npy", "--combine", "a*b", "--finish", "abs2(a)").split(), ["312.5", "2500"])
            for part in "12":
                self.succeed("pairs", "z.npy", "u.npy", "--part", part + "/2", "--partial", part + ".part")
            self.assertEqual(self.succeed("merge", "1.part", "2.part"), self.succeed("pairs", "z.npy", "u.npy"))
            self.assertIn("gives complex ones: write real(...)", self.refuse("pairs", "z.npy", "u.npy", "--reduce", "min"))
            self.assertIn("abs2(a - b)", self.refuse("pairs", "z.npy", "u.npy", "--f", "gaussian"))
            self.array("w.npy", [1, 2, 3], kind)
            self.assertIn("z.npy has complex numbers, w.npy has not", self.refuse("pairs", "z.npy", "w.npy"))

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
