#!/usr/bin/env python3
"""Writes the arithmetic of src/ that include/samesum/device/exact_sum.h shares into that header, which users include alone.

    tools/write-device-headers.py            writes it
    tools/write-device-headers.py --check    exit code 1 where it is not up to date
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include/samesum/device/exact_sum.h"
NAMES = {"FN": "EXACT_SUM_FN", "ulong": "exact_ulong", "long": "exact_long", "uint": "exact_uint", "REAL": "double", "EXPANSION": "ExactExpansion",
         "clz64": "exact_clz64"}


def renamed(text):
    text = re.sub(r"\bLOCAL (const )?", r"\1", text)  # digits are a work-item's own here
    text = re.sub(r"\b(%s)\b" % "|".join(NAMES), lambda match: NAMES[match[0]], text)
    text = re.sub(r"\b(expansion_|error_of_sum|adds_exactly)", r"exact_\1", text)
    return text.replace("0xffffffffL", "(exact_long)0xffffffffu")


def between(path, begin, end):
    text = (ROOT / path).read_text(encoding="utf-8")
    start = text.index(begin)
    return text[start:text.index(end, start) if end else len(text)].rstrip() + "\n"


def shared():
    exact = between("src/exact/exact.h", "#define EXACT_DIGITS", None)
    expansion = between("src/groups/expansion.h", "typedef struct", "// The sum divided by `count`")
    return renamed(exact + "\n" + expansion)


def main():
    text = HEADER.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith("// --- of src/exact/exact.h"))
    last = next(i for i, line in enumerate(lines) if line.startswith("// --- end of what tools/"))
    wanted = "".join(lines[:first + 1]) + shared() + "".join(lines[last:])
    if "--check" in sys.argv[1:]:
        if wanted != text:
            sys.exit(f"{HEADER}: not what src/ has; run tools/write-device-headers.py")
        return
    HEADER.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
