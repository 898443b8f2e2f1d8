"""Completion in shells: each script is read by its shell, which then is asked for completions of commands, options and values."""
import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from support.program import PROGRAM, Case

ASKED = {  # what is typed, and some of what must and must not be offered
    "samesum s": ({"sum", "stats", "scan", "std", "selftest"}, {"hist"}),
    "samesum --ver": ({"--version"}, {"--verbose"}),
    "samesum sum --n": ({"--nan", "--no-header", "--nodata"}, {"--device"}),
    "samesum sum --device ": ({"auto", "all", "cpu", "opencl:0", "cuda:0"}, set()),
    "samesum hist --device ": ({"auto", "cpu", "opencl:0", "cuda:0"}, {"all"}),
    "samesum sum --nan s": ({"skip"}, {"propagate"}),
    "samesum bench c": ({"ceiling"}, {"compare"}),
    "samesum bench sum --vari": ({"--variant"}, set()),
    "samesum bench pairs --dtype ": ({"float32", "float64"}, {"int8"}),
    "samesum completion ": ({"bash", "zsh", "fish"}, set()),
    "samesum sum --out numb": ({"numbers.npy"}, set()),
    "samesum sum numb": ({"numbers.npy"}, set()),
}


class Completion(Case):
    def setUp(self):
        super().setUp()
        self.array("numbers.npy", [1.0])
        self.environment = {**os.environ, "PATH": os.path.dirname(os.path.abspath(PROGRAM)) + ":" + os.environ["PATH"], "HOME": self.folder, "TERM": "dumb"}

    def script(self, shell, name):
        if shutil.which(shell) is None:
            self.skipTest(f"{shell} is not installed")
        return self.write(name, self.succeed("completion", shell).encode())

    def ask(self, *command):
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split("\n")) - {""}

    def compare(self, line, offered):
        must, must_not = ASKED[line]
        self.assertTrue(must <= offered, f"'{line}': {sorted(offered)}")
        self.assertFalse(must_not & offered, f"'{line}': {sorted(offered)}")

    def test_bash(self):
        script = self.script("bash", "script")
        for line in ASKED:
            words = line.split(" ")
            ask = (f"source ./{script}; COMP_WORDS=({' '.join(words[:-1])} '{words[-1]}'); COMP_CWORD={len(words) - 1}; _samesum; "
                   "printf '%s\\n' \"${COMPREPLY[@]}\"")
            self.compare(line, self.ask("bash", "-c", ask))
        # As bash parts words at ':' and '='.
        for words, offered in (("samesum sum --device = cp", {"cpu"}), ("samesum sum --device opencl :", {"0"}), ("samesum sum --device opencl : 0", {"0"})):
            ask = f"source ./{script}; COMP_WORDS=({words}); COMP_CWORD={len(words.split()) - 1}; _samesum; printf '%s\\n' \"${{COMPREPLY[@]}}\""
            self.assertEqual(self.ask("bash", "-c", ask), offered, words)

    def test_fish(self):
        script = self.script("fish", "script.fish")
        for line in ASKED:
            answer = self.ask("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
            self.compare(line, {one.split("\t")[0] for one in answer})
        # An option with the value behind '='.
        self.assertIn("--device=cpu", {one.split("\t")[0] for one in self.ask("fish", "--no-config", "-c", f"source {script}; complete -C 'samesum sum --device=c'")})

    def test_zsh(self):
        self.script("zsh", "_samesum")
        shell, terminal = pty.fork()
        if shell == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], self.environment)

        def until(mark):
            text, end = "", time.monotonic() + 60
            while not re.search(mark, text):
                ready = select.select([terminal], [], [], max(0, end - time.monotonic()))[0]
                self.assertTrue(ready, text)
                text += os.read(terminal, 65536).decode(errors="replace")
            return text

        def rest():
            """What follows until nothing does for a while: zsh writes its list again, below what was printed."""
            text = ""
            while select.select([terminal], [], [], 0.3)[0]:
                text += os.read(terminal, 65536).decode(errors="replace")
            return text

        def send(text):
            os.write(terminal, text.encode())

        try:
            send("PS1=''; stty -echo columns 500 rows 400; LISTMAX=10000; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; "
                 "bindkey '^X' list-choices; bindkey '^U' kill-whole-line; zstyle ':completion:*' list-separator '='; "
                 "zstyle ':completion:*' verbose no; _mark() { print -r -- \"[at:$BUFFER]\"; }; zle -N _mark; bindkey '^T' _mark; print rea''dy\n")
            until("ready")
            for line, (must, _) in ASKED.items():
                send(line + "\t\x18\x14")
                text = until(r"\[at:[^\n]*\]") + rest()
                send("\x15")
                rest()
                offered = set(re.findall(r"[\w.:-]+", text.replace("\\:", ":")))
                self.assertTrue(must <= offered, f"'{line}': {text!r}")
                self.assertFalse(ASKED[line][1] & offered, f"'{line}': {text!r}")
        finally:
            os.close(terminal)
            os.waitpid(shell, 0)

    def test_another_shell_is_refused(self):
        self.assertIn("bash, zsh and fish", self.refuse("completion", "tcsh"))


if __name__ == "__main__":
    unittest.main()
