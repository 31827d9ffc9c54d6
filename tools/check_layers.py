#!/usr/bin/env python3
"""tools/check_layers.py

Holds src/ to its layers: a folder includes only folders below it, and of
those only their public header; private headers are named *_private.h.  Also:
only src/base/compat.h knows server versions, only src/pg reaches into the
server's insides, src/codec builds without a server, and the private list of a
custom scan node is read and written in one file.
"""
import os
import re
import sys

# Folder -> folders it may include.  A folder that is not here fails: add it,
# with its place, when it is made.
LAYERS = {
    "codec": ["codec/int"],
    "codec/int": ["codec"],
    "base": [],
    "pg": ["base"],
    "page": ["base"],
    "dedup": ["page", "pg", "base"],
    "stat": ["base"],
    "time": ["base"],
    "gapfill": ["time", "base"],
    "wire": ["base"],
    "batch": ["codec", "pg", "base"],
    "catalog": ["codec", "pg", "base"],
    "track": ["catalog", "time", "base"],
    "store": ["track", "batch", "catalog", "pg", "base"],
    "index": ["store", "batch", "catalog", "codec", "pg", "base"],
    "change": ["index", "store", "track", "batch", "pg", "stat", "base"],
    "compress": ["index", "store", "track", "batch", "catalog", "codec", "pg", "stat", "base"],
    "am": ["compress", "change", "store", "track", "catalog", "pg", "stat", "base"],
    "scan": ["change", "index", "store", "expr", "batch", "catalog", "codec", "pg", "stat", "base"],
    "expr": ["batch", "time", "base"],
    "agg": ["scan", "expr", "batch", "codec", "time", "pg", "base"],
    "top": ["scan", "expr", "batch", "base"],
    "window": ["top", "scan", "expr", "batch", "base"],
    "hypertable": ["am", "compress", "store", "track", "catalog", "time", "pg", "base"],
    "load": ["hypertable", "compress", "store", "catalog", "pg", "base"],
    "ship": ["load", "hypertable", "store", "batch", "catalog", "codec", "base"],
    "rollup": ["load", "hypertable", "store", "track", "catalog", "time", "pg", "base"],
    "job": ["rollup", "hypertable", "am", "compress", "store", "catalog", "time", "pg", "base"],
    "hook": ["dedup", "job", "rollup", "load", "hypertable", "top", "window", "agg", "scan", "am", "compress", "change", "index", "store", "track", "batch", "catalog", "codec", "gapfill", "wire", "time", "pg", "stat", "base"],
    "api": ["dedup", "ship", "job", "rollup", "hypertable", "agg", "scan", "am", "compress", "change", "index", "store", "track", "batch", "catalog", "codec", "time", "stat", "base"],
    "": ["dedup", "hook", "api", "job", "rollup", "load", "hypertable", "top", "window", "agg", "scan", "am", "compress", "change", "store", "track", "batch", "catalog", "codec", "gapfill", "time", "stat", "base"],
}

# Public headers beside <folder>/<folder>.h.
PUBLIC = {
    "batch/batch_build.h",
    "batch/batch_measure.h",
    "batch/batch_part.h",
    "batch/batch_reader.h",
    "batch/batch_record.h",
    "hypertable/chunk_route.h",
    "pg/pg_toast.h",
    "scan/scan_vector.h",
    "store/store_companion.h",
    "store/store_entry.h",
    "store/store_index.h",
    "store/store_write.h",
}

# What a folder and its subfolder may include of each other, so that no header
# of the one needs a header of the other that needs it.
SUBFOLDER = {
    "codec": {"codec/int/int_stream.h", "codec/int/bitpack.h"},
    "codec/int": {"codec/codec.h", "codec/codec_base.h", "codec/assertions.h", "codec/bytes.h", "codec/bitstream.h",
                  "codec/decimal_divide.h", "codec/lz_library.h"},
}

# What src/codec may take from outside src/.
CODEC_OUTSIDE = re.compile(r"^(c\.h|port/.*\.h|(lz4|lz4hc|zstd)\.h|[a-z0-9_]+\.h)$")
CODEC_NOT = {"postgres.h", "fmgr.h", "pg_config.h"}

