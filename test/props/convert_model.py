#!/usr/bin/python3
"""test/props/convert_model.py

convert() of a heap table beside everybody: writers change it and a heap twin alike, each his own rows, one transaction a
change of both; readers compare the two in one snapshot; the call that converts is cancelled, killed, gone on with, and
meets tables that were altered meanwhile.  At the end of each round, with all chunks divided, both have the same rows.

    test/props/convert_model.py --dsn "$(tools/server dsn)" --seed 1 --seconds 60

Exits with 1 when rows differed.
"""
import argparse
import random
import sys
import threading
import time

import psycopg2
import psycopg2.errorcodes

HOSTS = 3
RETRY = (psycopg2.errorcodes.SERIALIZATION_FAILURE, psycopg2.errorcodes.DEADLOCK_DETECTED,
         psycopg2.errorcodes.LOCK_NOT_AVAILABLE, psycopg2.errorcodes.QUERY_CANCELED)
SETUP = """
DROP TABLE IF EXISTS m, twin;
CREATE TABLE m (gone int, ts timestamptz NOT NULL, host int NOT NULL, v numeric, note text);
INSERT INTO m SELECT 1, '2026-01-01'::timestamptz + i * interval '5 min', i %% 3, i, repeat('x', i %% 40) FROM generate_series(1, 3000) i;
ALTER TABLE m DROP gone;
CREATE INDEX ON m (ts);
CREATE TABLE twin AS SELECT * FROM m;
"""
DIFFERENT = "SELECT count(*) FROM ((TABLE m EXCEPT ALL TABLE twin) UNION ALL (TABLE twin EXCEPT ALL TABLE m)) d"


class Model:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.counts = {}
        self.failure = ""
        self.lock = threading.Lock()
        self.over = threading.Event()

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def connect(self):
        connection = psycopg2.connect(self.options.dsn)
        connection.autocommit = True
        connection.cursor().execute("SET search_path = convert_model, public; SET client_min_messages = error;"
                                    "SET strata.batch_rows = 50; SET lock_timeout = '5s'; SET timezone = 'UTC'")
        return connection, connection.cursor()

    def change(self, host, rng):
        time_of = "'2026-01-01'::timestamptz + interval '%d min'" % rng.randrange(15000)
        return rng.choice((
            "INSERT INTO {} (ts, host, v, note) VALUES (%s, %d, %d, NULL)" % (time_of, host, rng.randrange(9)),
            "INSERT INTO {} (ts, host, v, note) SELECT ts + interval '1 s', host, -v, NULL FROM {} WHERE host = %d AND ts < %s AND v BETWEEN 0 AND 50 AND note <> ''" % (host, time_of),
            "UPDATE {} SET v = v + 1 WHERE host = %d AND ts BETWEEN %s AND %s + interval '3 h'" % (host, time_of, time_of),
            "UPDATE {} SET ts = ts + interval '1 day' WHERE host = %d AND ts = %s" % (host, time_of),
            "DELETE FROM {} WHERE host = %d AND ts BETWEEN %s AND %s + interval '40 min'" % (host, time_of, time_of)))

    def write(self, host, seed):
        rng = random.Random(seed)
        connection, cursor = self.connect()
        while not self.over.is_set():
            try:
                cursor.execute("BEGIN")
                for _ in range(rng.randrange(1, 4)):
                    sql = self.change(host, rng)
                    savepoint = rng.random() < 0.2
                    if savepoint:
                        cursor.execute("SAVEPOINT s")
                    for table in rng.sample(("m", "twin"), 2):
                        cursor.execute(sql.replace("{}", table))
                    if savepoint and rng.random() < 0.5:
                        cursor.execute("ROLLBACK TO s")
                cursor.execute("COMMIT" if rng.random() < 0.8 else "ROLLBACK")
                self.count("written")
            except psycopg2.Error as error:
                cursor.execute("ROLLBACK")
                if error.pgcode not in RETRY:
                    self.failure = "writer: %s" % error
                self.count("not written")
            time.sleep(rng.random() * 0.02)
        connection.close()

    def read(self, seed):
        rng = random.Random(seed)
        connection, cursor = self.connect()
        while not self.over.is_set():
            try:
                cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1")
                time.sleep(rng.random() * 0.1)
                cursor.execute(DIFFERENT)
                if cursor.fetchone()[0]:
                    self.failure = "a snapshot differs"
                self.count("compared")
            except psycopg2.Error as error:
                if error.pgcode not in RETRY:
                    self.failure = "reader: %s" % error
                self.count("not compared")
            cursor.execute("ROLLBACK")
        connection.close()

    def disturb(self, pid, cursor):
        """Something happens to the call, or to the table."""
        time.sleep(self.random.random() * 0.4)
        what = self.random.choice(("pg_cancel_backend(%d)", "pg_terminate_backend(%d)", None, None, None))
        try:
            if what is not None:
                cursor.execute("SELECT " + what % pid)
                self.count("ended early")
            elif self.random.random() < 0.3:
                cursor.execute(self.random.choice((
                    "ALTER TABLE m ALTER note SET STORAGE EXTENDED", "ANALYZE m", "CREATE INDEX ON m (v)")))
                self.count("altered")
        except psycopg2.Error as error:
            if error.pgcode not in RETRY:
                raise

    def call(self, cursor, **arguments):
        """One call of convert(), which may end in any way."""
        helper, other = self.connect()
        connection, caller = self.connect()
        pid = connection.get_backend_pid()
        thread = threading.Thread(target=self.disturb, args=(pid, other))
        thread.start()
        try:
            caller.execute("CALL strata.convert('m', %s)" % ", ".join("%s => %s" % item for item in arguments.items()))
            self.count("called")
        except psycopg2.Error:
            self.count("failed calls")
        thread.join()
        helper.close()
        connection.close()

    def round(self, cursor):
        cursor.execute(SETUP.replace("%%", "%"))
        self.over.clear()
        threads = [threading.Thread(target=self.write, args=(host, self.random.random())) for host in range(HOSTS)]
        threads += [threading.Thread(target=self.read, args=(self.random.random(),)) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(60):
                self.call(cursor, time_column="'ts'", chunk_time_interval="'1 day'", lock_timeout="'100 ms'",
                          pause="'%d ms'" % self.random.choice((0, 20)), compress=self.random.choice(("true", "true", "false")))
                cursor.execute("SELECT relkind = 'p' AND to_regclass('m_min_chunk') IS NULL FROM pg_class WHERE oid = 'm'::regclass")
                if cursor.fetchone()[0] or self.failure:
                    break
            else:
                self.failure = "sixty calls were not enough"
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        cursor.execute(DIFFERENT)
        if cursor.fetchone()[0]:
            self.failure = "rows differ at the end"
        cursor.execute("SELECT string_agg(v::text, '; ') FROM strata.verify('m') v")
        self.failure = self.failure or cursor.fetchone()[0] or ""
        self.count("rounds")

    def run(self):
        _, cursor = self.connect()
        cursor.execute("CREATE SCHEMA IF NOT EXISTS convert_model")
        end = time.time() + self.options.seconds
        while time.time() < end and not self.failure:
            self.round(cursor)
        cursor.execute("DROP SCHEMA convert_model CASCADE")
        print(", ".join("%s %d" % item for item in sorted(self.counts.items())))
        if self.failure:
            print(self.failure)
        return 1 if self.failure else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    sys.exit(Model(parser.parse_args()).run())


if __name__ == "__main__":
    main()
