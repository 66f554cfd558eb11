#!/usr/bin/env python3
"""Builds the manual as a site with search, in target/site/book, and checks its links: mdBook renders README.md, docs/ and
all files that they link to.

docs/README.md is the table of contents: each row of its tables is a chapter. mdBook is the one in PATH if its version fits.
Otherwise it is compiled once, outside the tree, which takes a few minutes. Ends with "site: N pages, N links resolve".
"""

import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SITE = ROOT / "target/site"
VERSION = "0.5.4"
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s#]*)(#[^)\s]*)?\)")
BOOK = """[book]
title = "Picollo"
language = "en"
[output.html]
smart-punctuation = false
no-section-label = true
additional-css = ["site.css"]
[output.html.fold]
enable = true
"""
# Wide tables and long lines scroll inside of the page. Tables of the manual are wide, so the page is, too.
STYLE = """:root { --content-max-width: 1000px; }
.content table { display: block; overflow-x: auto; margin: 0 0 1em; width: max-content; max-width: 100%; }
.content img { background: white; }
"""


def mdbook():
    """The command, compiled if necessary."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / f"picollo/mdbook-{VERSION}"
    for found in (shutil.which("mdbook"), cache / "bin/mdbook"):
        if found and pathlib.Path(found).exists():
            version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
            if version.split() == ["mdbook", f"v{VERSION}"]:
                return found
    print(f"compiling mdBook {VERSION}, once, into {cache}", flush=True)
    settings = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "1", "CARGO_PROFILE_RELEASE_LTO": "off", "CARGO_TARGET_DIR": str(cache / "target")}
    features = ["--no-default-features", "--features", "search"]
    subprocess.run(
        ["cargo", "install", "--quiet", "--locked", *features, "--version", VERSION, "--root", cache, "mdbook"], env=os.environ | settings, check=True
    )
    shutil.rmtree(cache / "target")
    return cache / "bin/mdbook"


def placed(path):
    """Where a file is in the book: a page of a folder's contents is index.md, as for a web server."""
    path = path.relative_to(ROOT)
    return path.with_name("index.md") if path.name == "README.md" else path


def title(page):
    return re.search(r"^# (.+)$", page.read_text(), re.MULTILINE)[1].replace("`", "")


def copied(source):
    """Copies README.md, docs/ and everything that they link to. Returns the Markdown pages, in order. Links to folders lose
    their target, because a site has no listings."""
    waiting = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*") if path.is_file())]
    pages = []
    for path in waiting:
        target = source / placed(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copy(path, target)
            continue
        pages.append(path)

        def followed(link):
            if not link[2] or ":" in link[2]:
                return link[0]
            linked = (path.parent / link[2]).resolve()
            if linked.is_dir():
                return link[1].strip("[]")
            if linked not in waiting:
                waiting.append(linked)
            return link[0].replace("README.md", "index.md") if linked.name == "README.md" else link[0]

        # Not in code, where brackets have other meanings.
        parts = re.split(r"(^```.*?^```$)", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        target.write_text("".join(part if part.startswith("```") else LINK.sub(followed, part) for part in parts))
    return pages


def summary(pages):
    """mdBook's table of contents, from the tables of docs/README.md."""
    lines, listed = ["# Summary", "", "[Picollo](index.md)", "[All pages, by task](docs/index.md)"], {ROOT / "README.md", ROOT / "docs/README.md"}
    for heading, section in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", (ROOT / "docs/README.md").read_text(), re.MULTILINE | re.DOTALL):
        chapters = []
        for row in re.findall(r"^\| .*\| (.*) \|$", section, re.MULTILINE):
            page = next((ROOT / "docs" / link[1] for link in LINK.findall(row) if link[1].endswith(".md")), None)
            if page and page.resolve() not in listed:
                listed.add(page.resolve())
                chapters.append(f"- [{title(page)}]({placed(page.resolve())})")
        if chapters:
            lines += ["", f"# {heading}", "", *chapters]
    lines += ["", "# Beside the manual", ""]
    lines += [f"- [{title(page)}]({placed(page)})" for page in pages if page not in listed]
    return "\n".join(lines) + "\n"


class Links(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.targets, self.names = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.add(values.get("id"))
        self.targets += [values[name] for name in ("href", "src") if values.get(name)]


def check(book):
    """The faults of all links between the pages, and the number of links that resolve."""
    parsed = {path: Links(path) for path in book.rglob("*.html") if path.name not in ("404.html", "print.html", "toc.html")}
    faults, resolved = [], 0
    for path, page in parsed.items():
        for target in page.targets:
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = (path.parent / name).resolve() if name else path
            file = file / "index.html" if file.is_dir() else file
            is_named = not anchor or file.suffix != ".html" or (file in parsed and anchor in parsed[file].names)
            if file.exists() and is_named:
                resolved += 1
            else:
                faults.append(f"{path.relative_to(book)}: {target} leads nowhere")
    return faults, resolved, len(parsed)


def main():
    shutil.rmtree(SITE, ignore_errors=True)
    source = SITE / "src"
    pages = copied(source)
    (source / "SUMMARY.md").write_text(summary(pages))
    (SITE / "book.toml").write_text(BOOK)
    (SITE / "site.css").write_text(STYLE)
    subprocess.run([mdbook(), "build", SITE], check=True)
    faults, resolved, number = check(SITE / "book")
    for fault in faults:
        print("FAILED:", fault)
    print(f"site: {number} pages, {resolved} links resolve" + (f", {len(faults)} lead nowhere" if faults else ""))
    return bool(faults) or number < 30


sys.exit(main())
