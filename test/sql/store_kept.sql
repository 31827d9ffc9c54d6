-- Changes in the order of time over more segments than batches stay decoded:
-- single rows are kept then.  Beside a heap table with the same rows.
CREATE EXTENSION IF NOT EXISTS strata;
SET client_min_messages = error;
SET strata.batch_rows = 100;
-- batches are given up at once
SET work_mem = '64kB';

CREATE TABLE s (seg text COLLATE "C" NOT NULL, ts timestamptz NOT NULL, v float8, n numeric, note text, big text, PRIMARY KEY (seg, ts));
SELECT FROM create_hypertable('s', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE s SET (strata.segmentby = 'seg', strata.orderby = 'ts');
CREATE TABLE h (LIKE s, PRIMARY KEY (seg, ts)) USING heap;
INSERT INTO h SELECT 's' || g, '2026-01-01 06:00+00'::timestamptz + i * interval '2 min',
	CASE WHEN i % 50 = 0 THEN NULL WHEN i % 51 = 0 THEN 'NaN'::float8 WHEN i % 52 = 0 THEN '-0' ELSE i::float8 END, g / 10.0,
	nullif('note ' || i % 7, 'note 3'), CASE WHEN g % 40 = 0 AND i % 10 = 0 THEN repeat(md5(g || ' ' || i), 700) END
FROM generate_series(1, 90) g, generate_series(1, 300) i;
INSERT INTO s SELECT * FROM h WHERE hashtext(seg || ts) % 20 <> 0;
CALL strata.compress_all('s');
INSERT INTO s SELECT * FROM h WHERE hashtext(seg || ts) % 20 = 0;

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
			said := said || SQLSTATE;
		END;
	END LOOP;
	EXECUTE 'SELECT count(*) FROM ((SELECT x::text FROM h x EXCEPT ALL SELECT x::text FROM s x)
		UNION ALL (SELECT x::text FROM s x EXCEPT ALL SELECT x::text FROM h x)) d' INTO n;
	RETURN CASE WHEN said[1] IS DISTINCT FROM said[2] THEN 'heap: ' || said[1] || ', strata: ' || said[2]
		WHEN n > 0 THEN n || ' rows differ' ELSE said[1] END;
END $$;

-- every second row is there; by time, backward, at random, by segment
CREATE VIEW incoming AS SELECT 's' || g AS seg, '2026-01-01 11:00+00'::timestamptz + i * interval '1 min' AS ts, i + 0.5 AS v,
	g AS n, 'new' AS note, NULL AS big FROM generate_series(1, 90) g, generate_series(1, 90) i;
