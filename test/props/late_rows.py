"""test/props/late_rows.py

A table of its own in one action: batches, then late rows that come before, between or behind those in batches, wide
ones too, an index on the key, and the first rows of an order: more of them than a page of the index has entries.
"""

# A value of the type that grows with k, which is about 0 to 20000; all but the last ones are passed by reference.
KEYS = {
    "text": "lpad((# + 5000)::text, 30, '0')",
    'text COLLATE "C"': "'k' || lpad((# + 5000)::text, 6, '0')",
    "varchar(120)": "lpad((# + 5000)::text, 100, 'x0')",
    "interval": "# * interval '1 minute'",
    "uuid": "lpad(to_hex(# + 5000), 32, '0')::uuid",
    "numeric": "# + 0.25",
    "bytea": "decode(lpad(to_hex(# + 5000), 40, '0'), 'hex')",
    "inet": "'10.0.0.0'::inet + (# + 5000)",
    "name": "('n' || lpad((# + 5000)::text, 8, '0'))::name",
    "int8": "#::int8 * 3000000000",
    "timestamptz": "'2026-01-01Z'::timestamptz + # * interval '1 s'",
    "float8": "#::float8 / 3",
}


def late_rows(rng):
    """The statements, as (sql, side, ordered)."""
    kind = rng.choice(list(KEYS))
    null = "CASE WHEN i %% %d > 0 THEN %s END" % (rng.choice([3, 17, 400]), KEYS[kind]) if rng.random() < 0.2 else KEYS[kind]
    batches, late = rng.choice([300, 1500, 4000]), rng.choice([20, 300, 900, 1400])

    def insert(rows, first, lowest, pad):
        # each number once, in no order
        return ("INSERT INTO {t9} SELECT i, i %% 5, %s, repeat('z', %d) FROM (SELECT i, i * 7919 %% %d + %d AS k "
                "FROM generate_series(%d, %d) i) s" % (
                    null.replace("#", "k"), pad, 9973, lowest, first, first + rows - 1))

    statements = [("DROP TABLE IF EXISTS {t9}", None, False),
                  ("CREATE TABLE {t9} (id int, seg int, x %s, pad text) USING {am}" % kind, None, False),
                  ("ALTER TABLE {t9} SET (%s)" % rng.choice([
                      "strata.orderby = 'id'", "strata.segmentby = 'seg', strata.orderby = 'id'", "strata.orderby = 'x, id'",
                      "strata.segmentby = 'seg', strata.orderby = 'x DESC'"]), "strata", False)]
    if rng.random() < 0.9:
        statements.append(("CREATE INDEX ON {t9} (x%s%s)" % (rng.choice(["", "", " DESC", " NULLS FIRST"]), rng.choice(["", "", ", id"])), None, False))
    statements += [(insert(batches, 1, 0, 10), None, False), ("SELECT compress_chunk('{t9}')", "strata", False)]
    for turn in range(rng.choice([1, 1, 2])):
        statements.append((insert(late, batches + 1 + turn * late, rng.choice([-4000, 0, 12000]), rng.choice([0, 100, 1500])), None, False))
    if rng.random() < 0.3:
        statements.append(("%s {t9} WHERE id %% %d = 1" % (rng.choice(["UPDATE {t9} SET pad = 'u' WHERE true AND id > 0; DELETE FROM", "DELETE FROM"]),
                                                          rng.choice([2, 7, 60])), None, False))
    statements.append(("ANALYZE {t9}", None, False))
    for _ in range(rng.randint(2, 5)):
        way = rng.choice(["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
        more = rng.choice(["", ", id", ", id DESC"])
        statements.append(("SELECT x%s FROM {t9} AS a%s ORDER BY x%s%s LIMIT %d%s" % (
            ", id" if more else "", rng.choice(["", "", " WHERE seg = 3", " WHERE id % 3 > 0", " WHERE pad > 'y'"]), way, more,
            rng.choice([1, 40, 250, 500, 800, 1300]), rng.choice(["", "", " OFFSET 7", " OFFSET 300"])), None, True))
    if rng.random() < 0.2:
        # again and again, with other values
        statements.append(("SELECT o.n, (SELECT md5(string_agg(x::text, ',' ORDER BY x, id)) FROM (SELECT x, id FROM {t9} WHERE seg >= o.n "
                           "ORDER BY x, id LIMIT 300) s) FROM generate_series(0, 4) AS o (n)", None, False))
    return statements + [("DROP TABLE {t9}", None, False)]
