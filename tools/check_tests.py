#!/usr/bin/env python3
"""tools/check_tests.py

Every test of test/sql and test/specs has its expected output, every expected
file belongs to a test, and no name is used twice (they share test/expected).
Tests of test/sql that say "-- needs superuser: why" (tools/test.sh leaves them
out of the pass as an ordinary role) give a reason, and are few.  No COPY FROM
stdin is refused before it asks for its rows: psql up to 15.18 takes the rows
that stand behind it for commands, later ones skip them.
"""
import os
import re
import sys

# A test that cannot run as an ordinary role is one by which nobody sees what fails for
# one: "SET ROLE postgres" around single statements is better (tools/ordinary.sql).
MOST_FOR_SUPERUSERS = 5

TEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test")


def names(folder, ending):
    path = os.path.join(TEST, folder)
    if not os.path.isdir(path):
        return set()
    return {name[:-len(ending)] for name in os.listdir(path) if name.endswith(ending)}


def superuser_reasons():
    """{test: reason} of the tests that need a superuser."""
    reasons = {}
    for name in names("sql", ".sql"):
        with open(os.path.join(TEST, "sql", name + ".sql"), encoding="utf-8") as file:
            head = "".join(file.readlines()[:5])
        found = re.search(r"^-- needs superuser:?(.*)$", head, re.MULTILINE)
        if found:
            reasons[name] = found.group(1).strip()
    return reasons


def refused_copies(name):
    """Every COPY FROM stdin of a test whose expected error is not about its rows.

    Errors about rows come with "CONTEXT:  COPY", where the verbosity is not terse.
    """
    with open(os.path.join(TEST, "expected", name + ".out"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    refused, terse = [], False
    for number, line in enumerate(lines):
        if line.startswith("\\set VERBOSITY "):
            terse = line.endswith("terse")
        if terse or not re.match(r"COPY .* FROM stdin\b.*;$", line, re.IGNORECASE):
            continue
        answer = []
        for follows in lines[number + 1:]:
            if not re.match(r"[A-Z]+( [0-9]+)?: |[ \t]", follows):
                break
            answer.append(follows)
        if any(a.startswith("ERROR:") for a in answer) and not any(a.startswith("CONTEXT:  COPY ") for a in answer):
            refused.append(line)
    return refused


def main():
    sql, specs, expected = names("sql", ".sql"), names("specs", ".spec"), names("expected", ".out")
    problems = ["test/sql/%s.sql and test/specs/%s.spec share a name" % (n, n) for n in sorted(sql & specs)]
    tests = sql | specs
    for name in sorted(tests - expected):
        problems.append("%s: no test/expected/%s.out" % (name, name))
    for name in sorted(expected - tests):
        # name_1.out is a second accepted output
        if re.sub(r"_[0-9]$", "", name) not in tests:
            problems.append("test/expected/%s.out belongs to no test" % name)
    reasons = superuser_reasons()
    for name in sorted(n for n in reasons if len(reasons[n].split()) < 3):
        problems.append("test/sql/%s.sql: \"-- needs superuser: why\" says no reason" % name)
    if len(reasons) > MOST_FOR_SUPERUSERS:
        problems.append("%d tests need a superuser, at most %d may: %s"
                        % (len(reasons), MOST_FOR_SUPERUSERS, ", ".join(sorted(reasons))))
    for name in sorted(sql & expected):
        for statement in refused_copies(name):
            problems.append("test/sql/%s.sql: \\copy from /dev/null where COPY FROM stdin is refused before it"
                            " asks for rows: %s" % (name, statement))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
