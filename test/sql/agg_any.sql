-- Aggregates of any kind over both halves of a hypertable, whose rows are held: the same answers as of a heap, and as without the switch.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
CREATE COLLATION aa_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE aa (ts timestamptz NOT NULL, host text, i2 int2, i4 int, i8 int8, num numeric, f4 float4, f8 float8, txt text,
	any_case text COLLATE aa_any_case, ch char(3), b bool, u uuid, iv interval, arr int[], d date, js json);
SELECT count(*) FROM create_hypertable('aa', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE aa SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE aa_h (LIKE aa);
CREATE FUNCTION aa_rows(first int, last int) RETURNS SETOF aa_h LANGUAGE sql AS $$
	SELECT timestamptz '2024-03-09Z' + g * interval '31 seconds', CASE g % 7 WHEN 6 THEN NULL ELSE 'host' || g % 7 END,
		CASE WHEN g % 11 <> 0 THEN g % 30 END, CASE WHEN g % 13 <> 0 THEN g * 7919 % 1009 - 500 END,
		CASE WHEN g % 17 <> 0 THEN (g % 500 - 250) * 36893488147419103 END,
		CASE g % 40 WHEN 7 THEN NULL WHEN 8 THEN 'NaN' WHEN 9 THEN 1.50 WHEN 10 THEN 1.5 WHEN 11 THEN 1.500 WHEN 12 THEN 'infinity' ELSE (g % 77)::numeric / 8 END,
		CASE g % 9 WHEN 0 THEN '-0' WHEN 1 THEN 0 WHEN 2 THEN 'NaN' WHEN 3 THEN NULL ELSE g % 20 / 4.0 END::float4,
		CASE g % 9 WHEN 0 THEN '-0' WHEN 1 THEN 0 WHEN 2 THEN 'NaN' WHEN 3 THEN NULL WHEN 4 THEN '-infinity' ELSE g % 200 / 4.0 END::float8,
		CASE g % 23 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE repeat(chr(97 + g % 5), g % 40 + 1) END,
		CASE g % 6 WHEN 0 THEN 'Ab' WHEN 1 THEN 'aB' WHEN 2 THEN NULL ELSE 'x' || g % 4 END, 'c' || g % 3, CASE g % 5 WHEN 0 THEN NULL ELSE g % 3 = 0 END,
		('00000000-0000-0000-0000-00000000000' || g % 4)::uuid,
		CASE g % 3 WHEN 0 THEN '1 mon' WHEN 1 THEN '30 days' ELSE '720:00:01' END::interval, ARRAY[g % 3, g % 2],
		CASE g % 60 WHEN 6 THEN 'infinity'::date ELSE '2024-01-01'::date + g % 9 END, '{}'::json
	FROM generate_series(first, last) AS g
$$;
INSERT INTO aa_h SELECT * FROM aa_rows(0, 3999);
INSERT INTO aa SELECT * FROM aa_h;
SELECT count(compress_chunk(c)) > 2 AS many FROM show_chunks('aa') AS c;
-- late ones, beside the batches
INSERT INTO aa SELECT * FROM aa_rows(4000, 4010);
WITH late AS (INSERT INTO aa_h SELECT (r).* FROM (SELECT jsonb_populate_record(x, '{"host": "late", "i4": 77777}') AS r FROM aa_rows(5, 3900) AS x
	WHERE extract(epoch FROM ts)::int8 % 20 = 0) AS q RETURNING *) INSERT INTO aa SELECT * FROM late;
INSERT INTO aa_h SELECT * FROM aa_rows(4000, 4010);

CREATE FUNCTION aa_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', regexp_replace(query, '\mT\M', t, 'g')) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION aa_add(state numeric, x numeric, weight int) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT coalesce(state, 0) + coalesce(x, 1) * coalesce(weight, 3)';
CREATE AGGREGATE aa_weighted(numeric, int) (sfunc = aa_add, stype = numeric);
CREATE AGGREGATE aa_longest(text) (sfunc = text_larger, stype = text);
CREATE AGGREGATE aa_append(anycompatible) (sfunc = array_append, stype = anycompatiblearray, initcond = '{}');
CREATE DOMAIN aa_domain AS int;
-- the rows' order decides where there is no ORDER BY in an aggregate: sorted there, or one that does not show
CREATE TABLE aa_list (id serial, list text);
INSERT INTO aa_list (list) VALUES
	('percentile_cont(0.5) WITHIN GROUP (ORDER BY i4), percentile_cont(0.95) WITHIN GROUP (ORDER BY i4), percentile_cont(1) WITHIN GROUP (ORDER BY i4), count(*)'),
	('percentile_cont(0.25) WITHIN GROUP (ORDER BY f8 DESC), percentile_cont(0) WITHIN GROUP (ORDER BY f8), percentile_cont(NULL) WITHIN GROUP (ORDER BY f8)'),
	('percentile_disc(0.5) WITHIN GROUP (ORDER BY i2), percentile_disc(0.9) WITHIN GROUP (ORDER BY i8 DESC), percentile_disc(0) WITHIN GROUP (ORDER BY ts), percentile_disc(1) WITHIN GROUP (ORDER BY d)'),
	('percentile_disc(0.3) WITHIN GROUP (ORDER BY f4) + 0, percentile_disc(0.3) WITHIN GROUP (ORDER BY txt), percentile_disc(0.7) WITHIN GROUP (ORDER BY num)::float8'),
	('percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY i4), percentile_disc(ARRAY[0.5, NULL]) WITHIN GROUP (ORDER BY txt DESC), percentile_cont(0.5) WITHIN GROUP (ORDER BY iv) IS NULL'),
	('percentile_cont(ARRAY[[0.1, 0.5], [NULL, 1]]) WITHIN GROUP (ORDER BY f8 DESC), percentile_disc(ARRAY[0.9, 0.9, 0, 1, 0.33]) WITHIN GROUP (ORDER BY i8 DESC), percentile_disc(0.4) WITHIN GROUP (ORDER BY i8 DESC), mode() WITHIN GROUP (ORDER BY i8 DESC)'),
	('percentile_disc(''[3:4]={0.2,0.7}''::float8[]) WITHIN GROUP (ORDER BY d), percentile_disc(''{}''::float8[]) WITHIN GROUP (ORDER BY ts), percentile_cont(NULL::float8[]) WITHIN GROUP (ORDER BY f4), percentile_disc(ARRAY[0.05, 0.95]) WITHIN GROUP (ORDER BY f4) FILTER (WHERE i2 > 3)'),
	('percentile_cont(ARRAY[0.5, 1.5]) WITHIN GROUP (ORDER BY f8)'), ('percentile_disc(ARRAY[NULL, -1]) WITHIN GROUP (ORDER BY i2), percentile_disc(0.5) WITHIN GROUP (ORDER BY i2)'),
	('percentile_disc(ARRAY[0.1, 0.6]) WITHIN GROUP (ORDER BY i4::aa_domain), mode() WITHIN GROUP (ORDER BY i4::aa_domain DESC), percentile_cont(ARRAY[0.2, 0.8]) WITHIN GROUP (ORDER BY iv) IS NULL'),
	('percentile_cont(1.5) WITHIN GROUP (ORDER BY i4)'), ('percentile_disc(-1) WITHIN GROUP (ORDER BY i4)'), ('percentile_cont(0.5) WITHIN GROUP (ORDER BY i4 / i2)'),
	('mode() WITHIN GROUP (ORDER BY i2), mode() WITHIN GROUP (ORDER BY txt), mode() WITHIN GROUP (ORDER BY f8 DESC) + 0, mode() WITHIN GROUP (ORDER BY b), mode() WITHIN GROUP (ORDER BY d DESC)'),
	('percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FILTER (WHERE i2 > 3), percentile_disc(0.5) WITHIN GROUP (ORDER BY 100 / i2) FILTER (WHERE i2 > 0), sum(i4)'),
	('rank(10) WITHIN GROUP (ORDER BY i4), dense_rank(10) WITHIN GROUP (ORDER BY i4), percent_rank(3, ''b'') WITHIN GROUP (ORDER BY i2, txt), cume_dist(0) WITHIN GROUP (ORDER BY i4 NULLS FIRST)'),
	('string_agg(txt, '','' ORDER BY ts, i4), string_agg(DISTINCT txt, ''-''), string_agg(DISTINCT host, '','' ORDER BY host DESC), length(string_agg(txt, ''--''))'),
	('array_agg(i4 ORDER BY ts, i4), array_agg(i2 ORDER BY i2 NULLS FIRST), array_agg(DISTINCT b), array_agg(DISTINCT i2 ORDER BY i2 DESC NULLS LAST), cardinality(array_agg(arr))'),
	('array_agg(txt ORDER BY txt COLLATE "C" DESC, ts) FILTER (WHERE i4 > 0), array_agg(DISTINCT num) FILTER (WHERE num < 3)::float8[], array_agg(DISTINCT any_case)::text ILIKE ''%ab%'''),
	('json_agg(i2 ORDER BY ts, i4), jsonb_agg(txt ORDER BY ts DESC, i4), json_object_agg(''k'', i4 ORDER BY ts, i4), jsonb_object_agg(coalesce(host, ''?''), i2 ORDER BY ts, i4), xmlagg(xmlelement(name x, i2) ORDER BY ts, i4) IS NULL'),
	('aa_weighted(num, 2) FILTER (WHERE num < 100), aa_weighted(i4, i2), aa_longest(txt), aa_longest(DISTINCT host), aa_append(i4 ORDER BY ts, i4), cardinality(aa_append(txt))'),
	('sum(f8 ORDER BY f8) FILTER (WHERE abs(f8) < 100), sum(DISTINCT f8), avg(DISTINCT f4), stddev(DISTINCT f8) FILTER (WHERE f8 < 9), count(i4 ORDER BY txt), min(i4 ORDER BY i2)'),
	('to_char((corr(i4, i2) + 10) * pi(), ''9.9999EEEE''), to_char((covar_pop(i4, i4 + 2) + 10) * pi(), ''9.9999EEEE''), to_char((covar_samp(i2, i4) + 10) * pi(), ''9.9999EEEE''), regr_count(i4, i2), regr_count(f8, i4), to_char((regr_slope(i4, i2) + 10) * pi(), ''9.9999EEEE'')'),
	('to_char((regr_avgx(i4, i2) + 10) * pi(), ''9.9999EEEE''), to_char((regr_avgy(i4, i2) + 10) * pi(), ''9.9999EEEE''), to_char((regr_intercept(i4, i2) + 10) * pi(), ''9.9999EEEE''), to_char((regr_r2(i4, i2) + 10) * pi(), ''9.9999EEEE''), to_char((regr_sxx(i4, i2) + 10) * pi(), ''9.9999EEEE''), to_char((regr_sxy(i4, i2) + 10) * pi(), ''9.9999EEEE''), to_char((regr_syy(i4, 7) + 10) * pi(), ''9.9999EEEE'')'),
	('to_char((corr(i4, i2) FILTER (WHERE i4 > 0) + 10) * pi(), ''9.9999EEEE''), corr(f8, f8), regr_slope(f8, f4), regr_sxx(NULL, i4), covar_pop(i4, i4 / i2)'),
	('range_agg(int4range(i2, i2 + 3)), array_agg(int4range(1, 2)), string_agg(''x'', '','' ORDER BY 1), percentile_disc(0.5) WITHIN GROUP (ORDER BY 7), array_agg(7) = array_agg(7)'),
	('array_agg(DISTINCT date_trunc(''hour'', ts)), array_agg(DISTINCT i4 % 5 ORDER BY i4 % 5), string_agg(upper(txt), '''' ORDER BY ts, i4, txt)'),
	('count(DISTINCT (host, i2)), count(DISTINCT (txt, num, b)) FILTER (WHERE i4 > 0), array_agg(DISTINCT arr), array_agg(DISTINCT arr || i2::int), count(DISTINCT (f8, any_case)), jsonb_agg(DISTINCT iv) IS NULL'),
	('md5(string_agg(DISTINCT repeat(txt, 300), '','')), array_agg(DISTINCT (i2 % 3, d)), array_agg(DISTINCT ch), string_agg(DISTINCT host, txt), array_agg(DISTINCT f4 + 0)'),
	('array_agg(random() ORDER BY ts) IS NULL'), ('percentile_disc((SELECT 0.5)) WITHIN GROUP (ORDER BY i4)'), ('array_agg((aa_nothing))');
CREATE TABLE aa_groups (id serial, list text);
INSERT INTO aa_groups (list) VALUES (''), ('host'), ('txt'), ('host, time_bucket(''3 hours'', ts)'), ('any_case'), ('num'), ('i4 % 7, b');
CREATE FUNCTION aa_differ(suffix text DEFAULT '') RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
BEGIN
	FOR query IN SELECT format('SELECT %s FROM T WHERE %s %s', l.list, w, CASE g.list WHEN '' THEN '' ELSE 'GROUP BY ' || g.list END || suffix)
		FROM aa_list AS l, aa_groups AS g, unnest(ARRAY['true', 'ts < ''2024-03-09 20:00Z'' AND i4 % 5 <> 2', 'false']) AS w ORDER BY l.id, g.id, w LOOP
		strata := aa_answer(query, 'aa');
		heap := aa_answer(query, 'aa_h');
		IF strata IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT query, left(strata, 200) AS strata, left(heap, 200) AS heap FROM aa_differ();
-- rows of batches deleted and changed
DELETE FROM aa WHERE i4 % 9 = 4; DELETE FROM aa_h WHERE i4 % 9 = 4;
UPDATE aa SET host = 'new', i2 = NULL WHERE i4 % 31 = 5; UPDATE aa_h SET host = 'new', i2 = NULL WHERE i4 % 31 = 5;
ALTER TABLE aa ADD more int DEFAULT 5; ALTER TABLE aa_h ADD more int DEFAULT 5;
INSERT INTO aa_list (list) VALUES ('array_agg(more + i2 ORDER BY i2), percentile_cont(0.5) WITHIN GROUP (ORDER BY more)');
SELECT query, left(strata, 200) AS strata, left(heap, 200) AS heap FROM aa_differ(' HAVING percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) > 1');
SET strata.enable_any_agg = off;
SELECT count(*) FROM aa_differ();
RESET strata.enable_any_agg;

-- beyond memory: groups are spilled, and a group that is alone
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
CREATE TABLE aa_many (ts timestamptz NOT NULL, k int, v int8, t text);
SELECT count(*) FROM create_hypertable('aa_many', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
CREATE TABLE aa_many_h (LIKE aa_many);
INSERT INTO aa_many_h SELECT timestamptz '2024-03-09Z' + g * interval '3 seconds', g % 3000, g * 7919::int8 % 10007, 'text' || g * 7919::int8 % 5003 FROM generate_series(1, 25000) AS g;
INSERT INTO aa_many SELECT * FROM aa_many_h;
SELECT count(compress_chunk(c)) FROM show_chunks('aa_many') AS c;
INSERT INTO aa_many SELECT ts, k, -v, t || 'late' FROM aa_many_h WHERE v % 20 = 1;
INSERT INTO aa_many_h SELECT ts, k, -v, t || 'late' FROM aa_many_h WHERE v % 20 = 1;
SELECT query FROM unnest(ARRAY[
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v), percentile_disc(0.9) WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY k), md5(string_agg(t, '','' ORDER BY ts, v)), corr(k, v) IS NULL FROM T',
	'SELECT percentile_cont(ARRAY[0.9, 0.1, 0.10001]) WITHIN GROUP (ORDER BY sqrt(abs(v))), percentile_disc(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY v / 5000.0::float8 DESC), mode() WITHIN GROUP (ORDER BY (v % 5)::float8 DESC), mode() WITHIN GROUP (ORDER BY k DESC) FROM T',
	'SELECT percentile_disc(ARRAY[0.2, 0.4, 0.6, 0.8]) WITHIN GROUP (ORDER BY v / 3000), mode() WITHIN GROUP (ORDER BY v / 3000), percentile_disc(0.7) WITHIN GROUP (ORDER BY ts DESC), percentile_cont(0.3) WITHIN GROUP (ORDER BY CASE WHEN v % 3 = 0 THEN 1e300 ELSE v END) FROM T',
	'SELECT k / 1000, percentile_cont(ARRAY[0.01, 0.5, 0.99]) WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY v), percentile_disc(0.5) WITHIN GROUP (ORDER BY v DESC) FILTER (WHERE v % 7 > 1) FROM T GROUP BY 1',
	'SELECT md5(string_agg(DISTINCT t, '','')), cardinality(array_agg(DISTINCT ts)), md5(array_agg(DISTINCT v ORDER BY v DESC)::text), cardinality(array_agg(t)) FROM T',
	'SELECT k, percentile_cont(0.5) WITHIN GROUP (ORDER BY v), array_agg(v ORDER BY ts, v), string_agg(DISTINCT t, ''-'') FROM T GROUP BY k',
	'SELECT count(DISTINCT (k % 40, v % 9)), array_agg(DISTINCT k % 50), array_agg(DISTINCT CASE WHEN k % 3 > 0 THEN ''x'' || k % 20 END), count(DISTINCT (k, ts)) FROM T',
	'SELECT k % 7, count(DISTINCT (k % 400, v % 90)), array_agg(DISTINCT k % 50), string_agg(DISTINCT t, '','' ORDER BY t DESC), md5(array_agg(DISTINCT v ORDER BY v DESC)::text) FROM T GROUP BY 1',
	'SELECT k % 2, percentile_cont(0.5) WITHIN GROUP (ORDER BY v), percentile_cont(0.6) WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY t), md5(array_agg(t ORDER BY ts, v)::text), sum(v) FROM T GROUP BY 1',
	'SELECT t, array_agg(k ORDER BY k), array_agg(v ORDER BY k, v), sum(v) FROM T GROUP BY t ORDER BY t LIMIT 100', 'SELECT time_bucket(''1 hour'', ts) AS b, percentile_disc(0.5) WITHIN GROUP (ORDER BY t) FROM T GROUP BY b ORDER BY b DESC LIMIT 3']) AS query
	WHERE aa_answer(query, 'aa_many') IS DISTINCT FROM aa_answer(query, 'aa_many_h');
-- more things to sort by than a function may have arguments, in memory and beyond it; and as many arguments as it may have
CREATE AGGREGATE aa_last(VARIADIC "any") (sfunc = format, stype = text, initcond = '%99$s');
CREATE TABLE aa_long AS
	SELECT format('SELECT %s md5(array_agg(v ORDER BY %s, ts, v)::text), count(*) FROM T WHERE k < %s GROUP BY %s', shown, list, top, keys) AS query
		FROM (SELECT string_agg('k % ' || i, ', ') FROM generate_series(2, 150) AS i) AS l (list), (VALUES ('', '()', 3000), ('k,', 'k', 99)) AS g (shown, keys, top)
	UNION ALL SELECT format('SELECT k %% 9, aa_last(%s ORDER BY v, ts) FROM T GROUP BY 1', string_agg('t || ' || i, ', ')) FROM generate_series(1, 99) AS i
	UNION ALL SELECT format('SELECT array_agg(v ORDER BY %s) IS NULL FROM T WHERE k < 0', string_agg('k % ' || i, ', ')) FROM generate_series(2, 2000) AS i;
SELECT left(query, 60) AS query, left(aa_answer(query, 'aa_many'), 40) AS answer FROM aa_long ORDER BY query COLLATE "C";
SELECT left(query, 60) AS query, aa_answer(query, 'aa_many') AS strata, aa_answer(query, 'aa_many_h') AS heap FROM aa_long WHERE aa_answer(query, 'aa_many') IS DISTINCT FROM aa_answer(query, 'aa_many_h');
RESET work_mem;
RESET hash_mem_multiplier;

-- pairs of values to the last bit, what is not finite, and errors
CREATE TABLE aa_pairs (ts timestamptz NOT NULL, g int, y float8, x float8, e float4);
SELECT count(*) FROM create_hypertable('aa_pairs', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE aa_pairs SET (strata.orderby = 'ts');
CREATE TABLE aa_pairs_h (LIKE aa_pairs);
INSERT INTO aa_pairs_h SELECT timestamptz '2024-03-09Z' + i * interval '12 seconds', i % 8,
	CASE WHEN i % 8 = 1 AND i < 10 THEN 'NaN' WHEN i % 8 = 2 AND i % 1000 = 2 THEN '-infinity' WHEN i % 8 = 3 AND i % 5 = 0 THEN NULL WHEN i % 8 = 4 THEN 7.7 WHEN i % 8 = 5 AND i > 4000 THEN i * 1e160 ELSE i * 0.37 - i * i % 1013 END,
	CASE WHEN i % 8 = 1 AND i > 3000 THEN 'infinity' WHEN i % 8 = 3 AND i % 7 = 0 THEN NULL WHEN i % 8 = 6 THEN '-0' ELSE i * 7919::int8 % 997 / 7.0 END, i % 17 / 3.0
	FROM generate_series(1, 6000) AS i;
INSERT INTO aa_pairs SELECT * FROM aa_pairs_h WHERE ts < '2024-03-09 12:00Z';
SELECT count(compress_chunk(c)) FROM show_chunks('aa_pairs') AS c;
INSERT INTO aa_pairs SELECT * FROM aa_pairs_h WHERE ts >= '2024-03-09 12:00Z';
SELECT query, left(aa_answer(query, 'aa_pairs'), 200) AS strata, left(aa_answer(query, 'aa_pairs_h'), 200) AS heap FROM (
	SELECT format('SELECT g, %s FROM T WHERE %s GROUP BY g ORDER BY g', list, cond) FROM unnest(ARRAY[
		'corr(y, x), covar_pop(y, x), covar_samp(y, x)', 'regr_avgx(y, x), regr_avgy(y, x), regr_count(y, x), regr_sxx(y, x), regr_syy(y, x)', 'regr_slope(x, y), regr_intercept(y, x), regr_r2(y, x), regr_sxy(y, e)', 'corr(e, x), corr(y, 3), corr(2.5, 3.5) FILTER (WHERE x > 50)']) AS list,
		unnest(ARRAY['g <> 5', 'g <> 5 AND x > 20', 'ts < ''2024-03-09 08:00Z''', 'true', 'g = 5 AND y > 0']) AS cond) AS q (query)
	WHERE aa_answer(query, 'aa_pairs') IS DISTINCT FROM aa_answer(query, 'aa_pairs_h');
