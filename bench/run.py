#!/usr/bin/env python3
"""bench/run.py

Loads TSBS's CPU data into a heap and a strata table, compresses, and times
both on the same queries, in turns; see README.md.  Answers are compared: a
benchmark of wrong answers is worth nothing.
"""
import argparse
import csv
import datetime
import math
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

import psycopg2

from queries import METRICS, Shapes

COLUMNS = "time timestamptz, hostname text, " + ", ".join("%s float8" % m for m in METRICS)

# A random walk in steps of N(0, 1), folded into 0..100, as TSBS makes it;
# rows come in order of time, as they would arrive.
GENERATE = """
SELECT setseed(0.5);
CREATE TEMP TABLE walk AS
SELECT '2016-01-01'::timestamptz + i * interval '10 s' AS time, 'host_' || h AS hostname, {walks}
FROM generate_series(0, {hosts} - 1) AS h, generate_series(0, {hours} * 360 - 1) AS i
WINDOW w AS (PARTITION BY h ORDER BY i);
CREATE TABLE source AS SELECT time, hostname, {folded} FROM walk ORDER BY time, hostname;
DROP TABLE walk;
"""
NORMAL = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"


class Bench:
    def __init__(self, options):
        self.options = options
        self.connection = psycopg2.connect(options.dsn)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.lines = []             # (what, unit, heap value, strata value, heap min-max, strata min-max)

    def sql(self, statement):
        self.cursor.execute(statement)
        return self.cursor.fetchall() if self.cursor.description else None

    def value(self, statement):
        return self.sql(statement)[0][0]

    def timed(self, statement):
        """Milliseconds, with the rows fetched; and the rows."""
        started = time.perf_counter()
        rows = self.sql(statement)
        return 1000 * (time.perf_counter() - started), rows

    def add(self, what, unit, heap, strata):
        """Both are lists of measurements."""
        self.lines.append((what, unit, heap, strata))

    # --- data ------------------------------------------------------------

    def make_file(self, path):
        """The rows as CSV, from the dataset or made."""
        options = self.options
        dataset = os.path.join(options.data, "tsbs_cpu40.csv.zst") if options.data else ""
        if dataset and os.path.exists(dataset):
            with open(path, "wb") as out:
                subprocess.run(["zstd", "-dc", dataset], stdout=out, check=True)
            return "tsbs_cpu40"
        self.sql(GENERATE.format(
            hosts=options.hosts, hours=options.hours,
            walks=", ".join("50 + sum(%s) OVER w AS %s" % (NORMAL, m) for m in METRICS),
            folded=", ".join("floor(abs(mod(({0} + 20000)::numeric, 200) - 100))::float8 AS {0}".format(m)
                             for m in METRICS)))
        with open(path, "w", encoding="utf-8") as out:
            self.cursor.copy_expert("COPY source TO STDOUT (FORMAT csv, HEADER)", out)
        self.sql("DROP TABLE source")
        return "generated, %d hosts, %d hours" % (options.hosts, options.hours)

    def copy(self, table, path):
        self.sql("TRUNCATE %s" % table)
        with open(path, encoding="utf-8") as rows:
            started = time.perf_counter()
            self.cursor.copy_expert("COPY %s FROM STDIN (FORMAT csv, HEADER)" % table, rows)
            return 1000 * (time.perf_counter() - started)

    def load(self, path):
        self.sql("CREATE TABLE cpu_heap (%s) USING heap" % COLUMNS)
        self.sql("CREATE TABLE cpu (%s) USING strata" % COLUMNS)
        self.sql("ALTER TABLE cpu SET (strata.segmentby = 'hostname', strata.orderby = 'time DESC')")
        heap, strata = [], []
        for _ in range(3):
            heap.append(self.copy("cpu_heap", path))
            strata.append(self.copy("cpu", path))
        self.add("load (COPY, no index)", "ms", heap, strata)
        self.sql("CREATE INDEX ON cpu_heap (hostname, time DESC)")
        self.sql("CREATE INDEX ON cpu_heap (time DESC)")
        elapsed, _ = self.timed("SELECT compress_chunk('cpu')")
        self.sql("VACUUM ANALYZE cpu_heap")
        self.sql("VACUUM ANALYZE cpu")
        self.sql("CREATE TABLE hosts AS SELECT DISTINCT hostname FROM cpu_heap")
        rows = self.value("SELECT count(*) FROM cpu_heap")
        self.compare(self.sql("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM cpu_heap AS t"),
                     self.sql("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM cpu AS t"), "all rows")
        heap = self.value("SELECT pg_total_relation_size('cpu_heap')")
        strata = self.value("SELECT pg_total_relation_size('cpu') + pg_total_relation_size(strata.batch_relation('cpu'))")
        self.add("size with indexes", "kB", [heap / 1024], [strata / 1024])
        return rows, rows / elapsed * 1000, elapsed

    # --- queries ---------------------------------------------------------

    def compare(self, heap, strata, what):
        def key(row):
            return [str(v) if not isinstance(v, float) else "%.6g" % v for v in row]
        same = len(heap) == len(strata) and all(
            len(a) == len(b) and all(x == y or isinstance(x, float) and isinstance(y, float) and math.isclose(x, y, rel_tol=1e-9)
                                     for x, y in zip(a, b))
            for a, b in zip(sorted(heap, key=key), sorted(strata, key=key)))
        if not same:
            sys.exit("NOT EQUAL: heap and strata answer differently: %s" % what)

    def run_queries(self, seed):
        first, last = self.sql("SELECT min(time), max(time) FROM cpu_heap")[0]
        hosts = sorted(row[0] for row in self.sql("SELECT hostname FROM hosts"))
        for name, make in Shapes(random.Random(seed), hosts, first, last).all():
            heap, strata = [], []
            for turn in range(self.options.rounds + 1):
                query = make()
                for_heap = query.replace("FROM T", "FROM cpu_heap")
                for_strata = query.replace("FROM T", "FROM cpu")
                # in turns, so that a busy machine is busy for both
                if turn % 2:
                    one, right = self.timed(for_heap)
                    other, left = self.timed(for_strata)
                else:
                    other, left = self.timed(for_strata)
                    one, right = self.timed(for_heap)
                self.compare(right, left, query)
                if turn:            # the first warms the caches
                    heap.append(one)
                    strata.append(other)
            self.add(name, "ms", heap, strata)

    # --- report ----------------------------------------------------------

    def report(self, what, rows, rate, elapsed):
        options = self.options
        print("\n%s, %d rows; %s; %s\n" % (what, rows, self.value("SHOW server_version"), cpu_name()))
        print("compress: %.0f rows/s (%.1f s)\n" % (rate, elapsed / 1000))
        print("| | heap | strata | heap/strata |\n|---|---:|---:|---:|")
        for name, unit, heap, strata in self.lines:
            h, s = statistics.median(heap), statistics.median(strata)
            print("| %s | %s %s | %s %s | %.2f |" % (name, number(h), unit, number(s), unit, h / s))
        os.makedirs(options.results, exist_ok=True)
        path = os.path.join(options.results, "%s-%s.csv" % (
            datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H%M%S"), options.label))
        with open(path, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["commit", "cpu", "server", "data", "rows", "what", "unit", "heap_median", "heap_min",
                             "heap_max", "strata_median", "strata_min", "strata_max"])
            common = [options.label, cpu_name(), self.value("SHOW server_version"), what, rows]
            writer.writerow(common + ["compress", "rows/s", "", "", "", round(rate), "", ""])
            for name, unit, heap, strata in self.lines:
                writer.writerow(common + [name, unit] + [round(f(values), 3) for values in (heap, strata)
                                                         for f in (statistics.median, min, max)])
        print("\nkept as %s" % os.path.relpath(path))


def number(value):
    return "%.0f" % value if value >= 100 else "%.2f" % value


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return "%s x %d" % (line.split(":", 1)[1].strip(), os.cpu_count())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--data", default="", help="folder with tsbs_cpu40.csv.zst; without it rows are made")
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=123)
    parser.add_argument("--results", default="results")
    parser.add_argument("--label", default="unknown")
    options = parser.parse_args()
    bench = Bench(options)
    bench.sql("SET timezone = 'UTC'")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.csv")
        what = bench.make_file(path)
        rows, rate, elapsed = bench.load(path)
    bench.run_queries(options.seed)
    bench.report(what, rows, rate, elapsed)


if __name__ == "__main__":
    main()
