#!/usr/bin/env python3
"""tools/check_files.py

Holds the files of src/ to their shape:
  - no file over 1000 lines; over 600, the header says why ("Over 600 lines: ...");
  - no private header over 300 lines;
  - the header comment names the file and its path;
  - every folder has a README, and it names each file of the folder;
  - no function over 100 lines, unless tools/allow.txt gives a reason;
  - a comment above each function of more than 15 lines;
  - no static function has the name of another file's.
"""
import os
import re
import sys

MAX_LINES = 1000
REASON_LINES = 600
MAX_PRIVATE_HEADER = 300
MAX_FUNCTION = 100
MAX_UNCOMMENTED = 15

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def allowed():
    """{"src/x/y.c:function": reason} from tools/allow.txt."""
    entries = {}
    with open(os.path.join(ROOT, "tools", "allow.txt"), encoding="utf-8") as source:
        for line in source:
            line = line.strip()
            if line and not line.startswith("#"):
                name, _, reason = line.partition(" ")
                entries[name] = reason.strip()
    return entries


def functions(lines):
    """(name, length, static, commented) of each function, by PostgreSQL's layout: the
    name starts a line, and the braces of the body stand in the first column."""
    name, start, head = None, None, 0
    for number, line in enumerate(lines):
        match = re.match(r"^([A-Za-z_][A-Za-z0-9_]*)\(", line)
        if match and start is None:
            name, head = match.group(1), number
        if line.startswith("{") and name and start is None:
            start = number
        elif line.startswith("}") and start is not None:
            first = head
            while first > 0 and re.match(r"^[A-Za-z_]", lines[first - 1]):
                first -= 1
            before = " ".join(lines[first:head])
            yield (name, number - start + 1, ("static" in before or "_INLINE" in before)
                   and not lines[head].endswith("\\"),
                   first > 0 and lines[first - 1].endswith("*/") or lines[head].endswith("\\"))
            name, start = None, None


def check_source(path, allow, used, statics, problems):
    with open(os.path.join(ROOT, path), encoding="utf-8") as source:
        lines = source.read().split("\n")
    base = os.path.basename(path)
    header = "\n".join(lines).partition("*/")[0]
    if not lines[0].startswith("/*"):
        problems.append("%s: does not start with a header comment" % path)
    elif base not in header or path not in header:
        problems.append("%s: the header comment names neither \"%s\" nor its path" % (path, base)
                        if base not in header else
                        "%s: the header comment does not end with the path" % path)
    if len(lines) - 1 > MAX_LINES:
        problems.append("%s: %d lines, at most %d: split it" % (path, len(lines) - 1, MAX_LINES))
    elif len(lines) - 1 > REASON_LINES and "over %d lines" % REASON_LINES not in header.lower():
        problems.append("%s: %d lines; say why in the header (\"Over %d lines: ...\")"
                        % (path, len(lines) - 1, REASON_LINES))
    if path.endswith("_private.h") and len(lines) - 1 > MAX_PRIVATE_HEADER:
        problems.append("%s: %d lines, at most %d in a private header: split it by concepts"
                        % (path, len(lines) - 1, MAX_PRIVATE_HEADER))
    for name, length, static, commented in functions(lines):
        key = "%s:%s" % (path, name)
        if static and path.endswith(".c"):
            statics.setdefault(name, []).append(path)
        if length - 2 > MAX_UNCOMMENTED and not commented:
            problems.append("%s has %d lines and no comment" % (key, length - 2))
        if length > MAX_FUNCTION:
            if allow.get(key):
                used.add(key)
            else:
                problems.append("%s is %d lines, at most %d (or a reason in tools/allow.txt)"
                                % (key, length, MAX_FUNCTION))


def main():
    problems = []
    allow, used, statics = allowed(), set(), {}
    for directory, _, files in sorted(os.walk(os.path.join(ROOT, "src"))):
        folder = os.path.relpath(directory, ROOT)
        sources = sorted(name for name in files if name.endswith((".c", ".h", ".mk")))
        if not sources:
            continue
        readme = os.path.join(directory, "README.md")
        if os.path.exists(readme):
            with open(readme, encoding="utf-8") as text:
                listed = text.read()
            for name in sources:
                if not re.search(r"(?<![\w.])" + re.escape(name) + r"\b", listed):
                    problems.append("%s/README.md does not mention %s" % (folder, name))
        else:
            problems.append("%s has no README.md" % folder)
        for name in sources:
            if not name.endswith(".mk"):
                check_source(os.path.join(folder, name), allow, used, statics, problems)
    for name, paths in sorted(statics.items()):
        if len(set(paths)) > 1:
            problems.append("%s() is static in %s: one name for one thing" % (name, " and ".join(sorted(set(paths)))))
    for key in sorted(set(allow) - used):
        problems.append("tools/allow.txt: %s needs no entry (any more)" % key)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
