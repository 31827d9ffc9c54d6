#!/usr/bin/python3
"""test/props/concurrent.py

Random schedules of several sessions, on a heap table and on its strata twin,
the same steps in the same order; see README.md.  Every step's answer, rows,
SQLSTATE and whether it waited, must be heap's, and so must the table at the end.

    test/props/concurrent.py --dsn "$(tools/server dsn)" --seed 1 --runs 500

Exits with 1 at the first schedule that differs, after printing it; run N of
seed S is always the same (--seed S --first N --runs 1).
"""
import argparse
import queue
import random
import sys
import threading
import time

import psycopg2
import psycopg2.extensions

ROWS = 40

# Told apart from heap by design: what compression moved cannot be changed under
# an older snapshot, and SERIALIZABLE sees conflicts by batch instead of by row.
MOVED = ("concurrent compression", "compressed or decompressed concurrently", "due to concurrent update",
         "read/write dependencies")


class Session(threading.Thread):
    """A connection that runs one statement at a time, and can be seen waiting."""

    def __init__(self, dsn, name, schema, settings):
        super().__init__(daemon=True)
        self.connection = psycopg2.connect(dsn)
        self.connection.autocommit = True
        self.name = name
        self.pid = self.connection.get_backend_pid()
        self.work = queue.Queue()
        self.done = threading.Event()
        self.done.set()
        self.answer = None
        self.moved = False
        self.run_now("SET search_path = %s, public" % schema)
        self.run_now("SET deadlock_timeout = '30ms'")
        for setting in settings:
            self.run_now("SET %s" % setting)
        self.start()

    def run_now(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)

    def run(self):
        while True:
            sql = self.work.get()
            if sql is None:
                return
            self.answer = self.execute(sql)
            self.done.set()

    def execute(self, sql):
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(sql)
                rows = cursor.fetchall() if cursor.description else []
                return "%s %s" % (cursor.statusmessage, rows)
        except psycopg2.Error as error:
            text = str(error).strip().split("\n")[0]
            self.moved = error.pgcode == "40001" and any(part in text for part in MOVED)
            if error.pgcode is None or error.pgcode.startswith("XX"):
                return "INTERNAL %s %s" % (error.pgcode, text)
            return "error %s" % error.pgcode

    def send(self, sql):
        self.answer = None
        self.done.clear()
        self.work.put(sql)

    @property
    def idle(self):
        return self.done.is_set()

    @property
    def status(self):
        return self.connection.info.transaction_status

    def close(self):
        self.work.put(None)
        self.join(5)
        self.connection.close()


class Side:
    """All sessions of one twin."""

    def __init__(self, dsn, schema, method, count, plan, settings):
        self.schema, self.method, self.plan = schema, method, plan
        self.control = psycopg2.connect(dsn)
        self.control.autocommit = True
        self.must("SET client_min_messages = error")
        self.must("DROP SCHEMA IF EXISTS %s CASCADE" % schema)
        self.must("CREATE SCHEMA %s" % schema)
        self.must("SET search_path = %s, public" % schema)
        for sql in plan.setup(method):
            self.must(sql)
        self.sessions = [Session(dsn, "s%d" % (i + 1), schema, settings) for i in range(count)]
        self.log = []

    def must(self, sql):
        with self.control.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def settled(self, session):
        """Done, or known to wait for another of us."""
        if session.idle:
            return True
        pids = [s.pid for s in self.sessions]
        blocked = self.must("SELECT pg_isolation_test_session_is_blocked(%d, ARRAY%s)" % (session.pid, pids))[0][0]
        return blocked or session.idle

    def settle(self, fresh=None):
        """Until each session is idle or waits, twice in a row."""
        end = time.time() + 30
        calm = 0
        while calm < 2:
            calm = calm + 1 if all([self.settled(s) for s in self.sessions]) else 0
            if time.time() > end:
                raise RuntimeError("sessions do not come to rest")
            time.sleep(0.002)
        # so that the last to wait is the one to find a deadlock
        if fresh and not fresh.idle:
            time.sleep(0.08)
            self.settle()

    def collect(self, waiting):
        """Answers of sessions that were waiting and are not any more."""
        for session in sorted(waiting, key=lambda s: s.name):
            if session.idle:
                waiting.remove(session)
                self.log.append("%s goes on: %s" % (session.name, session.answer))

    def maintain(self, sql):
        """Strata's own steps: not while somebody writes, and nothing to compare."""
        if self.method != "strata":
            return
        try:
            # VACUUM FREEZE waits for who waits with a page in hand, as on heap
            self.must("SET lock_timeout = '20ms'; SET statement_timeout = '3s'")
            self.must(sql)
            self.log.append("-- " + sql)
        except psycopg2.Error as error:
            if error.pgcode not in ("55P03", "40001", "57014"):
                self.log.append("-- %s: %s" % (sql, error))
                raise
        self.must("RESET statement_timeout")

    def close(self):
        for session in self.sessions:
            if session.idle:
                session.close()
            else:
                with self.control.cursor() as cursor:
                    cursor.execute("SELECT pg_terminate_backend(%d)" % session.pid)
        self.control.close()


