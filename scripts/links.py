#!/usr/bin/env python3
"""Checks that every relative link of the documents leads somewhere: the file is there, and where an anchor is named, a heading
or an id of the page has it. Pages of docs/ link to pages of docs/ only, since the site has no others, and all of them stand in
mkdocs.yml. And that each page of docs/ is read in five minutes. Reads files, nothing else. Closes with "N passed, N failed", a link or a page
each."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What a page may have, as `wc -w` counts: five minutes. Tables to look something up in are not read from end to end.
MOST_WORDS = 1300
LOOKED_UP = ["reference.md", "gallery.md"]


def without_code(text):
    """The text without blocks and pieces of code, where brackets are no links."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """Ids of a page's headings, as GitHub makes them (and the site, which scripts/site.py builds): lower case, a hyphen for each space, no other signs."""
    found = set(re.findall(r'\bid="([^"]+)"', text))
    for heading in re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), flags=re.M):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = first = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        again = 0
        while slug in found:
            again += 1
            slug = f"{first}-{again}"
        found.add(slug)
    return found


def links(text):
    return re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", without_code(text))


def wrong(page, target):
    """What is wrong with a link of a page; None where it leads somewhere."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    file = (page.parent / name).resolve() if name else page
    if not file.exists():
        return "there is no such file"
    if page.parent == ROOT / "docs" and ROOT / "docs" not in [file, *file.parents]:
        return "it leads out of docs/, which the site does not hold"
    if anchor and anchor not in anchors(file.read_text()):
        return "the page has no such heading"
    return None


def too_long(page):
    """What is wrong with the length of a page; None where it is read in five minutes."""
    words = len(page.read_text().split())
    if page.name in LOOKED_UP or words <= MOST_WORDS:
        return None
    return f"it has {words} words, and a page {MOST_WORDS} (five minutes): cut it, or make two of it"


def documents():
    return [p for p in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]]


def main():
    passed, bad = 0, []
    for page in documents():
        for target in links(page.read_text()):
            if what := wrong(page, target):
                bad.append(f"{page.relative_to(ROOT)}: {target}: {what}")
            else:
                passed += 1
    listed = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.name not in listed:
            bad.append(f"mkdocs.yml does not name {page.name}")
        if what := too_long(page):
            bad.append(f"{page.relative_to(ROOT)}: {what}")
        else:
            passed += 1
    print("\n".join([*bad, f"{passed} passed, {len(bad)} failed"]))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
