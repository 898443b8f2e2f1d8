#!/usr/bin/env python3
"""check-links.py FOLDER: whether each link within a site of HTML pages leads to a file, and to a place in it; and whether it opens without a network.

Links to other sites are not followed. Pages of Doxygen are checked for files alone: its scripts make some of their places."""
import html.parser
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links, what is loaded, and the places of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.places = [], [], {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("id", "name"):
            if attributes.get(name):
                self.places.add(attributes[name])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        source = attributes.get("src") or (attributes.get("href") if tag == "link" and attributes.get("rel") in ("stylesheet", "icon") else None)
        if source:
            self.loaded.append(source)

    handle_startendtag = handle_starttag


def findings(site):
    pages = {path: Page(path.read_text(encoding="utf-8", errors="replace")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        if name.name == "404.html":  # of a server, by its own paths
            continue
        for target in page.loaded:
            if re.match(r"(?:https?:)?//", target):
                yield f"{name}: loads {target} from elsewhere"
            elif not target.startswith(("data:", "javascript:")) and not (path.parent / urllib.parse.unquote(target.partition("?")[0])).exists():
                yield f"{name}: loads {target}, which is not there"
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            file, _, place = link.partition("#")
            target = (path.parent / urllib.parse.unquote(file.partition("?")[0])).resolve() if file else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{name}: {link} leads to no file"
            elif target in pages and "doxygen" not in target.parts and urllib.parse.unquote(place) not in pages[target].places:
                yield f"{name}: {link} leads to no place in its page"


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    found = list(findings(site))
    count = len(list(site.rglob("*.html")))
    print("\n".join([*found, f"{len(found)} broken links in {count} pages"]))
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
