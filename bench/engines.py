"""bench/engines.py

What is measured: heap and strata, DuckDB and ClickHouse (chdb) inside this
process.  All have the same methods:

    load(files)     create the tables and load them; files: see run.py; seconds
    size()          bytes on disk of the table cpu, indexes and all
    run(name, sql, binary, keep)    (milliseconds, of them the CPU of the server's process or None,
                    a function that gives the rows)
    forget()        close, drop what the system caches of the files, open again

A statement that changes rows is rolled back; its rows are what cpu and requests
hold behind it, looked at where keep is true.  Times end when the answer is in
this process, in the form the client library has it (text, binary, numpy arrays,
JSON); making Python objects of it is not timed.
"""
import contextlib
import json
import os
import shutil
import subprocess
import time

from queries import METRICS

TABLES = {
    "cpu": "time timestamptz NOT NULL, hostname text, " + ", ".join("%s float8" % m for m in METRICS),
    "requests": "time timestamptz NOT NULL, service text, path text, method text, status int, duration float8, bytes bigint, "
                "user_id int, cached boolean, price numeric",
    "events": "time timestamptz NOT NULL, device text, kind text, payload jsonb, tags text[], started timestamptz, ended timestamptz, note text, trace uuid",
}
SEGMENT = {"cpu": "hostname", "requests": "service", "events": "device"}
# of rows of requests; in two steps, those that come in time and late ones
EVENTS = """INSERT INTO events SELECT time, 'device-' || coalesce(user_id, 0) % 400, lower(method),
    jsonb_build_object('status', status, 'ms', duration, 'where', jsonb_build_object('path', path, 'service', service), 'ok', status < 400),
    ARRAY[service, split_part(path, '/', 4)] || CASE WHEN cached THEN ARRAY['cached'] ELSE '{}' END,
    time - duration * interval '1 ms', time + bytes * interval '1 ms', CASE WHEN status >= 500 THEN 'failed with ' || status END,
    md5(time::text || path || bytes)::uuid FROM requests"""
HOSTS = ("CREATE TABLE hosts AS SELECT 'host_' || i AS hostname, 'region-' || i %% 7 AS region, 'team-' || i %% 13 AS team, i %% 40 AS rack "
         "FROM generate_series(0, %d) AS g(i)")
CHECKS = ("SELECT count(*), sum(usage_user), sum(usage_nice) FROM cpu", "SELECT count(*), sum(price) FROM requests")
CHUNK_HOURS = 12


