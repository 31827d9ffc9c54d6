#!/usr/bin/env python3
"""bench/field.py --dsn DSN [--scale 1] [--rounds 3] [--duckdb] [--only a,b]

Readings of sensors, trades and logs, loaded as users do: INSERT into hypertables,
compress_chunk(), then the late rows (one in twenty) at once.  Queries that strata was not
built for, on heap, strata and, if asked for, DuckDB; answers are compared.

Milliseconds of CPU of the session's process, one process, the least of the rounds, so that
other work on the machine matters little; DuckDB with one thread.  6 M rows at scale 1.
"""
import argparse
import math
import os
import re
import statistics
import sys
import tempfile
import time

import psycopg

from run import difference

SOURCES = """SELECT setseed(0.42);
CREATE UNLOGGED TABLE src_readings AS
SELECT timestamptz '2026-03-01 00:00Z' + (i / 500) * interval '30 seconds' + (random()*5000)::int * interval '1 ms' AS ts,
       (i % 500)::int AS device_id, (ARRAY['temp','hum','pres','volt','co2'])[1 + (i % 500) % 5] AS metric,
       CASE WHEN random() < 0.01 THEN NULL ELSE round((20 + 10 * sin(i / 50000.0) + (i % 500) * 0.1 + random() * 2)::numeric, 2)::float8 END AS value,
       (CASE WHEN random() < 0.97 THEN 0 ELSE (random()*4)::int END)::int2 AS quality,
       (random() < 0.02) AS alarm, (1000000 + i)::bigint AS seq
FROM generate_series(0, {scale} * 2500000 - 1) i;
CREATE UNLOGGED TABLE src_trades AS
SELECT timestamptz '2026-03-01 08:00Z' + i * interval '40 ms' + (random()*30)::int * interval '1 ms' AS ts,
       'SYM' || lpad((200 * random() ^ 2)::int::text, 3, '0') AS symbol,
       round((50 + 25 * random() + 10 * sin(i / 100000.0))::numeric, 2) AS price, (1 + (random() ^ 4) * 1000)::int AS qty,
       CASE WHEN random() < 0.5 THEN 'B' ELSE 'S' END::char(1) AS side, (ARRAY['XNYS','XNAS','BATS','ARCX'])[1 + (random()*3)::int] AS venue,
       (random() * 20000)::int AS account_id, CASE WHEN random() < 0.3 THEN (random()*5)::numeric(8,4) END AS fee
FROM generate_series(0, {scale} * 2000000 - 1) i;
CREATE UNLOGGED TABLE src_logs AS
SELECT timestamptz '2026-03-01 00:00Z' + i * interval '100 ms' AS ts,
       (ARRAY['DEBUG','INFO','INFO','INFO','INFO','WARN','ERROR','FATAL'])[1 + (random() ^ 1.5 * 7)::int] AS level,
       'svc-' || (30 * random() ^ 2)::int AS service, 'node-' || (i::bigint * 7919 % 60) AS node,
       CASE (random()*6)::int WHEN 0 THEN 'connection reset by peer 10.0.' || (random()*255)::int || '.' || (random()*255)::int
          WHEN 1 THEN 'GET /api/items/' || (random()*5000)::int || ' 200 ' || (random()*300)::int || 'ms' WHEN 2 THEN 'user ' || (random()*30000)::int || ' logged in'
          WHEN 3 THEN 'timeout waiting for lock on table orders' WHEN 4 THEN 'job ' || md5(i::text) || ' finished' ELSE 'cache miss key=' || (random()*1000)::int END AS message,
       gen_random_uuid() AS trace, (random() ^ 6 * 5000)::int AS latency, CASE WHEN random() < 0.5 THEN ('{{"code": ' || (ARRAY[200,200,200,404,500])[1+(random()*4)::int] || ', "region": "r' || (random()*4)::int || '"}}')::jsonb END AS attrs
FROM generate_series(0, {scale} * 1500000 - 1) i
"""

