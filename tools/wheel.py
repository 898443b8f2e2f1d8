#!/usr/bin/env python3
"""wheel.py BUILD_DIRECTORY TARGET_DIRECTORY: packs the Python package as built there, the program, and the shared libraries that they need,
as a wheel: for Python 3.12 and newer where the module keeps to the limited API, else for the version that it is built for."""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Part of every system that runs Python: glibc's own libraries, and those of the compiler.
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so")


def needed(library):
    for line in subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout.splitlines():
        found = re.match(r"\s+(\S+) => (/\S+)", line)
        if found and not SYSTEM.match(found[1]):
            yield found[1], found[2]


def glibc(libraries):
    """The newest version of glibc that any of the libraries asks for."""
    versions = [(0, 0)]
    for library in libraries:
        text = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
        versions += [tuple(map(int, version)) for version in re.findall(r"GLIBC_(\d+)\.(\d+)", text)]
    return max(versions)


# The command `samesum`: the program in the package, without an import of the package, which takes longer. pip writes its Python's path.
SCRIPT = """#!python
import importlib.util
import os
import sys

program = os.path.join(os.path.dirname(importlib.util.find_spec("samesum").origin), "samesum")
os.execv(program, [program, *sys.argv[1:]])
"""

def main():
    build, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    version = re.search(r'SAMESUM_VERSION "(.*)"', (ROOT / "include/samesum/version.hpp").read_text())[1]
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder)
        package = stage / "samesum"
        shutil.copytree(build / "python/samesum", package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(build / "cli/samesum", package / "samesum")
        if (build / "cuda-kernels").exists():  # compiled ahead, found beside the module and the program
            shutil.copy(build / "cuda-kernels", package / "cuda-kernels")
        libraries = package / "lib"
        module = next(package.glob("_core*.so"))
        own = [module, package / "samesum"]
        for name, path in sorted({pair for file in own for pair in needed(file)}):  # none, where all is linked in
            libraries.mkdir(exist_ok=True)
            shutil.copy(path, libraries / name, follow_symlinks=True)
            os.chmod(libraries / name, 0o755)
        bundled = list(libraries.glob("*"))
        for path in own + bundled:
            subprocess.run(["strip", "--strip-unneeded", path], check=True)
            if bundled:
                subprocess.run(["patchelf", "--set-rpath", "$ORIGIN" if path in bundled else "$ORIGIN/lib", path], check=True)
        python = re.search(r"cpython-(\d+)(t?)", module.name)  # t: without the interpreter's lock
        tag = (f"cp{python[1]}-cp{python[1]}{python[2]}" if python else "cp312-abi3") + "-manylinux_%d_%d_x86_64" % glibc(own + bundled)
        scripts = stage / f"samesum-{version}.data/scripts"
        scripts.mkdir(parents=True)
        (scripts / "samesum").write_text(SCRIPT)
        os.chmod(scripts / "samesum", 0o755)
        info = stage / f"samesum-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"""Metadata-Version: 2.1
Name: samesum
Version: {version}
Summary: Correctly rounded sums and exact histograms: the same bits on CPU, OpenCL and CUDA
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

{(ROOT / "docs/python.md").read_text()}""")
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: samesum\nRoot-Is-Purelib: false\nTag: {tag}\n")
        target.mkdir(parents=True, exist_ok=True)
        wheel = target / f"samesum-{version}-{tag}.whl"
        files = sorted(path for path in stage.rglob("*") if path.is_file())
        record = ""
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                name, data = str(path.relative_to(stage)), path.read_bytes()
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record += f"{name},sha256={digest},{len(data)}\n"
                entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes from every build
                entry.external_attr = path.stat().st_mode << 16
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
            entry = zipfile.ZipInfo(f"{info.name}/RECORD", (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, record + f"{info.name}/RECORD,,\n", zipfile.ZIP_DEFLATED)
    print(f"== {wheel}: {wheel.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
