#!/usr/bin/env python3
"""test/pgsuite/compare.py

Compares what PostgreSQL's regression suite printed on strata tables with what it
printed on heap tables, on the same server, and classifies each difference:

  PLAN      plan text only
  ORDER     the same rows in another order, of a query without ORDER BY
  TIES      the same rows in another order, of a query with ORDER BY
  CATALOG   names and counts of access methods and of strata's own objects
  PHYSICAL  ctid, xmin and the like, sizes, statistics, estimates
  RESULT    another result
  ERROR     an error, notice or other message more, fewer or changed

A file may differ only as its line in allowed.txt says; see README.md.
"""
import argparse
import collections
import difflib
import hashlib
import os
import re
import sys

NAME = re.compile(r"^(?:test|parallel group.*|\s+)\s*([a-z0-9_.]+)\s+\.\.\.\s+(?:ok|FAILED|failed)")
TAP_NAME = re.compile(r"^(?:ok|not ok) \d+\s+[-+] ([a-z0-9_.]+) ")
DASHES = re.compile(r"^-+(\+-+)*$")
ROWS = re.compile(r"^\(\d+ rows?\)$")
MESSAGE = re.compile(r"^(psql:.*: )?(ERROR|WARNING|NOTICE|INFO|LOG|DETAIL|HINT|CONTEXT|STATEMENT|LINE \d+):|"
                     r"^(INSERT 0|UPDATE|DELETE|MERGE|COPY) \d+$|^(PL/pgSQL|SQL) (function|statement)|^ +\^$")
PLAN_HEADER = re.compile(r"^\s*(QUERY PLAN|explain\w*|\w+_explain|\w*plan)\s*$")
PHYSICAL_COLUMNS = {"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "relpages", "reltuples", "relallvisible",
                    "n_distinct", "correlation", "null_frac", "histogram_bounds", "most_common_vals", "most_common_freqs", "estimated"}
# what compress_chunk leaves on a table, last in psql's \\d+
MARK = "Options: strata.compressed=true"
TOLD = re.compile(r'^NOTICE:  index ".*" does not lead to compressed rows$'), re.compile(r"^DETAIL:  "), re.compile(r"^HINT:  It serves the rows ")
OURS = re.compile(r"strata|^batch_\d+_\d+(_\w+_idx)? ")
CLASSES = ("PLAN", "ORDER", "TIES", "CATALOG", "PHYSICAL", "RESULT", "ERROR")
PINNED = ("TIES", "CATALOG", "PHYSICAL", "RESULT", "ERROR")


def tests_run(log):
    """Names of the tests that pg_regress ran."""
    names = []
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = None if line.startswith("parallel group") else NAME.match(line) or TAP_NAME.match(line)
            if match:
                names.append(match.group(1))
    return names


class Unit:
    """A result set (header, rows) or one other line of psql's output."""

    def __init__(self, lines):
        self.lines = lines
        self.header = rows = None
        if len(lines) > 1:
            self.header = [column.strip() for column in lines[0].split("|")]
            rows = lines[2:]
        self.rows = [re.sub(r"\s+", " ", row).strip() for row in rows or []]
        if self.rows and ROWS.match(self.rows[-1]):
            self.rows.pop()
        # column widths follow the widest value: they are not the contents
        self.key = "\n".join([" | ".join(self.header), *self.rows]) if self.header else lines[0]

    @property
    def is_table(self):
        return self.header is not None

    def cells(self, masked=()):
        return [tuple(cell.strip() for at, cell in enumerate(row.split("|")) if at not in masked) for row in self.rows]


def units(path):
    """The file as a list of Units; blank lines mean nothing."""
    with open(path, encoding="utf-8", errors="replace") as text:
        lines = [line.rstrip() for line in text]
    found = []
    at = 0
    while at < len(lines):
        line = lines[at]
        end = at + 2
        if at + 1 < len(lines) and DASHES.match(lines[at + 1]) and line.startswith(" "):
            while end < len(lines) and (lines[end].startswith(" ") or not lines[end]):
                end += 1
            if end < len(lines) and ROWS.match(lines[end]):
                found.append(Unit(lines[at:end + 1]))
                at = end + 1
                continue
        if line and line != MARK:
            found.append(Unit([line]))
        at += 1
    return found


