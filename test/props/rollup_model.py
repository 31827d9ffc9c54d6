#!/usr/bin/python3
"""test/props/rollup_model.py

Rollups, refreshed as users do, beside everything that changes their rows: writers with savepoints and rollbacks, who
are prepared now and then; a session that compresses, decompresses, and drops and makes the rollups anew, so that what
is tracked begins again and again; two refreshers; one who drops chunks, whose rows a ledger keeps; readers, who compare in one snapshot what is clean of an archive, and
of one above it, and what the two views answer, with the rows themselves; others, who ask in an old snapshot again.

    test/props/rollup_model.py --dsn "$(tools/server dsn)" --seed 1 --seconds 60

Exits with 1 when a snapshot differed.  --without marks takes marks away in another transaction than a refresh's, and
--without wait covers what has just begun to be tracked without waiting for anybody; both must find differences: exit
code 0 then means that the test cannot see them.  --without haste is the latter, but waits, and must find none.
--crash kills some backend of the server (as root or its user) again and again, which has all others end and the server
recover; everybody connects again and goes on.
"""
import argparse
import os
import signal
import sys

import psycopg2
import psycopg2.errorcodes

import track_model
from track_model import TIMES, Worker

# a view may just be made anew
track_model.RETRY += (psycopg2.errorcodes.UNDEFINED_TABLE, psycopg2.errorcodes.INVALID_PARAMETER_VALUE)

VIEWS = """
CREATE MATERIALIZED VIEW ten WITH (strata.continuous, strata.chunk_interval = 150)
    AS SELECT time_bucket(10, ts) AS bucket, host, count(*) AS n, sum(v) AS s FROM raw GROUP BY 1, 2 WITH NO DATA;
CREATE MATERIALIZED VIEW forty WITH (strata.continuous, strata.chunk_interval = 1000)
    AS SELECT time_bucket(40, bucket) AS bucket, sum(n) AS n, sum(s) AS s FROM ten GROUP BY 1 WITH NO DATA;
"""
SETUP = """
DROP TABLE IF EXISTS raw, gone CASCADE;
CREATE TABLE gone (ts int, host int, v int);
CREATE TABLE raw (ts int NOT NULL, host int NOT NULL, v int) USING strata;
SELECT FROM create_hypertable('raw', 'ts', chunk_time_interval => 100);
ALTER TABLE raw SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO raw SELECT i % 400, i % 3, i FROM generate_series(1, 1600) i;
SELECT FROM show_chunks('raw') c, compress_chunk(c);
""" + VIEWS


def buckets_of(ranges, width):
    return {bucket for lo, hi in ranges for bucket in range(lo, hi, width)}


# queries of the table itself, which archives may answer, and what they must give
TABLE_QUERIES = (
    ("SELECT time_bucket(20, ts), count(*), sum(v) FROM raw GROUP BY 1", "SELECT ts / 20 * 20, count(*), sum(v) FROM raw GROUP BY 1"),
    ("SELECT host, count(*), sum(v) FROM raw WHERE ts >= 33 AND ts < 277 GROUP BY 1",
     "SELECT host, count(*), sum(v + 0) FROM raw WHERE ts >= 33 AND ts < 277 GROUP BY 1"),
    ("SELECT 0, count(*), sum(v) FROM raw", "SELECT 0, count(*), sum(v + 0) FROM raw"))


def compare_table(worker):
    """Queries of the table that are answered out of the archive of `ten` beside those that are not."""
    for query, same in TABLE_QUERIES:
        answer = sorted(worker.rows(query))
        expected = sorted(worker.rows(same))
        if answer != expected:
            worker.model.count("different")
            worker.model.example = "%s: %s, rows %s" % (query, answer, expected)


def compare(worker):
    """What is clean of both archives beside the rows, in the snapshot that stands."""
    worker.model.count("compared")
    compare_table(worker)
    for view, width, columns in (("ten", 10, "host, n, s"), ("forty", 40, "n, s")):
        clean = buckets_of(worker.rows("SELECT lo, hi FROM _strata.rollup_clean(%s::regclass)", view), width)
        worker.model.count("served", len(clean))
        kept = worker.rows("SELECT bucket, %s FROM %s_archive" % (columns, view))
        truth_sql = "SELECT ts / %d * %d, %s FROM %%s GROUP BY 1%s" % (
            width, width, "host, count(*), sum(v)" if width == 10 else "count(*), sum(v)", ", 2" if width == 10 else "")
        truth = worker.rows(truth_sql % "raw")
        answer = worker.rows("SELECT bucket, %s FROM %s" % (columns, view))
        ever = worker.rows(truth_sql % "(TABLE raw UNION ALL TABLE gone) r")
        for what, rows, expected in (("kept", [row for row in kept if row[0] in clean],
                                      sorted(row for row in truth if row[0] in clean)), ("answered", answer, sorted(ever))):
            if sorted(rows) != expected:
                worker.model.count("different")
                worker.model.example = "%s: %s %s, rows %s" % (
                    view, what, sorted(set(rows) - set(expected)), sorted(set(expected) - set(rows)))
                return


