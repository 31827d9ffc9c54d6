#!/usr/bin/python3
"""test/props/rollup_queries.py

Continuous aggregates beside a heap twin of their table: random definitions, one above another too, and random changes,
compressions, refreshes and transactions; after each of them a view, and aggregate queries of the table that an archive
may answer, must give what the same query gives on the heap table, to the last character.

    test/props/rollup_queries.py --dsn "$(tools/server dsn)" --seed 1 --steps 2000

Exits with 1, and prints what was done since the table was made, when an answer differed.  At the end it says how many
plans of how many queries read an archive.
"""
import argparse
import random
import sys

import psycopg2

# type, first time, unit of times, chunk, widths of buckets with a call each; {w} is one of them
KINDS = (
    ("int", "0", "{n}", "1000", ("10", "50", "100", "700", "1000"), "time_bucket({w}, {c})"),
    ("bigint", "0::bigint", "{n}::bigint", "1000", ("10", "50", "100", "1000"), "time_bucket({w}::bigint, {c}, 5::bigint)"),
    ("date", "'2026-01-30'::date", "{n} / 30", "10", ("1 day", "7 days", "1 month", "3 months"), "time_bucket('{w}', {c})"),
    ("timestamp", "'2026-01-30'::timestamp", "{n} * interval '17 minutes'", "2 days",
     ("1 hour", "6 hours", "1 day", "1 month"), "time_bucket('{w}', {c})"),
    ("timestamptz", "'2026-03-27'::timestamptz", "{n} * interval '13 minutes'", "12 hours",
     ("30 minutes", "1 hour", "6 hours", "1 day", "1 month"), "time_bucket('{w}', {c})"),
    ("timestamptz", "'2026-03-27'::timestamptz", "{n} * interval '13 minutes'", "12 hours",
     ("1 hour", "6 hours", "1 day", "1 month"), "time_bucket('{w}', {c}, 'Europe/Prague')"),
)
GROUPS = ("host", "area", "host || 'x'", "ok", "price", "n % 3", "'c'::text")
AGGREGATES = ("count(*)", "count(n)", "last(n, n)", "first(n, -n)", "histogram(n, 0, 50, 5)", "regr_count(v, n)",
              "sum(n)", "avg(n)", "min(n)", "max(n)", "sum(v)", "avg(v)", "max(v)", "sum(price)",
              "avg(price)", "min(host)", "max(time)", "bool_or(ok)", "bit_and(n)", "stddev(n)", "var_pop(price)",
              "count(DISTINCT n)", "sum(n) FILTER (WHERE v > 3)", "avg(price) FILTER (WHERE host = 'h1')")
# aggregates that combine, and others of a joined table's columns
JOINED = ("count(*)", "count(n)", "sum(n)", "avg(n)", "max(n)", "max(v)", "sum(price)", "avg(price)", "stddev(price)", "min(host)", "max(time)", "bool_or(ok)",
          "count(d.w)", "max(d.w)", "bool_and(d.w > 3)", "count(DISTINCT d.label)", "sum(n) FILTER (WHERE d.w > n)", "count(n) FILTER (WHERE d.label = 'l1' AND v > 3)",
          "count(d.w) FILTER (WHERE n > 30)", "max(d.w) FILTER (WHERE v > 5 AND d.w < 8)", "avg(n) FILTER (WHERE host = d.label OR d.w > 4)")
JOINS = (" JOIN dim d ON d.id = area", " LEFT JOIN dim d ON d.id = area", " LEFT JOIN dim d ON d.id = area AND n > 20", " JOIN dim d ON d.id = n",
         ", dim d WHERE d.id = area AND ok", " LEFT JOIN (dim d JOIN dim e ON e.id = d.w) ON d.label = host AND e.w > area")
CONDITIONS = ("host = 'h1'", "host IN ('h1', 'h2')", "host IS NULL", "area > 1", "ok", "n > 20", "v < 50 OR host = 'h3'")
SPAN = 5000


