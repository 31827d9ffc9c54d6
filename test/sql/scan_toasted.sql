-- Equality of values that the row store keeps compressed or out of line.
CREATE TABLE rh (ts timestamptz NOT NULL, t text, x text, b bytea, n int);
ALTER TABLE rh ALTER x SET STORAGE EXTERNAL;
INSERT INTO rh SELECT '2024-01-01'::timestamptz + i * interval '1 min', repeat('t' || (i % 3), 1900), repeat('x' || (i % 4), 1500), decode(repeat(md5((i % 3)::text), 300), 'hex'), i FROM generate_series(1, 300) i;
INSERT INTO rh SELECT '2024-02-01'::timestamptz + i * interval '1 min', CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 't1' ELSE '' END, repeat('x1', i % 2 * 700), NULL, i FROM generate_series(1, 30) i;
CREATE TABLE rs (LIKE rh INCLUDING STORAGE) USING strata;
INSERT INTO rs SELECT * FROM rh WHERE n <= 150;
SELECT compress_chunk('rs');
INSERT INTO rs SELECT * FROM rh WHERE n > 150;
INSERT INTO rs SELECT * FROM rh WHERE ts >= '2024-02-01';
DELETE FROM rs WHERE ts >= '2024-02-01' AND ctid IN (SELECT max(ctid) FROM rs WHERE ts >= '2024-02-01' GROUP BY ts HAVING count(*) > 1);
ANALYZE rs;
CREATE FUNCTION rs_both(quals text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answers text[] := '{}';
	a text;
BEGIN
	FOREACH a IN ARRAY '{rh, rs}'::text[] LOOP
		EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(n), 0) || '' '' || count(t) FROM %s AS o WHERE %s', a, quals) INTO a;
		answers := answers || a;
	END LOOP;
	RETURN CASE WHEN answers[1] = answers[2] THEN answers[1] ELSE 'DIFFERS: ' || answers::text END;
END $$;
CREATE VIEW rs_quals AS SELECT q FROM (VALUES ($$t = repeat('t1', 1900)$$), ($$t IN (repeat('t1', 1900), 'x', 't1')$$), ($$b = decode(repeat(md5('1'), 300), 'hex')$$), ($$x = repeat('x1', 1500)$$), ($$x IN (repeat('x1', 1500), repeat('x1', 700))$$),
	($$t = ANY (ARRAY(SELECT repeat('t' || g, 1900) FROM generate_series(1, 9) g))$$), ($$t = repeat('t1', 1900) OR n < 0$$), ($$NOT (t <> repeat('t1', 1900))$$), ($$t = (SELECT repeat('t2', 1900))$$), ($$t <> repeat('t1', 1900)$$), ($$t NOT IN (repeat('t1', 1900), '')$$),
	($$t = repeat('t1', 1899) || 'tx'$$), ($$t = ''$$), ($$t LIKE 't1t1%'$$), ($$t >= repeat('t1', 1900)$$), ($$length(t) = 3800$$), ($$t = x$$), ($$EXISTS (SELECT 1 FROM rh WHERE rh.t = o.t AND rh.n = 1)$$)) AS v(q);
SELECT left(q, 50), rs_both(q) FROM rs_quals;
SET strata.enable_page_scan = off;
SELECT left(q, 50), rs_both(q) FROM rs_quals;
RESET strata.enable_page_scan;
-- a segment key too long to be one
CREATE TABLE rk (seg text, n int) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'n');
INSERT INTO rk SELECT repeat('s' || i % 3, 3000), i FROM generate_series(1, 900) i;
SELECT compress_chunk('rk') IS NOT NULL;
SELECT o.k, (SELECT count(*) FROM rk WHERE seg = repeat('s' || o.k, 3000)) FROM generate_series(0, 3) o(k);
BEGIN;
DELETE FROM rs WHERE n = (SELECT count(*) FROM rs WHERE t = repeat('t1', 1900));
SELECT count(*) FROM rs;
ROLLBACK;
DROP VIEW rs_quals;
DROP TABLE rh, rs, rk;
DROP FUNCTION rs_both;

-- subtransactions that fail give their memory back
CREATE TABLE lk (id int PRIMARY KEY, v int) USING strata;
INSERT INTO lk SELECT i, i FROM generate_series(1, 5000) i;
SELECT compress_chunk('lk');
BEGIN;
DO $$ BEGIN FOR i IN 1..1000 LOOP BEGIN INSERT INTO lk VALUES (i, 1); EXCEPTION WHEN unique_violation THEN NULL; END; END LOOP; END $$;
SELECT coalesce(sum(total_bytes), 0) < 1000000 AS little FROM pg_backend_memory_contexts WHERE name LIKE 'strata rows%';
ROLLBACK;
DROP TABLE lk;
