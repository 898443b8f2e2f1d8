"""The arithmetic that exact_sum.h shares with src/ is that of src/."""
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


@unittest.skipUnless((SOURCE / "tools/write-device-headers.py").exists(), "headers are written in a checkout")
class DeviceHeader(unittest.TestCase):
    def test_is_up_to_date(self):
        found = subprocess.run([sys.executable, str(SOURCE / "tools/write-device-headers.py"), "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((found.returncode, found.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
