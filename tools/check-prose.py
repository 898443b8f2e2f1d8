#!/usr/bin/env python3
"""Checks the prose of the READMEs, ARCHITECTURE, CONTRIBUTING, docs/, the public headers' comments and the program's help by the rules of docs/style.md.

`tools/check-prose.py [FILE ...]` prints `file:line: what: instead`, and exits with 1 if there is anything. Code, in blocks or between `, is no
prose. Sentences of pages in LOGS are not counted: measurement logs stay as they were written. docs/style.md shows bad examples on purpose.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_SENTENCE = 45  # words; docs/style.md asks for 25
LOGS = re.compile(r"docs/(?:lab/.*|mutations\.md)$")

# (what is found, what to write). As whole words, in any case unless `(?-i:` says otherwise.
WORDS = [
    (r"what is promised stands in", "'X states what is promised'"),
    (r"stands? in (?=\[|`|the sections)", "'is in', or name who says it: 'X lists …'"),
    (r"(?-i:Should) (?:he|she|it|a|an|the|another)\b", "'If …': the condition in the usual word order"),
    (r"(?:he|she) be\b", "'If … is'"),
    (r"one upon another", "'nested' or 'after each other'"),
    (r"whoever|whomever", "name who does it"),
    (r"nobody says", "'is not documented'"),
    (r"at the very moment|in the very moment", "'while'"),
    (r"whilst|thereby|therein|henceforth|hereby|hitherto", "a shorter word"),
    (r"utili[sz]e[sd]?|leverag(?:e|es|ed|ing)", "'use'"),
    (r"in order to", "'to'"),
    (r"simply|obviously|of course|easily|trivially", "nothing: leave it out"),
    (r"blazing(?:ly)?|powerful|seamless(?:ly)?|robust(?:ly)?|state of the art|cutting[- ]edge", "a number with its unit and source"),
    (r"best possible", "'correctly rounded'"),
    (r"and/or", "'and' or 'or'"),
    (r"e\.g\.|i\.e\.|etc\.", "'such as', 'that is', or all of them"),
    (r"complains?|refuses to believe|hands out", "'throws', 'returns'"),
    (r"click here|see here|read more here", "a link that names its target"),
    (r"(?-i:TODO|FIXME|XXX|TBD)", "the text itself"),
]
# The same for headers, help, and pages that are no logs.
PAGE_WORDS = [
    (r"sooner|to be had|without more ado|upon|wherein|whereby|whereupon|therewith|amongst|lest|whence|aught|afore\w*", "the usual word, or a new sentence"),
    (r"(?-i:Where) (?:there|a|an|the|it|they|one|no|all|some|any)\b(?=[^.?!|]*,)", "'If …'"),
    (r"nobody|who(?:soever)? (?:wants|waits|asks|comes|knows)", "name who does it"),
    (r"anew", "'again'"),
    (r"(?:that|which) lies? (?:in|on)|lies? (?:in|on) (?:the )?(?:host|device)", "'is in', 'are in'"),
    (r"(?:kernels?|programs?|functions?|calls?|plans?|compilers?|drivers?|samesum) (?:wants?|knows?|believes?|remembers?|refuses?)", "'needs', 'has', 'reads', 'throws'"),
    (r"what (?:comes of|is wanted|is had|there was)", "name it"),
    (r"(?<!exponent )(?<!zstd's )(?-i:windows?)(?! of exponents)", "'exponent window'"),
    (r"quick(?:ly)?(?! start)|little (?:data|arrays?|sums?)", "'fast', 'small'"),
    (r"near (?:ones|elements|memory)|(?:is|are) near", "name the distance, or what it is in"),
    (r"places|places? (?:of|for) (?:an )?elements?", "'elements', 'positions', 'addresses'"),
    (r"so many|known here|exit code \d should", "'that many', 'available', 'if'"),
    (r"and the like|and so on and so forth|as the case may be|so to speak", "all of them, or 'such as'"),
]


def compiled(words):
    return [(re.compile(r"(?<!\w)(?i:" + pattern + r")(?!\w)"), instead) for pattern, instead in words]


RULES, PAGE_RULES = compiled(WORDS), compiled(PAGE_WORDS)
TWICE = re.compile(r"\b(the|a|an|of|to|is|and|in|that|which|for|with) \1\b")


def markdown(text):
    """(number, prose) of each line: code, addresses of links and HTML are blanked."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            code = not code
            line = ""
        elif code:
            line = ""
        line = re.sub(r"``.+?``|`[^`]*`", "CODE", line)
        yield number, re.sub(r"\]\([^)]*\)|<[^>]+>", lambda found: "]" if found[0].startswith("]") else "", line)


def comments(text):
    """The same of a header's comments."""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"(?:^|\s)//[/!]?<?\s?(.*)", line)
        yield number, re.sub(r"`[^`]*`", "CODE", found[1]) if found else ""


def helps(text):
    """The same of a program's help: descriptions of options and commands, and raw strings, whose examples are commands."""
    inside = set()
    for raw in re.finditer(r'R"\((.*?)\)"', text, re.S):
        first = text.count("\n", 0, raw.start()) + 1
        inside |= {first + i for i, line in enumerate(raw[1].split("\n")) if not line.startswith("  ")}
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"add_(?:option|flag|subcommand|command)\w*\(", line):  # what an option or a command is for
            line = " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', line))
        elif number not in inside:
            line = ""
        yield number, re.sub(r"'samesum [^']*'|--\S+", "CODE", line)


def sentences(lines):
    """(number of the first line, sentence) of running text: no tables, no headings; items of lists are paragraphs."""
    start, words = 0, []
    for number, line in [*lines, (0, "")]:
        begins = re.match(r"\s*(?:[-*]|\d+\.)\s+", line)
        if begins or not line.strip() or line.lstrip().startswith(("|", "#", "!")):
            if words:
                yield start, " ".join(words)
            words = []
            if not begins:
                continue
        for word in line.split():
            start = start if words else number
            if words and re.search(r"[.!?:;][)\"*_]*$", words[-1]) and re.match(r"[A-Z\"*\[(]", word):
                yield start, " ".join(words)
                start, words = number, []
            words.append(word)


def check(path):
    text = path.read_text(encoding="utf-8")
    page = path.suffix == ".md"
    lines = list(markdown(text) if page else helps(text) if path.suffix == ".cpp" else comments(text))
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    log = LOGS.search(path.as_posix())
    for number, line in lines:
        for rule, instead in RULES + ([] if log else PAGE_RULES):
            for found in rule.finditer(line):
                yield f"{name}:{number}: '{found[0]}': write {instead}"
        for found in TWICE.finditer(line):
            yield f"{name}:{number}: '{found[0]}': a word twice"
    if not page or log:
        return
    for number, sentence in sentences(lines):
        count = len(re.findall(r"\w[\w'’.,-]*", sentence))
        if count > LONGEST_SENTENCE:
            yield f"{name}:{number}: a sentence of {count} words, from '{' '.join(sentence.split()[:6])} …': {LONGEST_SENTENCE} at most, better 25"


def pages():
    found = [*(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
             *(path for folder in ("src", "cli", "bench", "packaging", "python", "examples") for path in sorted((ROOT / folder).rglob("README.md"))), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "include").rglob("*.h*")), *sorted((ROOT / "cli").rglob("*.cpp"))]
    return [path for path in found if path.name != "style.md"]


def main():
    given = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    findings = [finding for path in given or pages() for finding in check(path)]
    print("\n".join([*findings, f"{len(findings)} finding{'' if len(findings) == 1 else 's'} in {len(given or pages())} files"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
