#!/usr/bin/python3
"""test/props/comparisons.py

Comparisons between types, heap beside strata: every operator of the btree
families whose input types differ, values around clock changes in many time
zones (and at the edges of other types), SELECT, aggregates and DELETE.  Which
of the operators judge batches is told in src/scan/filter_order.c.

The tables have no index that is used, as PostgreSQL's own btree gives wrong
answers where local time is compared with timestamptz.
"""
import argparse
import datetime
import random
import sys
import time

import psycopg2

# Local dates on which clocks were changed: forward and back, by 20 minutes to a day, and
# from local mean time.
ZONES = {
    "UTC": ["2024-03-31"],
    "Europe/Berlin": ["2024-03-31", "2024-10-27", "1945-05-24", "1893-04-01"],
    "Europe/London": ["2024-03-31", "1941-05-04", "1968-10-27"],
    "Europe/Dublin": ["2024-03-31", "1916-05-21"],
    "Europe/Moscow": ["2014-10-26", "2011-03-27", "1919-05-31"],
    "Europe/Amsterdam": ["1937-07-01", "1940-05-16"],
    "Atlantic/Azores": ["2024-03-31", "1993-03-28"],
    "America/New_York": ["2024-03-10", "2024-11-03", "1883-11-18"],
    "America/St_Johns": ["1988-04-03", "2006-04-02", "1935-03-30"],
    "America/Havana": ["2024-03-10", "2024-11-03"],
    "America/Sao_Paulo": ["2018-11-04", "2018-02-18"],
    "America/Asuncion": ["2023-10-01", "2024-03-24"],
    "America/Caracas": ["2007-12-09", "2016-05-01"],
    "America/Nuuk": ["2023-03-25", "2024-03-30"],
    "America/Juneau": ["1867-10-19", "1900-08-20"],
    "America/Scoresbysund": ["2024-03-31"],
    "Africa/Cairo": ["2014-05-15", "2014-07-31"],
    "Africa/Casablanca": ["2024-03-10", "2024-04-14", "2018-10-28"],
    "Africa/Monrovia": ["1972-01-07"],
    "Antarctica/Casey": ["2009-10-18", "2010-03-05"],
    "Antarctica/Troll": ["2024-03-31", "2024-10-27"],
    "Asia/Beirut": ["2024-03-31", "2024-10-27"],
    "Asia/Gaza": ["2021-03-27", "2011-08-01"],
    "Asia/Kathmandu": ["1986-01-01"],
    "Asia/Manila": ["1844-12-31", "1945-01-01"],
    "Asia/Pyongyang": ["2015-08-15", "2018-05-05"],
    "Asia/Singapore": ["1981-12-31", "1941-09-01"],
    "Asia/Tehran": ["2022-03-22", "1977-10-20"],
    "Australia/Lord_Howe": ["2024-10-06", "2024-04-07", "1981-03-01"],
    "Pacific/Apia": ["2011-12-30", "2011-09-24", "1892-07-05"],
    "Pacific/Chatham": ["2024-09-29", "2024-04-07"],
    "Pacific/Guam": ["1844-12-31", "1969-01-26"],
    "Pacific/Kiritimati": ["1994-12-31"],
    "Pacific/Kwajalein": ["1993-08-21", "1969-09-30"],
    # nobody's, but PostgreSQL takes them
    "FOO-100BAR-103,M3.5.0,M10.5.0": ["2024-03-31"],
    "FOO160BAR-160,M3.5.0,M10.5.0": ["2024-03-31"],
}

# Values of the other types whose operators have different input types.
PLAIN = {
    "int2": ["-32768", "-1", "0", "1", "2", "7", "32767"],
    "int4": ["-2147483648", "-32769", "-1", "0", "1", "2", "32768", "2147483647"],
    "int8": ["-9223372036854775808", "-2147483649", "0", "1", "2", "16777217", "9007199254740993", "9223372036854775807"],
    "float4": ["-Infinity", "-3.4e38", "-0.1", "-0", "0", "1e-45", "0.1", "0.3", "16777216", "Infinity", "NaN"],
    "float8": ["-Infinity", "-1e300", "-0.1", "-0", "0", "5e-324", "0.1", "0.100000001490116", "0.3", "16777217", "Infinity", "NaN"],
    "text": ["", "a", "A", "ab", "b", "B", "zeta", "ä", "x" * 63, "x" * 64],
    "name": ["", "a", "A", "ab", "b", "B", "zeta", "ä", "x" * 63],
}
TIMES = ("timestamp", "date", "timestamptz")
COMMUTED = {"<": ">", "<=": ">=", "=": "=", "<>": "<>", ">=": "<=", ">": "<"}

