"""The program in the shell: arguments, mistakes, pipes, terminals. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import fcntl
import gzip
import json
import os
import pty
import re
import resource
import subprocess
import time
import unittest
import zipfile

from support.program import PROGRAM, Case, header, npy

COMMANDS = [["sum"], ["merge"], ["compare"], ["devices"], ["selftest"], ["bench"], ["bench", "sum"], ["bench", "ceiling"],
            ["bench", "barrier"], ["hist"], ["bench", "histogram"], ["pairs"], ["bench", "pairs"], ["kernel"], ["bench", "reduce"],
            ["stats"], ["argmin"], ["prod"], ["dot"], ["scan"], ["completion"]]


class Usage(Case):
    def test_help(self):
        for command in [[]] + COMMANDS:
            text = self.succeed(*command, "--help")
            self.assertIn("Examples:", text)
            self.assertIn(" ".join(["samesum", *command]), text)
            self.assertLess(max(map(len, text.splitlines())), 101, text)
        self.assertEqual(self.succeed("sum", "-h"), self.succeed("sum", "--help"))

    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"\Asamesum \d+\.\d+\.\d+\n\Z")

    def test_help_and_version_as_git_has_them(self):
        self.assertEqual(self.succeed("-V"), self.succeed("--version"))
        self.assertEqual(self.succeed("help"), self.succeed("--help"))
        self.assertEqual(self.succeed("help", "sum"), self.succeed("sum", "--help"))
        self.assertEqual(self.succeed("help", "bench", "sum"), self.succeed("bench", "sum", "--help"))
        self.assertIn("no command 'summ'", self.refuse("help", "summ"))

    def test_guesses(self):
        self.array("x.npy", [1.0])
        for arguments, meant in [(["summ", "x.npy"], "'sum'"), (["smu"], "'sum'"), (["statz"], "'stats'"), (["histogram"], "'hist'"), (["sm", "x.npy"], "'sum'"), (["SUM"], "'sum'"),
                                 (["variance"], "'var'"), (["average"], "'mean'"), (["cumsum"], "'scan'"),
                                 (["sum", "--colum", "2", "x.npy"], "'--column'"), (["sum", "--plian", "x.npy"], "'--plain'"),
                                 (["hist", "x.npy", "--log-bin", "3"], "'--log-bins'"), (["hist", "--frob", "3", "x.npy"], None),
                                 (["bench", "histogrm"], "'histogram'"), (["bench", "sum", "--varient", "x"], "'--variant'"),
                                 (["sum", "--dtyp=f4", "x.npy"], "'--dtype'"), (["compare", "--jsn", "x.npy"], "'--json'"), (["--versoin"], "'--version'")]:
            message = self.refuse(*arguments)
            self.assertRegex(message.splitlines()[0], r"\Ano (command|option) '")
            self.assertEqual("Did you mean %s?" % meant in message, meant is not None, message)
            self.assertEqual("Did you mean" in message, meant is not None, message)

    def test_a_device_by_a_variable(self):
        self.array("x.npy", [1.0])
        self.assertIn("no device 'foo', which the environment variable SAMESUM_DEVICE names: ", self.refuse("sum", "x.npy", environment={"SAMESUM_DEVICE": "Foo"}))

    def test_integers_beyond_64_bits(self):
        self.array("x.npy", [1.0])
        self.write("u.npy", npy(header("'<u8'", "(2,)"), b"\xff" * 16))
        words = "the sum does not fit into uint64: it is exactly 36893488147419103230\n"
        for arguments in (["u.npy"], ["x.npy", "u.npy"], ["--csv", "x.npy", "u.npy"]):
            self.assertEqual(self.refuse("sum", *arguments, code=1), "u.npy: " + words)
        self.assertIn(" (--exact prints it)\n", self.refuse("prod", "u.npy", code=1))

    def test_mistakes(self):
        self.array("x.npy", [1.0])
        for arguments, words in [([], "which command?"),
                                 (["frobnicate"], "no command 'frobnicate'. There are sum, hist"),
                                 (["bench"], "which command?"),
                                 (["bench", "barrier", "--group", "0"], "--group takes a whole number from 1 to"),
                                 (["sum"], "standard input: nothing came from it"),
                                 (["merge"], "PARTIAL is missing"),
                                 (["sum", "--frobnicate", "x.npy"], "no option '--frobnicate'"),
                                 (["sum", "x.npy", "--dtype"], "--dtype takes a value: none is there"),
                                 (["sum", "x.npy", "--threads", "0"], "--threads takes a whole number from 1 to 65536, not '0'"),
                                 (["sum", "x.npy", "--threads", "-1"], "--threads takes a whole number from 1 to 65536, not '-1'"),
                                 (["sum", "x.npy", "--threads", "abc"], "--threads takes a whole number from 1 to 65536, not 'abc'"),
                                 (["sum", "x.npy", "--plain", "--json"], "--plain, --json"),
                                 (["sum", "x.npy", "--variant", "nope"], "'nope' is no variant"),
                                 (["sum", "x.npy", "--device", "mars"], "no device 'mars'"),
                                 (["sum", "x.npy", "--device", "cpu:9"], "no device 'cpu:9'"),
                                 (["sum", "x.npy", "--device", "cpu", "--device", "cpu"], "--device is there 2 times: once is enough"),
                                 (["sum", "x.npy", "--plain=maybe"], "--plain takes no value"),
                                 (["var", "x.npy", "--ddof", "-1"], "--ddof takes a whole number from 0 on, not '-1'"),
                                 (["pairs", "x.npy", "x.npy", "--h", "wide"], "--h takes a number, not 'wide'"),
                                 (["hist", "x.npy", "--range", "0", "one"], "--range takes 2 numbers, not '0 one'"),
                                 (["sum", "x.npy", "--partial", ""], "--partial takes a value, and '' is none"),
                                 (["hist", "x.npy", "--edges", ""], "--edges takes a value"),
                                 (["compare", "x.npy", "y.npy"], "'y.npy' is one argument too many"),
                                 (["hist", "x.npy", "--", "-y.npy"], "one histogram of several files is what --total counts"),
                                 (["dot", "x.npy"], "dot takes 2 files, not 1"),
                                 (["dot", "--column", "a,b", "t.csv"], "for two columns of a table: samesum sum --map 'price*qty' sales.csv"),
                                 (["sum", "x.npy", "--split"], "--split shares the work out over several devices: name them"),
                                 (["sum", "x.npy", "--every", "3"], "--every is the time between two writes of --checkpoint"),
                                 (["stats", "x.npy", "--every", "3"], "--every is the time between two writes of --checkpoint"),
                                 (["hist", "x.npy", "--letters", "4"], "x.npy: --letters counts the bytes of a text, and this is a .npy file"),
                                 (["hist", "-", "--letters", "4", "--bins", "3"], "--letters has a bin for each group of letters: leave out"),
                                 (["hist", "-", "--characters", "--nodata", "3"], "--characters has a bin for each byte: leave out"),
                                 (["bench", "sum", "--size", "many"], "--size takes a number"),
                                 (["bench", "sum", "--size", "2^4", "--rows", "2"], "cannot be used together"),
                                 (["bench", "sum", "--data", "nowhere.npy"], "nowhere.npy: cannot be opened"),
                                 (["bench", "ceiling", "--size", "0"], "--size takes a number")]:
            message = self.refuse(*arguments)
            self.assertIn(words, message, arguments)
            self.assertNotRegex(message, "At Most|At Least|required but|not in range|Could not convert")

    def test_numbers_of_things(self):
        for size, elements in [("1e3", 1000), ("2^10", 1024), ("1K", 1024), ("1.5e3", 1500), ("4096", 4096)]:
            found = self.json("bench", "sum", "--device", "cpu", "--size", size, "--runs", "1", "--variant", "sequential")
            self.assertEqual(found["rows"] * found["columns"], elements)
        for wrong in ("1.5", "-3", "3^2", "1e99", "2^", "1KK", "2^64", "0"):
            self.assertIn("--size takes a number", self.refuse("bench", "sum", "--device", "cpu", "--size", wrong), wrong)
        self.array("x.npy", [1.0])
        self.assertEqual(self.json("hist", "x.npy", "--bins", "1e2")["bins"], 100)

    def test_limits_have_a_remedy(self):
        self.array("x.npy", [1.0, 2.0])

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))

        message = self.refuse("hist", "x.npy", "--bins", "2^24", "--device", "cpu", preexec_fn=limit)
        self.assertRegex(message, r"\Ahist: there is not enough memory for this \(ulimit -v.*--threads 1")


class Streams(Case):
    def test_a_reader_that_goes_away(self):
        self.array("x.npy", [1.0])
        reader, writer = os.pipe()
        os.close(reader)
        result = self.run_program("sum", "x.npy", stdout=writer)
        os.close(writer)
        self.assertEqual(result.stderr, b"")
        self.assertNotEqual(result.returncode, 0)

    def test_a_full_disk(self):
        self.array("x.npy", [1.0])
        with open("/dev/full", "wb") as full:
            result = self.run_program("sum", "x.npy", stdout=full)
        self.assertEqual((result.returncode, result.stderr), (2, b"samesum: standard output: cannot be written: No space left on device\n"))

    def test_no_standard_output(self):
        self.array("x.npy", [1.0])
        result = subprocess.run(["sh", "-c", 'exec "$0" sum x.npy >&-', PROGRAM], cwd=self.folder, stderr=subprocess.PIPE, check=False)
        self.assertEqual((result.returncode, result.stderr), (2, b"samesum: standard output: cannot be written: Bad file descriptor\n"))

    def test_colour_for_people_only(self):
        self.array("x.npy", [1.0])
        self.assertNotIn("\x1b", self.succeed("sum", "x.npy", environment={"TERM": "xterm"}))
        for environment, coloured in [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False)]:
            master, slave = pty.openpty()
            self.assertEqual(self.run_program("sum", "x.npy", environment=environment, stdout=slave).returncode, 0)
            os.close(slave)
            self.assertEqual(b"\x1b" in os.read(master, 1000), coloured, environment)
            os.close(master)

    def test_a_pipe_that_does_not_block(self):
        """Output must not be lost where another program has set O_NONBLOCK on the shared pipe."""
        self.array("x.npy", [0.5] * 200000)
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETFL, fcntl.fcntl(writer, fcntl.F_GETFL) | os.O_NONBLOCK)
        with subprocess.Popen([PROGRAM, "hist", "x.npy", "--bins", "20000", "--range", "0", "1", "--csv"], cwd=self.folder, stdout=writer,
                              stderr=subprocess.PIPE) as process:
            os.close(writer)
            time.sleep(0.3)
            text = b""
            while block := os.read(reader, 65536):
                text += block
            error = process.stderr.read()
        os.close(reader)
        self.assertEqual((process.returncode, error, text.count(b"\n")), (0, b"", 20004))

    def test_control_characters_are_escaped(self):
        name = "a\x1b[31m\u009b\x07\nb\u00e4.npy"
        self.array(name, [1.0])
        self.array("x.npy", [2.0])
        bad = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
        self.write("t.csv", b"pr\x1b]0;x\x07ice,b\n1,2\n")
        for arguments in (["sum", name, "x.npy"], ["sum", "-v", name], ["stats", name, "x.npy"], ["hist", name], ["sum", name, "--csv"],
                          ["compare", name], ["sum", "--json", name], ["sum", "-v", "t.csv", "--column", "1"], ["sum", "t.csv", "--column", "z"],
                          ["sum", name + "nowhere"], ["sum", name, "--dtype", "f4"], ["hist", name, "--plot", "-"]):
            result = self.run_program(*arguments)
            for text in (result.stdout.decode(), result.stderr.decode()):
                self.assertIsNone(bad.search(text), (arguments, text))
        self.assertIn("\\u001b[31m\\u009b\\u0007\\u000ab\u00e4.npy", self.succeed("sum", name, "x.npy"))
        os.rename(self.path(name), self.path("").encode() + b"\xff\x9b.npy")
        self.assertIn("\\xff\\x9b.npy", self.run_program("sum", b"\xff\x9b.npy", "x.npy").stdout.decode())
        # Only the program's own colours reach a terminal.
        self.array(name, [1.0])
        master, slave = pty.openpty()
        self.run_program("sum", name, "x.npy", stdout=slave, environment={"TERM": "xterm"})
        os.close(slave)
        seen = os.read(master, 10000)
        os.close(master)
        self.assertIn(b"\\u001b[31m", seen)
        self.assertLessEqual(set(re.findall(rb"\x1b\[[0-9;]*.", seen)), {b"\x1b[0m", b"\x1b[1m", b"\x1b[2m"})


class Shell(Case):
    def test_the_number_alone(self):
        self.array("x.npy", [1.0, 2.5])
        self.write("b.txt", b"1.5\n")
        script = 'v=$("$0" sum x.npy); echo "<$v>"; "$0" sum < b.txt; cat b.txt | "$0" mean; echo 7 | "$0" sum - x.npy --plain'
        result = subprocess.run(["bash", "-c", script, PROGRAM], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertEqual((result.stdout, result.stderr), (b"<3.5>\n1.5\n1.5\n10.5\n", b""))
        for command in (["sum"], ["mean"], ["max"], ["dot", "x.npy"], ["stats", "--only", "std"], ["argmin"], ["prod"]):
            self.assertRegex(self.succeed(*command, "x.npy"), r"\A\S+\n\Z")

    def test_nobody_types_numbers(self):
        master, slave = pty.openpty()
        message = self.refuse("sum", stdin=slave)
        os.close(slave)
        os.close(master)
        self.assertIn("FILE is missing", message)

    def test_nothing_is_no_zero(self):
        """An empty file, an empty pipe, a failed program before the pipe."""
        self.write("empty", b"")
        self.write("comments", b"# nothing\n\n")
        self.write("header.csv", b"a,b\n")
        for command in ("sum", "stats", "mean", "hist", "compare", "prod"):
            self.assertIn("empty: the file is empty", self.refuse(command, "empty"))
            self.assertIn("comments: there is no number in it", self.refuse(command, "comments"))
        for command in ("sum", "stats", "mean", "compare"):
            self.assertIn("standard input: nothing came from it", self.refuse(command, "-", input=b""))
            self.assertIn("standard input: nothing came from it", self.refuse(command, input=b""))
            self.assertIn("nothing came", self.refuse(command, "--dtype", "f4", input=b""))
        self.assertIn("no number", self.refuse("sum", "--column", "a", "header.csv"))
        script = 'set -o pipefail; cat nowhere 2> /dev/null | "$0" sum'
        result = subprocess.run(["bash", "-c", script, PROGRAM], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        for arguments in (["empty"], ["comments"], ["--column", "a", "header.csv"], ["-"], ["--dtype", "f8", "empty"], ["--dtype", ">f8", "-"]):
            self.assertEqual(self.succeed("sum", "--allow-empty", *arguments, input=b""), "0\n", arguments)
        self.write("head", b"1234")
        for arguments, piped in ((["--dtype", "u1", "--offset", "4", "head"], b""), (["--dtype", "u1", "--offset", "4", "-"], b"1234")):
            self.assertIn("nothing is behind its first 4 bytes, which are skipped (--allow-empty", self.refuse("sum", *arguments, input=piped))
            for allowed in (["--allow-empty"], ["--count", "0"]):
                self.assertEqual(self.succeed("sum", *allowed, *arguments, input=piped), "0\n")
        self.assertEqual(self.plain("sum", self.array("none.npy", [])), "0")  # which says that there is nothing

    def test_nothing_compressed(self):
        for name, content in (("e.gz", gzip.compress(b"")), ("e.npz", None)):
            if content is not None:
                self.write(name, content)
            else:
                with zipfile.ZipFile(self.path(name), "w") as archive:
                    archive.writestr("x.txt", b"")
            for options in ([], ["--dtype", "f4"]):
                self.assertIn(name + ": what is compressed in it is empty (--allow-empty", self.refuse("sum", *options, name))
                self.assertEqual(self.succeed("sum", "--allow-empty", *options, name), "0\n")
        self.assertIn("the file is empty", self.refuse("sum", self.write("none.gz", b"")))
        self.assertIn("nothing came from it", self.refuse("sum", "-", input=gzip.compress(b"")))
        self.assertEqual(self.succeed("sum", "-", "--allow-empty", input=gzip.compress(b"")), "0\n")

    def test_notes_do_not_get_into_pipes(self):
        self.array("x.npy", [1.0, float("nan")])
        for command in (["sum"], ["stats"], ["hist"], ["mean"], ["merge"]):
            if command == ["merge"]:
                self.run_program("sum", "x.npy", "--partial", "x.sum")
            plain = self.run_program(*command, "x.sum" if command == ["merge"] else "x.npy")
            verbose = self.run_program(*command, "x.sum" if command == ["merge"] else "x.npy", "-v")
            self.assertEqual(plain.stdout, verbose.stdout)
            self.assertGreater(len(verbose.stderr), len(plain.stderr))
        master, slave = pty.openpty()
        result = self.run_program("sum", "x.npy", stdout=slave)
        os.close(slave)
        seen = os.read(master, 10000).decode()
        os.close(master)
        self.assertEqual(result.stderr, b"")
        self.assertIn("exact sum of 2 float64 elements", seen)

    def test_formats_of_every_command(self):
        self.array("x.npy", [1.0, -9999.0, 2.5])
        self.array("y.npy", [0.1])
        self.assertEqual(self.succeed("sum", "--csv", "--nodata", "-9999", "x.npy", "y.npy").splitlines()[0], "file,sum,bits,count,nan,missing")
        rows = [line.split(",") for line in self.succeed("sum", "--csv", "--nodata", "-9999", "x.npy", "y.npy").splitlines()]
        self.assertEqual([[row[i] for i in (0, 1, 3, 5)] for row in rows[1:]],
                         [["x.npy", "3.5", "2", "1"], ["y.npy", "0.1", "1", "0"], ["total", "3.6", "3", "1"]])
        self.assertEqual(self.succeed("stats", "--only", "min,sum", "--csv", "x.npy", "y.npy"),
                         "file,min,sum\nx.npy,-9999,-9995.5\ny.npy,0.1,0.1\n")
        self.assertEqual(self.succeed("max", "--plain", "x.npy", "y.npy"), "2.5\n0.1\n")
        self.assertEqual(self.succeed("stats", "--only", "min,max", "--plain", "--nodata", "-9999", "x.npy"), "1\n2.5\n")
        self.assertEqual(sum(self.json("hist", "x.npy", "--nodata", "-9999")["channels"][0]["counts"]), 2)
        self.assertIn("3.5", self.succeed("compare", "x.npy", "--nodata", "-9999", "--device", "cpu", "--csv"))
        self.assertEqual(self.succeed("sum", "--nodata", "-9999.0", "--csv", input=b"1 -9999 2.5").splitlines()[1].split(",")[1], "3.5")
        self.assertIn("exactly 18446744073709551616", self.refuse("sum", "--nodata", "-0.5", input=b"2 18446744073709551614 -0.5", code=1))
        self.assertIn("--nodata takes a number, not ''", self.refuse("sum", "x.npy", "--nodata", ""))
        self.array("a.npy", [0.5])
        self.assertEqual(self.succeed("dot", "--plain", "a.npy", "a.npy", "--hex"), "0x1p-2\n")
        self.assertEqual(self.succeed("compare", "y.npy", "--float32", "--csv", "--device", "cpu").splitlines()[-1].split(",")[:3],
                         ["exact", "cpu", "0.1"])

    # How each command treats the options for output and for the selection of elements: True where it works, or a word of the reason with
    # which it refuses.
    PRINTED = {
        "sum": {},
        "merge": {"--nodata": "summed already"},
        "stats": {},
        "min": {"--float32": "nothing is rounded"},
        "max": {"--float32": "nothing is rounded"},
        "argmin": {"--float32": "nothing is rounded"},
        "argmax": {"--float32": "nothing is rounded"},
        "mean": {},
        "var": {},
        "std": {},
        "norm": {},
        "prod": {"--float32": "each step"},
        "median": {},
        "quantile": {},
        "dot": {"--nodata": "same index"},
        "compare": {"--plain": "--csv has them"},
        "hist": {"--plain": "--csv has both", "--float32": "whole numbers"},
        "pairs": {"--nodata": "vector", "--float32": "type of A and B"},
    }

    def test_every_command_with_every_option(self):
        """Works, with output of the option's form, or is refused with the reason."""
        self.array("x.npy", [0.5, -9999.0, 0.1, 3.25])
        self.run_program("sum", "x.npy", "--partial", "x.sum")
        arguments = {"merge": ["x.sum"], "dot": ["x.npy", "x.npy"], "pairs": ["x.npy", "x.npy"], "quantile": ["-q", "0.5", "x.npy"]}
        numbers = re.compile(r"(-?[0-9.]+(e[-+]?[0-9]+)?\n)+")
        for command, refused in self.PRINTED.items():
            for option in ("--plain", "-v", "--json", "--csv", "--nodata", "--float32"):
                given = [command, *arguments.get(command, ["x.npy"]), option] + (["3.25" if "max" in command else "-9999"] if option == "--nodata" else [])
                given += ["--device", "cpu"] if command not in ("merge", "median", "quantile") else []
                given += ["--hex"] if option == "--float32" else []
                if option in refused:
                    message = self.refuse(*given)
                    self.assertTrue(message.startswith("%s has no %s: " % (command, option)), message)
                    self.assertIn(refused[option], message)
                    self.assertNotIn(option + " ", self.succeed(command, "--help"))
                    continue
                result = self.run_program(*given)
                self.assertEqual(result.returncode, 0, (given, result.stderr))
                text, notes = result.stdout.decode(), result.stderr.decode()
                if option == "-v":
                    self.assertRegex(notes if command != "compare" else text, r"\bcpu\b|bits 0x", given)
                    continue
                self.assertEqual(notes if option != "--nodata" else "", "", given)
                if option == "--plain":
                    self.assertRegex(text, numbers, given)
                    self.assertIsNotNone(numbers.fullmatch(text), given)
                elif option == "--json":
                    self.assertIsInstance(json.loads(text), dict)
                elif option == "--csv":
                    rows = [line.split(",") for line in text.splitlines()]
                    self.assertGreater(len(rows), 1, given)
                    self.assertEqual({len(row) for row in rows}, {len(rows[0])}, given)
                    self.assertTrue(all(re.fullmatch("[a-z_0-9]+", name) for name in rows[0]), rows[0])
                elif option == "--nodata":
                    self.assertNotEqual(text, self.run_program(*given[:-4], *given[-2:]).stdout.decode(), given)
                else:
                    self.assertNotEqual(text, self.run_program(*[word for word in given if word != option]).stdout.decode(), given)

    def test_any_order(self):
        """Options of several values before the file, behind it, and between."""
        self.array("x.npy", [0.25, 0.75, 3.0])
        right = self.succeed("hist", "x.npy", "--bins", "2", "--range", "0", "1", "--csv")
        for arguments in (["--range", "0", "1", "x.npy", "--bins", "2", "--csv"], ["--bins", "2", "--csv", "--range", "0", "1", "x.npy"],
                          ["--csv", "x.npy", "--range", "0", "1", "--bins=2"]):
            self.assertEqual(self.succeed("hist", *arguments), right, arguments)
        self.assertEqual(self.json("hist", "--range", "-1", "-.5", "x.npy", "--bins", "1")["edges"], [-1, -0.5])
        self.assertIn("--range takes 2 values: only 1 is there", self.refuse("hist", "x.npy", "--range", "1"))
        right = self.succeed("stats", "x.npy", "--only", "min", "--only", "max,sum")
        self.assertEqual(self.succeed("stats", "--only", "min", "--only", "max,sum", "x.npy"), right)
        self.assertEqual(self.succeed("sum", "--missing", "?", "--missing", "-", "-", "--plain", input=b"1 ? - 2"), "3\n")
        few = ["--device", "cpu", "--size", "2^10", "--runs", "1", "--seconds", "0.01", "--json"]
        for arguments in (["--variant", "sequential", "--variant", "parallel", *few], [*few, "--variant", "sequential", "--variant", "parallel"]):
            self.assertEqual([row["name"] for row in self.json("bench", "sum", *arguments)["variants"]], ["sequential", "parallel"])
        self.array("-x.npy", [4.0])
        self.assertEqual(self.succeed("sum", "x.npy", "--", "-x.npy"), "4\tx.npy\n4\t-x.npy\n8\ttotal\n")
        self.assertEqual(self.succeed("sum", "--plain", "x.npy", "--", "-", "-x.npy", input=b"1"), "9\n")
        self.assertEqual(self.succeed("dot", "--", "-x.npy", "-x.npy"), "16\n")

    def test_bench_tells_each_row_at_once(self):
        with subprocess.Popen([PROGRAM, "bench", "sum", "--device", "cpu", "--size", "2^16", "--seconds", "0.5", "--runs", "1000000"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            seen = b""
            while b"sequential" not in seen:
                block = os.read(process.stdout.fileno(), 65536)
                self.assertTrue(block, seen)
                seen += block
            self.assertIsNone(process.poll())
            self.assertNotIn(b"accumulator", seen)
            process.kill()


if __name__ == "__main__":
    unittest.main()
