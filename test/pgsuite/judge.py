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
    """The expected file that is nearest (name.out, name_1.out ..., or what heap
    printed on this server), and the differences from it."""
    files = [f for f in [os.path.join(heap_dir, name + ".out")] if os.path.exists(f)]
    files += [f for f in glob.glob(os.path.join(expected_dir, name + "*.out"))
             if re.fullmatch(re.escape(name) + r"(_\d)?\.out", os.path.basename(f))]
    best = min(files, key=lambda f: len(changed_lines(read(f), result)))
    return read(best), changed_lines(read(best), result)


def order_only(lines):
    """The same lines, in another order."""
    minus = collections.Counter(line[1:] for line in lines if line.startswith("-"))
    plus = collections.Counter(line[1:] for line in lines if line.startswith("+"))
    return minus == plus


def statements(source):
    """For each line of a script the statement it belongs to."""
    owner, start, data = [], 0, False
    for number, line in enumerate(source):
        if data:
            data = line != "\\."
            owner.append(None)
            start = number + 1
            continue
        owner.append(start)
        if re.search(r";\s*(--.*)?$", line) or line.startswith("\\"):
            data = bool(re.search(r"\bfrom stdin\b", " ".join(source[start:number + 1]), re.I))
            start = number + 1
    return owner


def chunks(source, owner, output):
    """{first line of a statement: what it printed}: output is the echoed script
    with results between its lines."""
    found = collections.defaultdict(list)
    at, current = 0, 0
    for line in output:
        # psql echoes neither data nor, but for those in literals, blank lines
        while at < len(source) and (owner[at] is None or
                                    not source[at] and (line or owner[at] == at)):
            at += 1
        if at < len(source) and line == source[at]:
            current = owner[at]
            at += 1
        else:
            found[current].append(line)
    return found if not any(source[at:]) else None


def plain(lines):
    """Lines of a result, in no order, without the widths of columns."""
    return sorted(re.sub(r"[-\s]+", " ", line) for line in lines)


def judge_statements(script, expected, result):
    """Counter of plan, order and result differences, and the statements whose
    results differ; None when the output could not be told apart."""
    source = read(script)
    owner = statements(source)
    left, right = chunks(source, owner, expected), chunks(source, owner, result)
    if left is None or right is None:
        return None, []
    kinds, texts = collections.Counter(), []
    for first in sorted(set(left) | set(right)):
        if left[first] == right[first]:
            continue
        text = " ".join(line for number, line in enumerate(source) if owner[number] == first)
        if re.search("explain|QUERY PLAN", text, re.I):
            kinds["plan"] += 1
        elif plain(left[first]) == plain(right[first]):
            kinds["order"] += 1
        else:
            kinds["result"] += 1
            texts.append((text, changed_lines(left[first], right[first])))
    return kinds, texts


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
    parser.add_argument("--sql", default="", help="folder of the scripts")
    parser.add_argument("--results-only", action="store_true", help="plans and orders of rows may differ")
    parser.add_argument("--show", type=int, default=5, help="statements to show of each test")
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
        result = read(path) if os.path.exists(path) else ["no output"]
        wanted, lines = closest(options.expected, options.heap, name, result)
        kinds, texts = judge_statements(os.path.join(options.sql, name + ".sql"), wanted, result) \
            if options.results_only else (None, [])
        if not lines:
            passed += 1
            print("ok    %s (as heap on this server)" % name)
        elif order_only(lines):
            passed += 1
            print("ok    %s (%d lines in another order)" % (name, len(lines) // 2))
        elif os.path.exists(accepted) and read(accepted) == lines and why.get(name):
            passed += 1
            print("ok    %s (reviewed: %s)" % (name, why[name]))
        elif options.results_only and kinds and not kinds["result"]:
            passed += 1
            print("ok    %s (results alike; %d plans and %d orders differ)" % (name, kinds["plan"], kinds["order"]))
        elif options.results_only and kinds:
            failed.append(name)
            print("FAIL  %s: %d results, %d plans, %d orders differ" % (
                name, kinds["result"], kinds["plan"], kinds["order"]))
            for text, difference in texts[:options.show]:
                print("        %s" % text[:200])
                for line in difference[:6]:
                    print("            " + line[:160])
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
