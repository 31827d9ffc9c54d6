#!/usr/bin/env python3
"""test/damage/damage.py

A superuser can write anything into a companion.  This does: it damages one
value of one batch row or row entry in a random way, runs statements that read,
change and maintain the table, takes the damage back, and goes on; see README.md.

    /usr/bin/python3 test/damage/damage.py --dsn "..." --seed 7 --rounds 500

A finding is printed as the statement that damages and the one that failed;
seed and round make it again.  Ends with the line "N rounds, M findings".
"""
import argparse
import collections
import random
import sys

import psycopg2
import psycopg2.extensions

# a forged numeric is shown as whatever it is
psycopg2.extensions.register_type(psycopg2.extensions.new_type((1700,), "numeric", lambda value, cursor: value))

TABLE = "damaged"

SETUP = """
DROP TABLE IF EXISTS damaged;
CREATE TABLE damaged (id int PRIMARY KEY, host text COLLATE "C" NOT NULL, ts timestamptz, small int2, big int8,
    f4 float4, f8 float8, flag bool, day date, label text, doc jsonb, amount numeric, list int[], raw bytea, gone int) USING strata;
ALTER TABLE damaged SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
SET strata.batch_rows = %d;
INSERT INTO damaged SELECT i, 'h' || i %% 3, '2026-01-01'::timestamptz + i * interval '1 min',
    nullif(i %% 100, 7), i * 1000003::int8, (i %% 50) / 4.0, CASE i %% 9 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' ELSE i / 3.0 END,
    i %% 5 = 0, '2026-01-01'::date + i, nullif(repeat(md5((i %% 40)::text), i %% 4), ''),
    jsonb_build_object('i', i %% 13, 'a', array[1, 2, NULL]), (i %% 77 / 10.0)::numeric, array[i, NULL, i + 1],
    decode(md5(i::text), 'hex'), i
    FROM generate_series(1, %d) i;
ALTER TABLE damaged DROP COLUMN gone;
SELECT compress_chunk('damaged');
ALTER TABLE damaged ADD COLUMN extra int DEFAULT 42;
INSERT INTO damaged (id, host, ts) SELECT i, 'h1', '2026-02-01' FROM generate_series(100001, 100020) i;
UPDATE damaged SET big = 0 WHERE id = 5;
DELETE FROM damaged WHERE id = 8 OR host = 'h2' AND id > 800;
SELECT id FROM damaged WHERE id = 11 FOR UPDATE;
"""

# Answers of the first group do not depend on what happens to other rows.
READS = (
    "SELECT count(*) FROM damaged",
    "SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM damaged t",
    "SELECT count(*), sum(id), min(ts), max(ts) FROM damaged WHERE host = 'h1' AND ts > '2026-01-01 05:00+0'",
    "SELECT id FROM damaged ORDER BY ts DESC, id LIMIT 7",
    "SELECT id, big, md5(label) FROM damaged WHERE id = 77",
    "SELECT host, count(label), avg(small), max(f8), sum(amount) FROM damaged GROUP BY host ORDER BY host",
    "SELECT count(*) FROM damaged WHERE label LIKE 'c%' AND f4 > 3 AND flag",
    "SELECT id FROM damaged WHERE day BETWEEN '2026-02-01' AND '2026-02-03' AND list @> array[35] ORDER BY id",
    "SELECT count(*), sum(length(raw)) FROM damaged WHERE doc ->> 'i' = '5'",
    "SELECT host, min(ts), max(ts) FROM damaged GROUP BY host ORDER BY 1",
    "SELECT count(*) FROM (SELECT * FROM damaged ORDER BY host, ts DESC OFFSET 0) x",
    "COPY (SELECT id, host, ts, small, big FROM damaged ORDER BY id) TO STDOUT",
)
# These read every batch row.  The others may find theirs through an index of
# the companion, which our UPDATE keeps in step with the damage.
SEES_ALL = READS[:2]
WRITES = (
    "UPDATE damaged SET small = 1 WHERE id = 77",
    "UPDATE damaged SET f8 = 1 WHERE ts < '2026-01-01 01:00+0'",
    "DELETE FROM damaged WHERE host = 'h2'",
    "DELETE FROM damaged WHERE id BETWEEN 20 AND 25",
    "SELECT count(*) FROM (SELECT id FROM damaged WHERE host = 'h1' ORDER BY ts LIMIT 3 FOR UPDATE) x",
    "INSERT INTO damaged (id, host, ts) VALUES (78, 'h1', '2026-01-01') ON CONFLICT DO NOTHING",
    "INSERT INTO damaged (id, host) VALUES (79, 'h0') ON CONFLICT (id) DO UPDATE SET small = 2",
    "INSERT INTO damaged (id, host) VALUES (80, 'h0')",
    "SELECT compress_chunk('damaged')",
    "SELECT compress_chunk('damaged', recompress => true)",
    "SELECT decompress_chunk('damaged')",
    "ANALYZE damaged",
    "ALTER TABLE damaged ALTER COLUMN small TYPE text",
    "CREATE UNIQUE INDEX ON damaged (big, id)",
    "CREATE INDEX ON damaged ((label || 'x'))",
    "SELECT count(*) FROM damaged TABLESAMPLE SYSTEM (50) REPEATABLE (1)",
    "SELECT count(*) FROM (SELECT ctid FROM damaged WHERE ctid > '(2147483648,1)' OFFSET 0) x",
    "SELECT count(*) FROM damaged WHERE ctid = '(2147483648,5)'",
    "SELECT count(*) FROM strata.verify('damaged')",
    "SELECT count(*) FROM strata.batches('damaged')",
    "SELECT count(detail) FROM strata.batch_columns('damaged')",
    "SELECT count(*) FROM strata.tables",
)

