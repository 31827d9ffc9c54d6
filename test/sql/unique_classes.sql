-- Unique keys that find more equal than bytes do, and keys whose hashes meet:
-- each INSERT below has to fail, whatever the layout, before and after the
-- directory of keys is there.
SET client_min_messages = warning;
CREATE SCHEMA unique_classes;
SET search_path = unique_classes, public;

CREATE FUNCTION abs_cmp(int, int) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS 'SELECT btint4cmp(abs($1), abs($2))';
CREATE FUNCTION abs_lt(int, int) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT abs($1) < abs($2)';
CREATE FUNCTION abs_le(int, int) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT abs($1) <= abs($2)';
CREATE FUNCTION abs_eq(int, int) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT abs($1) = abs($2)';
CREATE FUNCTION abs_ge(int, int) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT abs($1) >= abs($2)';
CREATE FUNCTION abs_gt(int, int) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT abs($1) > abs($2)';
CREATE FUNCTION abs_hash(int) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS 'SELECT hashint4(abs($1))';
CREATE FUNCTION ci_cmp(text, text) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS 'SELECT bttextcmp(lower($1), lower($2))';
CREATE FUNCTION ci_lt(text, text) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT lower($1) < lower($2)';
CREATE FUNCTION ci_le(text, text) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT lower($1) <= lower($2)';
CREATE FUNCTION ci_eq(text, text) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT lower($1) = lower($2)';
CREATE FUNCTION ci_ge(text, text) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT lower($1) >= lower($2)';
CREATE FUNCTION ci_gt(text, text) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT lower($1) > lower($2)';
CREATE OPERATOR |<| (LEFTARG = int, RIGHTARG = int, FUNCTION = abs_lt);
CREATE OPERATOR |<=| (LEFTARG = int, RIGHTARG = int, FUNCTION = abs_le);
CREATE OPERATOR |=| (LEFTARG = int, RIGHTARG = int, FUNCTION = abs_eq);
CREATE OPERATOR |=#| (LEFTARG = int, RIGHTARG = int, FUNCTION = abs_eq, HASHES);
CREATE OPERATOR |>=| (LEFTARG = int, RIGHTARG = int, FUNCTION = abs_ge);
CREATE OPERATOR |>| (LEFTARG = int, RIGHTARG = int, FUNCTION = abs_gt);
CREATE OPERATOR |<| (LEFTARG = text, RIGHTARG = text, FUNCTION = ci_lt);
CREATE OPERATOR |<=| (LEFTARG = text, RIGHTARG = text, FUNCTION = ci_le);
CREATE OPERATOR |=| (LEFTARG = text, RIGHTARG = text, FUNCTION = ci_eq);
CREATE OPERATOR |>=| (LEFTARG = text, RIGHTARG = text, FUNCTION = ci_ge);
CREATE OPERATOR |>| (LEFTARG = text, RIGHTARG = text, FUNCTION = ci_gt);
SET ROLE postgres;
CREATE OPERATOR CLASS abs_ops FOR TYPE int USING btree AS
    OPERATOR 1 |<|, OPERATOR 2 |<=|, OPERATOR 3 |=|, OPERATOR 4 |>=|, OPERATOR 5 |>|, FUNCTION 1 abs_cmp(int, int);
-- its equality can be hashed: the directory takes it
CREATE OPERATOR CLASS abs_hash_ops FOR TYPE int USING btree AS
    OPERATOR 1 |<|, OPERATOR 2 |<=|, OPERATOR 3 |=#|, OPERATOR 4 |>=|, OPERATOR 5 |>|, FUNCTION 1 abs_cmp(int, int);
CREATE OPERATOR CLASS abs_hashes FOR TYPE int USING hash AS OPERATOR 1 |=#|, FUNCTION 1 abs_hash(int);
CREATE OPERATOR CLASS ci_ops FOR TYPE text USING btree AS
    OPERATOR 1 |<|, OPERATOR 2 |<=|, OPERATOR 3 |=|, OPERATOR 4 |>=|, OPERATOR 5 |>|, FUNCTION 1 ci_cmp(text, text);
