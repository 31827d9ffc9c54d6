"""test/props/value_types.py

Column types: how random values of each are written, and what may be done
with them.  A value is its text form, or None for NULL.
"""
import hashlib
import json
import uuid

SMALL_WORDS = ["a", "A", "b", "ab", "Ab", "aB", "abc", "", " ", "a ", "zeta", "Zeta", "ä", "Ä", "é", "e", "%", "_x",
               "x_y", "\\", "'q'", '"', "1", "10", "2", "NULL", "ß", "ss", "\U0001F600", "long " * 20]


# stored compressed, and out of line
LARGE_WORDS = ["lorem " * 600, "".join(hashlib.md5(b"%d" % i).hexdigest() for i in range(75)),
               "".join(hashlib.md5(b"x%d" % i).hexdigest() for i in range(75))]


class ValueType:
    """One SQL type.

    name       as in CREATE TABLE (with collation)
    cast       for a literal
    make       rng -> text of a value
    edges      values worth meeting often
    ordered    has a default btree order
    groupable  equal values have the same text (or differ only as numbers do)
    cross      other types a constant may have in a comparison
    number     +, sum and the like make sense
    text       LIKE and length() make sense
    """

    def __init__(self, name, make, edges=(), cast=None, ordered=True, groupable=True, cross=(), number=False,
                 text=False, minmax=True, key=True):
        self.name = name
        self.cast = cast or name
        self.make = make
        self.edges = list(edges)
        self.ordered = ordered
        self.groupable = groupable and ordered
        self.cross = list(cross)
        self.number = number
        self.text = text
        self.minmax = minmax and ordered
        self.key = key and ordered      # may be segmentby, orderby, index column

    def value(self, rng):
        if self.edges and rng.random() < 0.15:
            return rng.choice(self.edges)
        return self.make(rng)


def quote(value):
    """A string literal, NULL for None."""
    if value is None:
        return "NULL"
    body = value.replace("'", "''")
    if "\\" in body:
        return "E'%s'" % body.replace("\\", "\\\\")
    return "'%s'" % body


def _integer(bits, spread):
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    edges = [str(v) for v in (low, low + 1, -1, 0, 1, high - 1, high)]

    def make(rng):
        return str(rng.randrange(-5, spread) if rng.random() < 0.9 else rng.randrange(low, high))
    return make, edges


def _float(digits):
    def make(rng):
        kind = rng.random()
        if kind < 0.5:
            return str(round(rng.uniform(-50, 50), rng.choice([0, 1, 2])))
        if kind < 0.8:
            return str(rng.randrange(-20, 20))
        return repr(rng.uniform(-1e6, 1e6)) if digits > 6 else "%.6g" % rng.uniform(-1e6, 1e6)
    return make


def _numeric(rng):
    text = str(rng.randrange(-10000, 10000) / rng.choice([1, 10, 100]))
    return text + "0" * rng.choice([0, 0, 0, 1, 2]) if "." in text else text


def _word(rng):
    return rng.choice(SMALL_WORDS) if rng.random() < 0.7 else "w%d" % rng.randrange(300)


def _any_word(rng):
    return rng.choice(LARGE_WORDS) if rng.random() < 0.03 else _word(rng)


def _date(rng):
    return "20%02d-%02d-%02d" % (rng.randrange(20, 27), rng.randrange(1, 13), rng.randrange(1, 29))


def _time(rng):
    return "%02d:%02d:%02d%s" % (rng.randrange(24), rng.randrange(60), rng.choice([0, 10, 30]),
                                 rng.choice(["", "", ".5", ".123456"]))


def _timestamp(rng):
    return "2026-0%d-%02d %s" % (rng.randrange(1, 4), rng.randrange(1, 29), _time(rng))


def _timestamptz(rng):
    return _timestamp(rng) + rng.choice(["+00", "+02", "-05:30"])


def _interval(rng):
    return "%d mons %d days %s" % (rng.randrange(-2, 14), rng.randrange(-40, 40), _time(rng))


def _json_value(rng, depth):
    kind = rng.randrange(7 if depth else 5)
    if kind == 5:
        return [_json_value(rng, depth - 1) for _ in range(rng.randrange(3))]
    if kind == 6:
        return {rng.choice("abcd"): _json_value(rng, depth - 1) for _ in range(rng.randrange(4))}
    return [None, True, rng.randrange(10), rng.choice(SMALL_WORDS[:-1]), rng.choice(SMALL_WORDS[:6])][kind]


def _json(rng):
    return json.dumps(_json_value(rng, 2))


