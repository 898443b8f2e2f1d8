"""The parts common to the program's tests: a folder for each test, functions to run the program there, and hand-made .npy files."""
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("SAMESUM_PROGRAM", "samesum")


def bits(value):
    return "0x%016x" % struct.unpack("<Q", struct.pack("<d", value))[0]


def header(descr="'<f8'", shape="(1,)", extra=""):
    return "{'descr': %s, 'fortran_order': False, 'shape': %s, %s}\n" % (descr, shape, extra)


def npy(text, data):
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin1") + data


def sanitized():
    """Whether the program is built with a sanitizer, which has operators of its own and takes more memory."""
    path = shutil.which(PROGRAM)
    if path is None:
        return False
    with open(path, "rb") as file:
        content = file.read()
    return b"__asan_init" in content or b"__tsan_init" in content


class Case(unittest.TestCase):
    """Every test has its own folder, in which the program runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def array(self, name, values, kind="d", shape=None):
        descr = {"d": "'<f8'", "f": "'<f4'"}[kind]
        return self.write(name, npy(header(descr, str(shape or (len(values),))), struct.pack("<%d%s" % (len(values), kind), *values)))

    def run_program(self, *arguments, environment=None, timeout=120, **options):
        options.setdefault("stdout", subprocess.PIPE)
        variables = {key: value for key, value in os.environ.items() if key not in ("SAMESUM_DEVICE", "NO_COLOR", "COLUMNS")}
        variables.update(environment or {})
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=variables, stderr=subprocess.PIPE, timeout=timeout, check=False,
                              **options)

    def succeed(self, *arguments, code=0, **options):
        result = self.run_program(*arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (code, b""), arguments)
        return result.stdout.decode()

    def noted(self, *arguments, code=0, **options):
        """The contents of standard output, and the notes on standard error."""
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.returncode, code, (arguments, result.stderr))
        return result.stdout.decode(), result.stderr.decode()

    def plain(self, *arguments, **options):
        text = self.succeed(*arguments, "--plain", **options)
        self.assertRegex(text, r"\A\S+\n\Z")
        return text.strip()

    def json(self, *arguments, **options):
        def refuse(name):
            raise AssertionError("no JSON: " + name)
        return json.loads(self.succeed(*arguments, "--json", **options), parse_constant=refuse)

    def refuse(self, *arguments, code=2, **options):
        """Bad input or usage: only a message. Returns the message."""
        result = self.run_program(*arguments, **options)
        message = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (code, b""), (arguments, message))
        self.assertTrue(message.startswith("samesum: ") and message.endswith("\n"), message)
        self.assertNotIn("terminate called", message)
        return message[len("samesum: "):]