def changes(sql):
    return sql.split()[0] in ("INSERT", "UPDATE", "DELETE")


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
    """Tables of a private server, in a schema of their own; restart() restarts the server.

    method: heap or strata.  shape: "plain", a table; "field", 12-hour chunks whose late rows
    were inserted after the others were compressed, and the usual indexes.
    """

    def __init__(self, name, dsn, method, shape, hours, restart):
        self.name, self.dsn, self.method, self.shape, self.hours, self.restart = name, dsn, method, shape, hours, restart
        self.connect()
        self.sql("CREATE SCHEMA IF NOT EXISTS on_" + method)

    def connect(self):
        import psycopg
        self.connection = psycopg.connect(self.dsn, autocommit=True, options="-c timezone=UTC -c search_path=on_%s,public" % self.method)
        self.transformer = psycopg.adapt.Transformer
        self.pid = self.connection.info.backend_pid
        self.version = self.connection.info.parameter_status("server_version")

    def execute(self, statement, binary=False):
        plain = self.connection.pgconn
        result = plain.exec_params(statement.encode(), None, result_format=1) if binary else plain.exec_(statement.encode())
        if result.error_message:
            raise RuntimeError("%s: %s" % (self.name, result.error_message.decode().strip()))
        return result

    def rows(self, result):
        transformer = self.transformer(self.connection)
        transformer.set_pgresult(result)
        return transformer.load_rows(0, result.ntuples, tuple)

    def sql(self, statement):
        return self.rows(self.execute(statement))

    def value(self, statement):
        return self.sql(statement)[0][0]

    def peak_memory(self):
        """Of this session's process, in kB, or None."""
        try:
            with open("/proc/%d/status" % self.pid, encoding="utf-8") as status:
                return int([line for line in status if line.startswith("VmHWM")][0].split()[1])
        except (OSError, IndexError):
            return None

    def cpu(self):
        """Milliseconds that this session's process has run, workers of parallel plans left out, or None."""
        try:
            with open("/proc/%d/schedstat" % self.pid, encoding="utf-8") as stat:
                return int(stat.read().split()[0]) / 1e6
        except OSError:
            return None

    def create(self, table, direct=True, name=None):
        """An empty table, called name if that is given."""
        name = name or table
        options = "strata.segmentby = '%s', strata.orderby = 'time DESC'%s" % (SEGMENT[table], ", strata.direct_load" if direct else "")
        self.sql("DROP TABLE IF EXISTS " + name)
        if self.shape == "plain":
            self.sql("CREATE TABLE %s (%s) USING %s%s" % (name, TABLES[table], self.method, " WITH (%s)" % options if self.method == "strata" else ""))
        elif self.method == "strata":
            self.sql("CREATE TABLE %s (%s)" % (name, TABLES[table]))
            self.sql("SELECT create_hypertable('%s', 'time', chunk_time_interval => interval '%d hours', create_default_indexes => false)" % (
                name, CHUNK_HOURS))
            self.sql("ALTER TABLE %s SET (%s)" % (name, options))
        else:
            self.sql("CREATE TABLE %s (%s) PARTITION BY RANGE (time)" % (name, TABLES[table]))
            for hour in range(0, self.hours, CHUNK_HOURS):
                bound = "timestamptz '2016-01-01 00:00Z' + interval '%d hours'"
                self.sql("CREATE TABLE %s_%d PARTITION OF %s FOR VALUES FROM (%s) TO (%s)" % (
                    name, hour, name, bound % hour, bound % (hour + CHUNK_HOURS)))

    def copy(self, table, path):
        started = time.perf_counter()
        with open(path, "rb") as rows, self.connection.cursor().copy("COPY %s FROM STDIN (FORMAT csv, HEADER)" % table) as copy:
            while block := rows.read(1 << 20):
                copy.write(block)
        return time.perf_counter() - started

    def load(self, files):
        started = time.perf_counter()
        for table, (early, late) in files.items():
            self.create(table)
            self.copy(table, early)
            self.index(table)
            if late:
                self.copy(table, late)
            self.sql("VACUUM ANALYZE " + table)
        return time.perf_counter() - started

    def index(self, table):
        """The usual indexes; from now on rows of strata go into the row store."""
        if self.method == "heap" or self.shape == "field":
            self.sql("CREATE INDEX ON %s (%s, time DESC)" % (table, SEGMENT[table]))
            self.sql("CREATE INDEX ON %s (time DESC)" % table)
        if self.method == "strata":
            self.sql("ALTER TABLE %s RESET (strata.direct_load)" % table)

    def make_events(self):
        self.create("events")
        late = "hashint8(bytes) % 20 = 0" if self.shape == "field" else "false"
        self.sql("%s WHERE NOT (%s) ORDER BY time" % (EVENTS, late))
        self.index("events")
        self.sql("%s WHERE %s" % (EVENTS, late))
        self.sql("VACUUM ANALYZE events")

    def make_hosts(self, number):
        self.sql("DROP TABLE IF EXISTS hosts")
        self.sql(HOSTS % (number - 1))
        self.sql("ALTER TABLE hosts ADD PRIMARY KEY (hostname)")
        self.sql("VACUUM ANALYZE hosts")

    def late_share(self, table):
        """The least and the largest share of a chunk's rows that are in the row store."""
        return self.sql("SELECT min(late), max(late) FROM (SELECT avg((ctid < '(2147483648,0)')::int) AS late FROM %s GROUP BY tableoid) AS chunk" % table)[0]

    def size(self):
        return int(self.value("SELECT sum(pg_total_relation_size(relid) + coalesce(pg_total_relation_size(strata.batch_relation(relid)), 0)) "
                              "FROM (SELECT relid FROM pg_partition_tree('cpu') WHERE isleaf UNION SELECT 'cpu'::regclass) AS part"))

    def run(self, _, sql, binary=False, keep=True):
        if self.connection.closed:
            self.connect()
        rolled_back = changes(sql)
        if rolled_back:
            self.execute("BEGIN")
        ran, started = self.cpu(), time.perf_counter()
        try:
            result = self.execute(sql, binary)
            elapsed = 1000 * (time.perf_counter() - started)
            ran = ran and self.cpu() - ran
            if rolled_back:
                rows = [self.sql(check)[0] for check in CHECKS] if keep else []
                return elapsed, ran, lambda: rows
        finally:
            if rolled_back:
                self.execute("ROLLBACK")
        return elapsed, ran, lambda: self.rows(result)

    def forget(self):
        # another engine may restart the same server
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

    def load(self, files):
        started = time.perf_counter()
        for table, (early, late) in files.items():
            types = dict(column.split()[:2] for column in TABLES[table].split(", "))
            types = {**types, "time": "VARCHAR", "price": "DECIMAL(12, 2)"} if "price" in types else {**types, "time": "VARCHAR"}
            self.connection.execute("CREATE OR REPLACE TABLE %s AS SELECT * REPLACE (replace(time, '+00', '')::TIMESTAMP AS time) FROM read_csv(%s, "
                                    "header = true, columns = %s) ORDER BY %s, time" % (table, [early, late] if late else [early], types, SEGMENT[table]))
        self.connection.execute("CHECKPOINT")
        return time.perf_counter() - started

    def make_hosts(self, number):
        self.connection.execute(HOSTS.replace("CREATE", "CREATE OR REPLACE") % (number - 1))

    def size(self):
        return tree_size(self.folder)

    def run(self, _, sql, binary=False, keep=True):
        sql = sql.replace("+00:00'", "'")
        rolled_back = changes(sql)
        if rolled_back:
            self.connection.begin()
        started = time.perf_counter()
        result = self.connection.execute(sql).fetchnumpy()
        elapsed = 1000 * (time.perf_counter() - started)
        if rolled_back:
            rows = [self.connection.execute(check).fetchone() for check in CHECKS] if keep else []
            self.connection.rollback()
            return elapsed, None, lambda: rows
        return elapsed, None, lambda: list(zip(*(column.tolist() if column.dtype.kind != "M" else
                                                 column.astype("datetime64[us]").tolist() for column in result.values())))

    def forget(self):
        self.connection.close()
        drop_cached(self.folder)
        self.connect()