RESET ROLE;
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

-- A table with 3,000 rows in batches; by one key of a class, for each layout
-- and with the key's own index for batches or without: how many of the keys
-- that are there in other bytes were refused, of 40, and how many rows a
-- DO NOTHING added.
CREATE FUNCTION refused(type text, class text, value text, other text, layout text, indexed bool)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    refused int := 0;
    before bigint;
    added bigint;
BEGIN
    EXECUTE format('CREATE TABLE k (a %s, v int, x int) USING strata WITH (%s)', type, layout);
    EXECUTE format('INSERT INTO k SELECT %s, i %% 10, i FROM generate_series(1, 3000) i', value);
    EXECUTE format('CREATE UNIQUE INDEX k_a ON k (a %s)', class);
    IF indexed THEN
        CREATE INDEX k_other ON k (a);
    END IF;
    PERFORM compress_chunk('k');
    FOR i IN 1 .. 40 LOOP
        BEGIN
            EXECUTE format('INSERT INTO k SELECT %s, 0, 0 FROM (VALUES (%s)) n (i)', other, i * 70);
        EXCEPTION WHEN unique_violation THEN
            refused := refused + 1;
        END;
    END LOOP;
    SELECT count(*) INTO before FROM k;
    EXECUTE format('INSERT INTO k SELECT %s, 0, 0 FROM generate_series(1, 3000, 7) i ON CONFLICT DO NOTHING', other);
    SELECT count(*) - before INTO added FROM k;
    DROP TABLE k;
    RETURN format('%s of 40 refused, %s added', refused, added);
END $$;