SELECT DISTINCT aa_answer('SELECT g, corr(y, x) FROM T WHERE g = 5 GROUP BY g', t) FROM unnest(ARRAY['aa_pairs', 'aa_pairs_h']) AS t;

-- rescans, parameters, cursors, subqueries
SELECT w.h, q.* FROM (VALUES ('host1'), ('late'), ('nobody')) AS w (h), LATERAL (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), string_agg(txt, w.h ORDER BY ts, i4), count(*) FROM aa WHERE host >= w.h) AS q
EXCEPT SELECT w.h, q.* FROM (VALUES ('host1'), ('late'), ('nobody')) AS w (h), LATERAL (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), string_agg(txt, w.h ORDER BY ts, i4), count(*) FROM aa_h WHERE host >= w.h) AS q;
SET plan_cache_mode = force_generic_plan;
PREPARE aa_p (float8, text) AS SELECT host, percentile_cont($1) WITHIN GROUP (ORDER BY i4) AS p, left(string_agg(i2::text, $2 ORDER BY ts, i4), 9) AS s FROM aa GROUP BY host ORDER BY host NULLS FIRST LIMIT 3;
EXECUTE aa_p (0.5, '/');
EXECUTE aa_p (NULL, NULL);
EXECUTE aa_p (7, '');
BEGIN;
DECLARE c CURSOR FOR SELECT host, percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM aa GROUP BY host ORDER BY host;
FETCH 2 FROM c;
DELETE FROM aa;
FETCH 2 FROM c;
ROLLBACK;
-- who may not execute an aggregate's function, and whose aggregate that is
-- needs superuser: gives an aggregate away, and takes a right on a function of PostgreSQL's away
SET ROLE postgres;
CREATE ROLE aa_owner;
ALTER AGGREGATE aa_longest(text) OWNER TO aa_owner;
REVOKE EXECUTE ON FUNCTION text_larger(text, text) FROM PUBLIC;
RESET ROLE;
SELECT aa_longest(txt) FROM aa;
-- needs superuser: gives it back
SET ROLE postgres;
GRANT EXECUTE ON FUNCTION text_larger(text, text) TO PUBLIC;
DROP AGGREGATE aa_longest(text);
DROP ROLE aa_owner;
RESET ROLE;
DROP TABLE aa, aa_many, aa_many_h, aa_list, aa_groups, aa_long;
DROP AGGREGATE aa_last("any");
DROP AGGREGATE aa_weighted(numeric, int);
DROP AGGREGATE aa_append(anycompatible);
DROP FUNCTION aa_add, aa_answer, aa_differ, aa_rows;
DROP TABLE aa_h, aa_pairs, aa_pairs_h;
DROP COLLATION aa_any_case;