SELECT twins('INSERT INTO @ SELECT * FROM incoming ORDER BY ts, seg ON CONFLICT DO NOTHING');
SELECT twins('DELETE FROM @ WHERE note = ''new''');
SELECT twins('INSERT INTO @ SELECT * FROM incoming ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = excluded.v, note = @.note || length(coalesce(@.big, '''')) WHERE @.v IS DISTINCT FROM 180');
SELECT twins('INSERT INTO @ SELECT seg, ts + interval ''2 h'', v, n, note, big FROM incoming ORDER BY ts DESC, seg ON CONFLICT (seg, ts) DO UPDATE SET n = @.n + excluded.n');
SELECT twins('INSERT INTO @ SELECT seg, ts - interval ''3 h'', v, n, note, big FROM incoming ORDER BY md5(seg || ts::text) ON CONFLICT (seg, ts) DO UPDATE SET n = @.n + 1, big = @.note');
SELECT twins('INSERT INTO @ SELECT seg, ts - interval ''5 h'', v, n, note, big FROM incoming ORDER BY seg, ts ON CONFLICT (seg, ts) DO UPDATE SET n = @.n + 1');
SELECT twins('INSERT INTO @ SELECT * FROM incoming ORDER BY ts, seg');

-- the same rows again, which have left their batches
SELECT twins('INSERT INTO @ SELECT * FROM incoming ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = @.v + 1 WHERE @.n > 2');
SELECT twins('INSERT INTO @ SELECT i.* FROM incoming i, generate_series(1, 2) ORDER BY i.ts, i.seg ON CONFLICT (seg, ts) DO UPDATE SET v = 0');

-- row by row, in one transaction
CREATE PROCEDURE each(t text) LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT seg, ts + interval '3 h' AS ts, v FROM incoming ORDER BY ts, seg LIMIT 2000 LOOP
		EXECUTE format('INSERT INTO %I VALUES ($1, $2, $3) ON CONFLICT (seg, ts) DO UPDATE SET v = %1$I.v + excluded.v', t) USING r.seg, r.ts, r.v;
		EXECUTE format('UPDATE %I SET note = ''x'' WHERE seg = $1 AND ts = $2', t) USING r.seg, r.ts + interval '20 min';
		EXECUTE format('DELETE FROM %I WHERE seg = $1 AND ts = $2', t) USING r.seg, r.ts + interval '40 min';
	END LOOP;
END $$;
CALL each('h');
CALL each('s');
SELECT twins('DELETE FROM @ WHERE note = ''x'' AND n < 3');

-- subtransactions that fail, compression and new columns in between
CALL strata.compress_all('s');
BEGIN;
SELECT twins('INSERT INTO @ SELECT * FROM incoming WHERE n < 50 ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = 7');
SAVEPOINT a;
SELECT twins('INSERT INTO @ SELECT * FROM incoming ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = 8');
ROLLBACK TO a;
SELECT twins('INSERT INTO @ SELECT * FROM incoming WHERE n > 40 ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = @.v + 9');
SELECT count(compress_chunk(c)) FROM show_chunks('s') c;
SELECT twins('INSERT INTO @ SELECT * FROM incoming ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = @.v + 10');
ALTER TABLE h ADD c int DEFAULT 5, DROP note;
ALTER TABLE s ADD c int DEFAULT 5, DROP note;
SELECT twins('INSERT INTO @ SELECT seg, ts + interval ''2 h'', v, n, big FROM incoming ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = @.v + 11');
SAVEPOINT b;
SELECT count(compress_chunk(c)) FROM show_chunks('s') c;
SELECT twins('INSERT INTO @ SELECT seg, ts, v, n, big FROM incoming ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = 12, c = @.c + 1');
ROLLBACK TO b;
SELECT twins('INSERT INTO @ SELECT seg, ts, v, n, big FROM incoming ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = @.v + 13, c = @.c + 1');
COMMIT;

-- triggers see old rows; one snapshot; rows moved by their key
CREATE TABLE log (t text, old text);
CREATE FUNCTION note_old() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (TG_ARGV[0], OLD::text); RETURN NULL; END $$;
CREATE TRIGGER note_old AFTER UPDATE OR DELETE ON h FOR EACH ROW EXECUTE FUNCTION note_old('h');
CREATE TRIGGER note_old AFTER UPDATE OR DELETE ON s FOR EACH ROW EXECUTE FUNCTION note_old('s');
CALL strata.compress_all('s');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT twins('INSERT INTO @ SELECT seg, ts, v, n, big FROM incoming WHERE n < 80 ORDER BY ts, seg ON CONFLICT (seg, ts) DO UPDATE SET v = @.v + 14');
SELECT twins('UPDATE @ SET seg = ''t'' || @.seg FROM incoming i WHERE @.seg = i.seg AND @.ts = i.ts AND i.n = 7');
COMMIT;
DROP TRIGGER note_old ON h;
DROP TRIGGER note_old ON s;
SELECT count(*) > 1000 AS logged, count(*) FILTER (WHERE t = 'h') = count(*) FILTER (WHERE t = 's') AS same_number FROM log;
SELECT old FROM log WHERE t = 'h' EXCEPT ALL SELECT old FROM log WHERE t = 's';

-- keys of expressions, and of some rows only
CREATE UNIQUE INDEX h_key ON h (seg, ts, abs(n)) WHERE v > 3;
CREATE UNIQUE INDEX s_key ON s (seg, ts, abs(n)) WHERE v > 3;
CALL strata.compress_all('s');
SELECT twins('INSERT INTO @ SELECT i.seg, i.ts, 4, @.n, NULL FROM incoming i JOIN @ USING (seg, ts) ORDER BY i.ts, i.seg ON CONFLICT (seg, ts, abs(n)) WHERE v > 3 DO UPDATE SET c = @.c + 100');
ALTER TABLE h DROP CONSTRAINT h_pkey;
ALTER TABLE s DROP CONSTRAINT s_pkey;
SELECT twins('INSERT INTO @ SELECT i.seg, i.ts, 4, -@.n, NULL FROM incoming i JOIN @ USING (seg, ts) ORDER BY i.ts, i.seg ON CONFLICT (seg, ts, abs(n)) WHERE v > 3 DO UPDATE SET c = @.c + 100');
SELECT twins('INSERT INTO @ SELECT i.seg, i.ts, -1, @.n, NULL FROM incoming i JOIN @ USING (seg, ts) WHERE @.v > 3 ORDER BY i.ts, i.seg ON CONFLICT DO NOTHING');
DROP VIEW incoming;
DROP TABLE h, s, log;
DROP FUNCTION twins, note_old;
DROP PROCEDURE each;
