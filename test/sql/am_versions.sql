-- What PostgreSQL 16, 17 and 18 brought, on heap and on strata: the same.  Nothing is printed where the server does not know it.
SET timezone = 'UTC';
SET client_min_messages = warning;
-- What a statement returns, in order of its text.
CREATE FUNCTION answers(statement text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	answer record;
	all_of_them text[] := '{}';
BEGIN
	IF statement !~* 'RETURNING|^SELECT|^WITH' THEN
		EXECUTE statement;
		RETURN all_of_them;
	END IF;
	FOR answer IN EXECUTE statement LOOP
		all_of_them := all_of_them || answer::text;
	END LOOP;
	RETURN ARRAY(SELECT x FROM unnest(all_of_them) x ORDER BY x COLLATE "C");
END $$;
-- The statement with heap's table, then strata's, in place of T, on servers from `version` on; what both hold is compared.
CREATE FUNCTION same_on(version int, statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	answer text[];
	expected text[];
	differ bigint;
BEGIN
	IF current_setting('server_version_num')::int < version THEN
		RETURN;
	END IF;
	FOR i IN 1 .. 2 LOOP
		BEGIN
			answer := answers(regexp_replace(statement, '\mT\M', CASE i WHEN 1 THEN 'v_heap' ELSE 'v_strata' END, 'g'));
		EXCEPTION WHEN OTHERS THEN
			answer := ARRAY[SQLSTATE, replace(SQLERRM, 'v_strata', 'v_heap')];
		END;
		IF i = 1 THEN
			expected := answer;
		ELSIF answer <> expected THEN
			RAISE EXCEPTION '%: % on strata, % on heap', statement, answer, expected;
		END IF;
	END LOOP;
	IF statement !~* '^DROP|^SELECT' THEN
		SELECT count(*) INTO differ FROM ((TABLE v_heap EXCEPT ALL TABLE v_strata) UNION ALL (TABLE v_strata EXCEPT ALL TABLE v_heap)) x;
		IF differ > 0 THEN
			RAISE EXCEPTION '%: % rows differ', statement, differ;
		END IF;
	END IF;
END $$;
CREATE TABLE v_heap (id int PRIMARY KEY, k int, v float8, note text) USING heap;
CREATE TABLE v_strata (id int PRIMARY KEY, k int, v float8, note text) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'id');
DO $$ BEGIN
	PERFORM same_on(150000, 'INSERT INTO T SELECT i, i % 5, i / 4.0, CASE WHEN i % 9 > 0 THEN ''note '' || i % 20 END FROM generate_series(1, 4000) i');
	PERFORM compress_chunk('v_strata');
	PERFORM same_on(150000, 'INSERT INTO T SELECT i, i % 5, i / 4.0, NULL FROM generate_series(4001, 4400) i');
END $$;

-- 16: values of the table's defaults in COPY, literals, any_value
DO $$ BEGIN
	PERFORM same_on(160000, 'ALTER TABLE T ALTER note SET DEFAULT ''usual''');
	PERFORM same_on(160000, 'COPY T FROM PROGRAM ''printf "5001,1,2.5,D\n5002,2,D,x\n"'' (FORMAT csv, DEFAULT ''D'')');
	PERFORM same_on(160000, 'SELECT k, any_value(k), count(*) FROM T GROUP BY k');
	PERFORM same_on(160000, 'SELECT count(*) FROM T WHERE note IS NOT NULL AND id < 0x7d0 AND k < 0b11 AND v > 1_00');
END $$;

-- 17: MERGE that looks at rows its source lacks, and returns; COPY that goes on
DO $$ BEGIN
	PERFORM same_on(170000, 'MERGE INTO T USING (SELECT i, i * 2.0 AS w FROM generate_series(1, 6000, 7) i) s ON T.id = s.i
		WHEN MATCHED AND T.k = 1 THEN DELETE WHEN MATCHED AND T.k < 4 THEN UPDATE SET v = w, note = NULL
		WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED THEN INSERT VALUES (i, i % 5, w, ''merged'')
		WHEN NOT MATCHED BY SOURCE AND T.id % 11 = 3 THEN UPDATE SET note = ''alone'' WHEN NOT MATCHED BY SOURCE AND T.id % 11 = 4 THEN DELETE
		RETURNING merge_action(), T.*, s.w');
	PERFORM same_on(170000, 'WITH m AS (MERGE INTO T USING (VALUES (3, 1.0), (10003, 2.0)) s (i, w) ON T.id = s.i
		WHEN MATCHED THEN UPDATE SET v = w WHEN NOT MATCHED THEN INSERT VALUES (i, 0, w, NULL) RETURNING merge_action() AS a, T.id) SELECT * FROM m');
	PERFORM same_on(170000, 'COPY T FROM PROGRAM ''printf "20001\t1\t2.5\tx\n20002\tz\t2\tx\n20003\t3\t1e\tx\n20004\t4\t4\tx\n"'' (ON_ERROR ignore)');
	PERFORM same_on(170000, 'SELECT T.id, o.x FROM T, LATERAL (SELECT T.v + 1 AS x) o WHERE T.id = ANY (ARRAY[5, 77, 4100, 20001]) AND T.k IN (0, 1, 2)');
	PERFORM same_on(170000, 'SELECT id FROM T WHERE ctid >= ''(0,1)'' AND id BETWEEN 4050 AND 4060');
END $$;

-- 18: old and new in RETURNING, columns computed when read, constraints that are not enforced or not valid
DO $$ BEGIN
	PERFORM same_on(180000, 'UPDATE T SET v = v + 1, k = k + 1 WHERE id % 400 = 5 RETURNING old.*, new.v, new.k, old.v < new.v');
	PERFORM same_on(180000, 'DELETE FROM T WHERE id % 400 = 6 RETURNING old.id, new.id, old.note');
	PERFORM same_on(180000, 'INSERT INTO T VALUES (9, 9, 9, ''nine''), (30001, 1, 1, NULL) ON CONFLICT (id) DO UPDATE SET note = excluded.note
		RETURNING old.note, new.note, old IS NULL, T.id');
	PERFORM same_on(180000, 'MERGE INTO T USING (VALUES (12, 1.5), (30002, 2.5)) s (i, w) ON T.id = s.i
		WHEN MATCHED THEN UPDATE SET v = w WHEN NOT MATCHED THEN INSERT VALUES (i, 0, w, NULL) RETURNING merge_action(), old.v, new.v, T.id');
	PERFORM same_on(180000, 'ALTER TABLE T ADD w float8 GENERATED ALWAYS AS (v * 2 + k) VIRTUAL');
	PERFORM same_on(180000, 'SELECT id, w FROM T WHERE w BETWEEN 100 AND 300 AND k = 2');
	PERFORM same_on(180000, 'SELECT k, count(w), sum(w), max(w) FROM T GROUP BY k');
	PERFORM same_on(180000, 'SELECT count(*), sum(w) FROM T WHERE v < 100');
	PERFORM same_on(180000, 'UPDATE T SET v = 0 WHERE w > 1900 AND id < 4000 RETURNING id, old.w, new.w');
	PERFORM same_on(180000, 'ALTER TABLE T ADD CONSTRAINT c CHECK (w > -1) NOT ENFORCED');
	PERFORM same_on(180000, 'UPDATE T SET v = -100 WHERE id = 40');
	PERFORM same_on(180000, 'ALTER TABLE T ADD CONSTRAINT nn NOT NULL note NOT VALID');
	PERFORM same_on(180000, 'SELECT count(*) FROM T WHERE note IS NULL');
	PERFORM same_on(180000, 'INSERT INTO T (id) VALUES (40000)');
	PERFORM same_on(180000, 'INSERT INTO T (id, note) VALUES (40000, NULL)');
	PERFORM same_on(180000, 'ALTER TABLE T VALIDATE CONSTRAINT nn');
	PERFORM same_on(180000, 'UPDATE T SET note = '''' WHERE note IS NULL');
	PERFORM same_on(180000, 'ALTER TABLE T VALIDATE CONSTRAINT nn');
	PERFORM same_on(180000, 'SELECT count(*) FROM T WHERE note IS NULL OR id < 10');
	PERFORM same_on(180000, 'SELECT x.id FROM T x JOIN T y ON x.id = y.id WHERE x.k = 1 AND y.v > 990');
	PERFORM same_on(180000, 'SELECT k, k % 2, count(*) FROM T GROUP BY GROUPING SETS ((k), (k % 2), ()) HAVING count(*) > 10');
	PERFORM same_on(180000, 'SELECT count(*) FROM T WHERE id IN (VALUES (5), (8), (4100), (NULL))');
	PERFORM same_on(180000, 'COPY T (id, k, v, note) FROM PROGRAM ''printf "50001\tx\t2.5\tx\n50002\tz\t2\tx\n50003\t3\t1\tx\n"'' (ON_ERROR ignore, REJECT_LIMIT 2)');
	PERFORM same_on(180000, 'COPY T (id, k, v, note) FROM PROGRAM ''printf "50011\tx\t2.5\tx\n50012\tz\t2\tx\n50013\t3\t1\tx\n"'' (ON_ERROR ignore, REJECT_LIMIT 1)');
END $$;
SELECT compress_chunk('v_strata', recompress => true) IS NOT NULL AS compressed;
VACUUM v_strata;
DO $$ BEGIN
	-- queries for which the planner is not asked where it is not needed
	PERFORM same_on(150000, 'SELECT * FROM T WHERE k = 2 AND id = 12');
	PERFORM same_on(180000, 'SELECT w FROM T WHERE k = 2 AND id = 17');
	PERFORM same_on(180000, 'SELECT id, w FROM T WHERE k = 2 AND id > 500 ORDER BY id LIMIT 3');
	PERFORM same_on(150000, 'UPDATE T SET v = v WHERE id % 100 = 1 RETURNING *');
	PERFORM same_on(180000, 'SELECT id, w FROM T WHERE w BETWEEN 100 AND 300 AND k = 2');
	PERFORM same_on(180000, 'SELECT k, count(w), sum(w), max(w) FROM T GROUP BY k');
	ASSERT NOT EXISTS (SELECT FROM strata.verify('v_strata'));
	-- batches have nothing of a column that is computed when it is read, so its type may change beside them
	PERFORM same_on(180000, 'ALTER TABLE T ALTER w TYPE text');
	PERFORM same_on(180000, 'ALTER TABLE T ADD u bigint GENERATED ALWAYS AS (k + 1) VIRTUAL');
	PERFORM same_on(180000, 'SELECT id, w, u FROM T WHERE w LIKE ''1%'' AND u IN (1, 4)');
	PERFORM same_on(180000, 'UPDATE T SET v = v + 1 WHERE u = 3 AND id < 500 RETURNING *');
	PERFORM same_on(180000, 'SELECT T FROM T WHERE id % 300 = 1');
	ASSERT NOT EXISTS (SELECT FROM strata.verify('v_strata'));
	ASSERT NOT EXISTS (SELECT FROM strata.batch_columns('v_strata') WHERE column_name IN ('w', 'u'));
	PERFORM compress_chunk('v_strata', recompress => true);
	PERFORM same_on(180000, 'SELECT u, w, count(*) FROM T GROUP BY u, w');
	ASSERT NOT EXISTS (SELECT FROM strata.verify('v_strata'));
	PERFORM decompress_chunk('v_strata');
	PERFORM same_on(150000, 'SELECT * FROM T');
END $$;
DROP TABLE v_heap, v_strata;
-- such a column is no key of batches, nor the time that they are ordered by
DO $$
DECLARE
	choice text;
	n int;
BEGIN
	IF current_setting('server_version_num')::int < 180000 THEN
		RETURN;
	END IF;
	EXECUTE 'CREATE TABLE v_strata (shown timestamp GENERATED ALWAYS AS (t + interval ''1 hour'') VIRTUAL, t timestamp NOT NULL, k int,
		name text GENERATED ALWAYS AS (''k'' || k::text) VIRTUAL) USING strata';
	INSERT INTO v_strata (t, k) SELECT timestamp '2026-01-01' + i % 50 * interval '1 s', i % 3 FROM generate_series(1, 3000) i;
	PERFORM compress_chunk('v_strata');
	ASSERT (SELECT bool_and(min_orderby IS NOT NULL) FROM strata.batches('v_strata')), 'ordered by what is not there';
	FOREACH choice IN ARRAY ARRAY['segmentby = ''name''', 'orderby = ''shown''', 'codecs = ''name zstd'''] LOOP
		BEGIN
			EXECUTE format('ALTER TABLE v_strata SET (strata.%s)', choice);
			RAISE EXCEPTION '% was taken', choice;
		EXCEPTION WHEN feature_not_supported THEN
		END;
	END LOOP;
	EXECUTE 'SELECT count(*) FROM v_strata WHERE shown = timestamp ''2026-01-01 01:00:07'' AND name = ''k1''' INTO n;
	ASSERT n = 20, n;
	DROP TABLE v_strata;
	-- the one time column there is
	EXECUTE 'CREATE TABLE v_hyper (shown timestamp GENERATED ALWAYS AS (t + interval ''1 hour'') VIRTUAL, t timestamp NOT NULL) WITH (strata.hypertable)';
	DROP TABLE v_hyper;
END $$;

-- 17: partitioned tables have an access method; chunks are made with ours
CREATE TABLE v_hyper (t int NOT NULL);
SELECT create_hypertable('v_hyper', 't', chunk_time_interval => 10) IS NOT NULL AS made;
INSERT INTO v_hyper VALUES (1);
DO $$
DECLARE
	method text;
BEGIN
	FOREACH method IN ARRAY ARRAY['heap', 'strata_dedup'] LOOP
		BEGIN
			EXECUTE 'ALTER TABLE v_hyper SET ACCESS METHOD ' || method;
			RAISE EXCEPTION '% was taken', method;
		EXCEPTION WHEN feature_not_supported OR wrong_object_type THEN
		END;
	END LOOP;
	IF current_setting('server_version_num')::int >= 170000 THEN
		EXECUTE 'ALTER TABLE v_hyper SET ACCESS METHOD strata';
		EXECUTE 'ALTER TABLE v_hyper SET ACCESS METHOD DEFAULT';
	END IF;
END $$;
INSERT INTO v_hyper VALUES (11);
SELECT DISTINCT amname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_am a ON a.oid = relam WHERE inhparent = 'v_hyper'::regclass;
DROP TABLE v_hyper;

-- COPY into chunks that are missing, and straight into batches
DO $$
DECLARE
	version int := current_setting('server_version_num');
	n bigint;
BEGIN
	CREATE TABLE v_heap (t timestamptz NOT NULL, k int DEFAULT 7, v float8) USING heap;
	CREATE TABLE v_strata (t timestamptz NOT NULL, k int DEFAULT 7, v float8) USING strata;
	PERFORM create_hypertable('v_strata', 't', chunk_time_interval => interval '1 day');
	PERFORM same_on(160000, 'COPY T FROM PROGRAM ''printf "2026-01-01 00:00:00+00,D,1\n2026-01-03 00:00:00+00,2,D\n"'' (FORMAT csv, DEFAULT ''D'')');
	PERFORM same_on(170000, 'COPY T FROM PROGRAM ''printf "2026-01-01 00:00:00+00,3,1\n2026-01-04 00:00:00+00,x,2\n2026-13-05 00:00:00+00,1,2\n2026-01-06,1,zwei\n2026-01-06,2,2\n"''
		(FORMAT csv, ON_ERROR ignore)');
	PERFORM same_on(180000, 'COPY T FROM PROGRAM ''printf "2026-02-01,3,1\n2026-02-04,x,2\n2026-02-05,y,2\n"'' (FORMAT csv, ON_ERROR ignore, REJECT_LIMIT 1)');
	DROP TABLE v_heap, v_strata;
	CREATE TABLE v_heap (k int, v float8) USING heap;
	CREATE TABLE v_strata (k int, v float8) USING strata WITH (strata.orderby = 'k', strata.direct_load);
	PERFORM same_on(170000, 'COPY T FROM PROGRAM ''seq 1 5000 | sed "s/.*/&\t&/; s/77$/x/"'' (ON_ERROR ignore)');
	SELECT coalesce(sum(nrows), 0) INTO n FROM strata.batches('v_strata');
	ASSERT version < 170000 OR n = 4950 OR current_setting('strata.enable_direct_load') = 'off', n;
	DROP TABLE v_heap, v_strata;
END $$;

-- 18: foreign keys of and to a hypertable that are not enforced: chunks have them, as partitions do
DO $$
DECLARE
	n bigint;
BEGIN
	IF current_setting('server_version_num')::int < 180000 THEN
		RETURN;
	END IF;
	CREATE TABLE v_device (id int PRIMARY KEY);
	CREATE TABLE v_hyper (t int NOT NULL, device int, PRIMARY KEY (t));
	PERFORM create_hypertable('v_hyper', 't', chunk_time_interval => 10);
	EXECUTE 'ALTER TABLE v_hyper ADD CONSTRAINT to_device FOREIGN KEY (device) REFERENCES v_device NOT ENFORCED';
	EXECUTE 'CREATE TABLE v_note (t int, CONSTRAINT to_hyper FOREIGN KEY (t) REFERENCES v_hyper NOT ENFORCED)';
	INSERT INTO v_hyper VALUES (1, 1), (11, 2);
	INSERT INTO v_note VALUES (1), (2);
	SELECT count(*) INTO n FROM pg_constraint WHERE conname LIKE 'to_device%' AND conparentid <> 0;
	ASSERT n = 2, n;
	SELECT count(*) INTO n FROM pg_constraint WHERE conname LIKE 'to_hyper%' OR conname LIKE 'v_note%' AND confrelid <> 0 AND conparentid <> 0;
	ASSERT n = 3, n;
	EXECUTE 'INSERT INTO v_device VALUES (1), (2)';
	EXECUTE 'ALTER TABLE v_hyper ALTER CONSTRAINT to_device ENFORCED';
	BEGIN
		INSERT INTO v_hyper VALUES (2, 3);
		RAISE EXCEPTION 'not enforced in an old chunk';
	EXCEPTION WHEN foreign_key_violation THEN
	END;
	BEGIN
		INSERT INTO v_hyper VALUES (21, 3);
		RAISE EXCEPTION 'not enforced in a new chunk';
	EXCEPTION WHEN foreign_key_violation THEN
	END;
	BEGIN
		DELETE FROM v_device;
		RAISE EXCEPTION 'not enforced for the table that is referred to';
	EXCEPTION WHEN foreign_key_violation THEN
	END;
	DELETE FROM v_note WHERE t = 2;
	EXECUTE 'ALTER TABLE v_note ALTER CONSTRAINT to_hyper ENFORCED';
	BEGIN
		DELETE FROM v_hyper WHERE t = 1;
		RAISE EXCEPTION 'a chunk does not know of it';
	EXCEPTION WHEN foreign_key_violation THEN
	END;
	DROP TABLE v_note, v_hyper, v_device;
END $$;
-- 17: SET EXPRESSION computes a column anew: what a continuous aggregate keeps of it is no longer true
DO $$
DECLARE
	kind text;
	kept bigint;
BEGIN
	IF current_setting('server_version_num')::int < 170000 THEN
		RETURN;
	END IF;
	FOREACH kind IN ARRAY ARRAY['STORED', 'VIRTUAL'] LOOP
		CONTINUE WHEN kind = 'VIRTUAL' AND current_setting('server_version_num')::int < 180000;
		EXECUTE format('CREATE TABLE v_hyper (t timestamptz NOT NULL, v int, w int GENERATED ALWAYS AS (v * 2) %s) WITH (strata.hypertable)', kind);
		INSERT INTO v_hyper SELECT timestamptz '2026-01-01' + i * interval '1 hour', i FROM generate_series(0, 400) i;
		EXECUTE 'CREATE MATERIALIZED VIEW v_kept WITH (strata.continuous) AS SELECT time_bucket(''1 day'', t) AS day, sum(w) AS w FROM v_hyper GROUP BY 1';
		ASSERT (SELECT sum(w) FROM v_kept) = 160400;
		FOR i IN 1 .. 2 LOOP
			EXECUTE format('ALTER TABLE v_hyper ALTER w SET EXPRESSION AS (v * %s)', 2 + i);
			SELECT sum(w) INTO kept FROM v_kept;
			ASSERT kept = 80200 * (2 + i), kept;
			SELECT sum(w) INTO kept FROM v_hyper;
			ASSERT kept = 80200 * (2 + i), kept;
			ASSERT NOT EXISTS (SELECT FROM strata.verify('v_kept'));
			PERFORM count(compress_chunk(c)) FROM show_chunks('v_hyper') AS c;
		END LOOP;
		DROP TABLE v_hyper CASCADE;
	END LOOP;
END $$;
DROP FUNCTION same_on, answers;
