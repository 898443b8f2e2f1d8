"""README, docs/, the public headers and the program's help keep the rules of docs/style.md that tools/check-prose.py knows; and each of its rules finds something."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = SOURCE / "tools" / "check-prose.py"


def run(*paths):
    return subprocess.run([sys.executable, TOOL, *paths], capture_output=True, text=True, check=False)


@unittest.skipUnless(TOOL.exists() and (SOURCE / "docs").exists(), "the prose is checked in a checkout")
class Prose(unittest.TestCase):
    def findings(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            done = run(path)
        lines = done.stdout.splitlines()
        self.assertEqual((done.returncode, done.stderr), (1 if len(lines) > 1 else 0, ""), done.stdout)
        return lines[:-1]

    def test_the_documents(self):
        done = run()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"^0 findings in 2\d\d files")

    def test_words(self):
        for text in ("What is promised stands in [a](a.md).", "Should a sum not fit, it throws.", "whoever started it", "In order to sum, call it.",
                     "It is simply fast.", "a blazingly fast sum", "numbers, e.g. 1", "click here", "TODO", "the sum of of all", "It complains."):
            with self.subTest(text=text):
                found = self.findings("page.md", f"# A page\n\n{text}\n")
                self.assertTrue(found and all(":3: " in line for line in found), found)
                self.assertTrue(self.findings("header.hpp", f"int x;  ///< {text}\n"))
                self.assertEqual(self.findings("header.hpp", f'const char* x = "{text}";\n'), [])
                self.assertEqual(self.findings("page.md", f"```text\n{text}\n```\n`{text}`\n"), [])

    def test_words_of_pages(self):
        for text in ("Where a rank fails, all end.", "words that nobody waits for", "It is compiled anew.", "The kernel wants 16 bytes.", "an array that lies on a device",
                     "without more ado", "SLURM_PROCID and the like", "what fits no window", "a quick sum", "sums of little arrays", "local memory, which is near",
                     "the places of the elements", "a matrix of so many rows", "Exit code 1 should it be wrong."):
            with self.subTest(text=text):
                self.assertEqual(len(self.findings("page.md", f"# A page\n\n{text}\n")), 1)
                self.assertEqual(len(self.findings("header.hpp", f"int x;  ///< {text}\n")), 1)
                self.assertEqual(len(self.findings("help.cpp", f'footer(R"(Examples:\n  samesum sum\n\n{text})");\n')), 1)
                self.assertEqual(len(self.findings("help.cpp", f'command->add_option("--size", size, "{text}");\n')), 1)
                self.assertEqual(self.findings("help.cpp", f'// {text}\nfooter(R"(Examples:\n  samesum sum # {text}\n)");\n'), [])
                self.assertEqual(self.findings("docs/lab/sums.md", f"{text}\n"), [], "a log")

    def test_length(self):
        words = " ".join(["word"] * 45)
        self.assertEqual(self.findings("page.md", f"A sentence. Then {words[5:]}. And {words[5:]}.\n"), [])
        self.assertEqual(len(self.findings("page.md", f"Another\n{words}.\n")), 1)
        self.assertEqual(self.findings("page.md", f"- Another\n- {words}.\n\n| {words} | {words} |\n"), [])
        self.assertEqual(self.findings("docs/lab/sums.md", f"Another {words}.\n"), [], "a log")


if __name__ == "__main__":
    unittest.main()
