#!/usr/bin/env python3
"""Builds the manual's site with a search: site.py FOLDER. Run it by a Python that has mkdocs (`make docs` makes one).

A page that the navigation does not name, a link or an anchor that leads nowhere, and a page that the search does not know are errors. Closes with
"N passed, N failed", a page each."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    out = pathlib.Path(sys.argv[1]).resolve()
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    if subprocess.run(words, cwd=ROOT).returncode != 0:
        print("the site can't be built: mend what is named above (mkdocs.yml has the pages, docs/ their text)")
        print("0 passed, 1 failed")
        return 1
    index = json.loads((out / "search" / "search_index.json").read_text())
    found = {entry["location"].split("#")[0] for entry in index["docs"]}
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")}
    # The first page is the folder's.
    named = {"index" if page == "README" else page for page in pages}
    missing = [page for page in sorted(named) if not (out / f"{page}.html").is_file() or f"{page}.html" not in found]
    for page in missing:
        print(f"{page}: not a page of the site that its search finds")
    print(f"{len(named) - len(missing)} passed, {len(missing)} failed")
    return 1 if missing else 0


sys.exit(main())