def without_told(found):
    """The same without what CREATE INDEX says of an index that does not lead to batches; how often it did."""
    kept, at, told = [], 0, 0
    while at < len(found):
        if all(not unit.is_table and one.match(unit.lines[0]) for one, unit in zip(TOLD, found[at:at + 3])) and at + 3 <= len(found):
            at += 3
            told += 1
        else:
            kept.append(found[at])
            at += 1
    return kept, told


def statement_before(all_units, at):
    """The SQL whose output starts at all_units[at]."""
    text = []
    while at > 0 and (all_units[at - 1].is_table or MESSAGE.match(all_units[at - 1].lines[0])):
        at -= 1
    while at > 0 and len(text) < 80:
        unit = all_units[at - 1]
        if unit.is_table or text and re.search(r";\s*(--.*)?$", unit.lines[0]) or MESSAGE.match(unit.lines[0]):
            break
        if not unit.lines[0].startswith("--"):
            text.insert(0, unit.lines[0])
        at -= 1
    return "\n".join(text)


def leading_key(statement, table):
    """The values of the first column of the final ORDER BY, in the order of
    the rows; None when it is not a column of the result."""
    match = re.search(r"\border\s+by\s+(?:\w+\.)?(\w+)\s*(?:,|;|asc\b|desc\b|$)[^()]*$", statement, re.I)
    if not match:
        return None
    name = match.group(1)
    at = int(name) - 1 if name.isdigit() else table.header.index(name) if name in table.header else None
    return None if at is None else [row.split("|")[at].strip() for row in table.rows]


def table_class(statement, before, after):
    """Class of the difference between two result sets."""
    if before.header != after.header:
        return "RESULT"
    if PLAN_HEADER.match(" | ".join(before.header)) or before.header == ["jsonb_pretty"] and "explain" in statement:
        return "PLAN"
    if collections.Counter(before.rows) == collections.Counter(after.rows):
        if not re.search(r"\border\s+by\b", statement, re.I):
            return "ORDER"
        return "TIES" if leading_key(statement, before) == leading_key(statement, after) else "RESULT"
    masked = [at for at, column in enumerate(before.header) if column in PHYSICAL_COLUMNS]
    if masked and sorted(before.cells(masked)) == sorted(after.cells(masked)):
        return "PHYSICAL"
    more = collections.Counter(after.rows) - collections.Counter(before.rows)
    fewer = collections.Counter(before.rows) - collections.Counter(after.rows)
    if not fewer and all(OURS.search(row) for row in more):
        return "CATALOG"
    return "RESULT"


class Difference:
    """Neighbouring units that differ."""

    def __init__(self, kind, statement, before, after):
        self.kind = kind
        self.statement = statement
        self.before = before
        self.after = after

    def text(self):
        before = [line for unit in self.before for line in unit.lines]
        after = [line for unit in self.after for line in unit.lines]
        return [line for line in difflib.unified_diff(before, after, lineterm="", n=0)
                if not line.startswith(("---", "+++", "@@"))]


def classify(statement, before, after):
    tables = [unit for unit in before if unit.is_table], [unit for unit in after if unit.is_table]
    others = [unit.key for unit in before if not unit.is_table], [unit.key for unit in after if not unit.is_table]
    kinds = []
    if len(tables[0]) != len(tables[1]):
        return "ERROR" if any("ERROR:" in line for line in others[0] + others[1]) else "RESULT"
    for one, other in zip(*tables):
        if one.key != other.key:
            kinds.append(table_class(statement, one, other))
    if others[0] != others[1]:
        if collections.Counter(others[0]) == collections.Counter(others[1]):
            kinds.append("ORDER")
        elif all(MESSAGE.match(line) for line in others[0] + others[1]):
            kinds.append("ERROR")
        else:
            kinds.append("RESULT")
    return max(kinds, key=CLASSES.index, default=None)


