#!/usr/bin/env python3
"""tools/check_pgspot.py

Runs pgspot over the extension scripts, by check_pgspot.sh (docs/adr/018): what
they look up without a schema must be under a pinned search_path, and functions
must pin it.  Fails on whatever it reports that is not allowed below.

pgspot knows functions by the text of their body only; SqlVisitor adds bodies in
standard SQL.
"""
import argparse
import copy
import glob
import os
import re
import sys

import pgspot.visitors
from pglast import ast
from pgspot.codes import codes
from pgspot.state import Counter, State

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
with open(os.path.join(ROOT, "strata.control"), encoding="utf-8") as control:
    VERSION = re.search(r"default_version = '([^']+)'", control.read()).group(1)
COMPAT = "sql/compat/strata_timescale_compat--%s.sql" % VERSION

# (script, code, what): why it is no fault.
IN_SCHEMA_OF_STRATA = (
    "search_path is pg_catalog and strata's own schema there, which has no fixed name; "
    "the arguments are of the very types of strata's function, so no other is preferred")
ALLOWED = {
    (COMPAT, "PS016", "compress_chunk"): IN_SCHEMA_OF_STRATA,
    (COMPAT, "PS016", "time_bucket"): IN_SCHEMA_OF_STRATA,
}


class SqlVisitor(pgspot.visitors.SQLVisitor):
    """With functions whose body is BEGIN ATOMIC ... END or RETURN.

    Such a body is parsed when the function is made: what it calls is fixed then,
    under the search_path of the script, and a SET of the function changes nothing.
    So it is judged as a statement of the script in that place, which the visitor
    does by going on into the body.  The rest of the function (OR REPLACE, SECURITY
    DEFINER) is judged as that of a function in a language without look-ups.
    """

    def visit_CreateFunctionStmt(self, ancestors, node):
        if node.sql_body is not None:
            node = copy.copy(node)
            node.options = tuple(option for option in node.options or () if option.defname != "language") + (
                ast.DefElem(defname="language", arg=ast.String("internal")),
                ast.DefElem(defname="as", arg=(ast.String(""),)))
        return super().visit_CreateFunctionStmt(ancestors, node)


class Findings(Counter):
    """Collects what pgspot reports instead of printing it: (code, what, line)."""

    def __init__(self):
        super().__init__(argparse.Namespace(
            summary_only=False, plpgsql=True, ignore=[], ignore_lang=[], sql_fn=[], proc_without_search_path=[]))
        self.found = []

    def line_number(self):
        """Of the statement, behind the comments that stand above it."""
        above = re.compile(r"(?:\s|;|--[^\n]*)*").match(self.sql, self.stmt_location)
        return 1 + self.sql.count("\n", 0, above.end())

    def warn(self, code, context):
        self.found.append((code, context, self.line_number()))

    error = warn

    def unknown(self, message):
        self.found.append(("unknown", message, self.line_number()))


def scripts():
    """What CREATE and ALTER EXTENSION run."""
    return ["strata--%s.sql" % VERSION] + sorted(
        os.path.relpath(path, ROOT)
        for pattern in ("sql/strata--*--*.sql", "sql/compat/*.sql") for path in glob.glob(os.path.join(ROOT, pattern)))


def findings(path):
    """What pgspot finds in the script; that it cannot read it is such a thing."""
    result = Findings()
    with open(os.path.join(ROOT, path), encoding="utf-8") as script:
        text = script.read()
    try:
        pgspot.visitors.visit_sql(State(result), text, toplevel=True)
    except Exception as error:  # pylint: disable=broad-except
        result.found.append(("unread", "%s: %s" % (type(error).__name__, error), result.line_number()))
    return result.found


def main():
    pgspot.visitors.SQLVisitor = SqlVisitor
    problems = []
    used = set()
    for path in scripts():
        for code, what, line in findings(path):
            if (path, code, what) in ALLOWED:
                used.add((path, code, what))
            else:
                title = codes[code]["title"] if code in codes else "pgspot does not understand"
                problems.append("%s:%d: %s %s: %s" % (path, line, code, title, what))
    for entry in sorted(set(ALLOWED) - used):
        problems.append("tools/check_pgspot.py: %s %s %s need not be allowed (any more)" % entry)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