class Plan:
    """Random tables and steps; the same numbers are drawn for both sides."""

    def __init__(self, rng, isolation):
        self.rng = rng
        self.isolation = isolation
        self.segmented = rng.random() < 0.5
        self.keyed = rng.random() < 0.8
        self.prelude = [self.change(0) for _ in range(rng.choice([0, 0, 3]))]
        self.batch_rows = rng.choice([10, 20, 1000])
        self.hot = [rng.randrange(1, ROWS + 1) for _ in range(rng.choice([1, 2, 4]))]

    def setup(self, method):
        yield "CREATE TABLE t (id int%s, k int, v int NOT NULL, pad text) USING %s" % (
            " PRIMARY KEY" if self.keyed else "", method)
        yield "CREATE INDEX ON t (k)"
        if method == "strata":
            yield "ALTER TABLE t SET (%sstrata.orderby = 'id')" % ("strata.segmentby = 'k', " if self.segmented else "")
            yield "SET strata.batch_rows = %d" % self.batch_rows
            yield "SET strata.background_vacuum = off"
        yield "INSERT INTO t SELECT i, i %% 3, 0, repeat('x', 200) FROM generate_series(1, %d) i" % ROWS
        if method == "strata":
            yield "SELECT compress_chunk('t')"
        for sql in self.prelude:
            if "ON CONFLICT" not in sql and not sql.startswith("INSERT"):
                yield sql

    def id(self):
        return self.rng.choice(self.hot) if hasattr(self, "hot") and self.rng.random() < 0.8 else self.rng.randrange(1, ROWS + 3)

    def change(self, number):
        """One statement that writes at most one row, or rows in the order of id.  (No DO NOTHING: it moves
        the compressed row it meets, so it locks it, which it would not on heap.)"""
        rng, row = self.rng, self.id()
        kinds = ["add", "add", "add", "if", "delete", "key", "sub", "many", "manydel", "case", "merge", "toast", "cte"]
        if self.keyed:
            kinds += ["insert", "upsert", "upsert"]
        kind = rng.choice(kinds)
        n = rng.randrange(1, 100)
        return {
            "add": "UPDATE t SET v = v + %d WHERE id = %d RETURNING id, v" % (n, row),
            "if": "UPDATE t SET v = v + %d WHERE id = %d AND v < 100 RETURNING id, v" % (n, row),
            "delete": "DELETE FROM t WHERE id = %d RETURNING id, v" % row,
            "key": "UPDATE t SET id = id + 100 WHERE id = %d RETURNING id, v" % row,
            "sub": "UPDATE t SET v = v + 1 WHERE id = (SELECT min(id) FROM t WHERE id >= %d) RETURNING id, v" % row,
            "many": "WITH x AS MATERIALIZED (SELECT id FROM t WHERE id BETWEEN %d AND %d ORDER BY id FOR UPDATE) "
                    "UPDATE t SET v = t.v + %d FROM x WHERE x.id = t.id" % (row, row + 3, n),
            "manydel": "WITH x AS MATERIALIZED (SELECT id FROM t WHERE id BETWEEN %d AND %d ORDER BY id FOR UPDATE) "
                       "DELETE FROM t USING x WHERE x.id = t.id" % (row, row + 1),
            "case": "UPDATE t SET k = k + 1, v = %d WHERE id = %d AND k IS NOT NULL RETURNING id, k, v" % (n, row),
            "merge": "MERGE INTO t USING (VALUES (%d)) s (id) ON t.id = s.id WHEN MATCHED AND t.v > 50 THEN DELETE "
                     "WHEN MATCHED THEN UPDATE SET v = t.v + %d" % (row, n),
            "toast": "UPDATE t SET pad = repeat('y', %d) WHERE id = %d RETURNING id, v" % (n * 20, row),
            "cte": "WITH d AS (DELETE FROM t WHERE id = %d RETURNING *) SELECT id, v FROM d" % row,
            "insert": "INSERT INTO t VALUES (%d, 1, %d, 'new')" % (row, n),
            "upsert": "INSERT INTO t VALUES (%d, 1, %d, 'new') ON CONFLICT (id) DO UPDATE SET v = t.v + excluded.v "
                      "RETURNING id, v" % (row, n),
        }[kind]

    def read(self):
        rng, row = self.rng, self.id()
        lock = rng.choice(["UPDATE", "UPDATE", "NO KEY UPDATE", "SHARE", "SHARE"])
        wait = rng.choice(["", "", " NOWAIT", " SKIP LOCKED"])
        return rng.choice([
            "SELECT id, v FROM t WHERE id = %d FOR %s%s" % (row, lock, wait),
            "SELECT id, v FROM t WHERE id BETWEEN %d AND %d ORDER BY id FOR %s%s" % (row, row + 3, lock, wait),
            "SELECT id, k, v, length(pad) FROM t WHERE id = %d" % row,
            "SELECT count(*), sum(id), sum(v) FROM t",
            "SELECT k, count(*), sum(v), max(id) FROM t GROUP BY k ORDER BY k",
            "SELECT id, v FROM t WHERE v > 0 ORDER BY id, v",
        ])

    def step(self, session):
        """A statement for a session in its present state, and how it changes its state."""
        rng = self.rng
        inside = session.status
        if inside == psycopg2.extensions.TRANSACTION_STATUS_INERROR:
            if getattr(session, "saved", False) and rng.random() < 0.6:
                return "ROLLBACK TO a"
            return "ROLLBACK"
        if inside == psycopg2.extensions.TRANSACTION_STATUS_IDLE:
            session.saved = session.cursor_open = False
            if rng.random() < 0.7:
                return "BEGIN ISOLATION LEVEL %s" % self.isolation
            return self.change(0) if rng.random() < 0.7 else self.read()
        draw = rng.random()
        if draw < 0.12:
            return "COMMIT"
        if draw < 0.17:
            return "ROLLBACK"
        if draw < 0.25:
            session.saved = True
            return "SAVEPOINT a"
        if draw < 0.33 and getattr(session, "saved", False):
            return rng.choice(["ROLLBACK TO a", "ROLLBACK TO a", "RELEASE a; SAVEPOINT a"])
        if draw < 0.36 and not getattr(session, "cursor_open", False) and not session.saved:
            session.cursor_open = True
            return "DECLARE c CURSOR FOR SELECT id, v FROM t WHERE id BETWEEN %d AND %d ORDER BY id" % (self.id(), ROWS)
        if draw < 0.45 and getattr(session, "cursor_open", False):
            return rng.choice(["FETCH c", "FETCH 5 FROM c"])
        if draw < 0.75:
            return self.change(0)
        return self.read()

    def maintenance(self):
        return self.rng.choice(["SELECT compress_chunk('t')", "SELECT compress_chunk('t', recompress => true)",
                                "SELECT decompress_chunk('t', if_compressed => true)", "VACUUM t", "VACUUM (FREEZE) t"])