DIMENSIONS = """CREATE TABLE {s}.devices AS SELECT d AS device_id, 'site-' || d % 20 AS site, 'model-' || d % 7 AS model, (d % 3 = 0) AS outdoor, 15 + (d % 50)::float8 AS max_value FROM generate_series(0, 519) d;
ALTER TABLE {s}.devices ADD PRIMARY KEY (device_id);
CREATE TABLE {s}.accounts AS SELECT a AS account_id, 'desk-' || a % 25 AS desk, (ARRAY['EU', 'US', 'APAC'])[1 + a % 3] AS region FROM generate_series(0, 20000) a;
ALTER TABLE {s}.accounts ADD PRIMARY KEY (account_id);
CREATE TABLE {s}.symbols AS SELECT DISTINCT symbol, 'sector-' || hashtext(symbol) % 9 AS sector FROM src_trades;
ALTER TABLE {s}.symbols ADD PRIMARY KEY (symbol)
"""

# {s}: schema; {late}: the text by whose hash a row comes late
STRATA = """CREATE TABLE {s}.{t} (LIKE src_{t});
SELECT create_hypertable('{s}.{t}', '{time}', chunk_time_interval => interval '{chunk}');
ALTER TABLE {s}.{t} SET (strata.segmentby = '{segment}', strata.orderby = '{time} DESC');
INSERT INTO {s}.{t} SELECT * FROM src_{t} WHERE hashtext({late}) % 20 <> 0 ORDER BY {time};
SELECT count(compress_chunk(c)) FROM show_chunks('{s}.{t}') AS c;
CREATE INDEX ON {s}.{t} ({segment}, {time} DESC);
INSERT INTO {s}.{t} SELECT * FROM src_{t} WHERE hashtext({late}) % 20 = 0
"""

HEAP = """CREATE TABLE {s}.{t} (LIKE src_{t});
INSERT INTO {s}.{t} SELECT * FROM src_{t} ORDER BY {time};
CREATE INDEX ON {s}.{t} ({time} DESC);
CREATE INDEX ON {s}.{t} ({segment}, {time} DESC)
"""

# table: (time, segment, length of chunks)
TABLES = {"readings": ("ts", "device_id", "1 day"), "trades": ("ts", "symbol", "6 hours"), "logs": ("ts", "service", "12 hours")}
SMALL = ("devices", "accounts", "symbols")

