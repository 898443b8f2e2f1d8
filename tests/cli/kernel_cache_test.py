"""Many concurrent processes on one empty kernel cache, some of them killed: every answer is right, and no entry is partial."""
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import numpy

PROGRAM = os.environ["SAMESUM_PROGRAM"]
DEVICE = "opencl:0"
HAS_DEVICE = f"{DEVICE} " in subprocess.run([PROGRAM, "devices"], capture_output=True, text=True).stdout


@unittest.skipUnless(HAS_DEVICE, "there is no OpenCL device")
class Processes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.cache = self.folder / "cache"
        self.array = self.folder / "x.npy"
        numpy.save(self.array, numpy.array([1e30, 1, -1e30] * 100, dtype="f4"))
        # The driver's own cache stays warm: it is not under test, and compiling takes it seconds.
        self.environment = dict(os.environ, SAMESUM_CACHE_DIR=str(self.cache))

    def start(self, **environment):
        command = [PROGRAM, "sum", "--plain", "--device", DEVICE, self.array]
        return subprocess.Popen(command, env={**self.environment, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check(self, process):
        out, error = process.communicate(timeout=600)
        self.assertEqual((out, process.returncode), ("100\n", 0), error)

    def entries(self):
        return {path.name: path.read_bytes() for path in self.cache.glob("*.kernel")}

    def test_together_on_an_empty_cache(self):
        processes = [self.start() for _ in range(5)]
        for process in processes:
            self.check(process)
        self.assertTrue(self.entries())
        self.assertEqual(list(self.cache.glob("new.*")), [])

    def test_some_killed(self):
        self.check(self.start())
        whole = self.entries()
        for delay in (0.01, 0.03, 0.06, 0.1, 0.2, 0.4):
            for path in self.cache.iterdir():
                path.unlink()
            survivor, victim = self.start(), self.start()
            time.sleep(delay)
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            self.check(survivor)
            self.check(self.start())
            self.assertEqual(set(self.entries()), set(whole))

    def test_entries_cut_off_or_swapped(self):
        self.check(self.start())
        whole = self.entries()
        names = sorted(whole, key=lambda name: len(whole[name]))
        for name in names:
            (self.cache / name).write_bytes(whole[name][: len(whole[name]) // 2])
        self.check(self.start())
        for name, content in self.entries().items():
            self.assertEqual(len(content), 64 + sum(struct.unpack_from("<2Q", content, 40)), f"{name} was not mended")
        for name, other in zip(names, reversed(names)):
            (self.cache / name).write_bytes(whole[other])
        self.check(self.start())
        for name, content in self.entries().items():
            self.assertEqual(content[8:40], name.removesuffix(".kernel").encode(), "an entry lies under another's name")

    def test_where_nothing_can_be_kept(self):
        for folder in ("/dev/full", "/proc/none", "/dev/null/none"):
            self.check(self.start(SAMESUM_CACHE_DIR=folder))
        self.check(self.start(SAMESUM_CACHE="0"))
        self.assertFalse(self.cache.exists())


if __name__ == "__main__":
    unittest.main()
