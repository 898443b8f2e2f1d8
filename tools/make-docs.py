#!/usr/bin/env python3
"""make-docs.py PROGRAM [FOLDER]: gathers the site's pages in FOLDER, by default build/docs/pages, for MkDocs (mkdocs.yml).

The documents as they are, with links that hold there (a link to a file that is no page becomes its text); the program's help; the C++ headers, by Doxygen where it is installed."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PAGES = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else SOURCE / "build/docs/pages"
OUTSIDE = {"README.md": "index.md", "ARCHITECTURE.md": "ARCHITECTURE.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md"}
ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")


def place(path):
    """Where a document of the repository lies on the site."""
    return OUTSIDE.get(path, path.removeprefix("docs/"))


def links_of_the_site(text, page):
    """Links of `page` of the repository as links between the site's pages."""
    def link(found):
        words, target, anchor = found[1], found[2], found[3] or ""
        path = (page.parent / target).resolve().relative_to(SOURCE).as_posix()
        if path not in OUTSIDE and not path.startswith("docs/"):
            return words
        return f"[{words}]({os.path.relpath(place(path), os.path.dirname(place(page.relative_to(SOURCE).as_posix())))}{anchor})"
    return re.sub(r"\[([^][]*)\]\(((?:\.\./|docs/)*[\w./-]+\.(?:md|svg|png))(#[\w-]+)?\)", link, text)


def for_python_markdown(text):
    """An empty line before each list, and four spaces before what belongs to an item, which MkDocs needs and others do not."""
    lines, code, last = [], False, ""
    for line in text.splitlines():
        if line.startswith("```"):
            code = not code
        if not code and ITEM.match(line) and last.strip() and not ITEM.match(last) and not last.startswith(" "):
            lines.append("")
        lines.append(line)
        last = line
    return "\n".join(lines) + "\n"


def help_of(program):
    """A section for each command."""
    def text(*command):
        return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout.rstrip()

    def commands(shown):
        listed = re.search(r"^(?:Commands|Subcommands):\n(.*?)(?:\n\n|\Z)", shown, re.M | re.S)
        return re.findall(r"^  (\w+)", listed[1], re.M) if listed else []

    page = ["# The program", "", "As `samesum COMMAND --help` prints it.", ""]
    waiting = [()]
    while waiting:
        command = waiting.pop(0)
        shown = text(*command)
        if command:
            page += [f"## {' '.join(command)}", ""]
        page += ["```text", shown, "```", ""]
        waiting[:0] = [(*command, one) for one in commands(shown)]
    return "\n".join(page)


def headers():
    """A list of the public headers by their first comment, with links to Doxygen's pages."""
    doxygen = shutil.which("doxygen")
    if doxygen:
        settings = (f"PROJECT_NAME=samesum\nINPUT={SOURCE}/include\nRECURSIVE=YES\nOUTPUT_DIRECTORY={PAGES}\nHTML_OUTPUT=doxygen\nGENERATE_LATEX=NO\n"
                    "QUIET=YES\nWARN_IF_UNDOCUMENTED=NO\nEXTRACT_ALL=YES\nJAVADOC_AUTOBRIEF=YES\nSORT_MEMBER_DOCS=NO\n"
                    f"STRIP_FROM_PATH={SOURCE}/include\nPREDEFINED=SAMESUM_EXPORT=\nMACRO_EXPANSION=YES\nEXCLUDE_PATTERNS=*/device/*\nWARNINGS=NO\nVERBATIM_HEADERS=NO\nTYPEDEF_HIDES_STRUCT=YES\nHTML_COLORSTYLE_SAT=40\nHAVE_DOT=NO\n")
        subprocess.run([doxygen, "-"], input=settings, text=True, check=True)
    page = ["# C++", "", "`#include <samesum/samesum.hpp>` has all of them but those for MPI. Each declares what it says with meaning, units, what is thrown and the cost.", ""]
    page += ["[Classes, functions and headers](doxygen/index.html), by Doxygen.", ""] if doxygen else ["(Doxygen is not installed: `make docs` makes pages of them where it is.)", ""]
    page += ["| header | |", "|---|---|"]
    for header in sorted((SOURCE / "include/samesum").glob("*.hpp")):
        comment = re.match(r"((?://.*\n)+)", header.read_text(encoding="utf-8"))
        words = " ".join(line.lstrip("/ ") for line in comment[1].splitlines()) if comment else ""
        page.append(f"| `samesum/{header.name}` | {words.split('. ')[0].rstrip('.').replace('|', chr(92) + '|')} |")
    return "\n".join(page) + "\n"


def main():
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    for page in [*(SOURCE / name for name in OUTSIDE), *sorted((SOURCE / "docs").rglob("*"))]:
        if page.is_dir():
            continue
        to = PAGES / place(page.relative_to(SOURCE).as_posix())
        to.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            to.write_text(for_python_markdown(links_of_the_site(page.read_text(encoding="utf-8"), page)), encoding="utf-8")
        else:
            shutil.copy(page, to)
    (PAGES / "program.md").write_text(help_of(sys.argv[1]), encoding="utf-8")
    (PAGES / "cpp.md").write_text(headers(), encoding="utf-8")


if __name__ == "__main__":
    main()