def _array(element, quoted):
    def make(rng):
        items = []
        for _ in range(rng.randrange(4)):
            if rng.random() < 0.15:
                items.append("NULL")
            else:
                item = element(rng)
                items.append('"%s"' % item.replace("\\", "\\\\").replace('"', '\\"') if quoted else item)
        return "{%s}" % ",".join(items)
    return make


def _lexemes(rng):
    words = [rng.choice(["red", "green", "blue", "word%d" % rng.randrange(30)]) for _ in range(rng.randrange(5))]
    return " ".join("%s:%d%s" % (word, place + 1, rng.choice(["", "", "A"])) for place, word in enumerate(words))


def _range(low, high):
    def make(rng):
        a = rng.randrange(low, high)
        b = a + rng.randrange(0, 9)
        return "%s%d,%d%s" % (rng.choice("[("), a, b, rng.choice("])"))
    return make


def _tstzrange(rng):
    return "[2026-01-%02d 00:00+00, 2026-02-%02d 12:00+00)" % (rng.randrange(1, 29), rng.randrange(1, 29))


def _inet(rng):
    return "10.%d.0.%d%s" % (rng.randrange(3), rng.randrange(256), rng.choice(["", "", "/24", "/8"]))


def _bits(rng):
    return "".join(rng.choice("01") for _ in range(rng.randrange(12)))


def _bytea(rng):
    return "\\x" + bytes(rng.randrange(256) for _ in range(rng.randrange(6))).hex()


INT2, INT2_EDGES = _integer(16, 50)
INT4, INT4_EDGES = _integer(32, 200)
INT8, INT8_EDGES = _integer(64, 200)
FLOAT_EDGES = ["NaN", "Infinity", "-Infinity", "-0", "0", "1e-30", "-1e-30"]
DATE_EDGES = ["infinity", "-infinity", "1970-01-01", "0044-03-15 BC"]
STAMP_EDGES = ["infinity", "-infinity", "1970-01-01 00:00:00", "2026-03-29 02:30:00"]
INTEGERS = ["int2", "int4", "int8", "numeric", "float8", "float4"]

# name -> ValueType; the weight with which it is picked is 1, or 4 for the
# types that have ways of their own.
TYPES = {
    "int2": ValueType("int2", INT2, INT2_EDGES, cross=INTEGERS, number=True),
    "int4": ValueType("int4", INT4, INT4_EDGES, cross=INTEGERS, number=True),
    "int8": ValueType("int8", INT8, INT8_EDGES, cross=INTEGERS, number=True),
    "float4": ValueType("float4", _float(6), FLOAT_EDGES, cross=["float8", "int4", "numeric"], number=True),
    "float8": ValueType("float8", _float(15), FLOAT_EDGES + ["1e300", "5e-324"], cross=["float4", "int4", "numeric"],
                        number=True),
    "numeric": ValueType("numeric", _numeric, ["NaN", "Infinity", "0", "0.00", "-0.0", "1e40", "1.10", "1.1"],
                         cross=["int4", "int8", "float8"], number=True),
    "numeric(10,2)": ValueType("numeric(10,2)", _numeric, ["NaN", "0"], cross=["int4", "float8"], number=True),
    "text": ValueType("text", _any_word, SMALL_WORDS, cross=["varchar", "name"], text=True),
    "text_c": ValueType('text COLLATE "C"', _any_word, SMALL_WORDS, cast="text", cross=["varchar"], text=True),
    "text_icu": ValueType('text COLLATE "en-x-icu"', _word, SMALL_WORDS, cast="text", text=True),
    # equal when they differ in case only: which of the equals is shown depends on the order of rows
    "text_ci": ValueType("text COLLATE public.props_ci", _word, SMALL_WORDS, cast="text", groupable=False, minmax=False),
    "varchar": ValueType("varchar(120)", _word, SMALL_WORDS, cross=["text"], text=True),
    "char": ValueType("char(110)", _word, SMALL_WORDS, cross=["text"], text=True),
    "name": ValueType("name", lambda rng: _word(rng)[:40], cross=["text"], text=True, minmax=False),
    "bool": ValueType("bool", lambda rng: rng.choice("tf"), minmax=False),
    "onechar": ValueType('"char"', lambda rng: rng.choice("abcdz"), minmax=False),
    "oid": ValueType("oid", lambda rng: str(rng.randrange(100)), ["0", "4294967295"]),
    "date": ValueType("date", _date, DATE_EDGES, cross=["timestamp", "timestamptz"]),
    "time": ValueType("time", _time, ["00:00:00", "24:00:00"]),
    "timetz": ValueType("timetz", lambda rng: _time(rng) + rng.choice(["+00", "+02"])),
    "timestamp": ValueType("timestamp", _timestamp, STAMP_EDGES, cross=["timestamptz", "date"]),
    "timestamptz": ValueType("timestamptz", _timestamptz, STAMP_EDGES, cross=["timestamp", "date"]),
    # 1 mon equals 30 days
    "interval": ValueType("interval", _interval, ["1 mon", "30 days", "720:00:00", "0"], groupable=False, minmax=False),
    "uuid": ValueType("uuid", lambda rng: str(uuid.UUID(int=rng.randrange(40) << 100)), minmax=False),
    "json": ValueType("json", _json, ordered=False),
    "jsonb": ValueType("jsonb", _json, ["null", "{}", "[]", '""'], minmax=False),
    "int4[]": ValueType("int4[]", _array(lambda rng: str(rng.randrange(20)), False),
                        ["{}", "[2:3]={1,2}", "{{1,2},{3,4}}", "{NULL}"]),
    "text[]": ValueType("text[]", _array(_word, True), ["{}", "{NULL}"]),
    "tsvector": ValueType("tsvector", _lexemes, [""], minmax=False, key=False),
    "int4range": ValueType("int4range", _range(0, 50), ["empty", "(,)", "[1,)"], minmax=False),
    "tstzrange": ValueType("tstzrange", lambda rng: _tstzrange(rng) if rng.random() < 0.9 else "empty", minmax=False),
    "bytea": ValueType("bytea", _bytea, ["\\x", "\\x00"], minmax=False),
    "inet": ValueType("inet", _inet, ["::1", "0.0.0.0/0"]),
    "macaddr": ValueType("macaddr", lambda rng: "08:00:2b:01:02:%02x" % rng.randrange(20), minmax=False),
    "varbit": ValueType("varbit", _bits, [""], minmax=False),
    "point": ValueType("point", lambda rng: "(%d,%d)" % (rng.randrange(9), rng.randrange(9)), ordered=False),
    "mood": ValueType("public.props_mood", lambda rng: rng.choice(["sad", "ok", "happy"])),
    "posint": ValueType("public.props_posint", lambda rng: str(rng.randrange(1, 100)), cross=["int4", "int8"],
                        number=True, cast="int4"),
    "pair": ValueType("public.props_pair", lambda rng: "(%d,%s)" % (rng.randrange(5), rng.choice("abc")),
                      ["(,)"], minmax=False),
    "bigtext": ValueType("text", lambda rng: rng.choice("xyz") * rng.choice([10, 500, 3000, 9000]), text=True),
}

