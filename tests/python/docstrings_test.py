"""Docstrings (numpydoc), their examples, and the types of the Python package."""
import ast
import doctest
import importlib.util
import inspect
import os
import pathlib
import re
import subprocess
import sys
import unittest

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
try:
    import numpy
    import samesum
    import samesum.array_api
except ImportError as error:
    raise unittest.SkipTest(f"the Python package cannot be imported: {error}")

PACKAGE = pathlib.Path(samesum.__file__).parent
PUBLIC = {name: getattr(samesum, name) for name in samesum.__all__}
PUBLIC.update({f"array_api.{name}": getattr(samesum.array_api, name) for name in samesum.array_api.__all__})
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value) and not issubclass(value, Exception)}
METHODS = {f"{name}.{member}": getattr(value, "__func__", value) for name, owner in CLASSES.items() for member, value in vars(owner).items()
           if not member.startswith("_") and not isinstance(value, str)}


def parameters(function):
    """The names of a function's parameters; of a compiled one from the signature that nanobind keeps."""
    if isinstance(function, property):
        return []
    function = getattr(function, "__func__", function)
    if hasattr(function, "__nb_signature__"):
        tree = ast.parse(re.sub(r"\\\d+", "None", function.__nb_signature__[0][0]) + ": ...").body[0].args
        names = [each.arg for each in tree.posonlyargs + tree.args]
    elif inspect.isclass(function):
        own = vars(function).get("__init__") or vars(function).get("__new__")  # a class that only functions make has none
        own = getattr(own, "__func__", own)
        names = parameters(own) if inspect.isfunction(own) or hasattr(own, "__nb_signature__") else []
    else:
        names = list(inspect.signature(function).parameters)
    return [name for name in names if name not in ("self", "cls")]


def sections(text):
    """The sections of a docstring by their titles, with their lines."""
    text = inspect.cleandoc(text)
    parts = re.split(r"^(\w+)\n-+\n", text, flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def documented_parameters(section):
    lines = re.findall(r"^(\S[^:\n]*?)(?: : .+)?$", section, re.M)
    return [name.strip().lstrip("*") for line in lines for name in line.split(",")]


class Docstrings(unittest.TestCase):
    def test_every_public_name_says_what_it_is(self):
        self.assertGreater(len(METHODS), 30)
        for name, value in {**PUBLIC, **METHODS}.items():
            with self.subTest(name):
                doc = inspect.cleandoc(value.__doc__ or "")
                self.assertRegex(doc.split("\n\n")[1 if hasattr(value, "__nb_signature__") else 0], r"^[A-Z`].*\.", "a sentence first")
                self.assertIsNone(re.search(r"^ *\{[a-z ]+\}$", doc, re.M), "parameters that were not filled in")
                if inspect.isclass(value) and issubclass(value, Exception) or isinstance(value, property):
                    continue
                found = sections(value.__doc__)
                names = parameters(value)
                self.assertEqual(documented_parameters(found.get("Parameters", "")), names)
                if not inspect.isclass(value) and name != "add_at":
                    self.assertIn("Returns", found)
                if not hasattr(value, "__nb_signature__"):
                    self.assertIn(">>> ", found.get("Examples", ""))

    def test_examples_run(self):
        tried = 0
        for name, value in {"samesum": samesum, **PUBLIC, **METHODS}.items():
            test = doctest.DocTestParser().get_doctest(value.__doc__, {"samesum": samesum, "numpy": numpy}, name, None, 0)
            if numpy.__version__ < "2" and any(each.want.startswith("np.") for each in test.examples):
                continue  # numpy 1 shows its numbers without their types
            said = []
            with self.subTest(name):
                result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
                self.assertEqual(result.failed, 0, "".join(said))
                tried += result.attempted
        self.assertGreater(tried, 60)


class Types(unittest.TestCase):
    def test_stub_lists_what_classes_have(self):
        stub = {each.name: each for each in ast.parse((PACKAGE / "_core.pyi").read_text()).body if isinstance(each, ast.ClassDef)}
        for name, owner in CLASSES.items():
            if name not in stub:
                continue
            listed = {each.name if isinstance(each, ast.FunctionDef) else each.target.id for each in stub[name].body}
            self.assertEqual({each for each in listed if not each.startswith("_")}, {each for each in vars(owner) if not each.startswith("_")}, name)
        self.assertLessEqual({"Accumulator", "Statistics", "Histogram", "Device"}, set(stub))
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_functions_are_annotated(self):
        for name, value in PUBLIC.items():
            if inspect.isfunction(value):
                hints = set(value.__annotations__)
                self.assertEqual(hints, {*inspect.signature(value).parameters, "return"}, name)

    def test_type_checker(self):
        if importlib.util.find_spec("mypy") is None:
            self.skipTest("mypy is not installed")
        check = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir=" + os.devnull]
        whole = subprocess.run([*check, "-p", "samesum"], cwd=PACKAGE.parent, capture_output=True, text=True)
        self.assertEqual(whole.returncode, 0, whole.stdout)
        code = "import samesum\nsamesum.stats([1.0]).count + 'a'\n"
        wrong = subprocess.run([*check, "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True)
        self.assertIn("Unsupported operand", wrong.stdout)


if __name__ == "__main__":
    unittest.main()
