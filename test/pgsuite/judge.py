#!/usr/bin/env python3
"""test/pgsuite/judge.py

Judges a run of PostgreSQL's regression suite; see README.md.
"""
import argparse
import collections
import difflib
import glob
import os
import re
import sys

NAME = re.compile(r"^(?:test| {4}|\s+)?\s*([a-z0-9_]+)\s+\.\.\.\s+(ok|FAILED|failed)")
TAP_NAME = re.compile(r"^(ok|not ok) \d+\s+[-+] ([a-z0-9_]+) ")


def outcomes(log):
    """{test: passed?} of what pg_regress printed."""
    tests = {}
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            line = re.sub(r"^parallel group.*", "", line)
            match = NAME.match(line)
            if match:
                tests[match.group(1)] = match.group(2) == "ok"
            match = TAP_NAME.match(line)
            if match:
                tests[match.group(2)] = match.group(1) == "ok"
    return tests


def read(path):
    with open(path, encoding="utf-8", errors="replace") as text:
        return [re.sub(r"\s+$", "", line) for line in text]


def changed_lines(expected, result):
    """The lines that differ, without numbers or context."""
    return [line for line in difflib.unified_diff(expected, result, lineterm="", n=0)
            if not line.startswith(("---", "+++", "@@"))]


def closest(expected_dir, heap_dir, name, result):
    """Differences from the expected file that is nearest (name.out, name_1.out
    ..., or what heap printed on this server)."""
    files = [f for f in [os.path.join(heap_dir, name + ".out")] if os.path.exists(f)]
    files += [f for f in glob.glob(os.path.join(expected_dir, name + "*.out"))
             if re.fullmatch(re.escape(name) + r"(_\d)?\.out", os.path.basename(f))]
    return min((changed_lines(read(f), result) for f in files), key=len)


def order_only(lines):
    """The same lines, in another order."""
    minus = collections.Counter(line[1:] for line in lines if line.startswith("-"))
    plus = collections.Counter(line[1:] for line in lines if line.startswith("+"))
    return minus == plus


def reasons(path):
    """{test: reason} of allowed.txt."""
    found = {}
    if os.path.exists(path):
        for line in read(path):
            if line and not line.startswith("#"):
                name, _, reason = line.partition(" ")
                found[name] = reason.strip()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("log", "results", "expected", "heap", "accepted"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--crashes", type=int, default=0)
    parser.add_argument("--accept", action="store_true")
    options = parser.parse_args()

    why = reasons(os.path.join(options.accepted, "allowed.txt"))
    passed, failed = 0, []
    tests = outcomes(options.log)
    for name, ok in tests.items():
        accepted = os.path.join(options.accepted, name + ".diff")
        if ok:
            passed += 1
            if os.path.exists(accepted):
                print("note  %s passes: its accepted difference can go" % name)
            continue
        path = os.path.join(options.results, name + ".out")
        lines = closest(options.expected, options.heap, name, read(path)) if os.path.exists(path) else ["no output"]
        if not lines:
            passed += 1
            print("ok    %s (as heap on this server)" % name)
        elif order_only(lines):
            passed += 1
            print("ok    %s (%d lines in another order)" % (name, len(lines) // 2))
        elif os.path.exists(accepted) and read(accepted) == lines and why.get(name):
            passed += 1
            print("ok    %s (reviewed: %s)" % (name, why[name]))
        else:
            failed.append(name)
            print("FAIL  %s: %d lines differ%s" % (name, len(lines), "" if not os.path.exists(accepted) else
                                                   ", not as reviewed" if why.get(name) else ", no reason in allowed.txt"))
            for line in lines[:12]:
                print("        " + line[:160])
            if options.accept:
                os.makedirs(options.accepted, exist_ok=True)
                with open(accepted, "w", encoding="utf-8") as out:
                    out.write("\n".join(lines) + "\n")
    if options.crashes:
        failed.append("crashes")
        print("FAIL  the server's log has %d crashes" % options.crashes)
    if len(tests) < 150:
        failed.append("too few")
        print("FAIL  only %d tests were run" % len(tests))
    print("%d passed, %d failed" % (passed, len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
