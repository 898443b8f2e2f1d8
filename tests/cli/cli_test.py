"""The program's answers, messages and exit codes. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import contextlib
import json
import math
import os
import pty
import random
import signal
import struct
import subprocess
import time
import unittest

from support.informative import informative
from support.program import PROGRAM, Case, bits, header, npy


class Sum(Case):
    def test_the_value(self):
        random.seed(1)
        values = [random.uniform(-1, 1) * 10 ** random.randint(-30, 30) for _ in range(1000)]
        right = informative(math.fsum(values))
        self.array("x.npy", values)
        self.assertEqual(self.plain("sum", "x.npy"), repr(right))
        self.assertEqual(float.fromhex(self.plain("sum", "x.npy", "--hex")), right)
        self.assertEqual(self.json("sum", "x.npy")["bits"], bits(right))
        self.assertEqual(self.succeed("sum", "x.npy"), repr(right) + "\n")

    def test_shortest_numbers(self):
        for values, text in [([], "0"), ([-0.0], "-0"), ([0.1, 0.2], "0.30000000000000004"), ([1e22], "1e+22"), ([5e-324], "5e-324"),
                             ([math.inf, 1], "inf"), ([-math.inf], "-inf"), ([math.inf, -math.inf], "nan"), ([math.nan], "nan")]:
            self.array("x.npy", values)
            self.assertEqual(self.plain("sum", "x.npy"), text)
        self.array("x.npy", [0.1], "f")
        self.assertEqual(self.plain("sum", "x.npy"), "0.10000000149011612")
        self.assertEqual(self.plain("sum", "x.npy", "--float32"), "0.1")
        self.array("x.npy", [-1.5])
        self.assertEqual(self.plain("sum", "x.npy", "--hex"), "-0x1.8p+0")
        self.array("x.npy", [math.inf])
        self.assertEqual(self.plain("sum", "x.npy", "--hex"), "inf")

    def test_float32_is_rounded_once(self):
        # If it were rounded to float64 first, this would be halfway between two floats, and be rounded to the wrong one.
        self.array("x.npy", [1.0, 2.0 ** -24, 2.0 ** -60])
        self.assertEqual(self.json("sum", "x.npy", "--float32")["bits"], "0x3f800001")

    def test_several_files(self):
        self.array("a.npy", [1e300, 1.0])
        self.array("b.npy", [-1e300])
        self.array("c.npy", [0.25], "f")
        lines = [line.split("\t") for line in self.succeed("sum", "a.npy", "b.npy", "c.npy").splitlines()]
        self.assertEqual(lines, [["1e+300", "a.npy"], ["-1e+300", "b.npy"], ["0.25", "c.npy"], ["1.25", "total"]])
        self.assertEqual(self.plain("sum", "a.npy", "b.npy", "c.npy"), "1.25")
        found = self.json("sum", "a.npy", "b.npy", "c.npy")
        self.assertEqual((found["value"], found["count"], [file["dtype"] for file in found["files"]]), (1.25, 4, ["float64", "float64", "float32"]))

    def test_many_files(self):
        names = [self.array("%d.npy" % i, [i]) for i in range(1500)]
        self.assertEqual(self.plain("sum", *names), str(sum(range(1500))))

    def test_json_has_it_all(self):
        self.array("x.npy", [1.0, math.nan, math.inf, math.inf])
        found = self.json("sum", "x.npy")
        self.assertIsNone(found["value"])
        self.assertEqual((found["special"], found["bits"], found["hex"]), ("nan", "0x7ff8000000000000", "nan"))
        self.assertEqual((found["count"], found["nan_count"], found["positive_infinities"], found["negative_infinities"]), (4, 1, 2, 0))
        self.assertEqual((found["device"], found["files"][0]["shape"]), ("cpu", [4]))
        self.assertEqual(found["variant"], "exact_blocks")
        self.assertTrue(0 < found["seconds"] < 60, found["seconds"])

    def test_nan_policies(self):
        self.array("x.npy", [1.0, math.nan, 2.0])
        self.assertEqual(self.plain("sum", "x.npy"), "nan")
        self.assertEqual(self.plain("sum", "x.npy", "--nan", "skip"), "3")
        self.assertEqual(self.noted("sum", "x.npy"), ("nan\n", "1 NaN among them; --nan skip leaves NaNs out\n"))
        self.assertEqual(self.noted("sum", "x.npy", "--nan", "skip"), ("3\n", "x.npy: 1 NaN left out\n"))
        self.assertIn("'ignore'", self.refuse("sum", "x.npy", "--nan", "ignore"))

    def test_verbose(self):
        self.array("x.npy", [0.5])
        value, text = self.noted("sum", "-v", "x.npy")
        self.assertEqual(value, "0.5\n")
        for part in ("bits 0x3fe0000000000000", "cpu", "GB/s", "threads=1"):
            self.assertIn(part, text)

    def test_options_change_no_bit(self):
        random.seed(2)
        values = [random.gauss(0, 1) * 2.0 ** random.randint(-80, 80) for _ in range(5000)]
        self.array("x.npy", values)
        for options in (["--threads", "1"], ["--threads", "3"], ["--device", "cpu"], ["--variant", "auto"]):
            self.assertEqual(self.plain("sum", "x.npy", *options), repr(informative(math.fsum(values))))

    def test_raw(self):
        self.write("x.bin", struct.pack("<3f", 1, 2, 3.5))
        self.assertEqual(self.plain("sum", "x.bin", "--dtype", "float32"), "6.5")
        self.assertIn("x.bin: its size, 12 bytes", self.refuse("sum", "x.bin", "--dtype", "float64"))
        self.assertIn("x.bin: not a .npy file", self.refuse("sum", "x.bin"))
        self.assertIn("unknown element type 'int7'", self.refuse("sum", "x.bin", "--dtype", "int7"))

    def test_names_with_anything_in_them(self):
        self.array("two words", [1.0])
        self.assertEqual(self.plain("sum", "two words"), "1")
        self.array("-dash.npy", [2.0])
        self.assertEqual(self.succeed("sum", "--plain", "--", "-dash.npy"), "2\n")
        os.rename(self.path("two words").encode(), self.path("").encode() + b"\xff\n.npy")
        result = self.run_program("sum", "--json", b"\xff\n.npy")
        self.assertEqual(json.loads(result.stdout.decode())["value"], 1)


class Text(Case):
    def test_against_python(self):
        random.seed(5)
        values = [random.gauss(0, 1) * 10 ** random.randint(-300, 300) for _ in range(3000)]
        text = "".join(repr(value) + random.choice("\n \t,") for value in values)
        self.write("x.txt", text.encode())
        self.assertEqual(self.plain("sum", "x.txt"), repr(informative(math.fsum(values))))
        self.assertEqual(self.plain("sum", "-", input=text.encode()), repr(math.fsum(values)))
        self.assertEqual(self.plain("sum", "--device", "all", "-", input=text.encode()), repr(math.fsum(values)))
        self.assertEqual(self.json("compare", "-", input=text.encode())["devices"][0]["value"], math.fsum(values))

    def test_integers_are_exact(self):
        random.seed(6)
        values = [random.randint(-2**52, 2**52) for _ in range(1000)]
        self.assertEqual(self.plain("sum", "-", input="\n".join(map(str, values + [-sum(values), 2**62 + 1])).encode()), str(2**62 + 1))
        self.assertEqual(self.plain("sum", "-", input=b"9223372036854775807 " * 2), "18446744073709551614")
        self.assertIn("exactly 27670116110564327421", self.refuse("sum", "-", input=b"9223372036854775807 " * 3, code=1))
        self.assertEqual(self.json("sum", "-", input=b"1 2 3")["type"], "int64")
        self.assertEqual(self.json("sum", "-", input=b"1 2 3.5")["value"], 6.5)

    def test_missing(self):
        found = self.json("sum", "-", "--missing", "-9999", "--missing", "null", input=b"1,,2,NA,-9999,null,nan", code=0)
        self.assertEqual((found["count"], found["nan_count"], found["files"][0]["missing"]), (3, 1, 4))
        self.assertIn("3 numbers (1 NaN left out, 1 missing)", self.noted("sum", "-", "-v", "--nan", "skip", input=b"1,,2,nan")[1])
        self.assertEqual(self.noted("sum", input=b"1,,2"), ("3\n", "standard input: 1 missing\n"))

    def test_columns(self):
        self.write("t.csv", b'name,price\n"a, b",0.1\nc,0.2\nd,\n')
        for column in ("price", "2"):
            found = self.json("sum", "t.csv", "--column", column)
            self.assertEqual((found["value"], found["files"][0]["part"], found["files"][0]["missing"]), (math.fsum([0.1, 0.2]), "column 2 ('price')", 1))
        self.assertIn("t.csv, column 2 ('price')", self.noted("sum", "-v", "--column", "price", "t.csv")[1])
        self.assertIn("no column 'cost'; there are 'name', 'price'", self.refuse("sum", "t.csv", "--column", "cost"))
        self.assertIn("--header", self.refuse("sum", "-", "--column", "2", input=b"x,1\ny,2\n"))
        self.assertEqual(self.plain("sum", "-", "--column", "2", "--no-header", input=b"x,1\ny,2\n"), "3")
        self.assertEqual(self.plain("sum", "-", "--column", "2", "--header", input=b"x,1\ny,2\n"), "2")

    def test_mistakes_have_a_place(self):
        self.write("x.txt", b"1\n2\n3 4 five\n")
        self.assertTrue(self.refuse("sum", "x.txt").startswith("x.txt:3:5: 'five' is no number"))
        self.assertTrue(self.refuse("sum", "-", input=b"1;2\n3,5").startswith("standard input:2:2: both commas and semicolons"))
        for arguments, words in [(["--dtype", "f8", "--column", "1"], "use one or the other"), (["--header"], "say which columns to read (--column)"),
                                 (["--header", "--no-header", "--column", "1"], "cannot be used together"), (["-"], "read only once")]:
            self.assertIn(words, self.refuse("sum", "-", *arguments))
        self.array("x.npy", [1.0])
        self.assertIn("no columns", self.refuse("sum", "x.npy", "--column", "1"))
        for ugly in (b"\xff\xfe1", b"1\x00", b"1" * 300000, b'"' * 1000, b"\xf0\x9f\x98\x80", b"1,\x85"):
            self.refuse("sum", "-", input=ugly)
            self.refuse("sum", "-", "--column", "7", input=ugly)


class Piped(Case):
    def test_arrays(self):
        big = npy(header("'>f8'", "(3,)"), struct.pack(">3d", 1, 2, 3.5))
        self.assertEqual(self.plain("sum", "-", input=big), "6.5")
        self.assertEqual(self.plain("sum", self.write("big.npy", big)), "6.5")
        self.assertEqual(self.plain("sum", "-", "--dtype", ">i2", input=struct.pack(">3h", 1, -2, 300)), "299")
        self.assertEqual(self.json("compare", "big.npy")["plain_forward"]["value"], 6.5)
        self.assertIn("take 24 bytes, 20 are there", self.refuse("sum", "-", input=big[:-4]))
        self.assertIn("no multiple of the 8 bytes", self.refuse("sum", "-", "--dtype", "f8", input=bytes(15)))

    def test_several_of_any_kind(self):
        self.array("a.npy", [1e300, 1.0])
        self.write("b.txt", b"0.25\n")
        os.mkfifo(self.path("pipe"))
        command = ["bash", "-c", '(echo -1e300 > pipe &); echo 7 | "$0" sum --plain a.npy b.txt pipe - <(echo 1)', PROGRAM]
        result = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, check=True, timeout=60)
        self.assertEqual(result.stdout, b"9.25\n")
        command = ["bash", "-c", '"$0" sum --plain /dev/stdin < a.npy', PROGRAM]
        self.assertEqual(subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, check=True, timeout=60).stdout, b"1e+300\n")

    def test_memory_is_bounded(self):
        """A gigabyte of zeros, of one line of text, of compressed data, of comments."""
        for arguments, producer in [(["--dtype", ">f8"], "head -c 1000000000 /dev/zero"), ([], "yes 12345678 | head -c 1000000000 | tr '\\n' ' '"),
                                    ([], "yes 0.5 | head -c 300000000"), ([], "yes 0.5 | head -c 100000000 | gzip -1"), (["--allow-empty"], "yes '# words' | tr -d '\\n' | head -c 1000000000")]:
            command = ["bash", "-c", producer + ' | "$0" sum --plain --device cpu - ' + " ".join("'%s'" % one for one in arguments), PROGRAM]
            with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE) as process:
                self.assertTrue(process.stdout.read())
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            self.assertLess(usage.ru_maxrss, 64 << 10, producer)  # includes bash's children

    def test_interrupted(self):
        os.mkfifo(self.path("pipe"))
        for arguments in (["-"], ["-", "--dtype", "f8", "--partial", "x.sum"], ["pipe"]):
            reader, writer = os.pipe()
            with subprocess.Popen([PROGRAM, "sum", *arguments], cwd=self.folder, stdin=reader) as process:
                os.close(reader)
                if "-" in arguments:
                    os.write(writer, b"1234567\n" * 5000)
                time.sleep(0.3)
                start = time.monotonic()
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(20), -signal.SIGINT)
                self.assertLess(time.monotonic() - start, 2)
            os.close(writer)
        self.assertEqual(os.listdir(self.folder), ["pipe"])

    def test_progress_is_for_terminals(self):
        command = ["bash", "-c", '(yes 1.5 | head -c 1000000; sleep 1.5; yes 1.5 | head -c 3000000) | "$0" sum --plain -', PROGRAM]
        master, slave = pty.openpty()
        environment = dict(os.environ, TERM="xterm")
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=slave, env=environment, check=True, timeout=60)
        os.close(slave)
        seen = b""
        with contextlib.suppress(OSError):  # which ends it, as no process has the terminal
            while part := os.read(master, 10000):
                seen += part
        os.close(master)
        self.assertEqual(result.stdout, b"1500000\n")
        self.assertIn(b"MiB", seen)
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen)
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=True, timeout=60)
        self.assertEqual(result.stderr, b"")


class BadInput(Case):
    def test_malformed_files(self):
        good = header()
        for name, content, words in [
                ("empty", b"", "the file is empty"),
                ("magic", b"\x93NUMPY", "truncated .npy file"),
                ("version", b"\x93NUMPY\x09\x00" + bytes(100), "unknown version 9.0"),
                ("cut", npy(good, bytes(8))[:40], "its header should be"),
                ("truncated", npy(good, bytes(7)), "take 8 bytes, 7 are there"),
                ("trailing", npy(good, bytes(9)), "1 bytes follow the array"),
                ("dtype", npy(header("'<c32'"), bytes(32)), "complex256 ('<c32')"),
                ("big", npy(header("'>f8'"), bytes(7)), "take 8 bytes, 7 are there"),
                ("object", npy(header("'|O'"), bytes(8)), "Python objects"),
                ("records", npy(header("[('x', '<f8')]"), bytes(8)), "structured dtype"),
                ("negative", npy(header(shape="(-1,)"), bytes(8)), "not negative"),
                ("overflow", npy(header(shape="(4294967296, 4294967296)"), bytes(8)), "more elements than memory can hold"),
                ("huge", npy(header(shape="(1%s,)" % ("0" * 30)), bytes(8)), "under 2^64"),
                ("nested", npy("{'shape': " + "(" * 60000, b""), "a dimension expected"),
                ("code", npy(header(extra="'x': __import__('os')"), bytes(8)), "unknown key 'x'"),
                ("zip.npz", b"PK\x03\x04" + bytes(50), "zip archive"),
                ("binary", b"1.0\x00\x01", "not a .npy file, and no text"),
                ("zip.gz", b"\x1f\x8b\x08\x00", "gzip data end early"),
                ("utf16", "1\n".encode("utf-16"), "UTF-16")]:
            self.write(name, content)
            for command in ("sum", "compare"):
                message = self.refuse(command, name)
                self.assertTrue(message.startswith(name + ": "), message)
                self.assertIn(words, message)
                self.assertEqual(message.count("\n"), 1, message)

    def test_a_bad_file_among_good_ones_is_all_that_is_said(self):
        self.array("good.npy", [1.0])
        self.assertIn("bad.npy: cannot be opened: No such file", self.refuse("sum", "good.npy", "bad.npy", "good.npy"))

    def test_what_is_no_file(self):
        self.assertIn(".: cannot be read: Is a directory", self.refuse("sum", "."))
        self.assertIn("/dev/null: nothing came from it", self.refuse("sum", "/dev/null"))
        self.assertIn("No such file", self.refuse("sum", ""))
        self.assertIn("Not a directory", self.refuse("sum", self.array("x.npy", [1.0]) + "/y"))

    def test_no_permission(self):
        self.array("x.npy", [1.0])
        os.chmod(self.path("x.npy"), 0)
        options = {}
        if os.geteuid() == 0:
            os.chmod(self.folder, 0o755)
            options = {"user": 65534, "group": 65534, "extra_groups": []}
            try:
                self.run_program("--version", **options)
            except PermissionError:
                self.skipTest("root may read anything, and nobody else may run the program")
        self.assertIn("x.npy: cannot be opened: Permission denied", self.refuse("sum", "x.npy", **options))

    def test_a_file_that_is_cut_short_while_it_is_read(self):
        for attempt in range(3):
            with open(self.path("x"), "wb") as file:
                file.truncate(1 << 30)
            with subprocess.Popen([PROGRAM, "sum", "--device", "cpu", "--dtype", "f8", "x"], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                end = time.monotonic() + 10
                while time.monotonic() < end and process.poll() is None:
                    with open("/proc/%d/maps" % process.pid) as maps:
                        if self.path("x") in maps.read():
                            break
                os.truncate(self.path("x"), 4096)
                out, error = process.communicate()
            if process.returncode == 0:  # it had already ended: try again
                self.assertTrue(out)
                continue
            self.assertEqual((process.returncode, out), (2, b""), error)
            self.assertRegex(error, rb"\Asamesum: x: (became shorter|was changed)")
            return


class Devices(Case):
    def test_list(self):
        found = self.json("devices")
        self.assertEqual(found["devices"][0]["selector"], "cpu")
        for device in found["devices"]:
            self.assertFalse(set(device["capabilities"]) & set(device["missing"]))
        for absence in found["absent"]:
            self.assertTrue(absence["selector"] and absence["reason"])
        text = self.succeed("devices")
        for device in found["devices"] + found["absent"]:
            self.assertIn(device["selector"], text)

    def test_all_agree(self):
        random.seed(4)
        values = [random.gauss(0, 1) * 2.0 ** random.randint(-900, 900) for _ in range(3000)]
        self.array("x.npy", values)
        found = self.json("sum", "x.npy", "--device", "all")
        self.assertTrue(found["agree"])
        self.assertEqual({device["bits"] for device in found["devices"]}, {bits(math.fsum(values))})
        self.assertEqual(self.plain("sum", "x.npy", "--device", "all"), repr(math.fsum(values)))
        text = self.succeed("sum", "x.npy", "--device", "all", "-v")
        self.assertEqual(text.count(bits(math.fsum(values))), len(found["devices"]))
        value, note = self.noted("sum", "x.npy", "--device", "all")
        self.assertEqual(value, repr(math.fsum(values)) + "\n")
        self.assertRegex(note, "agree|One device")

    def test_devices_share_the_work(self):
        random.seed(5)
        values = [random.gauss(0, 1) * 2.0 ** random.randint(-900, 900) for _ in range(3000)]
        self.array("x.npy", values)
        for devices in "all", "cpu", "cpu,cpu", ",".join(device["selector"] for device in self.json("devices")["devices"]):
            found = self.json("sum", "x.npy", "--split", "--device", devices)
            self.assertEqual(found["bits"], bits(informative(math.fsum(values))))
            self.assertEqual(found["device"].count(","), len(found["device"].split(",")) - 1)
        self.refuse("sum", "x.npy", "--device", "cpu,cpu")
        self.refuse("sum", "x.npy", "--split", "--device", "cpu,none")

    def test_a_device_whose_kernels_do_not_build(self):
        """Its sums are not computed silently on another device."""
        if not any(device["platform"] == "Portable Computing Language" for device in self.json("devices")["devices"]):
            self.skipTest("there is no PoCL here, whose compiler can be kept from working")
        self.array("x.npy", [1.5])
        broken = {"POCL_CACHE_DIR": "/dev/null", "SAMESUM_CACHE_DIR": self.path("cache")}
        self.assertIn("kernels do not run on it", self.refuse("sum", "x.npy", "--device", "opencl:portable", environment=broken))
        found = self.json("devices", environment=broken)
        self.assertNotIn("Portable Computing Language", [device["platform"] for device in found["devices"]])
        self.assertIn("kernels do not run on it", " ".join(absence["reason"] for absence in found["absent"]))

    def test_environment(self):
        self.array("x.npy", [1.5])
        self.assertEqual(self.json("sum", "x.npy", environment={"SAMESUM_DEVICE": "cpu"})["device"], "cpu")
        self.assertIn("devices", self.json("sum", "x.npy", environment={"SAMESUM_DEVICE": "all"}))
        self.assertIn("no device 'mars'", self.refuse("sum", "x.npy", environment={"SAMESUM_DEVICE": "mars"}))
        self.assertEqual(self.plain("sum", "x.npy", "--device", "cpu", environment={"SAMESUM_DEVICE": "mars"}), "1.5")

    def test_compare_of_integers_in_text(self):
        """Plain sums add doubles; the exact sum adds the integers in the text."""
        text = b"9007199254740993 1 9007199254740993 -7\n"
        found = self.json("compare", "-", "--device", "cpu", input=text)
        self.assertEqual((found["devices"][0]["value"], found["devices"][0]["type"]), (18014398509481980, "int64"))
        self.assertEqual(found["plain_forward"]["value"], 18014398509481976.0)
        self.assertEqual(self.succeed("sum", "-", "--plain", input=text), "18014398509481980\n")
        self.write("t.csv", b"a,b\n1,0.5\n2,9007199254740993\n3,\n4,1\n")
        found = self.json("compare", "t.csv", "--column", "b", "--device", "cpu")
        self.assertEqual(found["devices"][0]["value"], 9007199254740994.0)  # exactly ...994.5: to even
        self.assertEqual(found["plain_forward"]["value"], 0.5 + 9007199254740992.0 + 1)
        self.assertIn("standard input: 3 numbers\n", self.succeed("compare", "-", "--device", "cpu", input=b"1 2 18446744073709551612"))
        self.assertIn("it is exactly 18446744073709551616", self.refuse("compare", "-", "--device", "cpu", input=b"1 2 18446744073709551613", code=1))

    def test_compare(self):
        values = [1.0, 1e8, -1e8, 0.5]
        self.array("x.npy", values, "f")
        found = self.json("compare", "x.npy")
        self.assertEqual((found["plain_forward"]["value"], found["plain_backward"]["value"], found["agree"]), (0.5, 1.0, True))
        self.assertEqual({device["value"] for device in found["devices"]}, {1.5})
        text = self.succeed("compare", "x.npy", "--device", "cpu")
        for part in ("4 float32 elements", "first to last", "off by -1", "1.5  0x3ff8000000000000"):
            self.assertIn(part, text)
        for special in ([], [math.nan], [math.inf, -math.inf], [3.4e38, 3.4e38]):
            self.array("x.npy", special, "f")
            self.assertTrue(self.json("compare", "x.npy")["agree"])
            self.succeed("compare", "x.npy")


if __name__ == "__main__":
    unittest.main()
