#!/usr/bin/env python3
"""tools/check_invariants.py

The numbered invariants of src/*/README.md ("- **S3** ...") and who holds them.
A letter belongs to one folder.  Every invariant is cited in src or test, as
folder:S3; what is cited exists.  A folder
has at least LEAST assertions per 1,000 lines of .c and .h, and each cites.
"""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LEAST = 4

INVARIANT = re.compile(r"^- \*\*([A-Z]+)([0-9]+)\*\*", re.MULTILINE)
CITATION = re.compile(r"\b([a-z]+):([A-Z]+[0-9]+)\b")
ASSERTION = re.compile(r"^\s*Assert\(", re.MULTILINE)
# an assertion up to its comment; a condition has no semicolon
CITING = re.compile(r"^\s*Assert\([^;]*;[ \t]*/\* *[a-z]+:[A-Z]+[0-9]+", re.MULTILINE)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def invariants(folder):
    """[(letter, number)] of the folder's README."""
    path = os.path.join(ROOT, "src", folder, "README.md")
    return INVARIANT.findall(read(path)) if os.path.exists(path) else []


def sources(folder):
    """The folder's files, and those of its subfolders."""
    return sorted(glob.glob(os.path.join(ROOT, "src", folder, "**", "*.[ch]"), recursive=True))


def tests():
    return [path for kind in ("sql", "specs", "t", "unit") for path in
            sorted(glob.glob(os.path.join(ROOT, "test", kind, "*")))
            if path.endswith((".sql", ".spec", ".pl", ".sh", ".c"))]


def main():
    errors = []
    folders = sorted(os.listdir(os.path.join(ROOT, "src")))
    folders = [f for f in folders if os.path.isdir(os.path.join(ROOT, "src", f))]
    known = {f"{f}:{letter}{number}" for f in folders for letter, number in invariants(f)}
    owner = {}
    for folder in folders:
        for letter in {letter for letter, _ in invariants(folder)}:
            if owner.setdefault(letter, folder) != folder:
                errors.append(f"letter {letter} is used by {owner[letter]} and by {folder}")
    cited = set()
    for path in [p for f in folders for p in sources(f)] + tests():
        name = os.path.relpath(path, ROOT)
        for match in CITATION.finditer(read(path)):
            folder, citation = match.group(1), match.group(0)
            if folder not in folders:
                continue
            cited.add(citation)
            if citation not in known:
                errors.append(f"{name}: {citation} is no invariant of src/{folder}/README.md")
    for citation in sorted(known - cited):
        errors.append(f"{citation}: nobody cites it; assert it, test it, or take it out of the README")
    for folder in folders:
        text = [read(path) for path in sources(folder)]
        lines = sum(t.count("\n") for t in text)
        asserted = sum(len(ASSERTION.findall(t)) for t in text)
        citing = sum(len(CITING.findall(t)) for t in text)
        if citing < asserted:
            errors.append(f"src/{folder}: {asserted - citing} of {asserted} assertions cite no invariant")
        if asserted * 1000 < LEAST * lines:
            errors.append(f"src/{folder}: {asserted} assertions in {lines} lines, "
                          f"{-(-LEAST * lines // 1000)} are wanted")
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
