-- Unique keys over both halves: every kind of index, every way a row comes in,
-- on compressed, changed and mixed tables, beside a heap table.
CREATE EXTENSION IF NOT EXISTS strata;
SET client_min_messages = error;
SET strata.batch_rows = 100;

CREATE TABLE h (id int, seg text, ts timestamp, a text, n numeric, f float8, act bool) USING heap;
CREATE TABLE s (LIKE h) USING strata;
ALTER TABLE s SET (strata.segmentby = 'seg', strata.orderby = 'ts');
INSERT INTO h SELECT g, 's' || g % 7, '2026-01-01'::timestamp + g * interval '1 min', 'a' || g, g / 10.0,
	CASE WHEN g = 13 THEN 'NaN'::float8 WHEN g = 14 THEN '-0' ELSE g END, g % 2 = 0
FROM generate_series(1, 2000) g;
INSERT INTO s TABLE h;
SELECT compress_chunk('s');

-- Runs the statement on both tables; both must do the same.
CREATE FUNCTION twins(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text[];
	n bigint;
	t text;
BEGIN
	FOREACH t IN ARRAY '{h,s}'::text[] LOOP
		BEGIN
			EXECUTE replace(statement, '@', t);
			GET DIAGNOSTICS n = ROW_COUNT;
			said := said || (n || ' rows');
		EXCEPTION WHEN unique_violation OR cardinality_violation THEN
			said := said || (SQLSTATE || ' ' || regexp_replace(SQLERRM, '"[hs]_', '"'));
		END;
	END LOOP;
	EXECUTE 'SELECT count(*) FROM ((SELECT x::text FROM h x EXCEPT ALL SELECT x::text FROM s x)
		UNION ALL (SELECT x::text FROM s x EXCEPT ALL SELECT x::text FROM h x)) d' INTO n;
	RETURN CASE WHEN said[1] IS DISTINCT FROM said[2] THEN 'heap: ' || said[1] || ', strata: ' || said[2]
		WHEN n > 0 THEN n || ' rows differ' ELSE said[1] END;
END $$;

-- one index after the other, of every kind
CREATE FUNCTION try_index(definition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
	target text := substring(definition FROM '^\((?:[^()]|\([^()]*\))*\)');
	predicate text := coalesce(substring(definition FROM ' WHERE .*$'), '');
BEGIN
	EXECUTE 'CREATE UNIQUE INDEX h_u ON h ' || definition;
	EXECUTE 'CREATE UNIQUE INDEX s_u ON s ' || definition;
	FOR statement IN SELECT unnest(ARRAY[
		$q$INSERT INTO @ SELECT id, seg, ts, a, n, f, act FROM @ WHERE id = 500$q$,
		$q$INSERT INTO @ SELECT id, seg, ts, a, n, f, act FROM @ WHERE id = 501$q$,
		$q$INSERT INTO @ SELECT id, seg, ts, a, n * 1.00, -f, act FROM @ WHERE id = 14$q$,
		$q$INSERT INTO @ SELECT id, seg, ts, upper(a), n, f, act FROM @ WHERE id = 13$q$,
		$q$INSERT INTO @ VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL)$q$,
		$q$INSERT INTO @ VALUES (-1, 's1', '2020-01-01', 'ab', 0.5, 3.5, true), (-2, 's2', '2020-01-01', 'abc', 0.25, 2.5, false)$q$,
		$q$DELETE FROM @ WHERE id = 600$q$,
		$q$INSERT INTO @ SELECT 600, 's' || 600 % 7, '2026-01-01'::timestamp + 600 * interval '1 min', 'a600', 60.0, 600, true$q$,
		$q$UPDATE @ SET act = NOT act WHERE id BETWEEN 700 AND 710$q$,
		$q$UPDATE @ SET id = 801, seg = 's' || 801 % 7, ts = '2026-01-01'::timestamp + 801 * interval '1 min', a = 'a801', n = 80.1, f = 801, act = true WHERE id = 800$q$,
		$q$UPDATE @ SET id = id + 1 WHERE id = 2000$q$,
		$q$UPDATE @ SET n = n + 0.00, a = a WHERE id = 900$q$,
		$q$INSERT INTO @ SELECT id + 100000, seg, ts + interval '1 year', a || 'x', n + 100000, f + 100000, act FROM @ WHERE id BETWEEN 1 AND 50$q$,
		$q$INSERT INTO @ SELECT id, seg, ts, a, n, f, act FROM @ WHERE id BETWEEN 1000 AND 1010 ON CONFLICT DO NOTHING$q$,
		format($q$INSERT INTO @ SELECT id, seg, ts, a, n, f, act FROM @ WHERE id BETWEEN 1090 AND 1120 ON CONFLICT %s%s DO UPDATE SET a = excluded.a || 'u', n = -excluded.id$q$, target, predicate),
		format($q$INSERT INTO @ SELECT id, seg, ts, a, n, f, act FROM @, generate_series(1, 2) WHERE id = 1200 ON CONFLICT %s%s DO UPDATE SET a = excluded.a$q$, target, predicate)])
	LOOP
		RETURN NEXT twins(statement);
	END LOOP;
	DROP INDEX h_u, s_u;
	TRUNCATE h, s;
	INSERT INTO h SELECT g, 's' || g % 7, '2026-01-01'::timestamp + g * interval '1 min', 'a' || g, g / 10.0,
		CASE WHEN g = 13 THEN 'NaN'::float8 WHEN g = 14 THEN '-0' ELSE g END, g % 2 = 0
	FROM generate_series(1, 2000) g;
	INSERT INTO s TABLE h;
	PERFORM compress_chunk('s');
