"""Files of partial results that released versions wrote (tests/samples/VERSION): read by this program, with the same answers, and written by it
with the same bytes.

    SAMESUM_PROGRAM=samesum python3 tests/cli/samples_test.py --write VERSION    # at a release: writes the samples of this version
"""
import json
import os
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support.program import Case, header, npy

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "samples"
# Whole inputs and parts, by the first part of a sample's name. Each is printed by merge.
COMMANDS = {
    "sum": ["sum", "x.npy"],
    "integers": ["sum", "n.npy"],
    "stats": ["stats", "x.npy"],
    "hist": ["hist", "--range", "-1", "1", "--bins", "5", "x.npy"],
    "dot": ["dot", "x.npy", "y.npy"],
    "special": ["stats", "s.npy"],
}
PRINTED = ["--json"]


def inputs(case):
    """The same on all machines: integer arithmetic, and powers of two."""
    state, x, y = 1, [], []
    for i in range(200):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        x.append((state // 2 ** 11 - 2 ** 52) * 2.0 ** (i % 90 - 100))
        y.append((state % 1000 - 500) / 8)
    case.array("x.npy", x)
    case.array("y.npy", y)
    case.array("s.npy", [1.5, float("inf"), float("nan"), -0.0, 5e-324])
    case.write("n.npy", npy(header("'<i8'", "(5,)"), struct.pack("<5q", 2 ** 62, 2 ** 62, -3, -2 ** 63, 7)))


def shared(answer, kept):
    """What `answer` has of that which a sample keeps: later versions may tell more."""
    if isinstance(kept, dict):
        return {key: shared(answer.get(key), value) for key, value in kept.items()} if isinstance(answer, dict) else answer
    if isinstance(kept, list):
        return [shared(one, value) for one, value in zip(answer, kept)] if isinstance(answer, list) and len(answer) == len(kept) else answer
    return answer


@unittest.skipUnless(SAMPLES.exists() or "--write" in sys.argv, "the samples are in a checkout")
class Samples(Case):
    def setUp(self):
        super().setUp()
        inputs(self)

    def made(self):
        """The samples' names, and the bytes that this program writes."""
        files = {}
        for name, command in COMMANDS.items():
            self.noted(*command, "--partial", "whole")
            files[name + ".whole"] = self.read("whole")
            for k in "12":
                self.noted(*command, "--part", k + "/2", "--partial", "part")
                files["%s.part%s" % (name, k)] = self.read("part")
        return files

    def answers(self, folder):
        texts = {}
        for name in COMMANDS:
            for which in (["whole"], ["part2", "part1"]):
                texts["%s.%s.json" % (name, which[0])] = self.noted("merge", *PRINTED, *["%s/%s.%s" % (folder, name, one) for one in which])[0]
        return texts

    def versions(self):
        found = sorted(path for path in SAMPLES.iterdir() if path.is_dir())
        self.assertGreater(len(found), 0)
        return found

    def check(self, text, path):
        kept = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(shared(json.loads(text), kept), kept, path)

    def test_they_are_read(self):
        for folder in self.versions():
            os.symlink(folder, self.path("there"))
            for name, text in self.answers("there").items():
                self.check(text, folder / name)
            os.unlink(self.path("there"))

    def test_they_are_written_with_the_same_bytes(self):
        latest = self.versions()[-1]
        for name, written in self.made().items():
            self.assertEqual(written, (latest / name).read_bytes(), name)

    def test_old_and_new_parts_merge(self):
        latest = self.versions()[-1]
        for name, command in COMMANDS.items():
            self.noted(*command, "--part", "1/2", "--partial", "mine")
            self.check(self.noted("merge", *PRINTED, "mine", str(latest / (name + ".part2")))[0], latest / (name + ".part2.json"))


def write(version):
    case = Samples("test_they_are_read")
    case.setUp()
    folder = SAMPLES / version
    folder.mkdir(parents=True)
    for name, content in case.made().items():
        (folder / name).write_bytes(content)
    os.symlink(folder, case.path("there"))
    for name, text in case.answers("there").items():
        (folder / name).write_text(text, encoding="utf-8")
    case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2])
    else:
        unittest.main()