def play(side, plan, steps, maintain):
    """Run the schedule on one side; what happened is in side.log."""
    rng = plan.rng
    waiting = []
    for _ in range(steps):
        if rng.random() < maintain:
            sql = plan.maintenance()
            side.maintain(sql)
            continue
        idle = [s for s in side.sessions if s.idle]
        session = rng.choice(idle)
        sql = plan.step(session)
        session.send(sql)
        side.settle(session)
        if session.idle:
            side.log.append("%s: %s: %s" % (session.name, sql, session.answer))
        else:
            side.log.append("%s: %s: waits" % (session.name, sql))
        side.collect(waiting)
        if not session.idle:
            waiting.append(session)
        # the order in which several waiters of one row go on is nobody's promise
        if len(waiting) > 1 or any(s.moved for s in side.sessions):
            return False
    for _ in range(len(side.sessions) + 1):
        for session in side.sessions:
            if session.idle and session.status != psycopg2.extensions.TRANSACTION_STATUS_IDLE:
                session.send("COMMIT")
                side.settle()
                side.log.append("%s: COMMIT: %s" % (session.name, session.answer))
                side.collect(waiting)
                if any(s.moved for s in side.sessions):
                    return False
    side.log.append("table: %s" % side.must("SELECT id, k, v, md5(pad) FROM t ORDER BY 1, 2, 3, 4"))
    if plan.keyed:
        side.log.append("by index: %s" % side.must("SELECT count(*), count(DISTINCT id) FROM t WHERE id > 0"))
    return True