# before there is a snapshot: chunks and views are dropped for snapshots that are older, too; in the order in which views are dropped
LOCK = "LOCK TABLE raw, forty, ten IN ACCESS SHARE MODE"


class Writer(track_model.Writer):
    compare = staticmethod(compare)
    first = LOCK
    prepared = None

    def connect(self):
        super().connect()
        # what a crash has left
        if self.prepared and self.rows("SELECT FROM pg_prepared_xacts WHERE gid = %s", self.prepared):
            self.connection.rollback()
            self.connection.autocommit = True
            self.run_sql("ROLLBACK PREPARED '%s'" % self.prepared)
        self.connection.rollback()
        self.connection.autocommit = False
        self.prepared = None

    def turn(self):
        if self.random.random() < 0.03:
            name = "m%d" % self.random.randrange(1000000)
            self.prepared = name
            self.run_sql("BEGIN", self.statement(), "PREPARE TRANSACTION '%s'" % name)
            self.nap(1, 0.05)
            self.connection.rollback()
            self.connection.autocommit = True
            self.run_sql(self.random.choice(("COMMIT PREPARED '%s'", "ROLLBACK PREPARED '%s'")) % name)
            self.prepared = None
            self.connection.autocommit = False
            self.model.count("prepared")
        else:
            super().turn()


class Keeper(track_model.Compressor):
    """Compresses and decompresses, archives too, and makes the rollups anew."""

    def turn(self):
        if self.random.random() < 0.3 and self.model.options.without not in ("wait", "haste"):
            self.nap(1, 0.2)
            self.run_sql("DROP MATERIALIZED VIEW forty", "DROP MATERIALIZED VIEW ten", "DELETE FROM gone", VIEWS)
            self.connection.commit()
            self.model.count("made anew")
        elif self.random.random() < 0.1 and self.model.options.without is None:
            # what it keeps goes, too
            self.run_sql("TRUNCATE ten", "DELETE FROM gone")
            self.connection.commit()
            self.model.count("truncated")
        elif self.random.random() < 0.2:
            self.run_sql("SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('ten_archive') c")
            self.connection.commit()
        else:
            super().turn()


class Retention(Worker):
    """Drops chunks; the ledger has their rows from then on."""

    def turn(self):
        self.nap(1, 0.8)
        lo = self.random.randrange(4) * 100
        self.run_sql("LOCK TABLE raw IN ACCESS EXCLUSIVE MODE",
                     "INSERT INTO gone SELECT * FROM raw WHERE ts >= %d AND ts < %d" % (lo, lo + 100),
                     "SELECT drop_chunks('raw', older_than => %d, newer_than => %d)" % (lo + 100, lo))
        if self.random.random() < 0.2:
            compare(self)
        (self.connection.rollback if self.random.random() < 0.2 else self.connection.commit)()
        self.model.count("retention")


class Refresher(Worker):
    def turn(self):
        self.nap(1, 0.05)
        view = self.random.choice(("ten", "ten", "forty"))
        window = sorted(self.random.sample(range(-20, TIMES + 20), 2)) if self.random.random() < 0.5 else ["NULL", "NULL"]
        if window[0] != "NULL" and window[1] - window[0] < 80:
            window[1] = window[0] + 80
        call = "CALL refresh_continuous_aggregate('%s', %s, %s, force => %s, options => '{\"buckets_per_batch\": %d}')" % (
            view, window[0], window[1], self.random.random() < 0.1, self.random.choice((0, 1, 5, 1000)))
        self.connection.autocommit = self.random.random() < 0.8
        try:
            self.run_sql("SET lock_timeout = '300ms'", call)
            if not self.connection.autocommit:
                (self.connection.rollback if self.random.random() < 0.2 else self.connection.commit)()
        except psycopg2.errors.InternalError:
            if self.model.options.without is None:      # else somebody meddles with the marks
                raise
        finally:
            if not self.connection.closed:
                if not self.connection.autocommit:
                    self.connection.rollback()
                self.connection.autocommit = False
        self.model.count("refreshes")


class MarkThief(Worker):
    """Takes marks away in a transaction of its own."""

    def turn(self):
        self.nap(1, 0.1)
        self.run_sql("DELETE FROM _strata.rollup_mark")
        self.connection.commit()


