"""samesum bench --report: the page holds every rung and every number that its JSON has, and opens without anything else. Run with SAMESUM_PROGRAM."""
import csv
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import unittest
import urllib.parse

from support.program import Case

VOID = {"meta", "wbr"}


class Page(html.parser.HTMLParser):
    """Its elements, the text of its cells, its links; fails where an element is closed that was not opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.tags, self.downloads, self.ids, self.targets = [], [], [], {}, set(), set()
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if attributes.get("href", "").startswith("#"):
            self.targets.add(attributes["href"][1:])
        if "download" in attributes:
            self.downloads[attributes["download"]] = urllib.parse.unquote(attributes["href"].partition(",")[2])

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.cells[-1] += data


class Report(Case):
    def page(self, *arguments):
        self.succeed("bench", "--report", "report.html", "--quick", *arguments)
        text = self.read("report.html").decode()
        self.assertNotRegex(text, r"<script|<link|(?:src|href)=\"(?!#|data:)|@import|url\(", "the page needs nothing else")
        page = Page(text)
        self.assertLessEqual(page.targets, page.ids)
        return page

    def test_it_holds_every_rung_and_number(self):
        devices = [device["selector"] for device in self.json("devices")["devices"]]
        page = self.page("--device", devices[-1], *(word for name in ("ceiling", "sum", "pairs") for word in ("--only", name)))
        data = json.loads(page.downloads["samesum-report.json"])
        self.assertEqual({device["selector"] for device in data["devices"]}, {devices[-1], "cpu"})
        rows = list(csv.DictReader(io.StringIO(page.downloads["samesum-report.csv"])))
        seen = 0
        for name, rate in (("sum", "bytes_per_second"), ("pairs", "operations_per_second")):
            for variant in data["measurements"][name]["result"]["variants"]:
                self.assertTrue(any(cell.startswith(variant["name"]) and variant["where"] in cell for cell in page.cells), variant)
                found = [row for row in rows if (row["variant"], row["where"]) == (variant["name"], variant["where"])]
                self.assertEqual([row["verdict"] for row in found], [variant["verdict"]])
                if rate in variant:
                    self.assertAlmostEqual(float(found[0]["value"]) * 1e9 / variant[rate], 1)
                    self.assertIn("%.3g" % float(found[0]["value"]), ["%.3g" % float(cell) for cell in page.cells if re.fullmatch(r"[\d.e+-]+", cell)])
                    seen += 1
        self.assertGreater(seen, 6)
        self.assertEqual(len([tag for tag, _ in page.tags if tag == "figure"]), 3)  # reading and sums over the size, the roofline
        for tag, attributes in page.tags:
            if tag == "svg":
                self.assertTrue(attributes.get("aria-label") or attributes.get("aria-hidden"))
            if tag == "i":
                self.assertRegex(attributes["style"], r"^left:\d+\.\d\d%$")

    def test_a_faulty_rung_is_right_by_chance(self):
        page = self.page("--device", [device["selector"] for device in self.json("devices")["devices"]][-1], "--only", "histogram")
        rows = list(csv.DictReader(io.StringIO(page.downloads["samesum-report.csv"])))
        racy = [row["verdict"] for row in rows if row["variant"] == "racy"]
        checks = [cell for cell in page.cells if cell.startswith(("right", "wrong"))]
        self.assertEqual(sum(cell.startswith("right by chance") for cell in checks), racy.count("right"))
        self.assertEqual(sum(cell.startswith("right") for cell in checks), sum(row["verdict"] == "right" for row in rows))

    def test_every_rung_has_its_sentence(self):
        """Of all ladders, as their kernels are listed."""
        texts = self.program_texts()
        for ladder, rungs in (line.split(": ") for line in self.succeed("kernel").splitlines()):
            known = {"sum": "reduce", "histogram": "histogram", "pairs": "pairs"}.get(ladder)
            for rung in rungs.split() if known else []:
                self.assertIn((known, rung), texts)

    def program_texts(self):
        source = os.path.join(os.path.dirname(__file__), "..", "..", "cli", "bench", "page", "texts.cpp")
        if not os.path.exists(source):
            self.skipTest("the sources are not here")
        with open(source, encoding="utf-8") as file:
            texts = re.findall(r'Text\{"(\w+)",\s*"(\w+)",(.*?)\},\n', file.read(), re.S)
        for ladder, rung, text in texts:  # what it does, what limits it, what shows that
            self.assertRegex(text, r'(?s)^\s*".+",\s*".+",\s+(?:k\w+|"")(?:,\s+true)?$', (ladder, rung))
        return {(ladder, rung) for ladder, rung, _ in texts}

    def test_what_it_refuses(self):
        self.assertIn("measures by itself: --report FILE --only sum", self.refuse("bench", "--report", "r.html", "sum"))
        self.assertIn("or --report FILE", self.refuse("bench"))
        self.assertIn("--report", self.refuse("bench", "--quick"))
        self.assertIn("nowhere", self.refuse("bench", "--report", "nowhere/r.html"))
        self.assertIn("guess", self.refuse("bench", "--report", "r.html", "--only", "guess"))

    def rounds(self):
        """Figures as samesum_peers writes them."""
        def figures(name, median, value, **more):
            return {"sum": name, "where": "cpu, 1 thread", "seconds": {"median": median, "low": median, "high": median, "runs": 3},
                    "times_samesum": None, "error_ulps": value, "value": "0x1p+0", "repeats": True, "order_free": False, **more}
        return [{"elements": size, "type": "float32", "data": "uniform", "sums": [
            figures("samesum", 1e-6, 0, order_free=True), figures("a <loop>", 2e-6, 3.5, times_samesum=2), figures("lost", 1e-6, None),
            {"sum": "CUB", "where": "cuda:0", "not_measured": "no GPU"}]} for size in (1024, 65536)]

    def test_peers_stand_beside(self):
        rounds = self.rounds()
        self.write("peers.json", json.dumps(rounds).encode())
        page = self.page("--device", "cpu", "--only", "ceiling", "--peers", "peers.json")
        self.assertEqual(json.loads(page.downloads["samesum-report.json"])["peers"], rounds)
        for cell in ("a <loop>", "3.50 ulp", "right", "no number", "65,536", "in any order", "in another run"):
            self.assertIn(cell, page.cells)
        self.assertNotIn("CUB", page.cells)
        for text, says in ((b"", "does not hold"), (b"[]", "no figures"), (b'[{"sums": [{"sum": 1}]}]', "does not hold"),
                           (json.dumps([{**rounds[0], "elements": 0}]).encode(), "no elements"),
                           (json.dumps([{**rounds[0], "type": "float31"}]).encode(), "float31")):
            self.write("bad.json", text)
            self.assertIn(says, self.refuse("bench", "--report", "r.html", "--peers", "bad.json"))
        self.assertIn("gone.json", self.refuse("bench", "--report", "r.html", "--peers", "gone.json"))

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_a_browser_shows_it(self):
        """At a phone's width nothing is wider than the page."""
        self.write("peers.json", json.dumps(self.rounds()).encode())
        self.page("--device", "cpu", "--only", "sum", "--peers", "peers.json")
        script = ("<script>const w = document.documentElement.scrollWidth; document.title = w <= 390 && "
                  "document.querySelectorAll('.track').length > 3 ? 'fits' : 'does not fit: ' + w</script>")
        inner = self.read("report.html").decode().replace("</body>", script + "</body>")
        frame = "<body><iframe style='width:390px;height:800px;border:0' srcdoc=\"" + inner.replace("&", "&amp;").replace('"', "&quot;") + "\"></iframe>"
        watch = "<p id=w></p><script>onload = () => { document.getElementById('w').textContent = frames[0].document.title }</script>"
        self.write("frame.html", (frame + watch).encode())
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom",
                               "--user-data-dir=" + self.path("profile"), "file://" + self.path("frame.html")],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertIn("<p id=\"w\">fits</p>", done.stdout[-200:], done.stderr[-500:])


if __name__ == "__main__":
    unittest.main()