END $$;
SELECT d AS definition, r AS same, count(*) FROM unnest(ARRAY[
	'(id)', '(seg, ts)', '(ts, seg)', '(a)', '(n)', '(f)', '(seg, n)', '(id) INCLUDE (a)',
	'(lower(a))', '((a || seg))', '(id, lower(a))', '(id) WHERE act', '(lower(a)) WHERE n > 20', '(abs(f))',
	'(id) NULLS NOT DISTINCT', '(a COLLATE "C")', '(a text_pattern_ops)', '(ts)']) WITH ORDINALITY u(d, o),
	LATERAL try_index(d) WITH ORDINALITY t(r, p)
GROUP BY o, d, p, r ORDER BY o, p;
SELECT * FROM strata.verify('s');

-- deferrable keys, permuted by one statement
ALTER TABLE h ADD CONSTRAINT h_key UNIQUE (id) DEFERRABLE INITIALLY IMMEDIATE;
ALTER TABLE s ADD CONSTRAINT s_key UNIQUE (id) DEFERRABLE INITIALLY IMMEDIATE;
SELECT twins('UPDATE @ SET id = id + 1');
SELECT twins('UPDATE @ SET id = 2003 - id');
SELECT twins('UPDATE @ SET id = 77 WHERE id = 78');
BEGIN;
SET CONSTRAINTS ALL DEFERRED;
SELECT twins('INSERT INTO @ VALUES (5, ''s5'')');
SELECT twins('DELETE FROM @ WHERE id = 5 AND ts IS NOT NULL');
COMMIT;
SELECT twins('SELECT FROM @');
SELECT * FROM strata.verify('s');
-- two keys, a conflict in each, both rows compressed: the one named decides
TRUNCATE h, s;
ALTER TABLE h DROP CONSTRAINT h_key;
ALTER TABLE s DROP CONSTRAINT s_key;
INSERT INTO h SELECT g, 's', '2026-01-01'::timestamp + g * interval '1 min', 'a' || g, g * 10, g, true FROM generate_series(1, 2000) g;
INSERT INTO s TABLE h;
SELECT compress_chunk('s');
CREATE UNIQUE INDEX h_k1 ON h (id);
CREATE UNIQUE INDEX h_k2 ON h (n);
CREATE UNIQUE INDEX s_k1 ON s (id);
CREATE UNIQUE INDEX s_k2 ON s (n);
SELECT twins('INSERT INTO @ (id, n) VALUES (5, 70) ON CONFLICT (id) DO UPDATE SET a = ''by id''');
SELECT twins('INSERT INTO @ (id, n) VALUES (15, 170) ON CONFLICT (n) DO UPDATE SET a = ''by n''');
SELECT twins('INSERT INTO @ (id, n) VALUES (25, 270) ON CONFLICT DO NOTHING');
SELECT twins('INSERT INTO @ (id, n) VALUES (35, 370)');
SELECT twins('INSERT INTO @ (id, n) VALUES (99999, 370) ON CONFLICT (id) DO NOTHING');
-- the one named with a compressed row, the other with a row of the row store
SELECT twins('INSERT INTO @ (id, n) VALUES (50001, 50010), (50002, 50020)');
SELECT twins('INSERT INTO @ (id, n) VALUES (45, 50010) ON CONFLICT (id) DO UPDATE SET a = ''by id''');
SELECT twins('INSERT INTO @ (id, n) VALUES (50001, 460) ON CONFLICT (n) DO UPDATE SET a = ''by n''');
SELECT twins('INSERT INTO @ (id, n) VALUES (50001, 470) ON CONFLICT (id) DO UPDATE SET a = ''by id''');
SELECT twins('INSERT INTO @ (id, n) VALUES (50001, 480) ON CONFLICT DO NOTHING');
SELECT twins('INSERT INTO @ (id, n) VALUES (49, 50020) ON CONFLICT (id) DO NOTHING');
SELECT twins('INSERT INTO @ (id, n) VALUES (50003, 490) ON CONFLICT (id) DO NOTHING');
SELECT twins('INSERT INTO @ (id, n) VALUES (51, 50020) ON CONFLICT (id) DO UPDATE SET n = 50010');
SELECT twins('INSERT INTO @ (id, n) VALUES (52, 530), (52, 540) ON CONFLICT (id) DO UPDATE SET a = ''twice''');
SELECT twins('INSERT INTO @ (id, n) SELECT g, 50010 + g % 2 * 10 FROM generate_series(60, 80) g ON CONFLICT (id) DO UPDATE SET a = @.a || ''x''');
SELECT twins('INSERT INTO @ (id, n) VALUES (91, 910) ON CONFLICT (id) DO UPDATE SET a = ''both, one row''');
-- the same by expressions, by part of the rows, and by nulls
DROP INDEX h_k1, s_k1;
CREATE UNIQUE INDEX h_k1 ON h ((-id));
CREATE UNIQUE INDEX s_k1 ON s ((-id));
SELECT twins('INSERT INTO @ (id, n) VALUES (81, 50010) ON CONFLICT ((-id)) DO UPDATE SET a = ''by -id''');
DROP INDEX h_k1, s_k1;
CREATE UNIQUE INDEX h_k1 ON h (id) WHERE act;
CREATE UNIQUE INDEX s_k1 ON s (id) WHERE act;
SELECT twins('INSERT INTO @ (id, n, act) VALUES (82, 50010, true) ON CONFLICT (id) WHERE act DO UPDATE SET a = ''by act''');
SELECT twins('INSERT INTO @ (id, n, act) VALUES (83, 50010, false) ON CONFLICT (id) WHERE act DO UPDATE SET a = ''by act''');
DROP INDEX h_k1, s_k1;
DELETE FROM h WHERE id > 50000;
DELETE FROM s WHERE id > 50000;
UPDATE h SET id = NULL WHERE id = 90;
UPDATE s SET id = NULL WHERE id = 90;
SELECT compress_chunk('s', recompress => true);
CREATE UNIQUE INDEX h_k1 ON h (id) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX s_k1 ON s (id) NULLS NOT DISTINCT;
SELECT twins('INSERT INTO @ (id, n) VALUES (50001, 50010)');
SELECT twins('INSERT INTO @ (id, n) VALUES (NULL, 50010) ON CONFLICT (id) DO UPDATE SET a = ''by null''');
SELECT * FROM strata.verify('s');
DROP TABLE h, s;
DROP FUNCTION twins, try_index;

