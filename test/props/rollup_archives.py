#!/usr/bin/python3
"""test/props/rollup_archives.py

Archives of several widths beside a heap table that forgets nothing: random definitions with strata.archives, random
changes, late rows, compressions, refreshes, dropped chunks of rows and of archives, runs of the job, tiers that come
and go.  After each of them every tier must give what its definition gives over all rows there ever were, but for times
that its archive has lost; and with strata.read_archives an aggregate query of the table gives that, too, or SQLSTATE
55000, and never a part of it.

    test/props/rollup_archives.py --dsn "$(tools/server dsn)" --seed 1 --steps 2000

Exits with 1, and prints what was done since the table was made, when an answer differed.  At the end it says how many
queries of the table were answered beyond its rows, and how many were refused.
"""
import sys

import psycopg2

import rollup_queries

# type, first time, unit of times, chunk, tiers (width, for how long), time_bucket; the first tier is the view's
KINDS = (
    ("bigint", "0::bigint", "{n}::bigint", "500", (("10", "1500"), ("50", "2500"), ("500", "4000"), ("1000", None)),
     "time_bucket({w}::bigint, {c})"),
    ("int", "0", "{n}", "700", (("7", "1400"), ("70", "2800"), ("350", None)), "time_bucket({w}, {c})"),
    ("timestamptz", "'2026-03-27'::timestamptz", "{n} * interval '13 minutes'", "2 days",
     (("1 hour", "10 days"), ("6 hours", "20 days"), ("1 day", "40 days"), ("2 days", None)), "time_bucket('{w}', {c})"),
    ("timestamp", "'2026-01-30'::timestamp", "{n} * interval '17 minutes'", "5 days",
     (("30 minutes", "10 days"), ("3 hours", "20 days"), ("1 day", "40 days"), ("1 month", None)), "time_bucket('{w}', {c})"),
    ("date", "'2026-01-30'::date", "({n} / 30)", "10 days", (("1 day", "30 days"), ("7 days", "60 days"), ("14 days", None)),
     "time_bucket('{w}', {c})"),
)
# those that can be combined; others are refused with a time for rows
AGGREGATES = ("count(*)", "count(n)", "last(n, n)", "first(n, -n)", "histogram(n, 0, 50, 5)", "regr_count(v, n)",
              "sum(n)", "avg(n)", "min(n)", "max(n)", "sum(v)", "avg(v)", "max(v)", "sum(price)",
              "avg(price)", "min(host)", "max(time)", "min(time)", "bool_or(ok)", "bit_and(n)", "sum(n) FILTER (WHERE v > 3)",
              "avg(price) FILTER (WHERE host = 'h1')")
GROUPS = ("host", "area", "host || 'x'", "ok", "n % 3", "'c'::text")
SPAN = rollup_queries.SPAN