# half a day
DAYTIME = "ts >= '2026-03-01 06:00Z' AND ts < '2026-03-01 18:00Z'"
QUERIES = [
    # readings
    ("r-spread", "SELECT device_id, max(value) - min(value) AS spread FROM readings GROUP BY 1 ORDER BY 2 DESC NULLS LAST, 1 LIMIT 10"),
    ("r-hourly-5dev", "SELECT date_trunc('hour', ts) h, device_id, avg(value), count(value) FROM readings WHERE device_id IN (3, 77, 123, 300, 499) GROUP BY 1, 2 ORDER BY 1, 2"),
    ("r-metric-hour", "SELECT metric, date_trunc('hour', ts) h, avg(value), stddev(value) FROM readings GROUP BY 1, 2 ORDER BY 1, 2"),
    ("r-alarm-count", "SELECT device_id, count(*) FROM readings WHERE alarm AND quality = 0 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("r-last", "SELECT DISTINCT ON (device_id) device_id, ts, value FROM readings ORDER BY device_id, ts DESC"),
    ("r-last-good", "SELECT DISTINCT ON (device_id) device_id, ts, value FROM readings WHERE quality = 0 AND value IS NOT NULL ORDER BY device_id, ts DESC"),
    ("r-null-share", "SELECT metric, 100.0 * count(*) FILTER (WHERE value IS NULL) / count(*) FROM readings GROUP BY 1 ORDER BY 1"),
    ("r-over-limit", "SELECT d.site, count(*) FROM readings r JOIN devices d USING (device_id) WHERE r.value > d.max_value GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("r-site-hour", "SELECT d.site, date_trunc('hour', r.ts) h, avg(r.value), max(r.value) FROM readings r JOIN devices d ON d.device_id = r.device_id WHERE d.outdoor GROUP BY 1, 2 ORDER BY 1, 2"),
    ("r-no-data", "SELECT d.device_id FROM devices d LEFT JOIN readings r ON r.device_id = d.device_id AND r.ts > '2026-03-02' WHERE r.device_id IS NULL ORDER BY 1"),
    ("r-delta", "SELECT device_id, ts, value - lag(value) OVER (PARTITION BY device_id ORDER BY ts) d FROM readings WHERE device_id < 20"),
    ("r-jumps", "SELECT device_id, count(*) FROM (SELECT device_id, value - lag(value) OVER (PARTITION BY device_id ORDER BY ts) d FROM readings) x WHERE abs(d) > 3 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
    ("r-running", "SELECT device_id, ts, sum(value) OVER (PARTITION BY device_id ORDER BY ts) FROM readings WHERE device_id = 42 ORDER BY ts"),
    ("r-quartiles", "SELECT metric, percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY value) FROM readings WHERE " + DAYTIME + " GROUP BY 1 ORDER BY 1"),
    ("r-top-values", "SELECT * FROM readings ORDER BY value DESC NULLS LAST, seq LIMIT 10"),
    ("r-by-seq", "SELECT * FROM readings WHERE seq = 2345678"),
    ("r-seq-range", "SELECT min(ts), max(ts), avg(value) FROM readings WHERE seq BETWEEN 2000000 AND 2010000"),
    ("r-round", "SELECT round(value) v, count(*) FROM readings GROUP BY 1 ORDER BY 1"),
    ("r-quality-day", "SELECT ts::date d, quality, count(*) FROM readings GROUP BY 1, 2 ORDER BY 1, 2"),
    ("r-newest-50", "SELECT * FROM readings ORDER BY ts DESC, seq LIMIT 50"),
    ("r-newest-alarm", "SELECT * FROM readings WHERE alarm ORDER BY ts DESC, seq LIMIT 20"),
    ("r-first-last", "SELECT device_id, min(ts), max(ts), count(*) FROM readings GROUP BY 1 ORDER BY 1"),
    ("r-every-min-max", "SELECT date_bin('15 min', ts, '2026-01-01') b, min(value), max(value), avg(value) FROM readings WHERE metric = 'temp' GROUP BY 1 ORDER BY 1"),
    ("r-outliers", "WITH s AS (SELECT metric, avg(value) m, stddev(value) sd FROM readings GROUP BY 1) SELECT r.metric, count(*) FROM readings r JOIN s USING (metric) WHERE abs(r.value - s.m) > 2 * s.sd GROUP BY 1 ORDER BY 1"),
    ("r-having", "SELECT device_id FROM readings GROUP BY 1 HAVING sum((quality > 0)::int) > 160 ORDER BY 1"),
    ("r-rank", "SELECT * FROM (SELECT metric, device_id, avg(value) a, rank() OVER (PARTITION BY metric ORDER BY avg(value) DESC NULLS LAST) rk FROM readings GROUP BY 1, 2) x WHERE rk <= 3 ORDER BY 1, 4, 2"),
    ("r-exists", "SELECT count(*) FROM devices d WHERE EXISTS (SELECT 1 FROM readings r WHERE r.device_id = d.device_id AND r.alarm AND r.value > 60)"),
    # trades
    ("t-ohlc", "SELECT symbol, time_bucket('15 minutes', ts) b, first(price, ts), max(price), min(price), last(price, ts), sum(qty) FROM trades WHERE symbol IN ('SYM001','SYM010','SYM050') GROUP BY 1, 2 ORDER BY 1, 2"),
    ("t-vwap", "SELECT symbol, sum(price * qty) / sum(qty) AS vwap FROM trades GROUP BY 1 ORDER BY 1"),
    ("t-notional", "SELECT venue, side, sum(price * qty), count(*) FROM trades GROUP BY 1, 2 ORDER BY 1, 2"),
    ("t-accounts", "SELECT account_id, sum(qty) q, count(DISTINCT symbol) FROM trades GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"),
    ("t-desk", "SELECT a.desk, a.region, sum(t.qty), count(*) FROM trades t JOIN accounts a USING (account_id) GROUP BY 1, 2 ORDER BY 1, 2"),
    ("t-sector", "SELECT s.sector, date_trunc('hour', t.ts) h, sum(t.qty), avg(t.price) FROM trades t JOIN symbols s ON s.symbol = t.symbol GROUP BY 1, 2 ORDER BY 1, 2"),
    ("t-fee", "SELECT symbol, sum(fee), count(fee), avg(coalesce(fee, 0)) FROM trades GROUP BY 1 ORDER BY 2 DESC NULLS LAST, 1 LIMIT 10"),
    ("t-large", "SELECT * FROM trades WHERE qty > 990 ORDER BY qty DESC, ts LIMIT 20"),
    ("t-net", "SELECT symbol, sum(CASE WHEN side = 'B' THEN qty ELSE -qty END) net FROM trades GROUP BY 1 ORDER BY abs(sum(CASE WHEN side = 'B' THEN qty ELSE -qty END)) DESC, 1 LIMIT 10"),
    ("t-price-band", "SELECT width_bucket(price, 40, 90, 25) b, count(*), sum(qty) FROM trades GROUP BY 1 ORDER BY 1"),
    ("t-account-hist", "SELECT * FROM trades WHERE account_id = 777 ORDER BY ts DESC, symbol, qty LIMIT 100"),
    ("t-max-price-row", "SELECT DISTINCT ON (symbol) symbol, ts, price, qty FROM trades ORDER BY symbol, price DESC, ts"),
    ("t-venue-share", "SELECT symbol, venue, sum(qty), 100.0 * sum(qty) / sum(sum(qty)) OVER (PARTITION BY symbol) FROM trades GROUP BY 1, 2 ORDER BY 1, 2"),
    ("t-median", "SELECT symbol, percentile_disc(0.5) WITHIN GROUP (ORDER BY price) FROM trades GROUP BY 1 ORDER BY 1"),
    ("t-distinct-acc", "SELECT date_trunc('hour', ts) h, count(DISTINCT account_id) FROM trades GROUP BY 1 ORDER BY 1"),
    ("t-self", "SELECT count(*) FROM trades a JOIN trades b ON a.account_id = b.account_id AND b.ts > a.ts AND b.ts < a.ts + interval '1 minute' AND a.side <> b.side WHERE a.symbol = 'SYM100' AND b.symbol = 'SYM100'"),
    ("t-pct", "SELECT symbol, ts, price / lag(price) OVER w - 1 AS r FROM trades WHERE symbol = 'SYM003' AND " + DAYTIME + " WINDOW w AS (PARTITION BY symbol ORDER BY ts) ORDER BY ts"),
    ("t-moving", "SELECT ts, avg(price) OVER (ORDER BY ts ROWS BETWEEN 99 PRECEDING AND CURRENT ROW) FROM trades WHERE symbol = 'SYM020' ORDER BY ts"),
    ("t-cube", "SELECT venue, side, sum(qty) FROM trades GROUP BY CUBE (venue, side) ORDER BY 1, 2"),
    ("t-not-in", "SELECT count(*) FROM accounts a WHERE NOT EXISTS (SELECT 1 FROM trades t WHERE t.account_id = a.account_id AND t.side = 'B')"),
    # logs
    ("l-levels", "SELECT level, count(*) FROM logs GROUP BY 1 ORDER BY 2 DESC"),
    ("l-errors-hour", "SELECT date_trunc('hour', ts) h, service, count(*) FROM logs WHERE level IN ('ERROR','FATAL') GROUP BY 1, 2 ORDER BY 1, 2"),
    ("l-grep", "SELECT count(*) FROM logs WHERE message LIKE '%lock on table%'"),
    ("l-igrep", "SELECT count(*) FROM logs WHERE message ILIKE '%TIMEOUT%'"),
    ("l-regex", "SELECT count(*) FROM logs WHERE message ~ 'items/4[0-9]{3} '"),
    ("l-tail", "SELECT ts, level, message FROM logs WHERE service = 'svc-3' ORDER BY ts DESC LIMIT 100"),
    ("l-tail-grep", "SELECT ts, level, message FROM logs WHERE message LIKE '%reset by peer%' ORDER BY ts DESC LIMIT 50"),
    ("l-tail-err", "SELECT ts, service, message FROM logs WHERE level = 'FATAL' ORDER BY ts DESC LIMIT 50"),
    ("l-trace", "SELECT * FROM logs WHERE trace = (SELECT trace FROM logs WHERE service = 'svc-1' ORDER BY ts LIMIT 1)"),
    ("l-json-code", "SELECT attrs->>'code' c, count(*), avg(latency) FROM logs GROUP BY 1 ORDER BY 1"),
    ("l-json-region", "SELECT attrs->>'region' r, count(*) FILTER (WHERE (attrs->>'code')::int >= 500) FROM logs WHERE attrs IS NOT NULL GROUP BY 1 ORDER BY 1"),
    ("l-p99", "SELECT service, percentile_cont(0.99) WITHIN GROUP (ORDER BY latency) FROM logs GROUP BY 1 ORDER BY 1"),
    ("l-slow", "SELECT service, node, count(*), max(latency) FROM logs WHERE latency > 4000 GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20"),
    ("l-first-words", "SELECT split_part(message, ' ', 1) w, count(*) FROM logs GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("l-template", "SELECT regexp_replace(message, '[0-9]+', 'N', 'g') m, count(*) FROM logs WHERE " + DAYTIME + " AND message NOT LIKE 'job%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
    ("l-length", "SELECT level, avg(length(message)), max(length(message)) FROM logs GROUP BY 1 ORDER BY 1"),
    ("l-node-pivot", "SELECT node, count(*) FILTER (WHERE level = 'ERROR') e, count(*) FILTER (WHERE level = 'WARN') w, count(*) FILTER (WHERE level = 'FATAL') f FROM logs GROUP BY 1 ORDER BY 1"),
    ("l-users", "SELECT count(DISTINCT message) FROM logs WHERE message LIKE 'user % logged in'"),
    ("l-latency-hist", "SELECT latency / 100 b, count(*) FROM logs GROUP BY 1 ORDER BY 1"),
    ("l-5min", "SELECT time_bucket('5 minutes', ts) b, count(*), avg(latency), max(latency) FROM logs WHERE service = 'svc-0' GROUP BY 1 ORDER BY 1"),
    ("l-errrate", "SELECT service, avg(CASE WHEN level IN ('ERROR','FATAL') THEN 1.0 ELSE 0 END) FROM logs GROUP BY 1 ORDER BY 2 DESC, 1"),
    ("l-string-agg", "SELECT service, string_agg(DISTINCT level, ',' ORDER BY level) FROM logs GROUP BY 1 ORDER BY 1"),
    ("l-node-seen", "SELECT node, max(ts) FROM logs GROUP BY 1 ORDER BY 1"),
    ("l-bursts", "SELECT b, n FROM (SELECT time_bucket('1 minute', ts) b, count(*) n FROM logs WHERE level = 'ERROR' GROUP BY 1) x WHERE n > (SELECT 1.2 * avg(n) FROM (SELECT count(*) n FROM logs WHERE level = 'ERROR' GROUP BY time_bucket('1 minute', ts)) y) ORDER BY 1"),
    ("l-concat", "SELECT service || '/' || node k, count(*) FROM logs GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10"),
    ("l-distinct-pairs", "SELECT count(*) FROM (SELECT DISTINCT service, node FROM logs) x"),
    ("l-cross", "SELECT t.h, t.n, l.e FROM (SELECT date_trunc('hour', ts) h, count(*) n FROM trades GROUP BY 1) t LEFT JOIN (SELECT date_trunc('hour', ts) h, count(*) e FROM logs WHERE level = 'ERROR' GROUP BY 1) l USING (h) ORDER BY 1"),
]


class Postgres:
    """A session that reads one of the schemas."""

    def __init__(self, dsn, schema):
        self.connection = psycopg.connect(dsn, autocommit=True, options="-c timezone=UTC -c max_parallel_workers_per_gather=0 -c jit=off "
                                                                        "-c search_path=%s,public" % schema)

    def cpu(self):
        with open("/proc/%d/schedstat" % self.connection.info.backend_pid, encoding="utf-8") as stat:
            return int(stat.read().split()[0]) / 1e6

    def ask(self, query):
        before = self.cpu()
        result = self.connection.pgconn.exec_(query.encode())
        spent = self.cpu() - before
        if result.error_message:
            raise RuntimeError("%s: %s" % (query, result.error_message.decode()))
        return spent, [tuple(None if (value := result.get_value(row, column)) is None else value.decode() for column in range(result.nfields))
                       for row in range(result.ntuples)]


class Duck:
    """The same rows, through files; without answers, as its numbers and times are other types.

    columns: of tables whose types are to be as these, as CREATE TABLE has them; rewrite: a query in its SQL.
    """

    def __init__(self, source, folder, tables, columns, rewrite):
        import duckdb
        self.connection = duckdb.connect()
        self.rewrite = rewrite
        self.connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
        for table in tables:
            path = os.path.join(folder, table + ".csv")
            with open(path, "wb") as out, source.connection.cursor().copy("COPY (SELECT * FROM %s) TO STDOUT (FORMAT csv, HEADER)" % table) as rows:
                for block in rows:
                    out.write(block)
            if table in columns:
                self.connection.execute("CREATE TABLE %s (%s)" % (table, columns[table].replace("jsonb", "json")))
                self.connection.execute("COPY %s FROM '%s' (FORMAT csv, HEADER, QUOTE '\"', ESCAPE '\"')" % (table, path))
            else:
                self.connection.execute("CREATE TABLE %s AS SELECT * FROM read_csv('%s', header = true, sample_size = -1)" % (table, path))
            os.remove(path)

    def ask(self, query):
        query = self.rewrite(query)
        before = time.process_time()
        self.connection.execute(query).fetchall()
        return 1000 * (time.process_time() - before), None


def for_duckdb(query):
    query = re.sub(r"time_bucket\('", "time_bucket(INTERVAL '", query)
    query = query.replace("date_bin('15 min', ts, '2026-01-01')", "time_bucket(INTERVAL '15 min', ts)")
    return query.replace("first(price, ts)", "arg_min(price, ts)").replace("last(price, ts)", "arg_max(price, ts)")


def run_script(connection, script):
    for statement in script.split(";\n"):
        connection.execute(statement)


def fill(connection, name, tables, small, dimensions, late):
    """The schemas name_strata and name_heap, from the tables src_*.

    tables: {table: (time, segment, length of chunks)}; small: tables that dimensions, a script, makes; late: see STRATA.
    """
    for schema in (name + "_strata", name + "_heap"):
        run_script(connection, "CREATE SCHEMA %s;\n%s" % (schema, dimensions.format(s=schema)))
    for table, (moment, segment, chunk) in tables.items():
        names = {"t": table, "time": moment, "segment": segment, "chunk": chunk}
        for schema, script in ((name + "_strata", STRATA), (name + "_heap", HEAP)):
            run_script(connection, script.format(s=schema, late=late.format(**names), **names))
    for schema in (name + "_strata", name + "_heap"):
        for table in (*tables, *small):
            connection.execute("VACUUM ANALYZE %s.%s" % (schema, table))


def load(connection, scale):
    connection.execute("SET client_min_messages = warning; DROP SCHEMA IF EXISTS field_strata, field_heap CASCADE; "
                       "DROP TABLE IF EXISTS src_readings, src_trades, src_logs")
    run_script(connection, SOURCES.format(scale=scale))
    fill(connection, "field", TABLES, SMALL, DIMENSIONS, "{time}::text")
    sizes = connection.execute("SELECT (SELECT sum(pg_total_relation_size(c) + coalesce(pg_total_relation_size(strata.batch_relation(c)), 0)) "
                               "FROM (SELECT show_chunks(('field_strata.' || t)::regclass) FROM unnest(%s::text[]) AS t) AS x (c)) / 1e6, "
                               "(SELECT sum(pg_total_relation_size(('field_heap.' || t)::regclass)) FROM unnest(%s::text[]) AS t) / 1e6",
                               (list(TABLES), list(TABLES))).fetchone()
    print("%.0f MB, heap %.0f MB\n" % tuple(float(size or 0) for size in sizes))


def arguments(doc):
    """The options that all such comparisons have."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--duckdb", action="store_true")
    parser.add_argument("--keep", action="store_true", help="the tables are loaded already")
    return parser


def chosen(queries, options):
    return [(name, query) for name, query in queries if not options.only or name in options.only.split(",")]


def ask(session, query):
    """A query, or statements: the time of all, and what they answer."""
    if isinstance(query, str):
        return session.ask(query)
    if not isinstance(session, Postgres):
        raise ValueError("one query")
    parts = [session.ask(statement) for statement in query]
    return sum(spent for spent, _ in parts), [row for _, rows in parts for row in rows]


def compare(engines, queries, options):
    """Run the queries by all engines, one of which is strata and one heap; print times, and which answers differ."""
    ratios = {peer: [] for peer in engines if peer != "strata"}
    wrong = []
    print("| ms of CPU | %s | %s |\n|---%s|" % (" | ".join(engines), " | ".join(peer + "/strata" for peer in ratios), "|---:" * (len(engines) + len(ratios))))
    for name, query in chosen(queries, options):
        times, answers = {}, {}
        for engine, session in engines.items():
            try:
                turns = [ask(session, query) for _ in range(options.rounds + 1)]
            except Exception as error:   # what a peer's SQL does not have is left out
                if engine == "DuckDB":
                    if not isinstance(error, ValueError):
                        print("DuckDB: %s: %s" % (name, str(error).split("\n")[0]), file=sys.stderr)
                    continue
                raise
            times[engine] = min(spent for spent, _ in turns[1:])
            answers[engine] = turns[0][1]
        differs = difference(answers["strata"], answers["heap"])
        if not differs and sorted(map(str, answers["strata"])) != sorted(map(str, answers["heap"])):
            print("last digits: " + name, file=sys.stderr)
        if differs:
            wrong.append(name)
            print("WRONG: %s: %s" % (name, differs))
        for peer, values in ratios.items():
            if peer in times:
                values.append(times[peer] / times["strata"])
        print("| %s | %s | %s |" % (name, " | ".join("%.1f" % times[e] if e in times else "-" for e in engines),
                                  " | ".join("%.2f" % (times[p] / times["strata"]) if p in times else "-" for p in ratios)), flush=True)
    print()
    for peer, values in ratios.items():
        if values:
            print("geometric mean of %s/strata over %d queries: %.2f" % (peer, len(values), math.exp(statistics.mean(map(math.log, values)))))
    if wrong:
        sys.exit("wrong answers: " + ", ".join(wrong))


def measure(options, name, tables, columns, queries, rewrite):
    """Run the queries in the schemas that fill() has made, and by DuckDB if that is asked for."""
    engines = {"strata": Postgres(options.dsn, name + "_strata"), "heap": Postgres(options.dsn, name + "_heap")}
    with tempfile.TemporaryDirectory() as folder:
        if options.duckdb:
            engines["DuckDB"] = Duck(engines["heap"], folder, tables, columns, rewrite)
    compare(engines, queries, options)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--scale", type=int, default=1)
    options = parser.parse_args()
    if not options.keep:
        with psycopg.connect(options.dsn, autocommit=True) as connection:
            load(connection, options.scale)
    measure(options, "field", (*TABLES, *SMALL), {}, QUERIES, for_duckdb)


if __name__ == "__main__":
    main()
