#!/usr/bin/env python3
"""tools/check_docs.py

Holds the documents to their shape:
  - a relative link in a tracked .md file leads to a file or folder that is there (make docs looks at anchors, too);
  - a page of docs/ has no line of more than 400 characters, but for tables and what is made by a tool;
and docs/adr to its own:
  - a file is NNN-title.md, its first line "# NNN Title", and no number is given twice;
  - its third line is "Status: accepted|withdrawn|replaced by NNN, YYYY-MM-DD";
  - docs/adr/README.md has a row for each file, with that title, status and date.
"""
import os
import re
import subprocess
import sys

ADR = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "adr"))


ROOT = os.path.dirname(os.path.dirname(ADR))


def pages():
    """Name and text of each tracked page."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"], check=True,
                            stdout=subprocess.PIPE, universal_newlines=True).stdout
    for name in sorted(set(listed.split())):
        path = os.path.join(ROOT, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as source:
                yield name, source.read()


def check_page(name, text, problems):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for target in re.findall(r"(?<!`)\]\(([^)\s]+)\)", text):
        path = target.split("#")[0]
        if path and ":" not in path and not os.path.exists(os.path.join(ROOT, os.path.dirname(name), path)):
            problems.append("%s: the link to %s leads nowhere" % (name, target))
    if name.startswith("docs/") and "/adr/" not in name and "Made by tools/" not in text:
        problems += ["%s: a line of %d characters: %s ..." % (name, len(line), line[:50])
                     for line in text.split("\n") if len(line) > 400 and not line.startswith("|")]


def row_of(name, problems):
    """The index's row for a decision; None when the file is not in shape."""
    with open(os.path.join(ADR, name), encoding="utf-8") as source:
        lines = source.read().split("\n")
    title = re.match(r"# (\d{3}) (.+)$", lines[0])
    status = re.match(r"Status: (accepted|withdrawn|replaced by \d{3}), (\d{4}-\d\d-\d\d)\b", lines[2] if len(lines) > 2 else "")
    if not title or not name.startswith(title.group(1) + "-"):
        problems.append("docs/adr/%s: the first line is not \"# %s Title\"" % (name, name[:3]))
    elif not status:
        problems.append("docs/adr/%s: the third line is not \"Status: accepted, YYYY-MM-DD\"" % name)
    else:
        return "| [%s](%s) | %s | %s | %s |" % (title.group(1), name, title.group(2), status.group(1), status.group(2))
    return None


def main():
    problems = []
    for name, text in pages():
        check_page(name, text, problems)
    names = sorted(name for name in os.listdir(ADR) if name != "README.md")
    with open(os.path.join(ADR, "README.md"), encoding="utf-8") as source:
        index = source.read().split("\n")
    numbers = [name[:3] for name in names]
    for number in sorted(set(numbers)):
        if numbers.count(number) > 1:
            problems.append("docs/adr: the number %s is given twice" % number)
    rows = [row_of(name, problems) for name in names]
    for row in rows:
        if row and row not in index:
            problems.append("docs/adr/README.md: no row\n%s" % row)
    for row in index:
        if row.startswith("| [") and row not in rows:
            problems.append("docs/adr/README.md: no file for the row\n%s" % row)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
