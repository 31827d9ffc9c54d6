"""bench/engines.py

What is measured: heap and strata on the private server, DuckDB and ClickHouse
(chdb) inside this process.  All four have the same methods:

    load(path)      create the table and load a CSV file; seconds
    size()          bytes on disk, indexes and all
    run(name, sql)  milliseconds, and a function that gives the rows
    forget()        close, drop what the system caches of the files, open again

Times end when the answer is in this process, in the form the client library has
it (text, numpy arrays, JSON); making Python objects of it is not timed.
"""
import contextlib
import json
import os
import shutil
import subprocess
import time

from queries import METRICS

CODECS = {"time": "CODEC(DoubleDelta, ZSTD(1))", "hostname": "CODEC(ZSTD(1))"}


def tree_size(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def drop_cached(folder):
    """Ask the system to drop clean pages of the files below folder."""
    subprocess.run(["sync", "-f", folder], check=False)
    for at, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                handle = os.open(os.path.join(at, name), os.O_RDONLY)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(handle)


class Postgres:
    """One table of the private server; restart() restarts the server."""
    COLUMNS = "time timestamptz NOT NULL, hostname text, " + ", ".join("%s float8" % m for m in METRICS)

    def __init__(self, name, dsn, table, options, restart):
        self.name, self.dsn, self.table, self.options, self.restart = name, dsn, table, options, restart
        self.connect()

    def connect(self):
        import psycopg2
        self.connection = psycopg2.connect(self.dsn)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute("SET timezone = 'UTC'")

    def sql(self, statement):
        self.cursor.execute(statement)
        return self.cursor.fetchall() if self.cursor.description else None

    def value(self, statement):
        return self.sql(statement)[0][0]

    def peak_memory(self):
        """Of this session's process, in kB, or None."""
        try:
            with open("/proc/%d/status" % self.value("SELECT pg_backend_pid()"), encoding="utf-8") as status:
                return int([line for line in status if line.startswith("VmHWM")][0].split()[1])
        except (OSError, IndexError):
            return None

    def create(self, indexes):
        self.sql("DROP TABLE IF EXISTS %s" % self.table)
        self.sql("CREATE TABLE %s (%s) %s" % (self.table, self.COLUMNS, self.options))
        for columns in indexes:
            self.sql("CREATE INDEX ON %s (%s)" % (self.table, columns))

    def copy(self, path):
        with open(path, encoding="utf-8") as rows:
            started = time.perf_counter()
            self.cursor.copy_expert("COPY %s FROM STDIN (FORMAT csv, HEADER)" % self.table, rows)
            return time.perf_counter() - started

    def load(self, path):
        self.create([])
        elapsed = self.copy(path)
        if self.name == "heap":
            started = time.perf_counter()
            self.sql("CREATE INDEX ON %s (hostname, time DESC)" % self.table)
            self.sql("CREATE INDEX ON %s (time DESC)" % self.table)
            elapsed += time.perf_counter() - started
        self.sql("VACUUM ANALYZE %s" % self.table)
        return elapsed

    def size(self):
        batches = self.value("SELECT to_regproc('strata.batch_relation') IS NOT NULL AND strata.batch_relation('%s') IS NOT NULL" % self.table)
        return int(self.value("SELECT pg_total_relation_size('%s')%s" % (
            self.table, " + pg_total_relation_size(strata.batch_relation('%s'))" % self.table if batches else "")))

    def named(self, sql):
        return sql.replace("FROM T", "FROM %s" % self.table)

    def run(self, name, sql):
        sql = self.named(sql)
        started = time.perf_counter()
        self.cursor.execute(sql)
        elapsed = 1000 * (time.perf_counter() - started)
        return elapsed, self.cursor.fetchall

    def forget(self):
        # the other table's engine restarts the same server
        self.connection.close()
        self.connect()
        folder = self.value("SHOW data_directory")
        self.sql("CHECKPOINT")
        self.connection.close()
        self.restart()
        drop_cached(folder)
        self.connect()


class Duck:
    name = "DuckDB"

    def __init__(self, folder):
        import duckdb
        import numpy  # noqa: F401  fetchnumpy() needs it; better to fail here
        self.module = duckdb
        self.folder = os.path.join(folder, "duckdb")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.connect()

    def connect(self):
        self.connection = self.module.connect(os.path.join(self.folder, "bench.duckdb"))
        self.version = self.module.__version__

    def load(self, path):
        types = {"time": "TIMESTAMP", "hostname": "VARCHAR", **{m: "DOUBLE" for m in METRICS}}
        started = time.perf_counter()
        self.connection.execute("CREATE OR REPLACE TABLE cpu AS SELECT * REPLACE (left(time, 19)::TIMESTAMP AS time) FROM read_csv('%s', header = true, "
                                "columns = %s) ORDER BY hostname, time" % (path, {**types, "time": "VARCHAR"}))
        self.connection.execute("CHECKPOINT")
        elapsed = time.perf_counter() - started
        self.connection.execute("CREATE OR REPLACE TABLE hosts AS SELECT DISTINCT hostname FROM cpu")
        return elapsed

    def size(self):
        return tree_size(self.folder)

    def run(self, name, sql):
        sql = sql.replace("FROM T", "FROM cpu").replace("+00:00'", "'")
        started = time.perf_counter()
        result = self.connection.execute(sql).fetchnumpy()
        elapsed = 1000 * (time.perf_counter() - started)
        return elapsed, lambda: list(zip(*(column.tolist() if column.dtype.kind != "M" else
                                           column.astype("datetime64[s]").tolist() for column in result.values())))

    def forget(self):
        self.connection.close()
        drop_cached(self.folder)
        self.connect()


class Click:
    name = "ClickHouse"

    # what it says differently
    INSTEAD = {
        "lastpoint-lateral": "SELECT hostname, max(time), argMax(usage_user, time), argMax(usage_system, time) FROM T GROUP BY hostname ORDER BY hostname",
        "lastpoint-distinct-on": "SELECT * FROM T ORDER BY hostname, time DESC LIMIT 1 BY hostname",
    }

    def __init__(self, folder):
        import chdb
        from chdb import session
        self.module = session
        self.version = getattr(chdb, "__version__", "?")
        self.folder = os.path.join(folder, "clickhouse")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.connect()

    def connect(self):
        self.session = self.module.Session(self.folder)
        self.session.query("CREATE DATABASE IF NOT EXISTS d ENGINE = Atomic")

    def load(self, path):
        columns = [("time", "DateTime('UTC')"), ("hostname", "LowCardinality(String)")] + [(m, "Float64") for m in METRICS]
        self.session.query("DROP TABLE IF EXISTS d.cpu SYNC")
        self.session.query("CREATE TABLE d.cpu (%s) ENGINE = MergeTree ORDER BY (hostname, time)" % ", ".join(
            "%s %s %s" % (name, kind, CODECS.get(name, "CODEC(Gorilla, ZSTD(1))")) for name, kind in columns))
        started = time.perf_counter()
        self.session.query("INSERT INTO d.cpu SELECT * FROM file('%s', 'CSVWithNames', '%s') SETTINGS date_time_input_format = 'best_effort'" % (
            path, ", ".join("%s %s" % (name, kind.replace("LowCardinality(String)", "String").replace("'", "\\'")) for name, kind in columns)))
        self.session.query("OPTIMIZE TABLE d.cpu FINAL")
        return time.perf_counter() - started

    def size(self):
        return int(str(self.session.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'cpu'", "CSV")).strip())

    def run(self, name, sql):
        sql = self.INSTEAD.get(name, sql).replace("FROM T", "FROM d.cpu").replace("+00:00'", "'")
        started = time.perf_counter()
        result = self.session.query(sql, "JSONCompactEachRow")
        elapsed = 1000 * (time.perf_counter() - started)
        return elapsed, lambda: [json.loads(line) for line in bytes(result.bytes()).decode().splitlines()]

    def forget(self):
        self.session.close()
        drop_cached(self.folder)
        self.connect()