# what batches are sorted by, cut by, or neither
LAYOUTS = ["strata.orderby = '%s'", "strata.segmentby = '%s', strata.orderby = 'k'", "strata.orderby = 'k'",
           "strata.segmentby = 'seg', strata.orderby = '%s DESC'"]


class Difference(Exception):
    pass


class Tester:
    def __init__(self, options):
        self.options = options
        self.rng = random.Random(options.seed)
        self.connection = psycopg2.connect(options.dsn)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cases = 0
        self.zone = None
        self.run("SET client_min_messages = error; CREATE EXTENSION IF NOT EXISTS strata; LOAD 'strata'")
        self.switches = [row[0] for row in self.run(
            r"SELECT name FROM pg_settings WHERE name LIKE 'strata.enable\_%' AND vartype = 'bool' ORDER BY name")]
        self.run("DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s; SET search_path = %s, public;" % ((options.schema,) * 3) +
                 "SET strata.batch_rows = 10; SET max_parallel_workers_per_gather = 0;"
                 "SET enable_partition_pruning = off; SET enable_indexscan = off; SET enable_bitmapscan = off;"
                 "SET enable_indexonlyscan = off")
        self.operators = self.run("""
            SELECT o.oprleft::regtype::text, o.oprname, o.oprright::regtype::text
            FROM pg_operator o
            WHERE o.oprleft <> o.oprright AND o.oid < 16384 AND
                (o.oid IN (SELECT amopopr FROM pg_amop WHERE amopmethod = 403) OR
                 o.oprnegate IN (SELECT amopopr FROM pg_amop WHERE amopmethod = 403 AND amopstrategy = 3))
            ORDER BY 1, 2, 3""")
        short = {"bigint": "int8", "integer": "int4", "smallint": "int2", "real": "float4", "double precision": "float8",
                 "timestamp without time zone": "timestamp", "timestamp with time zone": "timestamptz"}
        self.operators = [(short.get(a, a), op, short.get(b, b)) for a, op, b in self.operators]
        types = set(PLAIN) | set(TIMES)
        missing = [o for o in self.operators if o[0] not in types or o[2] not in types]
        if missing or len(self.operators) < 90:
            raise Difference("operators without values: %s, of %d" % (missing, len(self.operators)))

    def run(self, sql):
        self.cursor.execute(sql)
        return self.cursor.fetchall() if self.cursor.description else None

    def tables(self, columns, layouts, rows):
        """h, and s0, s1 ... and the hypertable ht with the same rows: batches, rows behind them, changed and deleted ones."""
        self.names = ["s%d" % i for i in range(len(layouts))] + ["ht"] * ("ts" in columns)
        self.run("; ".join("DROP TABLE IF EXISTS %s" % name for name in ["h"] + self.names))
        definition = ", ".join("%s %s" % item for item in columns.items())
        self.run("CREATE TABLE h (%s)" % definition)
        for name, layout in zip(self.names, layouts):
            self.run("CREATE TABLE %s (%s) USING strata; ALTER TABLE %s SET (%s)" % (name, definition, name, layout))
        if "ht" in self.names:
            self.run("CREATE TABLE ht (%s); SELECT create_hypertable('ht', 'ts', chunk_time_interval => interval '%s');"
                     "ALTER TABLE ht SET (strata.segmentby = 'seg', strata.orderby = 'ts')" % (
                         definition.replace("ts timestamp", "ts timestamp NOT NULL"),
                         self.rng.choice(["20 minutes", "1 hour", "90 minutes", "1 day"])))
        self.run("INSERT INTO h SELECT * FROM (VALUES %s) v" % ", ".join(rows))
        # small tables, too
        self.run("SET strata.torture = on")
        for name in self.names:
            where = " WHERE isfinite(ts) AND ts BETWEEN '1800-01-01' AND '2100-01-01'" if name == "ht" else ""
            self.run("INSERT INTO %s SELECT * FROM h%s" % (name, where))
            if name == "ht":
                # every other chunk: a chunk may have one half only
                self.run("SELECT compress_chunk(c) FROM (SELECT c, row_number() OVER (ORDER BY c::text) n FROM show_chunks('ht') c) x WHERE n % 2 = 1")
                leaves = "show_chunks('ht')"
            else:
                self.run("SELECT compress_chunk('%s')" % name)
                leaves = "(VALUES ('%s'::regclass))" % name
            if self.run("SELECT sum((SELECT count(*) FROM strata.batches(c))) FROM %s x (c)" % leaves)[0][0] < 4:
                raise Difference("table %s has no batches" % name)
        self.run("SET strata.torture = off")
        for name in ["h"] + self.names:
            where = " AND isfinite(ts) AND ts BETWEEN '1800-01-01' AND '2100-01-01'" if name == "ht" else ""
            self.run("INSERT INTO %s SELECT * FROM h WHERE k %% 9 = 0 AND k < 100000%s" % (name, where) if name != "h" else
                     "CREATE TABLE again AS SELECT * FROM h WHERE k % 9 = 0")
            self.run("DELETE FROM %s WHERE k %% 31 = 5; UPDATE %s SET seg = seg + 1 WHERE k %% 37 = 7" % (name, name))
        self.run("INSERT INTO h SELECT * FROM again; DROP TABLE again")
        self.run("DELETE FROM h WHERE k % 31 = 5")

    def settings(self):
        """Switches of this round: all on, all off, or one of them off."""
        kind = self.rng.randrange(4)
        off = self.switches if kind == 0 else [] if kind < 3 else [self.rng.choice(self.switches)]
        self.run("; ".join("SET %s = %s" % (s, "off" if s in off else "on") for s in self.switches))
        return off

    def answers(self, aggregates, table, only, clauses):
        """The row of aggregates for each clause; or SQLSTATE, as for a date that is no timestamp."""
        queries = ["(SELECT ROW(%s)::text FROM %s a WHERE %s%s)" % (aggregates, table, only, clause) for clause in clauses]
        try:
            return self.run("SELECT " + ", ".join(queries))[0]
        except psycopg2.Error as error:
            if len(clauses) == 1:
                return [error.pgcode]
            return [self.answers(aggregates, table, only, [clause])[0] for clause in clauses]

    def first_rows(self, clauses):
        """The first rows in the order of time of those that a clause leaves, of many chunks."""
        only = "isfinite(ts) AND ts BETWEEN '1800-01-01' AND '2100-01-01' AND "
        off = self.settings()
        for clause in self.rng.sample(clauses, min(len(clauses), 60)):
            tail = "ORDER BY ts%s, k LIMIT %d" % (self.rng.choice(["", " DESC"]), self.rng.choice([1, 1, 3, 20, 1000]))
            found = []
            for table, more in (("h", only), ("ht", "")):
                try:
                    found.append(self.run("SELECT ts::text, k FROM %s a WHERE %s%s %s" % (table, more, clause, tail)))
                except psycopg2.Error as error:
                    found.append(error.pgcode)
            self.cases += 1
            if found[0] != found[1]:
                self.fail("ht", off, "SELECT", clause + " " + tail, found[0], found[1])

    def check(self, columns, clauses):
        """Counts and bounds for each clause in turn; then what is left when its rows are deleted."""
        aggregates = ", ".join(["count(*)", "sum(k)"] + [
            # which of 0 and -0 comes first depends on the order of rows
            ("min(%s) + 0, max(%s) + 0" if c in ("f4", "f8") else "min(%s), max(%s)") % (c, c)
            for c in columns if c not in ("k", "seg", "t", "n")])
        aggregates += "".join(", count(%s)" % c for c in ("t", "n") if c in columns)
        for name in self.names:
            only = "isfinite(ts) AND ts BETWEEN '1800-01-01' AND '2100-01-01' AND " if name == "ht" else ""
            off = self.settings()
            for i in range(0, len(clauses), 40):
                part = clauses[i:i + 40]
                want, got = self.answers(aggregates, "h", only, part), self.answers(aggregates, name, "", part)
                self.cases += len(part)
                for clause, a, b in zip(part, want, got):
                    if a != b:
                        self.fail(name, off, "SELECT", clause, a, b)
            for clause in self.rng.sample(clauses, min(len(clauses), max(len(clauses) // self.options.deletes, 3))):
                left = []
                for table, more in (("h", only), (name, "")):
                    try:
                        self.run("BEGIN; DELETE FROM %s a WHERE %s%s" % (table, more, clause))
                        number = self.cursor.rowcount
                        left.append((number, self.run("SELECT count(*), sum(k) FROM %s a%s" % (
                            table, " WHERE " + more[:-5] if more else ""))))
                    except psycopg2.Error as error:
                        left.append(error.pgcode)
                    self.run("ROLLBACK")
                self.cases += 1
                if left[0] != left[1]:
                    self.fail(name, off, "DELETE", clause, left[0], left[1])

    def fail(self, table, off, what, clause, want, got):
        settings = self.run("SELECT string_agg(s, ', ') FROM (SELECT unnest(reloptions) s FROM pg_class WHERE oid = '%s'::regclass) x" % table)
        raise Difference("%s %s (%s), zone %s, off: %s\n    WHERE %s\n    heap:   %s\n    strata: %s" % (
            what, table, settings, self.zone, off, clause, want, got))

    def clause(self, column, operator, righttype, values):
        """One of the shapes in which a comparison comes."""
        rng = self.rng
        value = "'%s'::%s" % (rng.choice(values), righttype)
        other = "'%s'::%s" % (rng.choice(values), righttype)
        shapes = ["a.%s %s %s" % (column, operator, value)] * 4 + [
            "%s %s a.%s" % (value, COMMUTED[operator], column),
            "NOT (a.%s %s %s)" % (column, operator, value),
            "a.%s %s (SELECT %s)" % (column, operator, value),
            "(a.%s %s %s OR a.k = 3)" % (column, operator, value),
            "(a.%s %s %s AND a.%s %s %s)" % (column, operator, value, column, rng.choice(["<", ">="]), other),
            "a.%s %s ANY (ARRAY[%s, %s])" % (column, operator, value, other),
            "a.%s %s ALL (ARRAY[%s, %s])" % (column, operator, value, other),
            "a.%s BETWEEN %s AND %s" % (column, value, other),
            "a.%s IN (%s, %s, NULL)" % (column, value, other),
            "(a.%s, a.k) %s (%s, 50)" % (column, operator, value),
            "EXISTS (SELECT FROM (VALUES (%s), (%s)) v (x) WHERE a.%s %s v.x OFFSET 0)" % (value, other, column, operator)]
        return rng.choice(shapes)

    def clauses(self, columns, values):
        """Each operator on each column of its left type, with values of the right one."""
        result = []
        for column, lefttype in columns.items():
            for left, operator, right in self.operators:
                if left != lefttype or column in ("k", "seg") or right not in values:
                    continue
                result += [self.clause(column, operator, right, values[right]) for _ in range(self.options.each)]
        self.rng.shuffle(result)
        return result

    def joined(self, columns, values):
        """Values that come from another table: run-time keys."""
        for column, lefttype in columns.items():
            for left, operator, right in self.operators:
                if left != lefttype or column in ("k", "seg") or right not in values or self.rng.random() > self.options.joins:
                    continue
                rows = ", ".join("('%s'::%s)" % (v, right) for v in self.rng.sample(values[right], min(6, len(values[right]))))
                for name in self.names:
                    only = "isfinite(ts) AND ts BETWEEN '1800-01-01' AND '2100-01-01' AND " if name == "ht" else ""
                    off = self.settings()
                    self.run("SET enable_hashjoin = off; SET enable_mergejoin = off")
                    sql = "SELECT count(*), sum(a.k) FROM (VALUES %s) v (x) JOIN %%s a ON %%s a.%s %s v.x" % (rows, column, operator)
                    want, got = self.run(sql % ("h", only)), self.run(sql % (name, ""))
                    self.cases += 1
                    if want != got:
                        self.fail(name, off, "JOIN", "%s %s v.x, %s" % (column, operator, rows), want, got)

    def zone_round(self, zone, date):
        self.zone = zone
        self.run("SET TimeZone = '%s'" % zone)
        day = datetime.datetime.fromisoformat(date)
        minutes = sorted(set(list(range(-2 * 1440, 3 * 1440, 180)) + list(range(-360, 2 * 1440, self.options.minutes))))
        stamps = [str(day + datetime.timedelta(minutes=m)) for m in minutes]
        extremes = ["infinity", "-infinity", "4713-01-01 00:00:00", "294276-12-31 23:59:59.999999"]
        rows = ["('%s'::timestamp, '%s'::date, '%s'::timestamptz, %d, %d)" % (
                    t, t, t + ("+00" if t in extremes[2:] else ""), k % 3, k) for k, t in enumerate(stamps + extremes)]
        rows += ["(%s'%s'::timestamp, NULL, NULL, 1, %d)" % ("", stamps[0], len(rows)),
                 "('%s'::timestamp, '5874897-12-31'::date, '%s', 0, %d)" % (stamps[1], stamps[1], len(rows) + 1)]
        columns = {"ts": "timestamp", "d": "date", "tz": "timestamptz", "seg": "int4", "k": "int4"}
        self.tables(columns, [l % self.rng.choice(["ts", "ts", "d", "tz"]) if "%" in l else l
                              for l in self.rng.sample(LAYOUTS, self.options.layouts)], rows)
        # instants of all of it, and half an hour, a second, a microsecond aside
        steps = self.run("""
            SELECT ((timestamptz '%s UTC' + i * interval '10 min' + e) AT TIME ZONE 'UTC')::text || '+00'
            FROM generate_series(-200, 400) i, unnest('{0,1s,-1s,1us}'::interval[]) e""" % date)
        values = {"timestamptz": [r[0] for r in self.rng.sample(steps, 60)] + extremes[:2] + [
                      "4714-11-24 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00"],
                  "timestamp": self.rng.sample(stamps, 20) + extremes,
                  "date": [str((day + datetime.timedelta(days=i)).date()) for i in range(-3, 4)] + extremes[:2] + [
                      "5874897-12-31", "4714-11-24 BC"]}
        clauses = self.clauses(columns, values)
        self.check(columns, clauses)
        self.first_rows(clauses + ["true"] * 10)
        self.joined(columns, values)

    def plain_round(self):
        self.zone = "any"
        self.run("SET TimeZone = 'UTC'")
        columns = {"a2": "int2", "a4": "int4", "a8": "int8", "f4": "float4", "f8": "float8", "t": "text", "n": "name",
                   "seg": "int4", "k": "int4"}
        rows = []
        for k in range(150):
            rows.append("(%s, %d, %d)" % (", ".join(
                "'%s'::%s" % (self.rng.choice(PLAIN[t]), t) for t in list(columns.values())[:7]), k % 3, k))
        self.tables(columns, [l % c if "%" in l else l for c in ("a2", "a8", "f4", "f8", "t", "n")
                              for l in self.rng.sample(LAYOUTS, 2)], rows)
        self.check(columns, self.clauses(columns, PLAIN))
        self.joined(columns, PLAIN)

    def all(self):
        started = time.time()
        wanted = [(zone, date) for zone, dates in ZONES.items() for date in dates[:self.options.dates]
                  if self.options.zone in (None, zone)]
        for zone, date in wanted:
            self.zone_round(zone, date)
            if self.options.verbose:
                print("%6.1f s %7d cases %s %s" % (time.time() - started, self.cases, zone, date))
                sys.stdout.flush()
        for _ in range(self.options.plain):
            self.plain_round()
        self.run("DROP SCHEMA %s CASCADE" % self.options.schema)
        print("seed %d: %d cases, %d operators, %d zones, %d changes of clocks, %.0f s, 0 differences" % (
            self.options.seed, self.cases, len(self.operators), len(ZONES), len(wanted), time.time() - started))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True, help="a database that may be filled with a schema cmp")
    parser.add_argument("--schema", default="cmp", help="is made, and dropped")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dates", type=int, default=9, help="changes of clocks in each zone")
    parser.add_argument("--minutes", type=int, default=15, help="between rows around them")
    parser.add_argument("--each", type=int, default=4, help="clauses for each column and operator")
    parser.add_argument("--deletes", type=int, default=10, help="one of so many clauses deletes, too")
    parser.add_argument("--joins", type=float, default=0.2, help="the share of operators that join")
    parser.add_argument("--layouts", type=int, default=4, help="strata tables in a round, beside the hypertable")
    parser.add_argument("--plain", type=int, default=3, help="rounds of types that have no time")
    parser.add_argument("--zone", help="this one only")
    parser.add_argument("--verbose", action="store_true")
    try:
        Tester(parser.parse_args()).all()
    except Difference as difference:
        print("DIFFERENCE: %s" % difference)
        sys.exit(1)


if __name__ == "__main__":
    main()
