"""The manual pages, as tools/make-man.py writes them of --help: one for each command, whole, and without a mistake of roff."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from support.program import PROGRAM, Case

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
MAKE = SOURCE / "tools" / "make-man.py"


def shown(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True, env={**os.environ, "MANWIDTH": "400", "LC_ALL": "C.UTF-8"})


@unittest.skipUnless(MAKE.exists(), "manual pages are made in a checkout")
class Man(Case):
    def setUp(self):
        super().setUp()
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "86400"}
        subprocess.run([sys.executable, MAKE, PROGRAM, self.folder], check=True, env=environment)
        self.pages = {path.stem: path for path in pathlib.Path(self.folder).glob("*.1")}

    def test_every_command_has_a_page_with_all_its_options(self):
        commands = re.findall(r"^  (\w+) ", re.search(r"^Commands:\n(.*?)\n\n", self.succeed("--help"), re.M | re.S)[1], re.M)
        self.assertTrue({"samesum", "samesum-bench-sum", *("samesum-" + one for one in commands)} <= set(self.pages), sorted(self.pages))
        for name, path in self.pages.items():
            page = path.read_text(encoding="utf-8")
            self.assertIn(' 1 1970-01-02 "samesum ', page.splitlines()[0])
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", self.succeed(*name.split("-")[1:], "--help"), re.M):
                self.assertRegex(page, r"\\fB" + re.escape(option.replace("-", "\\-")) + r"\\fR", f"{name} {option}")

    def test_the_environment(self):
        page = self.pages["samesum"].read_text(encoding="utf-8")
        section = re.search(r"^\.SH ENVIRONMENT\n(.*?)^\.SH ", page, re.M | re.S)[1]
        names = re.findall(r"SAMESUM_\w+", (SOURCE / "include/samesum/settings.hpp").read_text(encoding="utf-8").split("const std::vector", 1)[0])
        for name in {*names, "SAMESUM_DRIVER_SECONDS"} - {"SAMESUM_EXPORT", "SAMESUM_NCCL_LIBRARY"}:  # the program has no NCCL
            self.assertIn(name, section)

    def test_they_say_what_help_says(self):
        if shutil.which("man") is None or shutil.which("nroff") is None:
            self.skipTest("man is not installed")
        for name in ("samesum", "samesum-sum", "samesum-pairs", "samesum-kernel"):
            text = shown("man", "-l", self.pages[name]).stdout
            for line in self.succeed(*name.split("-")[1:], "--help").split("Examples:\n")[1].split("\n\n")[0].splitlines():
                self.assertIn(line.strip(), text)

    def test_man_has_no_warnings(self):
        if shutil.which("man") is None or shutil.which("nroff") is None:
            self.skipTest("man is not installed")
        for path in self.pages.values():
            self.assertEqual(shown("man", "--warnings", "-l", "-Tutf8", path).stderr, "", path.name)

    def test_mandoc_has_no_warnings(self):
        if shutil.which("mandoc") is None:
            self.skipTest("mandoc is not installed")
        done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", *self.pages.values()], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout + done.stderr, "")


if __name__ == "__main__":
    unittest.main()
