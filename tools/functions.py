#!/usr/bin/env python3
"""tools/functions.py DSN [--check]

Writes docs/functions.md, the page with one anchor and one example for each function, procedure, aggregate and view
that users call: examples and order from docs/functions.sql, arguments, columns and descriptions from the catalog of
the database DSN, which has the extension in its schema public.  With --check the page is compared instead, and what
has no example, or no description, is named; the exit status is 1 then.
"""
import os
import re
import subprocess
import sys
import textwrap

DOCS = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
HEAD = """# Functions and views

One entry for each, with an example. What they have in common, options of tables and settings are in the [SQL reference](sql-reference.md).
Names without a schema are in the schema that the extension was created in, `public` by habit.

<!-- Made by tools/functions.py from the catalog and docs/functions.sql; do not edit. -->
"""

# Of each: name, sort of object, arguments or columns, result, description.
CATALOG = r"""
SELECT CASE WHEN n.nspname = 'public' THEN p.proname ELSE n.nspname || '.' || p.proname END,
       CASE p.prokind WHEN 'p' THEN 'CALL ' ELSE '' END,
       pg_get_function_arguments(p.oid),
       CASE WHEN p.prokind <> 'p' THEN pg_get_function_result(p.oid) END,
       obj_description(p.oid, 'pg_proc')
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
     JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'strata'
WHERE n.nspname IN ('public', 'strata') AND p.proname NOT LIKE 'compressed\_%'
UNION ALL
SELECT n.nspname || '.' || c.relname, 'VIEW ',
       (SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped),
       NULL, obj_description(c.oid, 'pg_class')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
     JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'strata'
WHERE n.nspname IN ('public', 'strata') AND c.relkind = 'v'
ORDER BY 1, 3
"""
SHORT = [(r"timestamp with time zone", "timestamptz"), (r"timestamp without time zone", "timestamp"),
         (r"double precision", "float8"), (r"\bboolean\b", "bool"), (r"\binteger\b", "int"),
         (r" DEFAULT NULL::[a-z0-9 \"\[\]]+", " = NULL"), (r" DEFAULT ('[^']*')::[a-z ]+", r" = \1"),
         (r" DEFAULT ", " = "), (r"\bIN ", ""), (r"_strata\.dimension_info", "dimension_info"),
         (r"TABLE\(", "("), (r"SETOF ", "setof ")]


def catalog(dsn):
    """{name: [(sort, arguments, result, description), ...]} of what users call."""
    run = subprocess.run(["psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-F", "\x1f", "-R", "\x1e", "-d", dsn, "-c", CATALOG],
                         check=True, stdout=subprocess.PIPE, universal_newlines=True)
    found = {}
    for row in run.stdout.rstrip("\n").split("\x1e"):
        name, sort, arguments, result, description = row.split("\x1f")
        found.setdefault(name, []).append((sort, arguments, result, description))
    return found


def examples():
    """Title, text and entries of each section; an entry is a name and its statements."""
    with open(os.path.join(DOCS, "functions.sql"), encoding="utf-8") as source:
        parts = re.split(r"^-- # (.+)$", source.read(), flags=re.M)[1:]
    for title, body in zip(parts[::2], parts[1::2]):
        text = re.match(r"\n((?:-- (?!#).*\n)*)", body).group(1)
        entries = re.split(r"^-- ## ?(.*)$", body, flags=re.M)[1:]
        yield title, re.sub(r"^-- ", "", text, flags=re.M), \
            [(name.strip(), statements.strip("\n")) for name, statements in zip(entries[::2], entries[1::2]) if name.strip()]


def short(text):
    for long, replacement in SHORT:
        text = re.sub(long, replacement, text)
    return text


def keep_whole(argument):
    """An argument whose words stay in one line."""
    return argument.replace(" ", "\0")


def signature(name, sort, arguments, result):
    """As one would write the call; what comes out is behind the arrow."""
    parts = re.split(r", (?![^(]*\))", short(arguments)) if arguments else []
    given = [part for part in parts if not part.startswith("OUT ")]
    out = [part[4:] for part in parts if part.startswith("OUT ")]
    line = "%s%s(%s)" % (sort, name, ", ".join(keep_whole(part) for part in given))
    if out:
        line += " → (%s)" % ", ".join(keep_whole(part) for part in out)
    elif result:
        line += " →\0" + short(result)
    wrapped = textwrap.wrap(line, 110, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapped).replace("\0", " ")


def entry(name, statements, rows):
    lines = ["### " + name, ""]
    for description in dict.fromkeys(row[3] for row in rows):
        lines += textwrap.wrap(description[:1].upper() + description[1:].rstrip(".") + ".", 200, break_on_hyphens=False) + [""]
    if rows[0][0] == "VIEW ":
        lines += ["Columns: " + ", ".join("`%s`" % column for column in rows[0][1].split(", ")) + ".", ""]
    else:
        lines += ["```"] + [signature(name, *row[:3]) for row in rows] + ["```", ""]
    return "\n".join(lines + ["```sql", statements, "```", ""])


def page(found):
    parts = [HEAD]
    for title, text, entries in examples():
        parts.append("## %s\n%s" % (title, "\n" + text if text else ""))
        parts += [entry(name, statements, found[name]) for name, statements in entries if name in found]
    return "\n".join(parts)


def main():
    found = catalog(sys.argv[1])
    named = [name for _, _, entries in examples() for name, _ in entries]
    problems = ["%s has no example in docs/functions.sql" % name for name in found if name not in named]
    problems += ["docs/functions.sql has an example of %s, which there is not" % name for name in named if name not in found]
    problems += ["%s has two examples in docs/functions.sql" % name for name in sorted(set(named)) if named.count(name) > 1]
    problems += ["%s has no COMMENT" % name for name, rows in found.items() if not all(row[3] for row in rows)]
    path = os.path.join(DOCS, "functions.md")
    if "--check" not in sys.argv:
        with open(path, "w", encoding="utf-8") as target:
            target.write(page(found))
    else:
        with open(path, encoding="utf-8") as source:
            if source.read() != page(found):
                problems.append("docs/functions.md is not what tools/functions.py makes of the catalog: run it again")
    for problem in problems:
        print(problem)
    print("%d functions and views, %d with an example" % (len(found), len(set(named) & set(found))))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