SELECT type, class, layout, indexed, refused(type, class, value, other, layout, indexed)
  FROM (VALUES ('int', 'abs_ops', 'i', '-i'),
               ('int', 'abs_hash_ops', 'i', '-i'),
               ('text', 'ci_ops', '''name'' || i', '''NAME'' || i'),
               ('text', 'COLLATE ci', '''name'' || i', '''NAME'' || i'),
               ('text COLLATE ci', '', '''name'' || i', '''NAME'' || i'),
               ('numeric', '', 'i', 'i + 0.00'),
               ('float8', '', '(i - 1) * 0.0 + i - 70', 'CASE i WHEN 70 THEN ''-0'' ELSE i - 70 END')) c (type, class, value, other),
       unnest(ARRAY['strata.orderby = ''a''', 'strata.orderby = ''x''', 'strata.segmentby = ''v'', strata.orderby = ''a DESC''', 'strata.segmentby = ''a''']) layout,
       unnest(ARRAY[false, true]) indexed
 ORDER BY 1, 2, 3, 4;

-- Hashes that meet: those of int8 fold its halves.
CREATE TABLE meet (k int, part int8, v int, UNIQUE (k, part)) USING strata WITH (strata.orderby = 'k');
INSERT INTO meet SELECT i, CASE i % 2 WHEN 0 THEN 4294967296 ELSE 0 END, 0 FROM generate_series(1, 5000) i;
SELECT compress_chunk('meet') IS NOT NULL AS compressed;
INSERT INTO meet VALUES (10, 1, 1), (10, 4294967296, 1);
INSERT INTO meet VALUES (12, 1, 1), (12, 4294967296, 1) ON CONFLICT (k, part) DO UPDATE SET v = 7;
SELECT k, part, v FROM meet WHERE k IN (10, 12) ORDER BY 1, 2;
-- in one statement, each key after one that meets it
INSERT INTO meet SELECT k, p, 9 FROM generate_series(2, 5000, 2) k, unnest(ARRAY[1, 4294967296]) p ON CONFLICT DO NOTHING;
SELECT count(*), count(DISTINCT (k, part)) FROM meet;

-- Readers by the classes' operators, of both halves.
CREATE TABLE read (a int, t text, x int) USING strata WITH (strata.orderby = 'a');
CREATE INDEX ON read (a abs_ops);
CREATE INDEX ON read (t ci_ops);
INSERT INTO read SELECT i - 1500, 'name' || i, i FROM generate_series(1, 3000) i;
SELECT compress_chunk('read') IS NOT NULL AS compressed;
INSERT INTO read VALUES (70, 'NAME70', 0);
SELECT count(*) FROM read WHERE a |=| 70;
SELECT count(*) FROM read WHERE a |=#| 70;
SELECT count(*) FROM read WHERE a |<| 3;
SELECT count(*) FROM read WHERE a |>=| 1499;
SELECT count(*) FROM read WHERE t |=| 'Name70';
SELECT count(*) FROM read WHERE t |=| ANY (ARRAY['Name70', 'NamE71']);
SELECT a FROM read ORDER BY a USING |<|, x LIMIT 3;
SELECT t FROM read ORDER BY t USING |>|, x LIMIT 2;
SELECT count(*) FROM read r JOIN (VALUES (70), (1400)) v (a) ON r.a |=#| v.a;

-- A key with a text that batches are in the order of, by the index of its other column.
CREATE TABLE ordered (id int, name text, v int, PRIMARY KEY (id, name)) USING strata WITH (strata.orderby = 'name');
INSERT INTO ordered SELECT i, md5(i::text), 0 FROM generate_series(1, 100000) i;
CREATE INDEX ON ordered (id);
SELECT compress_chunk('ordered') IS NOT NULL AS compressed;
INSERT INTO ordered VALUES (5, md5('5'), 1);
INSERT INTO ordered VALUES (5, 'new', 1), (5, 'new', 1) ON CONFLICT DO NOTHING;
INSERT INTO ordered VALUES (7, md5('7'), 1), (8, 'new', 1) ON CONFLICT (id, name) DO UPDATE SET v = 9;
SELECT count(*), count(*) FILTER (WHERE v = 9), sum(v) FROM ordered;

-- arrays, ranges and rows of what has no hash function
CREATE TYPE unique_classes.amounts AS RANGE (subtype = money);
CREATE TYPE unique_classes.paid AS (amount money, payer text);
CREATE TABLE unhashed (t int, a money[], b varbit[], r unique_classes.amounts, p unique_classes.paid) USING strata WITH (strata.orderby = 't');
INSERT INTO unhashed SELECT i, array[i::money], array[i::bit(16)::varbit], unique_classes.amounts(i::money, (i + 1)::money), (i::money, 'x')::unique_classes.paid FROM generate_series(1, 3000) i;
CREATE UNIQUE INDEX ON unhashed (a);
CREATE UNIQUE INDEX ON unhashed (b);
CREATE UNIQUE INDEX ON unhashed (r);
CREATE UNIQUE INDEX ON unhashed (p);
SELECT compress_chunk('unhashed') IS NOT NULL AS compressed;
INSERT INTO unhashed VALUES (5000, array[5000::money], array[5000::bit(16)::varbit], unique_classes.amounts(5000::money, 5001::money), (5000::money, 'x'));
INSERT INTO unhashed SELECT i, array[i::money] FROM generate_series(2999, 3001) i ON CONFLICT (a) DO NOTHING;
UPDATE unhashed SET a = array[6000::money] WHERE t = 7;
INSERT INTO unhashed (t, b) VALUES (1, array[8::bit(16)::varbit]) ON CONFLICT (b) DO UPDATE SET t = 8000;
INSERT INTO unhashed (t, r) VALUES (1, unique_classes.amounts(9::money, 10::money)) ON CONFLICT (r) DO NOTHING;
INSERT INTO unhashed (t, p) VALUES (1, (9::money, 'x')::unique_classes.paid) ON CONFLICT (p) DO NOTHING;
SELECT count(*), sum(t), count(a), count(DISTINCT a) FROM unhashed;

DROP SCHEMA unique_classes CASCADE;