WEIGHTS = {name: 1 for name in TYPES}
WEIGHTS.update({name: 4 for name in ("int4", "int8", "float8", "text", "timestamptz", "numeric", "date", "bool", "int2")})

SETUP = """
CREATE COLLATION IF NOT EXISTS public.props_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
DO $$ BEGIN
    -- contrib may be missing; so are indexes by it, on both sides
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
        CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
    END IF;
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'btree_gist') THEN
        CREATE EXTENSION IF NOT EXISTS btree_gist SCHEMA public;
    END IF;
    IF to_regtype('public.props_mood') IS NULL THEN
        CREATE TYPE public.props_mood AS ENUM ('happy', 'ok', 'sad');
        CREATE DOMAIN public.props_posint AS int4 CHECK (VALUE > 0);
        CREATE TYPE public.props_pair AS (n int4, s text);
    END IF;
END $$;
CREATE OR REPLACE FUNCTION public.props_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO %I.audit VALUES ($1, $2, $3)', TG_TABLE_SCHEMA)
        USING TG_TABLE_NAME, TG_OP, CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION public.props_sums() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        EXECUTE format('INSERT INTO %I.audit SELECT $1, $2, coalesce(sum(hashtext(r::text)), 0) %% 1000003 FROM old_rows r',
                       TG_TABLE_SCHEMA) USING TG_TABLE_NAME, TG_OP || ' old';
    END IF;
    IF TG_OP <> 'DELETE' THEN
        EXECUTE format('INSERT INTO %I.audit SELECT $1, $2, coalesce(sum(hashtext(r::text)), 0) %% 1000003 FROM new_rows r',
                       TG_TABLE_SCHEMA) USING TG_TABLE_NAME, TG_OP || ' new';
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION public.props_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.id := NEW.id;
    IF TG_OP = 'UPDATE' AND NEW.id % 17 = 3 THEN RETURN NULL; END IF;
    RETURN NEW;
END $$;
"""


def pick(rng, condition=lambda t: True):
    """A random (short name, ValueType) that meets the condition."""
    names = [name for name, t in TYPES.items() if condition(t)]
    name = rng.choices(names, [WEIGHTS[n] for n in names])[0]
    return name, TYPES[name]
