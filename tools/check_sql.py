#!/usr/bin/env python3
"""tools/check_sql.py

Keeps code of others from running with our rights (docs/adr/018):
  - texts of SQL are run through src/base/sql.c alone, which pins search_path;
  - search_path is set, and the user changed, in src/base/owner.c alone, or
    where the table below says why not;
  - operators and functions are looked up by name with their schema.
"""
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

# What -> (pattern, {file that may: why}).
RULES = {
    "runs a text of SQL; call strata_sql_execute() or strata_sql_run()": (
        r"\bSPI_(exec|prepare|cursor_open|cursor_parse|saveplan|keepplan)\w*\s*\(",
        {"src/base/sql.c": "the door"}),
    "parses a text of SQL; what is run goes through strata_sql_execute()": (
        r"\b(raw_parser|pg_parse_query|pg_analyze_and_rewrite\w*|parse_analyze\w*)\s*\(",
        {"src/base/sql.c": "the door",
         "src/catalog/catalog_setting.c": "names in options are parsed, never run",
         "src/catalog/catalog_call.c": "names in options are parsed, never run",
         "src/hypertable/hypertable_storage.c": "storage options are parsed, never run",
         "src/load/load_copy.c": "the user's own COPY, as himself"}),
    "sets search_path; call strata_owner_enter() or strata_search_path_pin()": (
        r"set_config_option\s*\(\s*\"search_path\"",
        {"src/base/owner.c": "the place"}),
    "changes the user; call strata_owner_enter() or strata_role_enter()": (
        r"\bSetUserId\w*\s*\(",
        {"src/base/owner.c": "the place"}),
    "looks up an operator by the session's search_path": (
        r"\b(compatible_oper\w*|oper|left_oper|make_op|make_scalar_array_op)\s*\(",
        {}),
    "looks up by a name without schema": (
        r"\b(OpernameGetOprid|LookupFuncName)\s*\(\s*list_make1\s*\(",
        {}),
}


def strip_comments(text):
    """The source without comments, lines kept."""
    return re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.S)


def main():
    problems = []
    used = set()
    for directory, _, files in sorted(os.walk(os.path.join(ROOT, "src"))):
        for name in sorted(files):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.relpath(os.path.join(directory, name), ROOT)
            with open(os.path.join(directory, name), encoding="utf-8") as source:
                text = strip_comments(source.read())
            for what, (pattern, allowed) in RULES.items():
                for match in re.finditer(pattern, text):
                    if path in allowed:
                        used.add((what, path))
                    else:
                        problems.append("%s:%d: %s" % (path, text.count("\n", 0, match.start()) + 1, what))
    for what, (_, allowed) in RULES.items():
        for path in allowed:
            if (what, path) not in used:
                problems.append("tools/check_sql.py: %s needs no entry (any more) for \"%s\"" % (path, what))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