class Click:
    name = "ClickHouse"

    # what it says differently
    INSTEAD = {
        "lastpoint-lateral": "SELECT hostname, max(time), argMax(usage_user, time), argMax(usage_system, time) FROM cpu GROUP BY hostname ORDER BY hostname",
        "lastpoint-distinct-on": "SELECT * FROM cpu ORDER BY hostname, time DESC LIMIT 1 BY hostname",
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

    def load(self, files):
        """The table cpu alone."""
        columns = [("time", "DateTime('UTC')"), ("hostname", "LowCardinality(String)")] + [(m, "Float64") for m in METRICS]
        self.session.query("DROP TABLE IF EXISTS d.cpu SYNC")
        self.session.query("CREATE TABLE d.cpu (%s) ENGINE = MergeTree ORDER BY (hostname, time)" % ", ".join(
            "%s %s %s" % (name, kind, CODECS.get(name, "CODEC(Gorilla, ZSTD(1))")) for name, kind in columns))
        started = time.perf_counter()
        for path in filter(None, files["cpu"]):
            self.session.query("INSERT INTO d.cpu SELECT * FROM file('%s', 'CSVWithNames', '%s') SETTINGS date_time_input_format = 'best_effort'" % (
                path, ", ".join("%s %s" % (name, kind.replace("LowCardinality(String)", "String").replace("'", "\\'")) for name, kind in columns)))
        self.session.query("OPTIMIZE TABLE d.cpu FINAL")
        return time.perf_counter() - started

    def make_hosts(self, number):
        pass

    def size(self):
        return int(str(self.session.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'cpu'", "CSV")).strip())

    def run(self, name, sql, binary=False, keep=True):
        if changes(sql):
            raise NotImplementedError
        sql = self.INSTEAD.get(name, sql).replace("FROM cpu", "FROM d.cpu").replace("+00:00'", "'")
        # lag() of the first row is 0 there, not NULL
        sql = sql.replace("lag(usage_user)", "lagInFrame(toNullable(usage_user))")
        started = time.perf_counter()
        result = self.session.query(sql, "JSONCompactEachRow")
        elapsed = 1000 * (time.perf_counter() - started)
        return elapsed, None, lambda: [json.loads(line) for line in bytes(result.bytes()).decode().splitlines()]

    def forget(self):
        self.session.close()
        drop_cached(self.folder)
        self.connect()
