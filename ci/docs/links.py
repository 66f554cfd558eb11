#!/usr/bin/env python3
"""Does every link in the documentation have a target? Checks files and their headings; network addresses are only
counted. Do all rows of a table have as many cells as its head? Are all functions in the header's comments declared?

Ends with "N links resolve".
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def text_of(path):
    """The text without code blocks, in which brackets have other meanings."""
    text = re.sub(r"^(```|~~~).*?^\1", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", lambda code: code.group().replace("[", " ").replace("]", " "), text)


def anchors(path):
    """The names that a Markdown page gives to its headings."""
    if path.suffix == ".html":
        return set(re.findall(r'id="([^"]+)"', path.read_text()))
    found = set()
    for heading in re.findall(r"^#+ +(.+?)\s*$", text_of(path), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 1
        while name in found:
            name, number = re.sub(r"-\d+$", "", name) + f"-{number}", number + 1
        found.add(name)
    return found


def short_rows(path):
    """Rows of tables with fewer or more cells than the head."""
    cells = 0
    for line in text_of(path).splitlines():
        found = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if cells and found and found != cells:
            yield line[:80]
        cells = found and (cells or found)


def undeclared(headers):
    """Undeclared names in comments. In a list, `picollo_thing_create, _free` also stands for picollo_thing_free."""
    texts = [header.read_text() for header in headers]
    comments = " ".join(re.findall(r"/\*.*?\*/", "".join(texts), flags=re.DOTALL))
    known = set(re.findall(r"\bpicollo_\w+", re.sub(r"/\*.*?\*/", "", "".join(texts), flags=re.DOTALL)))
    known |= {"picollo_overflow", *(header.stem for header in headers)}  # a histogram of segments, and the headers
    found = {name for name in re.findall(r"\bpicollo_[a-z0-9_]+", comments) if not any(other.startswith(name) for other in known)}
    # The contents by task, at the beginning.
    for text in texts:
        for first, others in re.findall(r"\b(picollo_[a-z0-9_]+)((?:, _[a-z0-9_]+)+)", text[: text.index("#ifndef")]):
            thing = first[: first.index("_", len("picollo_"))]
            for other in re.findall(r"_\w+", others):
                found |= {thing + other} - known
    return sorted(found)


def main():
    pages = subprocess.run(["git", "ls-files", "*.md", "docs/llms.txt"], cwd=ROOT, check=True, capture_output=True, text=True)
    resolved = elsewhere = 0
    wrong = []
    linked = set()
    for page in (ROOT / name for name in pages.stdout.split()):
        wrong += [f"{page.relative_to(ROOT)}: {row}: not as many cells as the head has" for row in short_rows(page)]
        for target in re.findall(r"\]\(<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\)", text_of(page)):
            if re.match(r"[a-z]+:", target):
                elsewhere += 1
                continue
            name, _, heading = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            if not file.exists():
                wrong.append(f"{page.relative_to(ROOT)}: {target}: no such file")
            elif heading and heading not in anchors(file):
                wrong.append(f"{page.relative_to(ROOT)}: {target}: no such heading")
            else:
                resolved += 1
                linked.add(file)
    # A page without links to it is not read.
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if page not in linked:
            wrong.append(f"{page.relative_to(ROOT)}: no page links to it")
    wrong += [f"the headers: {name} is declared nowhere" for name in undeclared(sorted((ROOT / "include").glob("*.h")))]
    for line in wrong:
        print("FAILED:", line)
    if wrong:
        print(f"{len(wrong)} links lead nowhere, {resolved} resolve")
        sys.exit(1)
    print(f"{resolved} links resolve, {elsewhere} lead elsewhere")


main()
