"""test/props/runner.py

Runs actions on the heap and on the strata side, compares what comes back, and
shrinks a failing list of actions.
"""
import collections
import decimal
import io
import math
import time

import psycopg2
import psycopg2.extensions

FLOATS = (700, 701)
NUMERIC = 1700
EXACT = decimal.Context(prec=200000)     # digits: more than a numeric has
SCHEMAS = {"heap": "hp", "strata": "st"}
HASH = "SELECT count(*), sum(hashtextextended(a::text, 0)::numeric) FROM %s AS a"

# A step of strata alone may only fail because the transaction had failed, or because
# batches whose order a change of type has undone are read by an old snapshot.
ALLOWED_ALONE = {"25P02"}
BUSY = ("55P03", "while they are being read")


class Difference(Exception):
    """The two sides differ; `statement` is the SQL after which they did, and
    `sort` what remains the same when the case is shrunk."""

    def __init__(self, what, statement="", sort=()):
        super().__init__(what)
        self.what = what
        self.statement = statement
        self.sort = tuple(sort)


def _raw(value, _cursor):
    return value


def connect(dsn):
    connection = psycopg2.connect(dsn, options="-c statement_timeout=60000 -c lock_timeout=20000 -c jit=off "
                                               "-c client_min_messages=error -c timezone=UTC -c extra_float_digits=1")
    connection.autocommit = True
    # every value as the server's text
    for oid in list(psycopg2.extensions.string_types):
        psycopg2.extensions.register_type(psycopg2.extensions.new_type((oid,), "raw%d" % oid, _raw), connection)
    return connection


def canonical(oid, text):
    """Numbers that are equal look equal: -0 and 0, 1.0 and 1.00."""
    if text is None:
        return None
    if oid in FLOATS:
        value = float(text)
        return "NaN" if math.isnan(value) else value + 0.0
    if oid == NUMERIC and text not in ("NaN", "Infinity", "-Infinity"):
        return decimal.Decimal(text)
    return text


def close(left, right):
    """Two rows, but for the last digits of floats."""
    for a, b in zip(left, right):
        if isinstance(a, float) and isinstance(b, float):
            if not math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6):
                return False
        elif a != b:
            return False
    return len(left) == len(right)


def _sort_key(row):
    """What must be equal first: floats that are only close do not part rows that belong together."""
    exact, floats = [], []
    for value in row:
        if isinstance(value, float):
            floats.append(value)
            value = ""
        elif isinstance(value, decimal.Decimal):
            value = value.normalize(EXACT)
        exact.append((type(value).__name__, str(value)))
    return exact, floats


def same_rows(left, right, ordered):
    if ordered:
        return len(left) == len(right) and all(close(a, b) for a, b in zip(left, right))
    if collections.Counter(left) == collections.Counter(right):
        return True
    if len(left) != len(right):
        return False
    return all(close(a, b) for a, b in zip(sorted(left, key=_sort_key), sorted(right, key=_sort_key)))


def describe(outcome):
    kind, detail = outcome[0], outcome[1:]
    if kind == "error":
        return "error %s: %s" % detail
    count, rows = detail
    if rows is None:
        return "%s rows affected" % count
    return "%d rows%s" % (len(rows), "".join("\n        %r" % (r,) for r in rows[:5]))


def show_difference(heap, strata):
    """What is in one multiset of rows and not in the other."""
    left, right = collections.Counter(heap), collections.Counter(strata)
    lines = ["    only heap:   %r" % (r,) for r in list((left - right).elements())[:5]]
    lines += ["    only strata: %r" % (r,) for r in list((right - left).elements())[:5]]
    return "\n".join(lines)