def one(options, number):
    """One schedule on both sides; the two logs."""
    logs, ends = [], []
    rng = random.Random("%d.%d" % (options.seed, number))
    isolation = rng.choice(["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
    settings = rng.choice([[], [], ["enable_seqscan = off"], ["enable_indexscan = off", "enable_bitmapscan = off"]])
    count, maintain = rng.choice([2, 2, 3]), rng.choice([0, 0, 0.1])
    for schema, method in (("twin_heap", "heap"), ("twin_strata", "strata")):
        plan = Plan(random.Random("%d.%d.plan" % (options.seed, number)), isolation)
        mine = list(settings)
        if method == "strata" and number % 3 == 0:
            mine += ["strata.enable_scan = off"]
        if number % 2 == 0:
            # batches do not stay decoded
            mine += ["work_mem = '64kB'"]
        side = Side(options.dsn, schema, method, count, plan, mine)
        try:
            ends.append(play(side, plan, options.steps, maintain))
            if method == "strata" and ends[-1]:
                faults = side.must("SELECT * FROM strata.verify('t')")
                if faults:
                    side.log.append("verify: %s" % faults)
        finally:
            side.close()
        logs.append([line for line in side.log if not line.startswith("--")] if method == "heap" else side.log)
    return isolation, settings, maintain, logs, ends


def compare(isolation, maintain, logs, ends):
    """The first line that differs, or None; and whether that is by design."""
    strata = [line for line in logs[1] if not line.startswith("--")]
    for line, (ours, theirs) in enumerate(zip(strata, logs[0])):
        if ours != theirs:
            by_design = ours.endswith("error 40001") and not ends[1] and (maintain > 0 or isolation == "SERIALIZABLE")
            by_design |= isolation == "SERIALIZABLE" and not ends[0] and theirs.endswith("error 40001")
            return line, by_design
    if len(strata) != len(logs[0]):
        # both failed with 40001, only ours with a text that ends the schedule
        return min(len(strata), len(logs[0])), not all(ends)
    return None, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seconds", type=int, help="stop after that time")
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--keep-going", action="store_true")
    options = parser.parse_args()
    steps = by_design = differ = 0
    end = time.time() + (options.seconds or 1e9)
    for number in range(options.first, options.first + options.runs):
        if time.time() > end:
            number -= 1
            break
        isolation, settings, maintain, logs, ends = one(options, number)
        line, allowed = compare(isolation, maintain, logs, ends)
        steps += len(logs[1])
        if allowed:
            by_design += 1
        elif line is not None or any("INTERNAL" in text for text in logs[1]):
            differ += 1
            print("seed %d run %d (%s, %s) differs:" % (options.seed, number, isolation, ", ".join(settings)))
            print("\n".join(logs[1][:line + 1 + sum(l.startswith("--") for l in logs[1])] if line is not None else logs[1]))
            print("heap:   " + (logs[0][line] if line is not None and line < len(logs[0]) else "-"))
            if not options.keep_going:
                break
    print("%d schedules, %d steps, %d ended where strata may differ, %d differ" %
          (number + 1 - options.first, steps, by_design, differ))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
