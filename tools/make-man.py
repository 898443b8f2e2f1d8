#!/usr/bin/env python3
"""make-man.py PROGRAM FOLDER: the manual pages samesum.1, samesum-sum.1, samesum-bench-sum.1 ..., of what --help prints.

The date is that of SOURCE_DATE_EPOCH, where it is set: then the same program gives the same pages."""
import datetime
import os
import pathlib
import re
import subprocess
import sys
import time

ENTRY = re.compile(r"  (\S.*?)(?: {2,}(\S.*))?$")  # an option, argument or command; what it is may stand on the next line
HEADINGS = {"Arguments": "ARGUMENTS", "Options": "OPTIONS", "Commands": "COMMANDS", "Subcommands": "COMMANDS", "Examples": "EXAMPLES", "Environment": "ENVIRONMENT"}


def roff(text):
    """As it is: no escapes, no quotes that become others, dashes that can be copied, no line that is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def entries(lines):
    """Name, description of each."""
    found = []
    for line in lines:
        if line.startswith("   ") and found:
            found[-1][1] = (found[-1][1] + " " + line.strip()).strip()
        else:
            name, description = ENTRY.match(line).groups()
            found.append([name, description or ""])
    return found


def list_of(lines, command, heading):
    page = []
    for name, description in entries(lines):
        names, _, rest = name.partition(" ")
        rest, _, excluded = rest.partition("Excludes: ")
        rest = rest.replace("TEXT", "").replace("REQUIRED", "").strip()
        if excluded:
            description += f" (not together with {excluded})"
        if "REQUIRED" in name and names.startswith("-"):
            description += " (required)"
        if heading == "COMMANDS":
            page += [".TP", f"\\fB{roff('-'.join(['samesum', *command, names]))}\\fR(1)"]
        else:
            page += [".TP", f"\\fB{roff(names).replace(',', chr(92) + 'fR, ' + chr(92) + 'fB')}\\fR" + (f" \\fI{roff(rest)}\\fR" if rest else "")]
        page.append(roff(description))
    return page


def page_of(command, text, commands, version, date):
    """The page of one command; `commands` are those below it."""
    head, _, rest = text.partition("Usage: ")
    usage, _, rest = rest.partition("\n")
    name = "-".join(["samesum", *command])
    does = " ".join(head.split()).rstrip(".")
    usage = usage.replace("FILE(2x)", "A B").removeprefix(" ".join(["samesum", *command])).strip()
    page = [f'.TH {roff(name.upper())} 1 {date} "samesum {version}" "User Commands"', ".SH NAME", f"{roff(name)} \\- {roff(does)}", ".SH SYNOPSIS",
            f"\\fB{' '.join(['samesum', *command])}\\fR {roff(usage)}".rstrip()]
    described = False
    for block in re.split(r"\n{2,}", rest.strip("\n")):
        lines = block.splitlines()
        heading = HEADINGS.get(lines[0].removesuffix(":")) if lines[0].endswith(":") else None
        if heading == "EXAMPLES":
            page += [".SH EXAMPLES", ".EX", *(roff(line.removeprefix("  ")) for line in lines[1:]), ".EE"]
        elif heading:
            page += [f".SH {heading}", *list_of(lines[1:], command, heading)]
        elif lines[0].startswith("Exit codes: "):
            page += [".SH EXIT STATUS", *(roff(line) for line in [lines[0].removeprefix("Exit codes: "), *lines[1:]])]
        else:
            page += [".PP"] if described else [".SH DESCRIPTION"]
            described, code = True, False
            for line in lines:
                if line.startswith("  ") != code:
                    code = not code
                    page.append(".EX" if code else ".EE")
                page.append(roff(line))
            page += [".EE"] if code else []
    others = ["samesum", *(["samesum-bench"] if len(command) > 1 else [])] if command else [f"samesum-{one}" for one in commands]
    page += [".SH SEE ALSO", *(f".BR {roff(other)} (1)" + ("," if other != others[-1] else "") for other in others)]
    return "\n".join(page) + "\n"


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("samesum*.1"):
        old.unlink()

    def shown(*arguments):
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout

    version = shown("--version").split()[1]
    date = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), datetime.timezone.utc).strftime("%Y-%m-%d")
    waiting = [()]
    while waiting:
        command = waiting.pop()
        text = shown(*command, "--help")
        listed = re.search(r"^(?:Commands|Subcommands):\n(.*?)(?:\n\n|\Z)", text, re.M | re.S)
        below = re.findall(r"^  (\w+)", listed[1], re.M) if listed else []
        waiting += [(*command, one) for one in below]
        (folder / ("-".join(["samesum", *command]) + ".1")).write_text(page_of(command, text, below, version, date), encoding="utf-8")


if __name__ == "__main__":
    main()
