#!/usr/bin/env python3
"""The layout of C: pgindent's, and in src/ in 79 columns.

    tools/indent.py            rewrite what differs (make indent)
    tools/indent.py --check    say what differs, and fail; part of make lint

pg_bsd_indent does the work, with the options of PostgreSQL's pgindent and the
names of types in tools/typedefs.list.  It does not break lines: those over 79
columns are said too, but for what stays whole: a line with a string literal,
so that a message can be searched for; a comment behind code, which pg_bsd_indent
moves to the right; and the arguments of nested calls, which it has stand under
a parenthesis, from column 24 on.

    tools/indent.py --typedefs strata.so    the list, anew: all types that the
                                            library's debug information names
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TYPEDEFS = os.path.join(ROOT, "tools", "typedefs.list")
COLUMNS = 79
OPTIONS = ("-bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 -nfc1 -i4 -l79 -lp -lpl -nip -npro -sac -tpg "
           "-ts4").split()
# Names of types that are names of variables, too.
VARIABLES = {"text"}
TYPEDEF = re.compile(r"^(?:\}\s*|typedef\s[^;({\n]*?[\s*])(\w+);$|^typedef\s.*\(\*(\w+)\)", re.M)

# A loop whose body is one statement with a body of its own, without braces.
UNBRACED = re.compile(r"^[ \t]*for(?:each\w*|_each\w*|_both\w*|both|three|four|five) ?\([^;{}]*?\)\s*"
                      r"(?:/\*(?:[^*]|\*(?!/))*\*/\s*)*(?=(?:if|for|while|switch|do|foreach|forboth)\b)", re.M)


def sources():
    out = subprocess.check_output(["git", "ls-files", "*.c", "*.h"], cwd=ROOT, text=True)
    return [name for name in out.split("\n") if name and os.path.exists(os.path.join(ROOT, name))]


def laid_out(path, scratch):
    """The text of a file as it should be, and what pg_bsd_indent says of it."""
    result = os.path.join(scratch, "out")
    run = subprocess.run(["pg_bsd_indent"] + OPTIONS + ["-U" + TYPEDEFS, path, result],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = open(result).read()
    # the type that a function returns stands by itself: no column for its name
    text = re.sub(r"^((?:const )?(?:struct )?\w+)[ \t]+(\*+)$", r"\1 \2", text, flags=re.M)
    return text, run.stdout.strip() if run.returncode else ""


def typedefs(library):
    names, wanted = set(), False
    for line in subprocess.check_output(["objdump", "-Wi", library], text=True).split("\n"):
        if "DW_TAG_" in line:
            wanted = "DW_TAG_typedef" in line
        elif wanted and "DW_AT_name" in line:
            names.add(line.split(":")[-1].strip())
    return names


def is_too_long(line):
    limit = COLUMNS + 5 if line.endswith("*/") else COLUMNS
    if len(line) <= limit or '"' in line:
        return False
    return len(line) - len(line.lstrip()) < 24


def defined():
    """The types that our files define."""
    names = set()
    for name in sources():
        for match in TYPEDEF.finditer(open(os.path.join(ROOT, name)).read()):
            names.add(match.group(1) or match.group(2))
    return names


def main():
    check = "--check" in sys.argv
    if "--typedefs" in sys.argv:
        names = typedefs(sys.argv[sys.argv.index("--typedefs") + 1]) | defined()
        names = sorted(name for name in names - VARIABLES if not name.startswith("_"))
        open(TYPEDEFS, "w").write("\n".join(names) + "\n")
        return 0
    if shutil.which("pg_bsd_indent") is None:
        print("pg_bsd_indent is needed: Debian's package pg-bsd-indent, or src/tools/pg_bsd_indent of PostgreSQL "
              "since 16", file=sys.stderr)
        return 1
    problems = []
    known = set(open(TYPEDEFS).read().split())
    for name in sorted(defined() - known - VARIABLES):
        problems.append("tools/typedefs.list has no \"%s\"" % name)
    with tempfile.TemporaryDirectory() as scratch:
        for name in sources():
            path = os.path.join(ROOT, name)
            text = open(path).read()
            wanted, said = laid_out(path, scratch)
            if said:
                problems.append("%s: %s" % (name, said.split("\n")[0]))
            if wanted != text and not check:
                open(path, "w").write(wanted)
                text = wanted
            if wanted != text:
                number = next(i for i, (a, b) in enumerate(zip(text.split("\n") + [""], wanted.split("\n") + [""]), 1)
                              if a != b)
                problems.append("%s:%d: make indent lays it out otherwise" % (name, number))
            for match in UNBRACED.finditer(text):
                problems.append("%s:%d: this loop wants braces" % (name, text.count("\n", 0, match.start()) + 1))
            for number, line in enumerate(text.split("\n"), 1):
                if name.startswith("src/") and is_too_long(line.expandtabs(4)):
                    problems.append("%s:%d: over %d columns" % (name, number, COLUMNS))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
