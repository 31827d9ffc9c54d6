#!/usr/bin/env python3
"""test/pgisolation/compare.py

Compares what PostgreSQL's isolation specs printed on strata tables with what
they printed on heap tables on the same server, and with PostgreSQL's own
expected files (some specs have several, for what timing decides).

A spec may differ only as its line in allowed.txt says: ORDER (of rows without
ORDER BY), or the number of lines that differ and their fingerprint; several of
these, with commas, where timing decides.  See README.md.
"""
import argparse
import difflib
import glob
import hashlib
import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8", errors="replace") as source:
        return [normal(line.rstrip("\n")) for line in source]


def normal(line):
    """What differs from run to run or with the file's place."""
    return re.sub(r"batch_\d+_\d+", "batch_N_N", line)


def differences(ours, theirs):
    return [line for line in difflib.unified_diff(theirs, ours, lineterm="", n=0)
            if line[:1] in "+-" and not line.startswith(("+++", "---"))]


def sorted_rows(lines):
    """The same with the rows of each result in one order."""
    answer, rows = [], None
    for line in lines:
        if rows is not None:
            if re.match(r"^\(\d+ rows?\)$", line):
                answer += sorted(rows) + [line]
                rows = None
            else:
                rows.append(line)
        else:
            answer.append(line)
            if re.match(r"^-+(\+-+)*$", line):
                rows = []
    return answer + (rows or [])


def nearest(result, candidates):
    """The differences from the candidate that is most like the result."""
    return min((differences(result, other) for other in candidates), key=len)


def context(result, candidates):
    best = min(candidates, key=lambda other: len(differences(result, other)))
    return list(difflib.unified_diff(best, result, "heap", "strata", lineterm="", n=30))


def fingerprint(lines):
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]
    return "%d:%s" % (len(lines), digest)


def read_allowed(path):
    """{spec: [fingerprint, ...]}; several where timing decides."""
    allowed = {}
    with open(path, encoding="utf-8") as source:
        for line in source:
            if line.strip() and not line.startswith("#"):
                name, prints, _ = line.split(None, 2)
                allowed[name] = prints.split(",")
    return allowed


def main():
    parser = argparse.ArgumentParser()
    for option in ("results", "heap", "expected", "allowed"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--crashes", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="differences of specs that pass, too")
    parser.add_argument("specs", nargs="+")
    options = parser.parse_args()

    allowed = read_allowed(options.allowed)
    passed, same, failed = 0, 0, []
    for name in options.specs:
        path = os.path.join(options.results, name + ".out")
        if not os.path.exists(path):
            failed.append(name)
            print("FAIL  %s: no output" % name)
            continue
        result = read(path)
        known = [os.path.join(options.heap, name + ".out")]
        known += sorted(glob.glob(os.path.join(glob.escape(options.expected), name + ".out")) +
                        glob.glob(os.path.join(glob.escape(options.expected), name + "_[0-9].out")))
        candidates = [read(other) for other in known if os.path.exists(other)]
        lines = nearest(result, candidates)
        print_of = fingerprint(lines)
        if lines and not nearest(sorted_rows(result), [sorted_rows(other) for other in candidates]):
            print_of = "ORDER"
        if not lines:
            same += 1
        ok = not lines or print_of in allowed.get(name, [])
        if ok:
            passed += 1
        else:
            failed.append(name)
            print("FAIL  %s %s" % (name, print_of))
        if lines and (options.show or not ok):
            print("\n".join(context(result, candidates)[:400]))
    print("%d specs, %d like heap, %d with differences that are allowed" % (len(options.specs), same, passed - same))
    if options.crashes:
        failed.append("crashes")
        print("FAIL  the server's log tells of %d crashes" % options.crashes)
    print("%d passed, %d failed" % (passed, len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
