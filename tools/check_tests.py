#!/usr/bin/env python3
"""tools/check_tests.py

Every test of test/sql and test/specs has its expected output, every expected
file belongs to a test, and no name is used twice (they share test/expected).
"""
import os
import re
import sys

TEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test")


def names(folder, ending):
    path = os.path.join(TEST, folder)
    if not os.path.isdir(path):
        return set()
    return {name[:-len(ending)] for name in os.listdir(path) if name.endswith(ending)}


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
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
