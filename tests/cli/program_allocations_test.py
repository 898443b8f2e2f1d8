"""The program when memory runs out at any place: it ends with the right output, or with one message and exit code 2. It neither crashes nor
hangs. 60 places of each command; SAMESUM_PLACES sets another number."""
import os
import random
import struct
import unittest

from support.program import Case, header, npy, sanitized


class Allocations(Case):
    def setUp(self):
        super().setUp()
        self.library = os.path.join(os.environ.get("SAMESUM_FAKES", ""), "libfake_memory.so")
        if not os.path.exists(self.library) or sanitized():
            self.skipTest("SAMESUM_FAKES does not name the folder of libfake_memory.so, or the program is built with a sanitizer")
        values = [(i % 97 - 31) * 2.0 ** (i * 7 % 200 - 100) for i in range(20000)]
        self.write("x.npy", npy(header("'<f8'", "(20000,)"), struct.pack("<20000d", *values)))
        self.write("t.csv", b"city,price\n" + b"".join(b"%s,%d.25\n" % ((b"Rome", b"Oslo", b"Bern")[i % 3], i % 89) for i in range(20000)))

    def failing(self, number, *command):
        return self.run_program(*command, environment={"LD_PRELOAD": self.library, "SAMESUM_FAKE_MEMORY": number, "SAMESUM_FAKE_MEMORY_COUNT": "count"})

    def try_places(self, *command, files=()):
        right = self.failing("0", *command)
        self.assertEqual((right.returncode, right.stderr), (0, b""), command)
        places = int(self.read("count"))
        self.assertGreater(places, 50)
        there = sorted(os.listdir(self.folder))
        generator = random.Random(" ".join(command))
        failed = 0
        for _ in range(int(os.environ.get("SAMESUM_PLACES", "60"))):
            # The first ones read the command's options, the last ones print.
            place = generator.choice([generator.randrange(places), places - 1 - generator.randrange(min(places, 60)), generator.randrange(min(places, 60))]) + 1
            number = str(place) + generator.choice(["", "+"])
            for file in files:
                if os.path.exists(self.path(file)):
                    os.remove(self.path(file))
            result = self.failing(number, *command)
            if result.returncode == 0:
                self.assertEqual((result.stdout, result.stderr), (right.stdout, b""), (command, number))
                continue
            failed += 1
            self.assertEqual(result.returncode, 2, (command, number, result.stderr))
            message = result.stderr.decode()
            self.assertEqual(message.count("there is not enough memory for this"), 1, (command, number, message))
            self.assertEqual(message.count("\n"), 1, (command, number, message))
            self.assertLessEqual(set(os.listdir(self.folder)), set(there), (command, number))
        self.assertGreater(failed, 10)

    def test_commands(self):
        self.try_places("sum", "--device", "cpu", "x.npy")
        self.try_places("stats", "--device", "cpu", "--json", "x.npy")
        self.try_places("hist", "--device", "cpu", "--bins", "20", "x.npy")
        self.try_places("sum", "--device", "cpu", "--column", "price", "--by", "city", "t.csv")
        self.try_places("sum", "--device", "cpu", "--map", "(x - 1)^2", "x.npy")
        self.try_places("pairs", "--device", "cpu", "--f", "absdiff", "--reduce", "max", "--plain", "x.npy", "x.npy")
        self.try_places("median", "x.npy")
        self.try_places("dot", "--device", "cpu", "x.npy", "x.npy")

    def test_output_files(self):
        self.try_places("sum", "--device", "cpu", "--partial", "p.sum", "x.npy", files=["p.sum"])
        self.try_places("scan", "--device", "cpu", "-o", "s.npy", "x.npy", files=["s.npy"])
        self.try_places("sum", "--device", "cpu", "--checkpoint", "state", "--every", "0", "x.npy", files=["state"])


if __name__ == "__main__":
    unittest.main()