def minimal(items, fails, end):
    """A shorter list that still fails (delta debugging); stops at time `end`."""
    chunk = max(1, len(items) // 2)
    while time.time() < end:
        start, removed = 0, False
        while start < len(items) and time.time() < end:
            fewer = items[:start] + items[start + chunk:]
            if fewer and fails(fewer):
                items, removed = fewer, True
            else:
                start += chunk
        if chunk == 1 and not removed:
            break
        chunk = max(1, chunk // 2)
    return items


class Runner:
    def __init__(self, dsn, method="strata"):
        self.dsn = dsn
        self.method = method        # of the tables beside heap's
        self.connection = connect(dsn)
        self.counts = {}            # table -> rows at the last comparison
        self.last = ""

    # --- one statement ---------------------------------------------------

    def sql_for(self, statement, side):
        """Fill in the tables' names; braces elsewhere stay as they are."""
        sql = statement.sql if hasattr(statement, "sql") else statement
        schema = SCHEMAS[side]
        for number in range(10):
            sql = sql.replace("{t%d}" % number, "%s.t%d" % (schema, number))
        return sql.replace("{am}", "heap" if side == "heap" else self.method).replace("{schema}", schema)

    def execute(self, sql, copy=None, connection=None):
        """("ok", count, rows or None) or ("error", sqlstate, message)."""
        self.last = sql
        connection = connection or self.connection
        with connection.cursor() as cursor:
            try:
                if copy is not None:
                    cursor.copy_expert(sql, io.StringIO(copy))
                else:
                    cursor.execute(sql)
            except psycopg2.Error as error:
                if connection.closed or error.pgcode is None or error.pgcode in ("57P01", "57P02", "57P03"):
                    raise Difference("the server crashed or closed the connection: %s" % error, sql, ["crash"])
                return ("error", error.pgcode, str(error).strip())
            if cursor.description is None:
                return ("ok", cursor.rowcount, None)
            oids = [column.type_code for column in cursor.description]
            rows = [tuple(canonical(o, v) for o, v in zip(oids, row)) for row in cursor.fetchall()]
            return ("ok", cursor.rowcount, rows)

    def must(self, sql):
        outcome = self.execute(sql)
        if outcome[0] == "error":
            raise Difference("could not run: %s" % outcome[2], sql)
        return outcome[2]

    def end_transaction(self):
        if self.connection.info.transaction_status != psycopg2.extensions.TRANSACTION_STATUS_IDLE:
            self.must("ROLLBACK")

    # --- actions ---------------------------------------------------------

    def reset(self):
        """Empty schemas, settings as at the start."""
        if self.connection.closed:
            self.reconnect()
        self.end_transaction()
        for gid, in self.must("SELECT gid FROM pg_prepared_xacts WHERE database = current_database() AND gid ~ '^p[0-9]+_'"):
            self.must("ROLLBACK PREPARED '%s'" % gid)
        self.must("RESET ALL")
        self.must("DEALLOCATE ALL")
        for schema in SCHEMAS.values():
            self.must("DROP SCHEMA IF EXISTS %s CASCADE" % schema)
            self.must("CREATE SCHEMA %s" % schema)
            self.must("CREATE TABLE %s.audit (t text, op text, id int)" % schema)
        self.counts = {}

    def reconnect(self, seconds=60):
        """After a crash: wait for the server to be back."""
        end = time.time() + seconds
        while True:
            try:
                self.connection = connect(self.dsn)
                return
            except psycopg2.OperationalError:
                if time.time() > end:
                    raise
                time.sleep(0.2)

    def run(self, action):
        """Run the statements on heap, then on strata, and compare; returns
        whether all went well (on both)."""
        outcomes = {"heap": [], "strata": []}
        watch = self.open_snapshot(action) if action.kind == "old snapshot" else None
        try:
            for side in ("heap", "strata"):
                for statement in action.statements:
                    outcomes[side].append(self.run_statement(statement, side, outcomes["heap"]))
                self.end_transaction()
            well = True
            for statement, heap, strata in zip(action.statements, outcomes["heap"], outcomes["strata"]):
                well = self.judge(statement, heap, strata, watch is not None) and well
            if watch:
                self.check_snapshot(watch)
        finally:
            if watch:
                watch[0].close()
        for name in action.touches:
            self.compare(name)
        return well

    def run_statement(self, statement, side, heap_outcomes):
        if statement.side == "strata" and side == "heap":
            return None
        if statement.side == "session" and side == "strata":
            return heap_outcomes[0]
        return self.execute(self.sql_for(statement, side), statement.copy)

    def judge(self, statement, heap, strata, watched=False):
        """Compare two outcomes; true when neither is an error.  `watched`: an old
        snapshot of another session was open."""
        sql = self.sql_for(statement, "strata")
        if statement.side == "session":
            return True
        if statement.side == "strata":
            busy = strata[0] == "error" and watched and strata[1] == BUSY[0] and BUSY[1] in strata[2]
            if strata[0] == "error" and strata[1] not in ALLOWED_ALONE and not busy:
                raise Difference("strata fails where heap has nothing to do: %s" % describe(strata), sql,
                                 ["alone", strata[1]])
            if strata[0] == "ok" and "must be empty" in statement.sql and strata[2]:
                raise Difference("verify found damage: %s" % describe(strata), sql, ["verify"])
            return strata[0] == "ok"
        if heap[0] != strata[0] or (heap[0] == "error" and heap[1] != strata[1]):
            raise Difference("outcomes differ\n    heap:   %s\n    strata: %s" % (describe(heap), describe(strata)), sql,
                             ["outcome", heap[1] if heap[0] == "error" else "", strata[1] if strata[0] == "error" else ""])
        if heap[0] == "error":
            return False
        if heap[2] is not None:
            if not same_rows(heap[2], strata[2], statement.ordered):
                raise Difference("rows differ (%d, %d)%s\n%s" % (
                    len(heap[2]), len(strata[2]), " or their order does" if statement.ordered else "",
                    show_difference(heap[2], strata[2])), sql, ["rows"])
        elif heap[1] != strata[1]:
            raise Difference("heap says %d rows, strata %d" % (heap[1], strata[1]), sql, ["rows"])
        return True

    def compare(self, name):
        """The whole table, bit for bit by its text; and the audit of triggers."""
        both = [self.execute(HASH % ("%s.%s" % (schema, name))) for schema in SCHEMAS.values()]
        statement = self.last
        if [o[0] for o in both] == ["error", "error"]:
            return              # no such table: a case being shrunk
        if both[0] != both[1]:
            rows = [self.execute("SELECT a::text FROM %s.%s AS a" % (schema, name)) for schema in SCHEMAS.values()]
            detail = show_difference(rows[0][2], rows[1][2]) if rows[0][0] == rows[1][0] == "ok" else ""
            raise Difference("table %s differs: %s in heap, %s in strata\n%s" % (
                name, describe(both[0]), describe(both[1]), detail), statement,
                ["table"] + [o[1] for o in both if o[0] == "error"])
        self.counts[name] = int(both[0][2][0][0])

    def compare_audit(self):
        self.compare("audit")

    # --- old snapshots ---------------------------------------------------

    def open_snapshot(self, action):
        connection = connect(self.dsn)
        self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ", connection=connection)
        table = "st." + action.statements[0].sql.split("{")[1].split("}")[0]
        return (connection, table, self.execute(HASH % table, connection=connection))

    def check_snapshot(self, watch):
        connection, table, before = watch
        after = self.execute(HASH % table, connection=connection)
        if before != after:
            raise Difference("an old snapshot sees something else than before: %s, then %s" % (
                describe(before), describe(after)), HASH % table, ["snapshot"])

    # --- shrinking -------------------------------------------------------

    def fails(self, actions, sort):
        """Does this list of actions end in a difference of that sort?"""
        try:
            self.reset()
            for action in actions:
                self.run(action)
            self.compare_audit()
        except Difference as difference:
            return difference.sort == sort
        return False

    def shrink(self, actions, sort, seconds):
        """Leave out what the difference does not need: actions, then
        statements in them, then rows of COPY."""
        end = time.time() + seconds
        actions = minimal(actions, lambda fewer: self.fails(fewer, sort), end)
        for i, action in enumerate(actions):
            def with_action(changed):
                return actions[:i] + [changed] + actions[i + 1:]
            if len(action.statements) > 1:
                statements = minimal(action.statements, lambda fewer: self.fails(
                    with_action(action.with_statements(fewer)), sort), end)
                actions = with_action(action.with_statements(statements))
                action = actions[i]
            for j, statement in enumerate(action.statements):
                if statement.copy:
                    def with_rows(rows):
                        changed = action.statements[:j] + [statement.with_copy("".join(rows))] + action.statements[j + 1:]
                        return with_action(action.with_statements(changed))
                    rows = minimal(statement.copy.splitlines(True), lambda fewer: self.fails(with_rows(fewer), sort), end)
                    actions = with_rows(rows)
                    action = actions[i]
        return actions

    def script(self, actions):
        """The actions as SQL for psql: each on heap, then on strata."""
        lines = ["\\set ON_ERROR_STOP off", "DROP SCHEMA IF EXISTS hp, st CASCADE;", "CREATE SCHEMA hp;",
                 "CREATE SCHEMA st;"]
        lines += ["CREATE TABLE %s.audit (t text, op text, id int);" % s for s in SCHEMAS.values()]
        for action in actions:
            lines.append("-- %s" % action.kind)
            for side in ("heap", "strata"):
                for statement in action.statements:
                    if statement.side not in (None, "session" if side == "heap" else "strata"):
                        continue
                    lines.append(self.sql_for(statement, side) + ";")
                    if statement.copy is not None:
                        lines.append(statement.copy + "\\.")
        tables = sorted({name for action in actions for name in action.touches})
        for name in tables:
            lines.append("(SELECT a::text FROM hp.%s AS a EXCEPT ALL SELECT a::text FROM st.%s AS a) UNION ALL "
                         "(SELECT a::text FROM st.%s AS a EXCEPT ALL SELECT a::text FROM hp.%s AS a);" % ((name,) * 4))
        return "\n".join(lines) + "\n"
