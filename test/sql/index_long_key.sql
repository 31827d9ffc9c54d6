-- CREATE INDEX refuses compressed values that are too long for a btree, as it does on heap.
SET client_min_messages = warning;
SET strata.batch_rows = 100;
CREATE TABLE lkh (id int, a text, b text, c varchar(20), n numeric, doc jsonb, y bytea, arr text[]) USING heap;
CREATE TABLE lk (LIKE lkh) USING strata WITH (strata.orderby = 'id');
-- long ones: 3,000 bytes that do not compress, 100,000 that do
CREATE FUNCTION lk_noise(n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT string_agg(md5(g::text || n), '' ORDER BY g) FROM generate_series(1, n / 32) AS g $$;
INSERT INTO lkh SELECT g, 'a' || g, CASE WHEN g = 777 THEN lk_noise(3000) WHEN g % 100 = 5 THEN repeat('b', 100000) ELSE 'b' || g END, 'c' || g, CASE g WHEN 300 THEN repeat('7301', 2000)::numeric ELSE g END,
	jsonb_build_object('k', CASE g WHEN 500 THEN lk_noise(4000) ELSE g::text END), decode(CASE g WHEN 501 THEN lk_noise(8000) ELSE md5(g::text) END, 'hex'), ARRAY[CASE g WHEN 502 THEN lk_noise(3200) ELSE 'x' || g END] FROM generate_series(1, 1000) AS g;
INSERT INTO lk SELECT * FROM lkh;
SELECT compress_chunk('lk') IS NOT NULL AS compressed;
-- "same" where both say the same, but for the row's place and the table's name
CREATE FUNCTION lk_try(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text[] := '{}';
	name text;
	one text;
BEGIN
	FOREACH name IN ARRAY ARRAY['lkh', 'lk'] LOOP
		BEGIN
			EXECUTE replace(command, 'TABLE_', name);
			one := 'done';
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS one = PG_EXCEPTION_DETAIL;
			one := SQLSTATE || ' ' || replace(SQLERRM, '"' || name, '"TABLE_') || ': ' || regexp_replace(replace(one, '"' || name, '"TABLE_'), '\(\d+,\d+\)', '(row)');
		END;
		said := said || one;
	END LOOP;
	RETURN CASE WHEN said[1] = said[2] THEN 'same: ' || said[1] ELSE said[1] || ' <> ' || said[2] END;
END $$;
SELECT command, lk_try(command) FROM unnest(ARRAY[
	'CREATE INDEX TABLE_1 ON TABLE_ (a)',
	'CREATE INDEX TABLE_2 ON TABLE_ (b)',
	'CREATE INDEX TABLE_2 ON TABLE_ (b DESC, a)',
	'CREATE UNIQUE INDEX TABLE_2 ON TABLE_ (id, b)',
	'ALTER TABLE TABLE_ ADD CONSTRAINT TABLE_2 UNIQUE (b, id)',
	'ALTER TABLE TABLE_ ADD CONSTRAINT TABLE_2 PRIMARY KEY (id, b)',
	'CREATE INDEX TABLE_2 ON TABLE_ (id) INCLUDE (b)',
	'CREATE INDEX TABLE_2 ON TABLE_ (upper(b))',
	'CREATE INDEX TABLE_2 ON TABLE_ ((a || b || c))',
	'CREATE INDEX TABLE_2 ON TABLE_ (b) WHERE id < 800',
	'CREATE INDEX TABLE_3 ON TABLE_ (b) WHERE id <> 777',
	'CREATE INDEX TABLE_4 ON TABLE_ USING hash (b)',
	'CREATE INDEX TABLE_5 ON TABLE_ USING brin (a)',
	'CREATE INDEX TABLE_6 ON TABLE_ (md5(b))',
	'CREATE INDEX TABLE_7 ON TABLE_ (c, a)',
	'CREATE INDEX TABLE_8 ON TABLE_ (n)',
	'CREATE INDEX TABLE_9 ON TABLE_ (doc)',
	'CREATE INDEX TABLE_9 ON TABLE_ (y)',
	'CREATE INDEX TABLE_9 ON TABLE_ (arr)',
	'ALTER TABLE TABLE_ ALTER a TYPE varchar USING CASE id WHEN 10 THEN lk_noise(3000) ELSE a END']) AS command;
\set VERBOSITY terse
CREATE INDEX CONCURRENTLY lkh_2 ON lkh (b);
CREATE INDEX CONCURRENTLY lk_2 ON lk (b);
SELECT relname, indisvalid, indisready FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname IN ('lk_2', 'lkh_2') ORDER BY 1;
-- an invalid index has not been made: it is not by REINDEX, either
REINDEX INDEX lkh_2;
REINDEX INDEX lk_2;
REINDEX TABLE lk;
SELECT relname, indisvalid, indisready FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname IN ('lk_2', 'lkh_2') ORDER BY 1;
DROP INDEX lk_2, lkh_2;
-- columns of fixed length count
CREATE TABLE lkf (id int, x text, n name, u uuid);
INSERT INTO lkf SELECT g, lk_noise(1990), 'a', md5(g::text)::uuid FROM generate_series(1, 300) g;
CREATE TABLE lkn (LIKE lkf) USING strata;
INSERT INTO lkn SELECT * FROM lkf;
SELECT compress_chunk('lkn') IS NOT NULL AS compressed;
CREATE INDEX lkf_i ON lkf (x) INCLUDE (n, u, n, n, n, n, n, n, n, n, n, n, n);
CREATE INDEX lkn_i ON lkn (x) INCLUDE (n, u, n, n, n, n, n, n, n, n, n, n, n);
CREATE INDEX lkf_i ON lkf (x) INCLUDE (n, u);
CREATE INDEX lkn_i ON lkn (x) INCLUDE (n, u);
DROP TABLE lkf, lkn;
-- the row in question gone, from its batch or to the row store
DELETE FROM lk WHERE id = 777;
DELETE FROM lkh WHERE id = 777;
SELECT lk_try('CREATE INDEX TABLE_2 ON TABLE_ (b)');
INSERT INTO lk (id, b) VALUES (1, lk_noise(3000));
INSERT INTO lkh (id, b) VALUES (1, lk_noise(3000));
-- what fits can leave its batch
UPDATE lk SET a = 'changed' WHERE id IN (5, 105);
SELECT decompress_chunk('lk') IS NOT NULL AS decompressed;
SELECT compress_chunk('lk') IS NOT NULL AS compressed;
REINDEX TABLE lk;
-- as a partition
CREATE TABLE lkp (LIKE lk) PARTITION BY RANGE (id);
CREATE INDEX lkp_doc ON lkp (doc);
ALTER TABLE lkp ATTACH PARTITION lk FOR VALUES FROM (1) TO (10000);
ALTER TABLE lkp ATTACH PARTITION lkh FOR VALUES FROM (1) TO (10000);
\set VERBOSITY default
DROP TABLE lkp, lk, lkh;
DROP FUNCTION lk_try, lk_noise;
