#!/usr/bin/env python3
"""bench/sizes_others.py PATH ORDER

Bytes of the rows of PATH.csv (columns and types in PATH.columns, sorted by ORDER) as DuckDB's native file,
Parquet with zstd (pyarrow's defaults but for the codec), and ClickHouse's MergeTree parts with LZ4 and with ZSTD.
Prints four figures in MB, "-" for what is not installed.
"""
import os
import shutil
import sys

path, order = sys.argv[1:]
columns = [line.rstrip("\n").split(" ", 1) for line in open(path + ".columns", encoding="utf-8")]
DUCK = {"timestamp without time zone": "TIMESTAMP", "timestamp with time zone": "TIMESTAMPTZ", "double precision": "DOUBLE", "text": "VARCHAR",
        "jsonb": "VARCHAR", "smallint": "SMALLINT", "integer": "INTEGER", "boolean": "BOOLEAN"}
CLICK = {"timestamp without time zone": "DateTime64(6)", "timestamp with time zone": "DateTime64(6)", "double precision": "Float64", "text": "String",
         "jsonb": "String", "smallint": "Int16", "integer": "Int32", "boolean": "Bool"}
sizes = []


def tree(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def measured(function):
    try:
        sizes.append("%.2f" % (function() / 1e6))
    except ImportError:
        sizes.append("-")


def duck_types():
    return "{" + ", ".join("'%s': '%s'" % (name, DUCK[kind]) for name, kind in columns) + "}"


def duckdb_file():
    import duckdb
    name = path + ".duckdb"
    connection = duckdb.connect(name)
    connection.execute("SET threads = 1; SET preserve_insertion_order = true")
    connection.execute("CREATE TABLE t AS SELECT * FROM read_csv('%s.csv', header = true, columns = %s)" % (path, duck_types()))
    connection.execute("CHECKPOINT")
    connection.close()
    size = os.path.getsize(name)
    os.remove(name)
    return size


def parquet():
    import duckdb
    import pyarrow.parquet
    table = duckdb.connect().execute("SELECT * FROM read_csv('%s.csv', header = true, columns = %s)" % (path, duck_types())).to_arrow_table()
    pyarrow.parquet.write_table(table, path + ".parquet", compression="zstd")
    size = os.path.getsize(path + ".parquet")
    os.remove(path + ".parquet")
    return size


def clickhouse(codec):
    import chdb.session
    folder = path + ".click"
    shutil.rmtree(folder, ignore_errors=True)
    session = chdb.session.Session(folder)
    nullable = ", ".join("`%s` Nullable(%s) CODEC(%s)" % (name, CLICK[kind], codec) for name, kind in columns)
    session.query("CREATE DATABASE d ENGINE = Atomic")
    session.query("CREATE TABLE d.t (%s) ENGINE = MergeTree ORDER BY (%s) SETTINGS allow_nullable_key = 1" %
                  (nullable, ", ".join(word.split()[0] for word in order.split(","))))
    session.query("INSERT INTO d.t SELECT * FROM file('%s.csv', 'CSVWithNames', '%s') SETTINGS date_time_input_format = 'best_effort', input_format_csv_use_best_effort_in_schema_inference = 0" %
                  (path, ", ".join("`%s` Nullable(%s)" % (name, CLICK[kind]) for name, kind in columns)))
    session.query("OPTIMIZE TABLE d.t FINAL")
    result = session.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 't'", "CSV")
    size = int(str(result).strip())
    session.close()
    shutil.rmtree(folder, ignore_errors=True)
    return size


measured(duckdb_file)
measured(parquet)
measured(lambda: clickhouse("LZ4"))
measured(lambda: clickhouse("ZSTD(3)"))
print(", ".join(sizes))