class Case(rollup_queries.Case):
    """A hypertable with archives, and a heap table `ever` of all its rows; `hp` are those that were not dropped."""

    def make(self):
        self.type, self.origin, self.unit, self.chunk, self.all_tiers, self.call = self.random.choice(KINDS)
        self.integer = self.type in ("int", "bigint")
        self.run("DROP TABLE IF EXISTS st CASCADE")
        self.run("DROP TABLE IF EXISTS ever, may_lose CASCADE")
        columns = "time %s NOT NULL, host text, area int, n int, v float8, price numeric, ok bool" % self.type
        self.run("CREATE TABLE st (%s)" % columns)
        self.run("CREATE TABLE ever (%s, gone bool DEFAULT false)" % columns)
        self.run("CREATE VIEW hp AS SELECT time, host, area, n, v, price, ok FROM ever WHERE NOT gone")
        self.run("CREATE TABLE may_lose (view text, hi %s)" % ("timestamp" if self.type == "date" else self.type))
        self.run("SELECT FROM create_hypertable('st', 'time', chunk_time_interval => %s)" % (
            self.chunk if self.integer else "interval '%s'" % self.chunk))
        self.run("ALTER TABLE st SET (strata.segmentby = '%s', strata.orderby = 'time', strata.read_archives)" % (
            self.random.choice(("host", "area", ""))))
        if self.integer:
            self.run("CREATE OR REPLACE FUNCTION now_%s() RETURNS %s LANGUAGE sql STABLE AS 'SELECT max(time) FROM archives_test.ever'" % (
                self.type, self.type))
            self.run("SELECT set_integer_now_func('st', 'now_%s')" % self.type)
        self.both(self.rows(0, 2500))
        self.run("SELECT FROM show_chunks('st') c, compress_chunk(c)")
        self.make_view()

    def archives(self):
        """A random text for strata.archives, and the widths in it; the finest is always there."""
        tiers = [self.all_tiers[0]] + [tier for tier in self.all_tiers[1:] if self.random.random() < 0.7]
        parts = ["raw for " + {"int": "700", "bigint": "500"}.get(self.type, "7 days")]
        for i, (width, keep) in enumerate(tiers):
            last = i == len(tiers) - 1
            parts.append(width + (" for " + keep if keep and (not last or self.random.random() < 0.3) else ""))
        return ", ".join(parts)

    def make_view(self):
        groups = self.random.sample(GROUPS, self.random.choice((0, 1, 1, 2)))
        parts = ["{b} AS b"] + ["%s AS g%d" % pair for pair in zip(groups, range(9))]
        parts += ["%s AS a%d" % pair for pair in zip(self.random.sample(AGGREGATES, self.random.randint(1, 6)), range(9))]
        where = " WHERE " + self.random.choice(rollup_queries.CONDITIONS) if self.random.random() < 0.1 else ""
        self.text = "SELECT %s FROM {t}%s GROUP BY %s" % (
            ", ".join(parts), where, ", ".join(str(i + 1) for i in range(len(groups) + 1)))
        chunk = self.random.choice(("", ", strata.chunk_interval = '%s'" % (
            {"int": "1400", "bigint": "1000"}.get(self.type, "14 days"))))
        # the job runs only when it is told to
        self.run("BEGIN")
        self.run("CREATE MATERIALIZED VIEW r WITH (strata.continuous%s, strata.archives = '%s') AS %s%s" % (
            chunk, self.archives(), self.definition(self.all_tiers[0][0], "st"),
            self.random.choice(("", " WITH NO DATA"))))
        self.run("SELECT FROM strata.archives a, alter_job(a.job_id, scheduled => false) WHERE level = 0")
        self.run("COMMIT")

    def definition(self, width, table):
        return self.text.format(b=self.call.format(w=width, c="time"), t=table)

    def tiers(self):
        """Names and widths of the tiers, as they are now."""
        self.tester.cursor.execute("SELECT tier, width FROM strata.archives WHERE level > 0")
        return self.tester.cursor.fetchall()

    def chunks(self, table):
        ends = ("range_start_integer", "range_end_integer") if self.integer else ("range_start", "range_end")
        self.tester.cursor.execute("SELECT chunk_name, %s FROM strata.chunks WHERE hypertable_name = %%s" % ", ".join(
            end + ("::" + self.type if self.integer else " AT TIME ZONE 'UTC'" if self.type != "timestamptz" else "") + "::text"
            for end in ends), (table,))
        return set(self.tester.cursor.fetchall())

    def dropping(self, sql, **bounds):
        """A statement that may drop chunks; of archives those before a bound, by tier.  Rows that it drops are gone."""
        before = self.chunks("st")
        if self.depth:
            self.run("SAVEPOINT d")
        try:
            self.run(sql)
        except psycopg2.errors.FeatureNotSupported:
            # an old snapshot would not see what is kept
            self.run("ROLLBACK TO d")
            return
        for _, lo, hi in before - self.chunks("st"):
            self.run("UPDATE ever SET gone = true WHERE time >= '%s'::%s AND time < '%s'::%s" % (lo, self.type, hi, self.type))
        for view, bound in bounds.items():
            self.run("INSERT INTO may_lose VALUES ('%s', %s)" % (view, bound))

    def lost(self, view, width):
        """Times that the tier says it has lost, as text, which it may have: a tier that came later in whole buckets."""
        self.tester.cursor.execute("SELECT option_value FROM pg_options_to_table((SELECT reloptions FROM pg_class WHERE relname = %s)) "
                                   "WHERE option_name = 'strata.lost'", (view,))
        found = self.tester.cursor.fetchone()
        ranges = []
        for part in found[0].split() if found else ():
            ends = [end if self.integer else "'2000-01-01'::date + %s" % end if self.type == "date" else
                    "'2000-01-01'::%s + %s * interval '1 us'" % (self.type, end) for end in part.split("..")]
            self.tester.cursor.execute("SELECT (%s)::text, (%s)::text, (%s) < max(hi) + %s FROM may_lose WHERE view = %%s" % (
                ends[0], ends[1], ends[1], width), (view,))
            lo, hi, allowed = self.tester.cursor.fetchone()
            if not allowed:
                raise AssertionError("%s has lost %s to %s" % (view, lo, hi))
            ranges.append((lo, hi))
        return ranges

    def change(self):
        kind = self.random.randrange(10)
        if kind == 0:
            self.dropping("SELECT drop_chunks('st', older_than => %s)" % self.time(self.random.randrange(SPAN)))
        elif kind == 1 and self.random.random() < 0.6:
            view, _ = self.random.choice(self.tiers())
            bound = self.time(self.random.randrange(SPAN) // 2)
            self.dropping("SELECT drop_chunks('%s', older_than => %s)" % (view, bound), **{view: bound})
        elif kind == 2 and self.depth == 0:
            view, _ = self.random.choice(self.tiers())
            self.run("CALL refresh_continuous_aggregate('%s', NULL, NULL)" % view)
        elif kind == 3 and self.depth == 0 and self.integer:
            self.tester.cursor.execute("SELECT tier, '(SELECT max(time) FROM ever) - ' || keep, job_id FROM strata.archives")
            tiers = self.tester.cursor.fetchall()
            self.dropping("CALL run_job(%d)" % tiers[0][2], **{tier: bound for tier, bound, _ in tiers if bound and tier != "st"})
        elif kind == 4 and self.random.random() < 0.5:
            kept = dict(self.tiers())
            self.run("ALTER MATERIALIZED VIEW r SET (strata.archives = '%s')" % self.archives())
            # what a tier that comes later has missed is known of those that are finer
            for name, _ in self.tiers():
                if name not in kept:
                    self.run("DELETE FROM may_lose WHERE view = '%s'" % name)
                    self.run("INSERT INTO may_lose SELECT '%s', hi FROM may_lose" % name)
        elif kind == 5 and self.random.random() < 0.4:
            # one that knows nothing of what is gone by now must not answer for it, not even when late rows go in turn
            self.run("DROP MATERIALIZED VIEW IF EXISTS young")
            self.run("CREATE MATERIALIZED VIEW young WITH (strata.continuous) AS " +
                     self.definition(self.random.choice(self.all_tiers)[0], "st"))
        else:
            self.change_rows()

    def change_rows(self):
        n = self.random.randrange(SPAN)
        some = "time >= %s AND time < %s" % (self.time(n), self.time(n + self.random.choice((30, 40, 400))))
        kind = self.random.randrange(6)
        if kind < 2:
            self.both(self.rows(n, self.random.choice((1, 1, 5, 60))))
        elif kind == 2:
            self.both("UPDATE {t} SET n = n + 1, v = v + 1 WHERE %s AND (host = 'h1' OR area = 2)" % some)
        elif kind == 3:
            self.both("UPDATE {t} SET time = %s WHERE %s AND area = 1" % (self.time("(n %% %d)" % SPAN), some + " AND n IS NOT NULL"))
        elif kind == 4:
            self.both("DELETE FROM {t} WHERE %s" % some)
        else:
            self.run("SELECT FROM show_chunks('st') c, compress_chunk(c, recompress => %s)" % self.random.choice(("true", "false")))

    def compare_tiers(self):
        for view, width in self.tiers():
            width_sql = width if self.integer else "interval '%s'" % width
            # of a bucket that reaches into what is lost nobody knows more
            outside = "".join(" AND NOT (q.b < '%s'::%s AND %s > '%s'::%s)" % (
                hi, self.type, "q.b + " + width_sql, lo, self.type)
                for lo, hi in self.lost(view, width_sql))
            if not self.compare("SELECT * FROM %s q WHERE true%s" % (view, outside),
                                "SELECT * FROM (%s) q WHERE true%s" % (self.definition(width, "ever"), outside)):
                return False
        return True

    def query(self):
        groups = self.random.sample(GROUPS, self.random.choice((0, 0, 1, 1, 2)))
        width, _ = self.random.choice(self.all_tiers)
        if self.random.random() < 0.6:
            groups.insert(0, self.call.format(w=width, c="time"))
        values = self.random.sample(AGGREGATES, self.random.randint(1, 3))
        conditions = []
        for operators, share in (((">", ">="), 0.6), (("<", "<="), 0.4)):
            bound = self.time(self.random.randrange(SPAN))
            if self.random.random() < 0.5:
                bound = self.call.format(w=width, c=bound)
            if self.random.random() < share:
                conditions.append("time %s %s" % (self.random.choice(operators), bound))
        if self.random.random() < 0.2:
            conditions.append("(%s)" % self.random.choice(rollup_queries.CONDITIONS))
        return "SELECT %s FROM {t}%s%s" % (
            ", ".join(groups + values), " WHERE " + " AND ".join(conditions) if conditions else "",
            " GROUP BY " + ", ".join(str(i + 1) for i in range(len(groups))) if groups else "")

    def compare_table(self):
        """A query of the table gives what all rows give, or says that it cannot."""
        query = self.query()
        cursor = self.tester.cursor
        if self.depth:
            cursor.execute("SAVEPOINT q")
        try:
            cursor.execute(query.format(t="st"))
        except psycopg2.errors.ObjectNotInPrerequisiteState:
            if self.depth:
                cursor.execute("ROLLBACK TO q")
            self.tester.refused += 1
            return True
        if self.depth:
            cursor.execute("RELEASE q")
        return self.compare(query.format(t="st"), query.format(t="ever"))

    def step(self):
        if self.random.random() < 0.3:
            self.transaction()
        else:
            self.change()
        return self.compare_tiers() and all(self.compare_table() for _ in range(3))


class Tester(rollup_queries.Tester):
    refused = 0

    def __init__(self, options):
        super().__init__(options)
        # rollup_queries.py has tables of the same names
        self.cursor.execute("CREATE SCHEMA IF NOT EXISTS archives_test; SET search_path = archives_test, public")

    def said(self):
        return super().said() + ", %d refused" % self.refused


if __name__ == "__main__":
    sys.exit(rollup_queries.main(__doc__, Tester, Case))