def compare(heap, strata):
    """Differences of two .out files."""
    before, (after, _) = units(heap), without_told(units(strata))
    found_at = []
    matcher = difflib.SequenceMatcher(None, [unit.key for unit in before], [unit.key for unit in after], autojunk=False)
    found = []
    for tag, b1, b2, a1, a2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        # what only messages or results separate is the output of one statement
        if found_at and all(unit.is_table or MESSAGE.match(unit.lines[0]) for unit in before[found_at[-1][1]:b1]):
            found_at[-1] = found_at[-1][0], b2, found_at[-1][2], a2
        else:
            found_at.append((b1, b2, a1, a2))
    for b1, b2, a1, a2 in found_at:
        statement = statement_before(before, b1)
        kind = classify(statement, before[b1:b2], after[a1:a2])
        if kind:
            found.append(Difference(kind, statement, before[b1:b2], after[a1:a2]))
    return found


def fingerprint(differences, kind):
    """Of the differences of this class; OIDs and column widths do not count."""
    text = "\n".join(line for one in differences if one.kind == kind for line in one.text())
    text = re.sub(r"\d{5,}", "#", re.sub(r" +|-{3,}", " ", text))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def allowances(path):
    """{test: [({class: pin}, reason), ...]}; several lines of a test, of versions that differ, are alternatives"""
    found = collections.defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, classes, reason = line.rstrip("\n").split(None, 2)
                pins = [one.partition("=") for one in classes.split(",")]
                found[name].append(({kind: pin for kind, _, pin in pins}, reason))
    return found


def summary(differences):
    """PLAN,RESULT=2:1a2b3c4d: what a line of allowed.txt would say."""
    counts = collections.Counter(one.kind for one in differences)
    return ",".join("%s=%d:%s" % (kind, counts[kind], fingerprint(differences, kind)) if kind in PINNED else kind
                    for kind in CLASSES if counts[kind])


def allowed_by(allowed, differences):
    """Is each class allowed, and pinned ones exactly as reviewed?"""
    counts = collections.Counter(one.kind for one in differences)
    for kind in counts:
        if kind not in allowed:
            return False
        count, _, pin = allowed[kind].partition(":")
        if kind in PINNED and (count and counts[kind] > int(count) or pin and counts[kind] == int(count) and
                               pin != fingerprint(differences, kind)):
            return False
    return True


def show(differences, kinds, most):
    for one in differences:
        if one.kind in kinds:
            print("  [%s] %s" % (one.kind, one.statement.replace("\n", "\n      ")))
            text = one.text()
            for line in text[:most]:
                print("        " + line[:160])
            if len(text) > most:
                print("        ... %d more lines" % (len(text) - most))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heap", required=True, help="results of the heap run")
    parser.add_argument("--results", required=True, help="results of the strata run")
    parser.add_argument("--log", required=True, help="what pg_regress printed in the strata run")
    parser.add_argument("--allowed", help="allowed.txt")
    parser.add_argument("--crashes", type=int, default=0)
    parser.add_argument("--show", default="", help="classes to show, as RESULT,ERROR")
    parser.add_argument("--lines", type=int, default=14, help="lines to show of each")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()

    allowed = allowances(options.allowed) if options.allowed else {}
    totals, passed, failed = collections.Counter(), 0, []
    names = tests_run(options.log)
    for name in names:
        if options.tests and name not in options.tests:
            continue
        paths = [os.path.join(directory, name + ".out") for directory in (options.heap, options.results)]
        if not all(os.path.exists(path) for path in paths):
            failed.append(name)
            print("FAIL  %s: no output" % name)
            continue
        differences = compare(*paths)
        totals.update(one.kind for one in differences)
        lines = allowed.get(name, [({}, None)])
        if any(allowed_by(classes, differences) for classes, _ in lines):
            passed += 1
            if lines[0][1] and not differences and "run to run" not in lines[0][1]:
                print("note  %s does not differ: its line can go" % name)
            elif differences:
                print("ok    %s (%s)" % (name, ", ".join(sorted({one.kind for one in differences}, key=CLASSES.index))))
        else:
            failed.append(name)
            print("FAIL  %s %s" % (name, summary(differences)))
        show(differences, options.show.split(",") if options.show else
             [kind for kind in CLASSES if name in failed], options.lines)
    print("differences: " + ", ".join("%s %d" % (kind, totals[kind]) for kind in CLASSES))
    if options.crashes:
        failed.append("crashes")
        print("FAIL  the server's log tells of %d crashes" % options.crashes)
    if not options.tests and len(names) < 150:
        failed.append("too few")
        print("FAIL  only %d tests were run" % len(names))
    print("%d passed, %d failed" % (passed, len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
