#!/usr/bin/python3
"""test/props/track_model.py

The protocol by which rollups are to be exact, over the real tracking (src/track): writers change a hypertable in every
way, a session compresses and decompresses its chunks, refreshers keep sums of ten times each in a table and take marks
away, readers compare in one snapshot what is kept, but for marked tens, with the rows themselves.

    test/props/track_model.py --dsn "$(tools/server dsn)" --seed 1 --seconds 60

Exits with 1 when a snapshot differed.  --without wait, or --without transaction, leaves one protection out, and must
find differences: exit code 0 then means that the test cannot see them.
"""
import argparse
import random
import sys
import threading
import time

import psycopg2
import psycopg2.errorcodes

TEN = 10
TIMES = 400
RETRY = (psycopg2.errorcodes.SERIALIZATION_FAILURE, psycopg2.errorcodes.DEADLOCK_DETECTED,
         psycopg2.errorcodes.LOCK_NOT_AVAILABLE)
CRASH = (None, psycopg2.errorcodes.CRASH_SHUTDOWN, psycopg2.errorcodes.CANNOT_CONNECT_NOW)
SETUP = """
DROP TABLE IF EXISTS raw, kept, state;
CREATE TABLE raw (ts int NOT NULL, host int NOT NULL, v int) USING strata;
SELECT FROM create_hypertable('raw', 'ts', chunk_time_interval => 100);
ALTER TABLE raw SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO raw SELECT i % 400, i % 3, i FROM generate_series(1, 1600) i;
SELECT FROM show_chunks('raw') c, compress_chunk(c);
CREATE TABLE kept (ten int, n bigint, s bigint);
CREATE TABLE state (covered int NOT NULL);
INSERT INTO state VALUES (0);
DELETE FROM _strata.rollup_mark;
"""


class Worker(threading.Thread):
    def __init__(self, model, seed):
        super().__init__(daemon=True)
        self.model = model
        self.random = random.Random(seed)
        self.connect()
        self.start()

    def connect(self):
        self.connection = psycopg2.connect(self.model.options.dsn)
        self.cursor = self.connection.cursor()
        self.run_sql("SET search_path = %s, public" % self.model.SCHEMA, "SET lock_timeout = '2s'", "SET strata.batch_rows = 50",
                     "SET client_min_messages = warning", "SET strata.background_vacuum = off")
        self.connection.commit()

    def connect_again(self):
        """After a crash of the server, as soon as it answers."""
        while time.time() < self.model.stop:
            try:
                self.connect()
                return
            except psycopg2.Error:
                time.sleep(0.1)

    def run_sql(self, *statements):
        for statement in statements:
            self.cursor.execute(statement)

    def rows(self, sql, *args):
        self.cursor.execute(sql, args)
        return self.cursor.fetchall()

    def nap(self, chance, longest):
        if self.random.random() < chance:
            time.sleep(self.random.random() * longest)

    def run(self):
        while time.time() < self.model.stop:
            try:
                self.turn()
            except psycopg2.Error as error:
                if self.model.crashes and error.pgcode in CRASH:
                    self.connect_again()
                    continue
                self.connection.rollback()
                if error.pgcode not in RETRY:
                    self.model.fail("%s: %s" % (type(self).__name__, error))
                self.model.count("deadlocks" if error.pgcode == psycopg2.errorcodes.DEADLOCK_DETECTED else "errors")