-- what new keys are compared with is remembered: indexes that come later count, and so do other ideas of "equal"
CREATE TABLE remembered (k int4 PRIMARY KEY, a int4, b text) USING strata;
INSERT INTO remembered SELECT i, i, 'b' || i FROM generate_series(1, 100) i;
SELECT compress_chunk('remembered');
INSERT INTO remembered VALUES (101, 1, 'b1');
INSERT INTO remembered VALUES (7, 200, 'x');
DELETE FROM remembered WHERE k = 101;
CREATE UNIQUE INDEX ON remembered (a);
INSERT INTO remembered VALUES (102, 1, 'x');
INSERT INTO remembered VALUES (102, 102, 'c1');
CREATE UNIQUE INDEX ON remembered (b) WHERE k < 1000;
INSERT INTO remembered VALUES (103, 103, 'b2');
INSERT INTO remembered VALUES (1003, 1500, 'b2');
CREATE UNIQUE INDEX ON remembered ((a % 1000));
INSERT INTO remembered VALUES (2001, 2001, 'x');
CREATE FUNCTION abs_cmp(int4, int4) RETURNS int4 IMMUTABLE STRICT LANGUAGE sql AS 'SELECT btint4cmp(abs($1), abs($2))';
CREATE FUNCTION abs_eq(int4, int4) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT abs($1) = abs($2)';
CREATE FUNCTION abs_lt(int4, int4) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS 'SELECT abs($1) < abs($2)';
CREATE OPERATOR |<| (FUNCTION = abs_lt, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR |=| (FUNCTION = abs_eq, LEFTARG = int4, RIGHTARG = int4);
SET ROLE postgres;
CREATE OPERATOR CLASS abs_ops FOR TYPE int4 USING btree AS OPERATOR 1 |<|, OPERATOR 3 |=|, FUNCTION 1 abs_cmp(int4, int4);
RESET ROLE;
CREATE TABLE absolute (k int4, v int4) USING strata;
CREATE UNIQUE INDEX absolute_k ON absolute (k abs_ops);
INSERT INTO absolute SELECT i, i FROM generate_series(1, 100) i;
SELECT compress_chunk('absolute');
INSERT INTO absolute VALUES (-5, 0);
INSERT INTO absolute VALUES (-500, 0);
DROP TABLE remembered, absolute;
DROP FUNCTION abs_cmp, abs_eq, abs_lt CASCADE;

-- what is cached may be lost at any moment (at each, where the server has Asserts)
CREATE TABLE forgetful (id int PRIMARY KEY, k text) USING strata WITH (strata.orderby = 'id');
INSERT INTO forgetful SELECT i, 'k' || i FROM generate_series(1, 500) i;
SELECT compress_chunk('forgetful');
SELECT set_config('debug_discard_caches', least(max_val::int, 1)::text, false) IS NOT NULL AS set FROM pg_settings WHERE name = 'debug_discard_caches';
INSERT INTO forgetful VALUES (7, 'again');
INSERT INTO forgetful VALUES (8, 'again'), (501, 'new') ON CONFLICT (id) DO UPDATE SET k = excluded.k;
RESET debug_discard_caches;
SELECT count(*), string_agg(k, ',') FILTER (WHERE id IN (7, 8, 501)) FROM forgetful;
DROP TABLE forgetful;