# What forged contents may raise besides XX001: wrong values, violated
# constraints, limits.  Internal errors and time-outs are findings.
LAWFUL = ("22", "23", "54", "0A", "40", "42", "55")


def crc32c_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


CRC_TABLE = crc32c_table()


def crc32c(data, crc=0xFFFFFFFF):
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc


def checksum(data):
    return crc32c(data) ^ 0xFFFFFFFF


def little(number, size):
    return number.to_bytes(size, "little", signed=number < 0)


def seal(table, first_row, attno):
    """What the checksum of a column is exclusive-ored with."""
    return checksum(little(table.companion, 8) + little(first_row, 8) + little(attno, 8) + little(table.lengths[attno] % 65536, 8))


class Batch:
    """One row of the companion: for every column its type and its bytes as the CRC takes them."""

    def __init__(self, table, columns, row):
        self.table = table
        self.ctid = row[0]
        self.columns = columns
        self.values = [None if v is None else bytes(v) for v in row[1:]]
        self.is_entry = self.get("summary") is None

    def get(self, name):
        return self.values[[n for n, _ in self.columns].index(name)]

    def first_row(self):
        return int.from_bytes(self.get("first_row"), "little", signed=True)

    def counted(self):
        """The columns up to the last one that is not NULL."""
        last = max([4] + [i for i, v in enumerate(self.values) if v is not None])
        return list(zip(self.columns, self.values))[:last + 1]

    def row_crc(self):
        summary = self.get("summary") or b""
        data = little(self.table.companion, 8) + bytes(v is None for _, v in self.counted())
        for (name, kind), value in self.counted():
            if value is None or kind == "compressed" or name in ("summary", "entry"):
                continue
            data += value if SEND[kind][1] else little(len(value), 4) + value
        return checksum(data + summary[:1] + summary[5:])

    def column_crc(self, name, value):
        """The checksum field that makes `value` a sound column of this batch."""
        crc = checksum(value[:3] + value[7:]) ^ seal(self.table, self.first_row(), int(name[4:]))
        return little(crc, 4)

    def entry_crc(self, value):
        """Of what stands in front of it; rows deleted together have keys below -2^40."""
        key = self.first_row()
        row = -(key + 1) - (1 << 40 if key < -(1 << 40) else 0)
        return little(checksum(little(row, 8) + value[:-4]), 4)

    def forge(self):
        """Make all checksums fit."""
        for i, (name, kind) in enumerate(self.columns):
            value = self.values[i]
            if kind == "compressed" and value is not None and len(value) >= 7 and not self.is_entry:
                self.values[i] = value[:3] + self.column_crc(name, value) + value[7:]
            elif name == "entry" and value is not None and len(value) >= 7 and self.is_entry:
                self.values[i] = value[:-4] + self.entry_crc(value)
        for i, (name, _) in enumerate(self.columns):
            value = self.values[i]
            if name == "summary" and value is not None and len(value) >= 5:
                self.values[i] = value[:1] + little(self.row_crc(), 4) + value[5:]