def tens_of(ranges):
    return {ten for lo, hi in ranges for ten in range(max(lo, 0) // TEN, min(hi, TIMES - 1) // TEN + 1)}


def compare(worker):
    """What is kept and clean, and the rest from the rows, beside all rows, in the snapshot that stands."""
    covered = worker.rows("SELECT covered FROM state")[0][0]
    dirty = tens_of(worker.rows("SELECT lo, hi FROM _strata.rollup_mark WHERE hypertable = 'raw'::regclass"))
    dirty |= tens_of(worker.rows("SELECT lo, hi FROM _strata.track_pending('raw')"))
    clean = [ten for ten in range(covered // TEN) if ten not in dirty]
    kept = {ten: (n, int(s)) for ten, n, s in worker.rows("SELECT ten, n, s FROM kept WHERE ten = ANY(%s)", clean)}
    truth = {ten: (n, int(s)) for ten, n, s in worker.rows("SELECT ts / 10, count(*), sum(v) FROM raw GROUP BY 1")}
    worker.model.count("compared")
    worker.model.count("served", len(clean))
    for ten in clean:
        if kept.get(ten) != truth.get(ten):
            worker.model.count("different")
            worker.model.example = "ten %d: kept %s, rows %s" % (ten, kept.get(ten), truth.get(ten))
            return


class Writer(Worker):
    compare = staticmethod(compare)
    first = "SELECT"

    def statement(self):
        at, host = self.random.randrange(TIMES), self.random.randrange(3)
        return self.random.choice((
            "INSERT INTO raw VALUES (%d, %d, %d)" % (at, host, self.random.randrange(1000)),
            "INSERT INTO raw SELECT t %% %d, %d, t FROM generate_series(%d, %d) t" % (TIMES, host, at, at + 30),
            "UPDATE raw SET v = v + 1 WHERE ts = %d AND host = %d" % (at, host),
            "UPDATE raw SET ts = (ts + 137) %% %d WHERE ts = %d AND host = %d" % (TIMES, at, host),
            "DELETE FROM raw WHERE ts = %d AND host = %d" % (at, host),
            "DELETE FROM raw WHERE ts BETWEEN %d AND %d AND host = %d" % (at, at + 40, host)))

    def turn(self):
        one_snapshot = self.random.random() < 0.3
        if one_snapshot:
            self.run_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", self.first)
        for _ in range(self.random.randint(1, 4)):
            savepoint = self.random.random() < 0.3
            if savepoint:
                self.run_sql("SAVEPOINT s")
            self.run_sql(self.statement())
            if savepoint:
                self.run_sql("ROLLBACK TO s" if self.random.random() < 0.3 else "RELEASE s")
            self.nap(0.3, 0.02)
        if one_snapshot:
            self.compare(self)
        if self.random.random() < 0.15:
            self.connection.rollback()
        else:
            self.connection.commit()
        self.model.count("writes")


class Compressor(Worker):
    def turn(self):
        self.nap(1, 0.3)
        chunk = self.random.choice(self.rows("SELECT c::text FROM show_chunks('raw') c"))[0]
        self.connection.commit()
        self.run_sql(self.random.choice((
            "SELECT compress_chunk('%s', if_not_compressed => true)", "SELECT compress_chunk('%s', recompress => true)",
            "SELECT decompress_chunk('%s', if_compressed => true)")) % chunk)
        self.connection.commit()
        self.model.count("compressions")


class Refresher(Worker):
    def turn(self):
        covered = None
        self.nap(1, 0.03)
        if self.random.random() < 0.3:
            covered = (self.random.randrange(TIMES) // TEN + 1) * TEN
            self.run_sql("SELECT _strata.track('raw', 0, %d)" % (covered - 1))
            self.connection.commit()
            if self.model.options.without != "wait":
                self.run_sql("SET lock_timeout = 0", "SELECT _strata.track_wait('raw')", "SET lock_timeout = '2s'")
                self.connection.commit()
        self.run_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                     "LOCK TABLE kept IN SHARE UPDATE EXCLUSIVE MODE")    # and only now a snapshot
        before = self.rows("SELECT covered FROM state")[0][0]
        marks = self.rows("SELECT ctid::text, lo, hi FROM _strata.rollup_mark WHERE hypertable = 'raw'::regclass")
        marks = [mark for mark in marks if self.random.random() < 0.7]
        todo = tens_of((lo, hi) for _, lo, hi in marks)
        if covered is not None and covered > before:
            todo |= set(range(before // TEN, covered // TEN))
        if todo:
            self.cursor.execute("DELETE FROM kept WHERE ten = ANY(%s)", (list(todo),))
            self.cursor.execute("INSERT INTO kept SELECT ts / 10, count(*), sum(v) FROM raw WHERE ts / 10 = ANY(%s) GROUP BY 1",
                                (list(todo),))
            self.nap(0.3, 0.03)
        if marks:
            self.take_away([mark[0] for mark in marks])
        # whoever refreshes under an older snapshot fails
        self.run_sql("UPDATE state SET covered = greatest(covered, %d)" % (covered or 0))
        if self.random.random() < 0.1:
            self.connection.rollback()
        else:
            self.connection.commit()
        self.model.count("refreshes")

    def take_away(self, marks):
        sql = "DELETE FROM _strata.rollup_mark WHERE ctid = ANY(%s::tid[])"
        if self.model.options.without != "transaction":
            self.cursor.execute(sql, (marks,))
            return
        other = psycopg2.connect(self.model.options.dsn)
        other.autocommit = True
        other.cursor().execute(sql, (marks,))
        other.close()


class Reader(Worker):
    def turn(self):
        self.run_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        compare(self)
        self.nap(0.3, 0.03)
        compare(self)
        self.connection.commit()


class Model:
    SCHEMA = "track_model"
    SETUP = SETUP
    crashes = False

    def kinds(self):
        return [Writer] * 4 + [Refresher] * 2 + [Compressor] + [Reader] * 2

    def __init__(self, options):
        self.options = options
        self.counts = {"compared": 0, "served": 0, "different": 0}
        self.example = ""
        self.failure = ""
        self.lock = threading.Lock()
        self.stop = 0

    def count(self, what, n=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + n

    def fail(self, text):
        self.failure = text
        self.stop = 0

    def run(self):
        connection = psycopg2.connect(self.options.dsn)
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute("CREATE SCHEMA IF NOT EXISTS %s" % self.SCHEMA)
        cursor.execute("SET search_path = %s, public; SET client_min_messages = warning; SET strata.batch_rows = 50"
                       % self.SCHEMA)
        cursor.execute(self.SETUP)
        self.stop = time.time() + self.options.seconds
        seed = self.options.seed * 100
        workers = [kind(self, seed + i) for i, kind in enumerate(self.kinds())]
        for worker in workers:
            worker.join()
        if self.crashes:
            self.stop = time.time() + 60
            workers[0].connect_again()
            workers[0].connection.autocommit = True
            cursor = workers[0].cursor
        cursor.execute("DROP SCHEMA %s CASCADE" % self.SCHEMA)
        print(", ".join("%s %d" % item for item in sorted(self.counts.items())))
        if self.failure:
            print(self.failure)
        if self.counts["different"]:
            print("first difference: " + self.example)
        return 1 if self.failure or self.counts["different"] else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--without", choices=("wait", "transaction"))
    sys.exit(Model(parser.parse_args()).run())


if __name__ == "__main__":
    main()