class Case:
    """A table, its heap twin, and continuous aggregates of it."""

    def __init__(self, tester, seed):
        self.tester, self.random = tester, random.Random(seed)
        self.type, self.origin, self.unit, self.chunk, self.widths, self.call = self.random.choice(KINDS)
        self.views = {}
        self.log = []
        self.depth = 0
        self.make()

    def time(self, n):
        return "(%s + %s)" % (self.origin, self.unit.format(n=n))

    def both(self, sql):
        """A statement on both tables; {t} is the table."""
        self.run(sql.format(t="hp"))
        self.run(sql.format(t="st"))

    def run(self, sql):
        self.log.append(sql)
        self.tester.cursor.execute(sql)

    def rows(self, n, count):
        return ("INSERT INTO {t} SELECT %s, nullif('h' || (i * 7919 %% 5), 'h0'), i * 31 %% 3, nullif(i * 17 %% 101, 7), i * 13 %% 97, "
                "CASE i %% 41 WHEN 0 THEN '-0'::float8 ELSE (i %% 41) / 4.0 END, i %% 3 = 0 FROM generate_series(%d, %d) i" % (self.time("((%d + i) %% %d)" % (n, SPAN)), n, n + count))

    def make(self):
        self.run("DROP TABLE IF EXISTS st CASCADE")
        self.run("DROP TABLE IF EXISTS hp")
        self.run("DROP TABLE IF EXISTS dim")
        for table in ("hp", "st"):
            self.run("CREATE TABLE %s (time %s NOT NULL, host text, area int, n int, v float8, price numeric, ok bool)" % (table, self.type))
        chunk = self.chunk if self.chunk.isdigit() else "interval '%s'" % self.chunk
        if self.type == "date":
            chunk = "interval '10 days'"
        self.run("SELECT FROM create_hypertable('st', 'time', chunk_time_interval => %s)" % chunk)
        self.run("ALTER TABLE st SET (strata.segmentby = '%s', strata.orderby = 'time')" % self.random.choice(("host", "area", "")))
        self.run("CREATE TABLE dim (id int, label text, w int)%s" % self.random.choice(("", " USING strata")))
        self.run("INSERT INTO dim SELECT i % 9, nullif('h' || i % 4, 'h2'), nullif(i, 5) FROM generate_series(0, 11) i")
        self.both(self.rows(0, 2500))
        self.run("SELECT FROM show_chunks('st') c, compress_chunk(c)")
        for i in range(self.random.randint(1, 3)):
            self.make_view("r%d" % i)

    def make_view(self, name):
        groups = self.random.sample(GROUPS, self.random.choice((0, 1, 1, 2)))
        join = self.random.choice(JOINS) if self.random.random() < 0.3 else ""
        if join:
            groups = [group for group in groups if group != "price"] + self.random.sample(("d.label", "d.w + area", "d.label || host"), 1)
        parts = [self.call.format(w=self.random.choice(self.widths), c="time") + " AS b"] + [
            "%s AS g%d" % pair for pair in zip(groups, range(9))]
        parts += ["%s AS a%d" % pair for pair in zip(self.random.sample(JOINED if join else AGGREGATES, self.random.randint(1, 6)), range(9))]
        where = " WHERE " + self.random.choice(CONDITIONS) if self.random.random() < 0.2 and " WHERE " not in join else ""
        having = " HAVING count(*) > 2" if self.random.random() < 0.2 else ""
        text = "SELECT %s FROM {t}%s%s GROUP BY %s%s" % (
            ", ".join(parts), join, where, ", ".join(str(i + 1) for i in range(len(groups) + 1)), having)
        self.run("CREATE MATERIALIZED VIEW %s WITH (strata.continuous) AS %s WITH NO DATA" % (name, text.format(t="st")))
        self.views[name] = text
        if self.random.random() < 0.4:
            upper = "SELECT %s AS b, count(*) AS n, min(a0::text) AS low FROM {v} GROUP BY 1" % self.call.format(
                w=self.widths[-1], c="b")
            try:
                self.run("SAVEPOINT u" if self.depth else "SELECT")
                self.run("CREATE MATERIALIZED VIEW %su WITH (strata.continuous) AS %s" % (name, upper.format(v=name)))
                self.views[name + "u"] = upper.format(v="(%s) lower" % text)
            except psycopg2.errors.FeatureNotSupported:
                pass

    def query(self):
        """An aggregate query of the table, much like the rollups' definitions."""
        groups = self.random.sample(GROUPS, self.random.choice((0, 0, 1, 1, 2)))
        if self.random.random() < 0.7:
            groups.insert(0, self.call.format(w=self.random.choice(self.widths), c="time"))
        values = self.random.sample(AGGREGATES, self.random.randint(1, 4))
        conditions = []
        if self.random.random() < 0.5:
            conditions.append("time %s %s" % (self.random.choice((">", ">=")), self.time(self.random.randrange(SPAN))))
        if self.random.random() < 0.4:
            conditions.append("time %s %s" % (self.random.choice(("<", "<=")), self.time(self.random.randrange(SPAN))))
        if self.random.random() < 0.3:
            conditions.append("(%s)" % self.random.choice(CONDITIONS))
        return "SELECT %s FROM {t}%s%s%s" % (
            ", ".join(groups + values), " WHERE " + " AND ".join(conditions) if conditions else "",
            " GROUP BY " + ", ".join(str(i + 1) for i in range(len(groups))) if groups else "",
            " HAVING count(*) > 3" if self.random.random() < 0.1 else "")

    def answer(self, sql):
        self.tester.cursor.execute("SELECT q::text FROM (%s) q" % sql)
        return sorted(row[0] for row in self.tester.cursor.fetchall())

    def compare(self, strata, heap):
        self.tester.cursor.execute("EXPLAIN " + strata)
        self.tester.queries += 1
        self.tester.answered += any("_archive" in row[0] for row in self.tester.cursor.fetchall())
        ours, theirs = self.answer(strata), self.answer(heap)
        if ours != theirs:
            print("\n".join(sql + ";" for sql in self.log))
            print("%s;\n-- only there: %s\n%s;\n-- only here: %s" % (
                strata, [row for row in ours if row not in theirs][:5], heap, [row for row in theirs if row not in ours][:5]))
            return False
        return True

    def change(self):
        n = self.random.randrange(SPAN)
        some = "time >= %s AND time < %s" % (self.time(n), self.time(n + self.random.choice((3, 40, 400))))
        kind = self.random.randrange(11)
        if kind < 3:
            self.both(self.rows(n, self.random.choice((1, 1, 5, 60))))
        elif kind < 5:
            self.both("UPDATE {t} SET n = n + 1, v = v + 1 WHERE %s AND (host = 'h1' OR area = 2)" % some)
        elif kind == 5:
            self.both("UPDATE {t} SET time = %s WHERE %s AND area = 1" % (self.time("(n %% %d)" % SPAN), some + " AND n IS NOT NULL"))
        elif kind == 6:
            self.both("DELETE FROM {t} WHERE %s" % some)
        elif kind == 7:
            self.run("SELECT FROM show_chunks('st') c, compress_chunk(c, recompress => %s)" % self.random.choice(("true", "false")))
        elif kind == 8:
            self.run(self.random.choice((
                "UPDATE dim SET label = 'h' || id, w = w + 1 WHERE id %% 3 = %d", "DELETE FROM dim WHERE w = %d",
                "INSERT INTO dim VALUES (%d, 'h1', 5)", "INSERT INTO dim SELECT i, 'h' || i, i FROM generate_series(0, %d) i")) % (n % 5))
        elif self.depth == 0:
            view = self.random.choice(sorted(self.views))
            if self.random.random() < 0.2:
                self.run("SELECT FROM show_chunks('%s_archive') c, compress_chunk(c)" % view)
            lo, hi = ((self.time(x) for x in sorted((n, self.random.randrange(SPAN)))) if self.random.random() < 0.5
                      else ("NULL", "NULL"))
            try:
                self.run("CALL refresh_continuous_aggregate('%s', %s, %s)" % (view, lo, hi))
            except psycopg2.errors.InvalidParameterValue:
                pass                # less than a bucket

    def transaction(self):
        """Begin, or end, a transaction or a part of one."""
        if self.depth == 0:
            self.run("BEGIN" if self.random.random() < 0.7 else "BEGIN ISOLATION LEVEL REPEATABLE READ")
            self.depth = 1
        elif self.random.random() < 0.3:
            self.depth += 1
            self.run("SAVEPOINT s%d" % self.depth)
        elif self.depth > 1:
            self.run(self.random.choice(("RELEASE", "ROLLBACK TO")) + " s%d" % self.depth)
            self.depth -= 1
        else:
            self.run(self.random.choice(("COMMIT", "ROLLBACK")))
            self.depth = 0

    def step(self):
        if self.random.random() < 0.15:
            self.transaction()
        else:
            self.change()
        view = self.random.choice(sorted(self.views))
        if not self.compare("SELECT * FROM " + view, self.views[view].format(t="hp")):
            return False
        for _ in range(2):
            query = self.query()
            if not self.compare(query.format(t="st"), query.format(t="hp")):
                return False
        return True


class Tester:
    def __init__(self, options):
        self.connection = psycopg2.connect(options.dsn)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute("CREATE EXTENSION IF NOT EXISTS strata; SET timezone = 'UTC'; SET strata.batch_rows = 50; "
                            "SET client_min_messages = warning; SET strata.report_compression = off")
        self.queries = self.answered = 0

    def said(self):
        return "%d queries, %d answered by archives" % (self.queries, self.answered)


def main(doc, tester_class, case_class):
    """Runs cases until one differs; returns the exit code."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[2])
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--each", type=int, default=60, help="steps of a case")
    parser.add_argument("--case", type=int, help="that one alone")
    options = parser.parse_args()
    tester = tester_class(options)
    cases = [options.case] if options.case is not None else range(max(1, options.steps // options.each))
    for number in cases:
        case = case_class(tester, "%s/%d" % (options.seed, number))
        for _ in range(options.each):
            if not case.step():
                print("-- seed %s, case %d" % (options.seed, number))
                return 1
        if case.depth:
            case.run("ROLLBACK")
    print("%d cases, %s, 0 differences" % (len(cases), tester.said()))
    return 0


if __name__ == "__main__":
    sys.exit(main(__doc__, Tester, Case))