class Table:
    """What checksums know of a table: its companion's oid, the lengths of its columns' types by number."""

    def __init__(self, companion, lengths):
        self.companion = companion
        self.lengths = lengths


SEND = {"int8": ("int8send", 8), "int4": ("int4send", 4), "int2": ("int2send", 2), "timestamptz": ("timestamptz_send", 8),
        "text": ("textsend", 0), "bytea": ("byteasend", 0), "compressed": ("strata.compressed_send", 0)}


def as_crc_bytes(kind, value):
    """What a send function gives -> bytes of the CRC: by-value types as a little-endian Datum."""
    if value is None or SEND[kind][1] == 0:
        return value
    number = int.from_bytes(bytes(value), "big", signed=True)
    return little(number & (1 << 8 * SEND[kind][1]) - 1, 8)


class Damage:
    def __init__(self, dsn, seed):
        self.dsn = dsn
        self.random = random.Random(seed)
        self.connection = None
        self.connect()

    def connect(self):
        self.connection = psycopg2.connect(self.dsn, options="-c statement_timeout=20000 -c client_min_messages=error "
                                           "-c strata.background_vacuum=off -c timezone=UTC -c jit=off")
        self.connection.autocommit = True
        self.connection.set_client_encoding("SQL_ASCII")
        self.cursor = self.connection.cursor()

    def run(self, sql):
        """(SQLSTATE or None, answer); 08000 when the server is gone."""
        try:
            if sql.startswith("COPY"):
                import io
                out = io.StringIO()
                self.cursor.copy_expert(sql, out)
                return None, out.getvalue()
            self.cursor.execute(sql)
            # as a text: NaN is equal to itself there
            return None, str(self.cursor.fetchall()) if self.cursor.description else self.cursor.statusmessage
        except (psycopg2.OperationalError, psycopg2.InterfaceError) as error:
            if self.connection.closed or error.pgcode is None:
                return "08000", str(error)
            return error.pgcode, str(error)
        except psycopg2.Error as error:
            return error.pgcode or "08000", str(error)

    def setup(self, rows, batch_rows):
        self.cursor.execute(SETUP % (batch_rows, rows))
        self.cursor.execute("SELECT strata.batch_relation('damaged')::text")
        self.companion = self.cursor.fetchone()[0]
        self.cursor.execute("SELECT attname, typname FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid "
                            "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum", (self.companion,))
        self.columns = self.cursor.fetchall()
        self.cursor.execute("SELECT %s::regclass::oid", (self.companion,))
        oid = self.cursor.fetchone()[0]
        self.cursor.execute("SELECT attnum, attlen FROM pg_attribute WHERE attrelid = 'damaged'::regclass AND attnum > 0")
        # spare columns have none
        self.table = Table(oid, collections.defaultdict(int, self.cursor.fetchall()))
        # columns whose types' functions follow what stands in a value
        self.cursor.execute("SELECT 'col_' || attnum, attname FROM pg_attribute WHERE attrelid = 'damaged'::regclass "
                            "AND atttypid IN ('jsonb'::regtype, 'numeric'::regtype, 'int[]'::regtype)")
        self.followed = dict(self.cursor.fetchall())
        self.trusted = 0
        self.indexed = [n for n, _ in self.columns if n in ("first_row", "layout") or n.startswith(("seg_", "min_", "max_", "span_"))]
        sends = ", ".join("%s(%s)" % (SEND[kind][0], name) for name, kind in self.columns)
        self.cursor.execute("SELECT ctid, %s FROM %s" % (sends, self.companion))
        self.batches = []
        for row in self.cursor.fetchall():
            values = [as_crc_bytes(kind, value) for (_, kind), value in zip(self.columns, row[1:])]
            self.batches.append(Batch(self.table, self.columns, (row[0],) + tuple(values)))
        self.full = [b for b in self.batches if not b.is_entry]
        for batch in self.batches:
            stored = list(batch.values)
            batch.forge()
            if batch.values != stored:
                raise SystemExit("this program does not know the checksums of batches any more (docs/format.md)")
        self.want = [self.run(sql) for sql in READS]

    def index(self, name):
        return [n for n, _ in self.columns].index(name)

    def literal(self, kind, value):
        """SQL for a value given as its CRC bytes."""
        if value is None:
            return "NULL"
        if SEND[kind][1]:
            number = int.from_bytes(value[:SEND[kind][1]], "little", signed=True)
            if kind == "timestamptz":
                return "('2000-01-01 00:00:00+0'::timestamptz + %d * interval '1 us')" % number
            return "(%d)::%s" % (number, kind)
        if kind == "text":
            return "convert_from('\\x%s'::bytea, 'SQL_ASCII')" % value.replace(b"\0", b"?").hex()
        return "'\\x%s'::%s" % (value.hex(), "bytea" if kind == "bytea" else "strata.compressed")

    def mangle(self, value):
        """Other bytes, more or less like these."""
        r = self.random
        data = bytearray(value or b"")
        how = r.randrange(8)
        if how == 0 or not data:
            return bytes(r.randrange(256) for _ in range(r.choice((0, 1, 2, 5, 8, 30, 200))))
        if how == 1:
            return bytes(data[:r.randrange(len(data))])
        if how == 2:
            return bytes(data) + bytes(r.randrange(256) for _ in range(r.randint(1, 40)))
        if how == 3:
            start = r.randrange(len(data))
            for i in range(start, min(len(data), start + r.randint(1, 16))):
                data[i] = r.choice((0, 255, 127, 128))
            return bytes(data)
        # few bits, mostly in the first bytes, where counts and modes stand
        for _ in range(r.randint(1, 3)):
            place = min(len(data) - 1, int(r.expovariate(1 / 12.0))) if how < 7 else r.randrange(len(data))
            data[place] ^= 1 << r.randrange(8)
        return bytes(data)

    def choose(self, forged):
        """The SQL that does the damage, and the kind of it."""
        r = self.random
        batch = r.choice(self.full if r.random() < 0.85 else self.batches)
        names = [i for i, v in enumerate(batch.values) if v is not None or r.random() < 0.05]
        if forged and r.random() < 0.7:
            names = [i for i in names if self.columns[i][1] == "compressed"] or names
        if not forged:
            # what nobody reads may be anything
            names = [i for i in names if batch.values[i] is not None]
        column = r.choice(names)
        name, kind = self.columns[column]
        old = batch.values[column]
        if SEND[kind][1]:
            number = int.from_bytes((old or bytes(8))[:SEND[kind][1]], "little", signed=True)
            number = r.choice((number + r.choice((-1, 1, 7, 1000)), 0, -number, -1, 1, 32767, 32768, 2 ** 31 - 1, -2 ** 31,
                               r.randrange(2 ** 31)))
            if kind == "int8" and r.random() < 0.3:
                number = r.choice((2 ** 39, 2 ** 62, -2 ** 63, 2 ** 63 - 1))
            if kind in ("int2", "int4"):
                limit = 2 ** (8 * SEND[kind][1] - 1)
                number = max(-limit, min(limit - 1, number))
            new = little(number & (1 << 8 * SEND[kind][1]) - 1, 8)
        elif r.random() < 0.1:
            new = None
        elif r.random() < 0.15:
            # the right sort of bytes from another place
            new = r.choice(r.choice(self.full).values) if kind == "compressed" else r.choice(self.full).values[column]
            new = new if new is None or kind in ("compressed", "bytea") else new[:60]
        elif kind == "text" and name == "layout":
            new = r.choice((b"/", b"", b"2/3al", b"2/3df", b"99/1af", b"2/99af", b"/3df", b"2,2/3df", b"2/3df,3df",
                            b"2/16df", b"-1/3af", b"2/3xx", b"15/3df", b"99999999999999999999/"))
        else:
            new = self.mangle(old)
        if new == old:
            return self.choose(forged)
        values = list(batch.values)
        values[column] = new
        changed = Batch(self.table, self.columns, (batch.ctid,) + tuple(values))
        if forged:
            changed.is_entry = batch.is_entry
            changed.forge()
        sets = ", ".join("%s = %s" % (n, self.literal(k, b)) for (n, k), a, b in
                         zip(self.columns, batch.values, changed.values) if a != b)
        return "UPDATE %s SET %s WHERE ctid = '%s'" % (self.companion, sets, batch.ctid), name, batch.is_entry

    def judge(self, forged, state, answer, want):
        """None when this is allowed."""
        if state in ("XX001",):
            return None
        if state is None:
            if forged or want is None or (state, answer) == want:
                return None
            return "a wrong answer: %.300s" % (answer,)
        if state in ("XX000", "08000", "57014") or state.startswith(("53", "58", "XX")):
            return "%s: %.300s" % (state, answer)
        if forged or state.startswith(LAWFUL):
            return None
        return "%s: %.300s" % (state, answer)

    def is_trusted(self, damage, column):
        """Is forged damage in the insides of values alone, which queries trust as they trust heap's?  verify() decodes
        everything, and looks into all values: it has to say so of that column, and of no other."""
        if column not in self.followed:
            return False
        state, answer = self.run("SELECT DISTINCT column_name, problem FROM strata.verify('damaged') "
                                 "WHERE problem = 'a value is not as its type has them'")
        return state is None and answer.startswith("[('%s'," % self.followed[column])

    def round(self, forged):
        findings = []
        damage, name, is_entry = self.choose(forged)
        statements = list(zip(READS, self.want)) + [(sql, None) for sql in WRITES]
        # what reads; some of what writes
        statements = statements[:len(READS)] + self.random.sample(statements[len(READS):], 8)
        self.cursor.execute("BEGIN")
        try:
            self.cursor.execute(damage)
        except psycopg2.Error as error:
            # a value the server itself refuses (encoding, ranges, index size)
            self.cursor.execute("ROLLBACK")
            return [], name
        for sql, want in statements:
            self.cursor.execute("SAVEPOINT s")
            state, answer = self.run(sql)
            problem = self.judge(forged, state, answer, want if sql in SEES_ALL or name not in self.indexed else None)
            if state == "08000":
                self.connect_again()
                self.cursor.execute("BEGIN")
                self.cursor.execute(damage)
            else:
                self.cursor.execute("ROLLBACK TO s")
            if problem and forged and self.is_trusted(damage, name):
                self.trusted += 1
            elif problem:
                findings.append("%s;\n%s;\n  -- %s" % (damage, sql, problem))
            if state == "08000":
                self.cursor.execute("ROLLBACK")
                return findings, name
        # the layout of a row entry means nothing
        if not forged and not (is_entry and name == "layout"):
            state, answer = self.run("SELECT count(*) FROM strata.verify('damaged')")
            if state != "XX001" and (state is not None or answer == "[(0,)]"):
                findings.append("%s;\n  -- strata.verify() says %s %s" % (damage, state, answer))
        self.cursor.execute("ROLLBACK")
        return findings, name

    def connect_again(self):
        import time
        for _ in range(60):
            time.sleep(1)
            try:
                self.connect()
                return
            except psycopg2.OperationalError:
                continue
        raise SystemExit("the server does not come back")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=200, help="one damage each")
    parser.add_argument("--stop", action="store_true", help="at the first finding")
    options = parser.parse_args()
    damage = Damage(options.dsn, options.seed)
    damage.setup(rows=900, batch_rows=100)
    found = 0
    for number in range(options.rounds):
        forged = number % 2 == 1
        findings, name = damage.round(forged)
        for finding in findings:
            print("round %d, %s damage of %s:\n%s" % (number, "forged" if forged else "plain", name, finding), flush=True)
        found += len(findings)
        if findings and options.stop:
            break
    # and the table is as it was
    after = [damage.run(sql) for sql in READS]
    for sql, a, b in zip(READS, damage.want, after):
        if a != b:
            print("after all: %s\n  %.300s\n  %.300s" % (sql, a, b))
            found += 1
    print("%d forged insides of values did as they would in heap" % damage.trusted)
    print("%d rounds, %d findings" % (options.rounds, found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