class Hasty(Worker):
    """Refreshes by SQL, alone; without wait covers times as soon as they are tracked."""

    def turn(self):
        self.nap(1, 0.2)
        self.run_sql("DELETE FROM _strata.rollup_cover", "SELECT _strata.track_no_more('raw')")
        self.connection.commit()
        self.nap(1, 0.1)
        self.run_sql("SELECT _strata.track('raw', 0, 399)")
        self.connection.commit()
        if self.model.options.without == "haste":
            self.run_sql("SET lock_timeout = 0", "SELECT _strata.track_wait('raw')", "SET lock_timeout = '2s'")
            self.connection.commit()
        self.run_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                     "DELETE FROM ten_archive",
                     "INSERT INTO ten_archive SELECT ts / 10 * 10, host, count(*), sum(v) FROM raw GROUP BY 1, 2",
                     "DELETE FROM _strata.rollup_mark WHERE hypertable = 'raw'::regclass",
                     "DELETE FROM _strata.rollup_cover WHERE view = 'ten'::regclass",
                     "INSERT INTO _strata.rollup_cover VALUES ('ten'::regclass, 0, 400)")
        self.connection.commit()


class Reader(Worker):
    def turn(self):
        self.run_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", LOCK)
        compare(self)
        self.nap(0.3, 0.03)
        compare(self)
        self.connection.commit()


class OldReader(Worker):
    """Takes a snapshot, and what the views answer in it; asks again in it, with nothing locked meanwhile: the same, or 40001."""

    VIEWS = ("SELECT bucket, host, n, s FROM ten", "SELECT bucket, n, s FROM forty")

    def connect(self):
        super().connect()
        self.later = psycopg2.connect(self.model.options.dsn)
        cursor = self.later.cursor()
        cursor.execute("SET search_path = %s, public; SET lock_timeout = '2s'" % self.model.SCHEMA)
        self.later.commit()

    def turn(self):
        begin = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
        oids = "SELECT 'ten'::regclass::oid, 'forty'::regclass::oid"
        later = self.later.cursor()
        try:
            self.run_sql(begin, LOCK)
            views = self.rows(oids)
            truth = [sorted(self.rows(view)) for view in self.VIEWS]
            snapshot = self.rows("SELECT pg_export_snapshot()")[0][0]
            later.execute(begin)
            later.execute("SET TRANSACTION SNAPSHOT %s", (snapshot,))
            self.connection.commit()
            self.nap(1, 1)
            # the upper one first, as views are dropped
            for number in self.random.choice(((1, 0), (0,), (1,))):
                later.execute(self.VIEWS[number])
                answer = sorted(later.fetchall())
                later.execute(oids)
                if later.fetchall() != views:       # they were made anew
                    break
                self.model.count("old snapshots")
                if answer != truth[number]:
                    self.model.count("different")
                    self.model.example = "old snapshot, %s: %s, then %s" % (
                        self.VIEWS[number], sorted(set(answer) - set(truth[number])), sorted(set(truth[number]) - set(answer)))
                    break
        finally:
            if not self.later.closed:
                self.later.rollback()


class Killer(Worker):
    """Compares, and kills a backend, with which the server goes down and up again."""

    def turn(self):
        self.run_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", LOCK)
        compare(self)
        self.connection.commit()
        self.nap(1, 0.5)
        pids = self.rows("SELECT pid FROM pg_stat_activity WHERE backend_type IN ('client backend', 'checkpointer') AND pid <> pg_backend_pid()")
        self.connection.rollback()
        os.kill(self.random.choice(pids)[0], signal.SIGKILL)
        self.model.count("crashes")
        while True:                 # until it is felt
            self.rows("SELECT pg_sleep(0.01)")


class Model(track_model.Model):
    SCHEMA = "rollup_model"
    SETUP = SETUP

    @property
    def crashes(self):
        return self.options.crash

    def kinds(self):
        refreshers = {"marks": [Refresher] * 2 + [MarkThief], "wait": [Hasty], "haste": [Hasty], None: [Refresher] * 2}
        retention = [Retention] if self.options.without is None else []
        retention += [Killer] if self.options.crash else []
        readers = [Reader] * 2 + ([OldReader] * 2 if self.options.without is None else [])
        return [Writer] * 4 + refreshers[self.options.without] + [Keeper] + readers + retention


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--without", choices=("marks", "wait", "haste"))
    parser.add_argument("--crash", action="store_true")
    sys.exit(Model(parser.parse_args()).run())


if __name__ == "__main__":
    main()
