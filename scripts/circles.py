#!/usr/bin/env python3
"""Import circles between the files of a crate: files of which each needs the other, directly or through more files.

    scripts/circles.py        fails where there is one

A file that uses what a module above it defines makes no circle: a module's parts may know their whole. Tests may use anything. Imports
are read from `use` lines and paths in the text, so that what macros make is not seen."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "crates"

def module(src, file):
    parts = file.relative_to(src).with_suffix("").parts
    return () if parts in (("lib",), ("main",)) else parts[:-1] if parts[-1] == "mod" else parts


def without_tests(text):
    text = re.sub(r"//[^\n]*", "", text)
    inline = re.search(r"#\[cfg\((all\()?test[^\]]*\]\s*(pub(\([^)]*\))? )?mod \w+ \{", text)
    text = text[:inline.start()] if inline else text
    text = re.sub(r"#\[cfg\((all\()?test[^\]]*\]\s*(#\[[^\]]*\]\s*)*(pub(\([^)]*\))? )?(mod \w+;|use [^;]*;)", "", text)
    return re.sub(r'"(\\.|[^"\\])*"', '""', text)


def paths(use):
    """`a::{b, c::d}` as [a::b, a::c::d]."""
    use = use.strip()
    whole = re.match(r"^(.*?)\{(.*)\}$", use, re.S)
    if not whole:
        return [re.sub(r"\s+as\s+\w+$", "", use).replace(" ", "")]
    parts, depth, part = [], 0, ""
    for c in whole.group(2) + ",":
        depth += (c == "{") - (c == "}")
        if c == "," and depth == 0:
            parts, part = parts + [part], ""
        else:
            part += c
    return [p for part in parts if part.strip() for p in paths(whole.group(1) + part)]


def needs(src):
    """Each file's module to the modules of the crate that it needs."""
    files = {module(src, f): f for f in sorted(src.rglob("*.rs")) if "tests" not in str(f.relative_to(src)) and "testing" not in f.name}
    text = {m: without_tests(f.read_text()) for m, f in files.items()}

    def absolute(here, path):
        first, *rest = path.split("::")
        if first == "crate":
            return tuple(rest)
        if first == "self":
            return here + tuple(rest)
        if first == "super":
            while first == "super":
                here, (first, *rest) = here[:-1], rest or [""]
            return here + (first, *rest)
        return here + (first, *rest) if here + (first,) in files else None

    exports, used = {}, {}
    for here, body in text.items():
        exports[here], used[here] = {}, []
        for use in re.finditer(r"\b(pub(?:\([^)]*\))? )?use ([^;]+);", body):
            for path in paths(re.sub(r"\s+", " ", use.group(2))):
                found = absolute(here, path)
                # A re-export gives a name; it needs nothing.
                if found and use.group(1):
                    exports[here][found[-1]] = found
                elif found:
                    used[here].append(found)
        body = re.sub(r"\b(pub(?:\([^)]*\))? )?use ([^;]+);", "", body)
        found = [absolute(here, m.group(1)) for m in re.finditer(r"\b((?:crate|super|self)(?:::\w+)+)", body)]
        used[here] += [path for path in found if path]
        used[here] += [here + m.groups() for m in re.finditer(r"(?<![:\w])([a-z_]\w*)::(\w+)", body) if here + (m.group(1),) in files]

    def home(path, depth=0):
        """The module in which what this path names is defined."""
        for n in range(len(path), -1, -1):
            if path[:n] in files:
                name = path[n] if n < len(path) else None
                if name in exports[path[:n]] and depth < 6:
                    return home(exports[path[:n]][name] + path[n + 1:], depth + 1)
                return path[:n]

    return {here: {m for m in map(home, found) if m != here and here[:len(m)] != m} for here, found in used.items()}


def circles(graph):
    """The strongly connected parts of more than one module (Tarjan 1972)."""
    number, low, stack, out = {}, {}, [], []

    def visit(v):
        number[v] = low[v] = len(number)
        stack.append(v)
        for w in graph[v]:
            if w not in number:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], number[w])
        if low[v] == number[v]:
            part = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(part) > 1:
                out.append(sorted("::".join(m) or "lib" for m in part))

    for v in graph:
        if v not in number:
            visit(v)
    return out


def unmapped(lib):
    """Modules that the crate's own map, a table "| module | job |" in its doc, does not have; modules of tests are none of it."""
    text = lib.read_text()
    doc = "\n".join(line for line in text.splitlines() if line.startswith("//!"))
    if "//! | module | job |" not in doc:
        return []
    rows = " ".join(line for line in doc.splitlines() if line.startswith("//! |"))
    tests = re.findall(r"^#\[cfg\(test\)\]\n(?:#\[.*\]\n)*(?:pub(?:\([a-z ]+\))? )?mod (\w+)", text, re.M)
    modules = re.findall(r"^(?:pub(?:\([a-z ]+\))? )?mod (\w+);", text, re.M)
    return [m for m in modules if m not in tests and not re.search(rf"`{m}`", rows)]


def main():
    sys.setrecursionlimit(10_000)
    failed, crates = 0, sorted(p.parent for p in ROOT.glob("*/src"))
    for crate in crates:
        lib = crate / "src" / "lib.rs"
        for module in unmapped(lib) if lib.exists() else []:
            failed += 1
            print(f"{crate.name}: the map in its crate doc lacks `{module}`")
    for crate in crates:
        for circle in circles(needs(crate / "src")):
            failed += 1
            print(f"{crate.name}: {' <-> '.join(circle)}")
    print(f"{len(crates) - min(failed, len(crates))} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
