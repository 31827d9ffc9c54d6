#!/usr/bin/env python3
"""bench/joins.py --dsn DSN [--index] [--only TEXT]

Joins of a hypertable with a table of 1,000 devices, of which 1, 10 and 50 %
are chosen: heap, strata with strata.enable_join_pruning off, and on.

1.8 M rows in 5 chunks, compressed, and 90,000 late ones in their row stores;
one process, no JIT, the best of four runs, rows counted by the client.
--index: the hypertable has heap's index on (device_id, time), too.
"""
import argparse
import sys
import time

import psycopg2

LOAD = """
DROP TABLE IF EXISTS bench_m, bench_mh, bench_d;
CREATE TABLE bench_m (time timestamptz NOT NULL, device_id int NOT NULL, v float8, w int, tag text);
SELECT count(*) FROM create_hypertable('bench_m', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE bench_m SET (strata.segmentby = 'device_id', strata.orderby = 'time DESC');
CREATE TABLE bench_mh (LIKE bench_m) USING heap;
INSERT INTO bench_mh SELECT timestamptz '2024-01-01Z' + (g / 1000) * interval '2 minutes', g % 1000, (g::bigint * 7919 % 10007) / 100.0,
        g::bigint * 31 % 977, 'tag ' || g::bigint * 17 % 503
    FROM generate_series(0, 1799999) g;
INSERT INTO bench_m SELECT * FROM bench_mh;
SELECT count(compress_chunk(c)) FROM show_chunks('bench_m') AS c;
VACUUM bench_m;
INSERT INTO bench_mh SELECT timestamptz '2024-01-01Z' + (g / 50) * interval '2 minutes' + interval '1 second', g * 7 % 1000,
        (g::bigint * 7919 % 10007) / 100.0, g::bigint * 31 % 977, 'tag ' || g::bigint * 17 % 503
    FROM generate_series(0, 89999) g;
INSERT INTO bench_m SELECT * FROM bench_mh WHERE extract(second FROM time) = 1;
CREATE INDEX ON bench_mh (device_id, time DESC);
CREATE INDEX ON bench_mh (time DESC);
CREATE TABLE bench_d AS SELECT g AS id, 'dev ' || g AS name, g % 977 AS w,
        CASE WHEN g % 100 = 7 THEN '1 %' WHEN g % 10 = 3 THEN '10 %' WHEN g % 2 = 0 THEN '50 %' ELSE 'rest' END AS site
    FROM generate_series(0, 999) g;
ALTER TABLE bench_d ADD PRIMARY KEY (id)
"""

QUERIES = [
    ("rows", "SELECT count(*), sum(v) FROM (SELECT time, v FROM {t} f JOIN bench_d ON id = device_id WHERE site = '{s}' OFFSET 0) x"),
    ("rows, a condition", "SELECT f.time, f.v, f.tag FROM {t} f JOIN bench_d ON id = device_id WHERE site = '{s}' AND f.v > 99"),
    ("avg by name", "SELECT name, avg(v) FROM {t} f JOIN bench_d ON id = device_id WHERE site = '{s}' GROUP BY 1"),
    ("max by name, a condition",
     "SELECT name, count(*), max(v) FROM {t} f JOIN bench_d ON id = device_id WHERE site = '{s}' AND f.w < 500 GROUP BY 1"),
    ("IN (SELECT), count", "SELECT count(*) FROM {t} f WHERE device_id IN (SELECT id FROM bench_d WHERE site = '{s}') AND v > 50"),
    ("IN (SELECT), by hour",
     "SELECT date_trunc('hour', time), avg(v * 2) FROM {t} f WHERE device_id IN (SELECT id FROM bench_d WHERE site = '{s}') GROUP BY 1"),
    ("latest of each, view", "SELECT name, x.* FROM (SELECT DISTINCT ON (device_id) device_id, time, v FROM {t} ORDER BY device_id, time DESC) x "
     "JOIN bench_d ON id = device_id WHERE site = '{s}'"),
    ("by another column", "SELECT count(*), sum(v) FROM {t} f JOIN (SELECT DISTINCT w FROM bench_d WHERE site = '{s}') x USING (w)"),
    ("EXISTS", "SELECT count(*) FROM bench_d WHERE site = '{s}' AND EXISTS "
     "(SELECT 1 FROM {t} f WHERE f.device_id = id AND f.time > '2024-01-02Z')"),
    ("EXISTS, a condition", "SELECT count(*) FROM bench_d WHERE site = '{s}' AND EXISTS "
     "(SELECT 1 FROM {t} f WHERE f.device_id = id AND f.time > '2024-01-02Z' AND f.v > 90)"),
    ("NOT EXISTS, a condition", "SELECT count(*) FROM bench_d WHERE site = '{s}' AND NOT EXISTS "
     "(SELECT 1 FROM {t} f WHERE f.device_id = id AND f.time > '2024-01-02Z' AND f.v > 99.9)"),
]


def rounded(rows):
    return sorted((tuple(round(x, 4) if isinstance(x, float) else x for x in row) for row in rows), key=str)


def best(cursor, sql):
    least = None
    for _ in range(4):
        begin = time.time()
        cursor.execute(sql)
        rows = cursor.fetchall()
        took = (time.time() - begin) * 1000
        least = took if least is None else min(least, took)
    return least, rounded(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    connection = psycopg2.connect(options.dsn)
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("SET client_min_messages = warning; SET max_parallel_workers_per_gather = 0; SET jit = off")
    for statement in LOAD.split(";\n"):
        cursor.execute(statement)
    if options.index:
        cursor.execute("CREATE INDEX ON bench_m (device_id, time DESC)")
    for table in ("bench_m", "bench_mh", "bench_d"):
        cursor.execute("VACUUM ANALYZE " + table)
    print("| | devices | heap | off | on |\n|---|---:|---:|---:|---:|")
    for name, query in QUERIES:
        for site in ("1 %", "10 %", "50 %"):
            if not any(part in name for part in options.only.split(",")):
                continue
            of_heap, want = best(cursor, query.format(t="bench_mh", s=site))
            line = "| %s | %s | %.1f" % (name, site, of_heap)
            for switch in ("off", "on"):
                cursor.execute("SET strata.enable_join_pruning = " + switch)
                took, got = best(cursor, query.format(t="bench_m", s=site))
                if got != want:
                    sys.exit("%s, %s, pruning %s: another result than heap's" % (name, site, switch))
                line += " | %.1f" % took
            print(line + " |", flush=True)


main()
