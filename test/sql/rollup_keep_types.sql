-- What retention keeps, of all types of time and of every aggregate that combines: NaN, -0, infinities, NULLs, dropped and added columns.
SET timezone = 'UTC';
SET strata.report_compression = off;
CREATE FUNCTION rkt_check(v text, q text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN
EXECUTE format('SELECT count(*) FROM ((SELECT x::text FROM (%s) x EXCEPT ALL SELECT y::text FROM %s y) UNION ALL (SELECT y::text FROM %s y EXCEPT ALL SELECT x::text FROM (%s) x)) z', q, v, v, q) INTO n; RETURN n; END $$;
SET client_min_messages = warning;
CREATE TABLE rkt_found (n int GENERATED ALWAYS AS IDENTITY, type text, after text, differences bigint, chunks bigint);
DO $do$
DECLARE t text; mk text; w text; ci text; cut text; late text; i int := 0; q text;
BEGIN
FOR t, mk, w, ci, cut, late IN VALUES
 ('date', $$date '2026-01-01' + i/50$$, $$interval '1 week'$$, $$interval '3 days'$$, $$date '2026-01-20'$$, $$date '2026-01-02'$$),
 ('timestamp', $$timestamp '2026-01-01' + i * interval '1 hour'$$, $$interval '1 month'$$, $$interval '12 hours'$$, $$timestamp '2026-02-10'$$, $$timestamp '2026-01-02 03:00'$$),
 ('smallint', $$(i*7 - 10000)::smallint$$, $$30::smallint$$, $$100$$, $$-5000$$, $$-9999::smallint$$),
 ('timestamptz', $$timestamptz '2026-03-20' + i * interval '20 minutes'$$, $$interval '1 day'$$, $$interval '12 hours'$$, $$timestamptz '2026-04-05 12:00'$$, $$timestamptz '2026-03-29 01:30'$$)
LOOP
 i := i + 1;
 EXECUTE format('CREATE TABLE rkt_k%s (t %s NOT NULL, g text, f float8, b bigint, m numeric(10,3), iv interval, bo bool, dropme int)', i, t);
 EXECUTE format('SELECT create_hypertable(''rkt_k%s'', ''t'', chunk_time_interval => %s)', i, ci);
 EXECUTE format('ALTER TABLE rkt_k%s DROP COLUMN dropme', i);
 EXECUTE format('INSERT INTO rkt_k%s SELECT %s, CASE i %% 4 WHEN 0 THEN NULL ELSE ''g'' || i %% 4 END, CASE i %% 9 WHEN 0 THEN ''NaN''::float8 WHEN 1 THEN ''-0''::float8 WHEN 2 THEN NULL WHEN 3 THEN ''Infinity''::float8 ELSE i END, i * 9000000000000::bigint, i / 7.0, i * interval ''1 min'', i %% 3 = 0 FROM generate_series(1, 2000) i, generate_series(1, 10)', i, mk);
 EXECUTE format('SELECT count(compress_chunk(c)) FROM show_chunks(''rkt_k%s'') c', i);
 EXECUTE format('INSERT INTO rkt_k%s SELECT * FROM rkt_k%s WHERE b %% 13 = 0', i, i);
 EXECUTE format('ALTER TABLE rkt_k%s ADD COLUMN extra int DEFAULT 3', i);
 q := format('SELECT time_bucket(%s, t%s) AS bk, g, count(*) AS n, count(f) AS nf, sum(b) AS sb, avg(b) AS ab, min(f) AS mf, max(f) AS xf, sum(m) AS sm, avg(m) AS am, avg(iv) AS ai, sum(iv) AS si, bool_or(bo) AS bo, bit_xor(b) AS bx, max(g) AS mg, sum(extra) AS se, min(m) AS mm FROM %%s WHERE b > 90000000000000 GROUP BY 1, 2 HAVING count(*) > 1', w, CASE t WHEN 'timestamptz' THEN ', ''Europe/Prague''' ELSE '' END);
 EXECUTE format('CREATE MATERIALIZED VIEW rkt_v%s WITH (strata.continuous) AS ', i) || format(q, 'rkt_k' || i) || ' WITH NO DATA';
 EXECUTE format('CREATE TABLE rkt_h%s AS SELECT * FROM rkt_k%s', i, i);
 INSERT INTO rkt_found (type, after, differences, chunks) SELECT t, 'before', rkt_check('rkt_v' || i, format(q, 'rkt_h' || i)), (SELECT count(*) FROM show_chunks(('rkt_k' || i)::regclass));
 EXECUTE format('SELECT count(*) FROM drop_chunks(''rkt_k%s'', older_than => %s)', i, cut);
 INSERT INTO rkt_found (type, after, differences, chunks) SELECT t, 'dropped', rkt_check('rkt_v' || i, format(q, 'rkt_h' || i)), (SELECT count(*) FROM show_chunks(('rkt_k' || i)::regclass));
 EXECUTE format('INSERT INTO rkt_k%s SELECT %s, ''g2'', n, n * 100000000000000, n, NULL, false, 7 FROM generate_series(1, 3) n', i, late);
 EXECUTE format('INSERT INTO rkt_h%s SELECT %s, ''g2'', n, n * 100000000000000, n, NULL, false, 7 FROM generate_series(1, 3) n', i, late);
 INSERT INTO rkt_found (type, after, differences, chunks) SELECT t, 'late', rkt_check('rkt_v' || i, format(q, 'rkt_h' || i)), (SELECT count(*) FROM show_chunks(('rkt_k' || i)::regclass));
 EXECUTE format('CALL refresh_continuous_aggregate(''rkt_v%s'', NULL, NULL)', i);
 INSERT INTO rkt_found (type, after, differences, chunks) SELECT t, 'refreshed', rkt_check('rkt_v' || i, format(q, 'rkt_h' || i)), (SELECT count(*) FROM show_chunks(('rkt_k' || i)::regclass));
 EXECUTE format('SELECT count(*) FROM drop_chunks(''rkt_k%s'', older_than => %s)', i, cut);
 INSERT INTO rkt_found (type, after, differences, chunks) SELECT t, 'again', rkt_check('rkt_v' || i, format(q, 'rkt_h' || i)), (SELECT count(*) FROM show_chunks(('rkt_k' || i)::regclass));
END LOOP; END $do$;
SELECT type, after, differences, chunks FROM rkt_found ORDER BY n;
SELECT count(*) > 40 AS compressed FROM strata.chunks WHERE hypertable_name LIKE 'rkt\_k%' AND is_compressed;
DROP TABLE rkt_found, rkt_k1, rkt_k2, rkt_k3, rkt_k4, rkt_h1, rkt_h2, rkt_h3, rkt_h4 CASCADE;
DROP FUNCTION rkt_check;