# What only src/pg does: the server is made to believe something there, or its pages
# and its log are written by us.  rd_amcache is an access method's own.
WALL = re.compile(r"->rd_(?!amcache)\w+\s*(=[^=]|[-+]=|\+\+|--)|\bfn_addr\s*=[^=]|\bXLogInsert\s*\(|\bBufferGetPage\s*\("
                  # pg_class rows, relcache contexts and partition keys
                  r"|\bCatalogTuple(Update|Insert|Delete)\w*\s*\(|&\w+->rd_\w*cxt\b"
                  r"|->rel(kind|filenode|rewrite|am|frozenxid|persistence)\s*=[^=]|->part(attrs|opfamily|opcintype|collation)\[[^]]*\]\s*=[^=]")

# The access method of pages with symbols looks at pages; it writes none.
PAGE_ONLY = re.compile(r"\bBufferGetPage\s*\(")

# What reads and writes the private list of a custom path or scan; everybody else
# takes a struct.
PLAN_DATA = re.compile(r"->\s*custom_private\b")
PLAN_DATA_IN = re.compile(r"_plan_data\.c$|^load/load_plan\.c$|^pg/pg_plan_note\.c$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def resolve(root, folder, name):
    """The path under src/ of an included file, or None when it is not ours."""
    for candidate in (name, os.path.join(folder, name)):
        candidate = os.path.normpath(candidate)
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def public(path):
    folder, name = os.path.split(path)
    if folder == "base":
        return not name.endswith("_private.h")
    return name == folder + ".h" or path in PUBLIC


def is_named(path):
    """A header that is not public says so, or that it is a template.  src/codec is
    a library of its own, whose headers have the names of what they declare."""
    return (public(path) or path.endswith(("_private.h", "_impl.h"))
            or path.startswith("codec/"))


def check_file(root, path, problems):
    folder = os.path.dirname(path)
    with open(os.path.join(root, path), encoding="utf-8") as source:
        lines = source.readlines()
    for number, line in enumerate(lines, 1):
        where = "src/%s:%d" % (path, number)
        if "PG_VERSION_NUM" in line and path != "base/compat.h":
            problems.append("%s: PG_VERSION_NUM belongs in src/base/compat.h" % where)
        if folder != "pg" and WALL.search(line) and not (folder == "dedup" and PAGE_ONLY.search(line)):
            problems.append("%s: only src/pg depends on PostgreSQL in this way; see src/pg/README.md" % where)
        if "VARATT_IS_SHORT" in line and folder not in ("base", "codec", "page"):
            problems.append("%s: VARATT_IS_SHORT() holds of TOAST pointers, too; ask strata_varlena_is_plain()" % where)
        if PLAN_DATA.search(line) and not PLAN_DATA_IN.search(path):
            problems.append("%s: custom_private belongs in a file named *_plan_data.c" % where)
        match = INCLUDE.match(line)
        if not match:
            continue
        target = resolve(root, folder, match.group(2))
        if target is None:
            name = match.group(2)
            if folder.split("/")[0] == "codec" and match.group(1) == '"' and (name in CODEC_NOT or not CODEC_OUTSIDE.match(name)):
                problems.append("%s: src/codec builds without a server, \"%s\" does not" % (where, name))
            continue
        other = os.path.dirname(target)
        if other == folder:
            continue
        if other not in LAYERS[folder]:
            problems.append("%s: %s may not include %s (only %s)"
                            % (where, folder or "strata.c", target, ", ".join(LAYERS[folder]) or "nothing of ours"))
        elif folder in SUBFOLDER:
            if target not in SUBFOLDER[folder]:
                problems.append("%s: %s may not include %s (only %s)"
                                % (where, folder, target, ", ".join(sorted(SUBFOLDER[folder]))))
        elif not public(target):
            problems.append("%s: %s is private to %s; include %s/%s.h" % (where, target, other, other, other))


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")
    problems = []
    names = {}
    for directory, _, files in os.walk(root):
        folder = os.path.relpath(directory, root)
        folder = "" if folder == "." else folder
        for name in sorted(files):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            if folder not in LAYERS:
                problems.append("src/%s: folder \"%s\" has no place in tools/check_layers.py" % (path, folder))
                continue
            if name in names:
                problems.append("src/%s: a file of that name is also in src/%s" % (path, names[name]))
            names[name] = folder
            if name.endswith(".h") and not is_named(path):
                problems.append("src/%s: a private header is named *_private.h (or a template, *_impl.h)" % path)
            check_file(root, path, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
