#!/usr/bin/env python3
"""count-tests.py BUILD_DIRECTORY: counts the test cases of the last run of ctest, and says what was skipped and why; fails where one
failed, or none ran.

An entry of ctest that wrote its cases (GoogleTest's form, tests/results/NAME.xml) counts as so many, any other one as one case."""
import collections
import pathlib
import sys
import xml.etree.ElementTree as xml

build = pathlib.Path(sys.argv[1])
passed = failed = skipped = 0
reasons = collections.Counter()  # why cases were skipped, and how many
for entry in xml.parse(build / "ctest.xml").getroot().iter("testcase"):
    cases = build / "tests" / "results" / (entry.get("name") + ".xml")
    entry_failed = entry.get("status") == "fail"
    if not cases.exists():
        not_run = entry.get("status") in ("notrun", "disabled")
        failed += entry_failed
        skipped += not_run
        reasons[f"{entry.get('name')}: not run by ctest"] += not_run
        passed += not entry_failed and not not_run
        continue
    try:
        root = xml.parse(cases).getroot()
    except xml.ParseError as error:
        print(f"failed: {entry.get('name')}: {cases} cannot be read: {error}")
        failed += 1
        continue
    total = int(root.get("tests")) - int(root.get("disabled"))
    failures = int(root.get("failures")) + int(root.get("errors"))
    if total == 0:
        print(f"failed: {entry.get('name')}: it has no case")
        failed += 1
    skips = 0
    for case in root.iter("testcase"):
        if case.get("result") != "skipped":
            continue
        skips += 1
        note = case.find("skipped")
        # GoogleTest's message begins with a line that names the place in the source.
        reason = "" if note is None else (note.get("message") or "").strip().splitlines()[-1:]
        reasons[f"{entry.get('name')}: {reason[0] if reason else 'without a reason'}"] += 1
    if entry_failed and failures == 0:  # it crashed after its last case
        failures, total = 1, total + 1
    passed += total - failures - skips
    failed += failures
    skipped += skips
for reason, count in sorted(reasons.items()):
    if count:
        print(f"skipped {count}: {reason}")
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed != 0 or passed == 0)
