-- Types of users under compressed rows: ALTER DOMAIN looks at rows, all of them and nothing else; what only a dropped column used can be dropped.
SET timezone = 'UTC';
CREATE ROLE store_types_owner;
SET client_min_messages = warning;
GRANT store_types_owner TO CURRENT_USER;
RESET client_min_messages;
SET client_min_messages = warning;
GRANT store_types_owner TO CURRENT_USER;
RESET client_min_messages;
GRANT CREATE ON SCHEMA public TO store_types_owner;
CREATE FUNCTION outcome(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE command; RETURN 'done';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
SET ROLE store_types_owner;
SET client_min_messages = warning;

-- The same commands on a heap table and on a hypertable.
CREATE DOMAIN d_seg AS int;
CREATE DOMAIN d_time AS timestamptz;
CREATE DOMAIN d_val AS numeric(12, 2);
CREATE DOMAIN d_note AS text;
CREATE DOMAIN d_twice AS d_note;
CREATE FUNCTION try(strata bool) RETURNS TABLE (n int, command text, outcome text) LANGUAGE plpgsql AS $$
DECLARE commands text[] := ARRAY[
	-- all rows keep these
	'ALTER DOMAIN d_seg SET NOT NULL', 'ALTER DOMAIN d_time SET NOT NULL', 'ALTER DOMAIN d_seg ADD CONSTRAINT small CHECK (VALUE BETWEEN 0 AND 3)',
	'ALTER DOMAIN d_time ADD CONSTRAINT late CHECK (VALUE >= ''2026-01-01'')', 'ALTER DOMAIN d_val ADD CONSTRAINT positive CHECK (VALUE > 0)',
	'ALTER DOMAIN d_note ADD CONSTRAINT short CHECK (length(VALUE) < 10)', 'ALTER DOMAIN d_twice ADD CONSTRAINT begins CHECK (VALUE LIKE ''n%'')',
	-- a compressed row does not
	'ALTER DOMAIN d_seg ADD CONSTRAINT no_two CHECK (VALUE <> 2)', 'ALTER DOMAIN d_time ADD CONSTRAINT early CHECK (VALUE < ''2026-01-01 01:00'')',
	'ALTER DOMAIN d_val ADD CONSTRAINT one CHECK (VALUE <> 77)', 'ALTER DOMAIN d_note ADD CONSTRAINT that CHECK (VALUE <> ''n77'')', 'ALTER DOMAIN d_twice ADD CONSTRAINT which CHECK (VALUE <> ''n78'')',
	'ALTER DOMAIN d_twice SET NOT NULL',
	-- a row of the row store does not
	'ALTER DOMAIN d_val ADD CONSTRAINT other CHECK (VALUE <> 5000)',
	-- later
	'ALTER DOMAIN d_val ADD CONSTRAINT later CHECK (VALUE <> 78) NOT VALID', 'ALTER DOMAIN d_val VALIDATE CONSTRAINT later', 'DELETE FROM x WHERE val = 78', 'ALTER DOMAIN d_val VALIDATE CONSTRAINT later',
	-- rows that went are no rows
	'DELETE FROM x WHERE seg = 3', 'ALTER DOMAIN d_seg ADD CONSTRAINT no_three CHECK (VALUE <> 3)',
	'UPDATE x SET ts = ''2026-01-01 00:00:01'' WHERE ts > ''2026-01-01 10:00''', 'ALTER DOMAIN d_time ADD CONSTRAINT ten CHECK (VALUE <= ''2026-01-01 10:00'')',
	'UPDATE x SET note = ''n'' WHERE note = ''n80''', 'ALTER DOMAIN d_note ADD CONSTRAINT eighty CHECK (VALUE <> ''n80'')'];
BEGIN
	CREATE TABLE x (ts d_time NOT NULL, seg d_seg, val d_val, note d_note, twice d_twice);
	IF strata THEN
		DROP TABLE x;
		CREATE TABLE x (ts d_time NOT NULL, seg d_seg, val d_val, note d_note, twice d_twice) USING strata;
		ALTER TABLE x SET (strata.segmentby = 'seg', strata.orderby = 'ts, val');
	END IF;
	INSERT INTO x SELECT timestamptz '2026-01-01' + i * interval '10 s', i % 4, i, 'n' || i, CASE WHEN i <> 500 THEN 'n' || i END FROM generate_series(1, 4000) i;
	IF strata THEN PERFORM compress_chunk('x'); END IF;
	-- entries of rows that changed stand beside the batches
	UPDATE x SET val = 1 WHERE val = 1000;
	DELETE FROM x WHERE val = 2000;
	INSERT INTO x VALUES ('2026-01-01 00:00:05', 1, 5000, 'n', 'n');
	FOR n IN 1 .. array_length(commands, 1) LOOP
		command := commands[n];
		outcome := outcome(command);
		RETURN NEXT;
	END LOOP;
	DROP TABLE x;
	ALTER DOMAIN d_seg DROP NOT NULL; ALTER DOMAIN d_time DROP NOT NULL;
	ALTER DOMAIN d_seg DROP CONSTRAINT IF EXISTS small; ALTER DOMAIN d_seg DROP CONSTRAINT IF EXISTS no_three;
	ALTER DOMAIN d_time DROP CONSTRAINT IF EXISTS late; ALTER DOMAIN d_time DROP CONSTRAINT IF EXISTS ten;
	ALTER DOMAIN d_val DROP CONSTRAINT IF EXISTS positive; ALTER DOMAIN d_val DROP CONSTRAINT IF EXISTS later;
	ALTER DOMAIN d_note DROP CONSTRAINT IF EXISTS short; ALTER DOMAIN d_note DROP CONSTRAINT IF EXISTS eighty; ALTER DOMAIN d_twice DROP CONSTRAINT IF EXISTS begins;
END $$;
CREATE TABLE heap_says AS SELECT * FROM try(false);
CREATE TABLE strata_says AS SELECT * FROM try(true);
SELECT n, h.command, h.outcome, s.outcome AS strata FROM heap_says h JOIN strata_says s USING (n) WHERE h.outcome <> s.outcome;
SELECT outcome, count(*) FROM strata_says GROUP BY outcome ORDER BY 1;
DROP TABLE heap_says, strata_says;
DROP FUNCTION try(bool);

-- DROP COLUMN, and then what it was of; segmentby and orderby, in every combination, the table goes on.
CREATE FUNCTION pick(images anyarray, i int) RETURNS anyelement LANGUAGE sql IMMUTABLE AS 'SELECT images[1 + i % 3]';
CREATE FUNCTION drop_it(spec text, segmentby text, orderby text, images text, gone text) RETURNS TABLE (what text, refused text, dropped text, rows_lost bigint, problems bigint, after_rewrite bigint, after_merge bigint) LANGUAGE plpgsql AS $$
DECLARE spec_type text := split_part(spec, ' ', 1);
BEGIN
	EXECUTE format('CREATE TABLE x (ts timestamptz NOT NULL, host text, u %s, v int)', spec);
	PERFORM create_hypertable('x', 'ts', chunk_time_interval => interval '1 year');
	EXECUTE format('ALTER TABLE x SET (strata.segmentby = %L, strata.orderby = %L)', segmentby, orderby);
	EXECUTE format('INSERT INTO x SELECT timestamptz ''2026-02-01'' + i * interval ''10 s'', ''h'' || i %% 2, pick(%s, i)::%s, i FROM generate_series(1, 3000) i', images, spec_type);
	PERFORM compress_chunk('x');
	UPDATE x SET v = -v WHERE v % 500 = 0;
	INSERT INTO x (ts, host, v) VALUES ('2026-03-01', 'late', 0);
	CREATE TEMP TABLE kept AS SELECT ts, host, v FROM x;
	what := spec || ' ' || segmentby || '/' || orderby;
	refused := outcome(gone);
	ALTER TABLE x DROP COLUMN u;
	dropped := outcome(gone);
	SELECT count(*) INTO rows_lost FROM (SELECT * FROM kept EXCEPT ALL SELECT * FROM x) e;
	SELECT count(*) + (SELECT count(*) FROM strata.batches('x') WHERE nrows < 0) INTO problems FROM strata.verify('x');
	PERFORM reorder_chunk(c, 'x_ts_idx') FROM show_chunks('x') c;
	SELECT (SELECT count(*) FROM strata.verify('x')) + count(*) INTO after_rewrite FROM (SELECT * FROM kept EXCEPT ALL SELECT * FROM x) e;
	INSERT INTO x SELECT ts + interval '1 s', host, v FROM kept;
	INSERT INTO kept SELECT ts + interval '1 s', host, v FROM kept;
	PERFORM compress_chunk('x', recompress => true);
	SELECT (SELECT count(*) FROM strata.verify('x')) + count(*) INTO after_merge FROM (SELECT * FROM kept EXCEPT ALL SELECT * FROM x) e;
	DROP TABLE x, kept;
	RETURN NEXT;
END $$;
RESET ROLE;
CREATE COLLATION store_own (provider = icu, locale = 'de');
CREATE TYPE store_mood AS ENUM ('low', 'middle', 'high');
CREATE TYPE store_pair AS (a int, b text);
CREATE TYPE store_span AS RANGE (subtype = int8);
CREATE DOMAIN store_name AS text COLLATE store_own;
CREATE DOMAIN store_number AS int;
CREATE DOMAIN store_kind AS store_mood;
GRANT USAGE ON TYPE store_mood, store_pair, store_span, store_name, store_number, store_kind TO PUBLIC;
SET ROLE store_types_owner;
SET client_min_messages = error;
CREATE FUNCTION drop_all(spec text, images text, gone text) RETURNS TABLE (what text, refused text, dropped text, rows_lost bigint, problems bigint, after_rewrite bigint, after_merge bigint) LANGUAGE sql AS $$
	SELECT d.* FROM (VALUES ('u', 'ts'), ('u, host', 'ts'), ('host', 'u, ts'), ('host', 'ts, u'), ('host', 'ts'), ('', 'u')) s (segmentby, orderby), drop_it(spec, segmentby, orderby, images, gone) d $$;
RESET ROLE;
-- as superuser, so that the drops are tried; each is made again behind
CREATE FUNCTION again(name text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
	CASE name
		WHEN 'mood' THEN CREATE TYPE store_mood AS ENUM ('low', 'middle', 'high');
		WHEN 'pair' THEN CREATE TYPE store_pair AS (a int, b text);
		WHEN 'span' THEN CREATE TYPE store_span AS RANGE (subtype = int8);
		WHEN 'number' THEN CREATE DOMAIN store_number AS int;
		WHEN 'own' THEN CREATE COLLATION store_own (provider = icu, locale = 'de');
	END CASE; END $$;
DROP DOMAIN store_name, store_kind;
SELECT * FROM drop_all('store_mood', '''{low,middle,high}''::store_mood[]', 'DROP TYPE store_mood; SELECT again(''mood'')');
SELECT * FROM drop_all('store_pair', 'ARRAY[(1, ''a''), (2, ''b''), NULL]::store_pair[]', 'DROP TYPE store_pair; SELECT again(''pair'')');
SELECT * FROM drop_all('store_span', '''{"[1,5)","[2,3)",empty}''::store_span[]', 'DROP TYPE store_span; SELECT again(''span'')');
SELECT * FROM drop_all('store_mood[]', 'ARRAY[''{low}'', ''{middle,high}'', NULL]::text[]', 'DROP TYPE store_mood; SELECT again(''mood'')');
SELECT * FROM drop_all('store_number', '''{1,2,3}''::int[]', 'DROP DOMAIN store_number; SELECT again(''number'')');
SELECT * FROM drop_all('text COLLATE store_own', '''{a,B,c}''::text[]', 'DROP COLLATION store_own; SELECT again(''own'')');

-- CASCADE drops the column, and nothing else is lost
CREATE TABLE x (ts timestamptz NOT NULL, u store_mood, v int);
SELECT FROM create_hypertable('x', 'ts', chunk_time_interval => interval '1 year');
ALTER TABLE x SET (strata.segmentby = 'u', strata.orderby = 'ts');
INSERT INTO x SELECT timestamptz '2026-02-01' + i * interval '10 s', ('{low,middle,high}'::store_mood[])[1 + i % 3], i FROM generate_series(1, 3000) i;
SELECT compress_chunk('x');
DROP TYPE store_mood CASCADE;
SELECT count(*), sum(v) FROM x;
SELECT * FROM strata.verify('x');
SELECT reorder_chunk(c, 'x_ts_idx') FROM show_chunks('x') c;
SELECT count(*), sum(v) FROM x;
SELECT * FROM strata.verify('x');
INSERT INTO x VALUES ('2026-02-01', 1);
SELECT compress_chunk('x', recompress => true);
SELECT count(*), sum(v) FROM x;
SELECT * FROM strata.verify('x');
DROP TABLE x;

-- a rollback takes it all back
CREATE TYPE store_mood AS ENUM ('low', 'middle', 'high');
CREATE TABLE x (ts timestamptz NOT NULL, u store_mood, v int) USING strata;
ALTER TABLE x SET (strata.segmentby = 'u');
INSERT INTO x SELECT timestamptz '2026-02-01' + i * interval '10 s', ('{low,middle,high}'::store_mood[])[1 + i % 3], i FROM generate_series(1, 3000) i;
SELECT compress_chunk('x');
BEGIN;
ALTER TABLE x DROP COLUMN u;
DROP TYPE store_mood;
SELECT count(*), sum(v) FROM x;
ROLLBACK;
SELECT u, count(*), sum(v) FROM x GROUP BY u ORDER BY u;
SELECT * FROM strata.verify('x');
DROP TABLE x;
DROP TYPE store_mood;

-- a user's table that is called like one of ours
CREATE TABLE batch_0_1 (i int) USING strata;
INSERT INTO batch_0_1 SELECT generate_series(1, 5000);
SELECT compress_chunk('batch_0_1');
SELECT strata.batch_relation('batch_0_1') AS companion \gset
ALTER TABLE batch_0_1 RENAME TO batch_5_5;
SELECT count(*), sum(i) FROM batch_5_5;
SELECT strata.gc();
DROP TABLE batch_5_5;
SELECT to_regclass(:'companion') IS NULL AS gone;
DROP TYPE store_pair, store_span;
DROP DOMAIN store_number, d_seg, d_time, d_val, d_note, d_twice;
DROP COLLATION store_own;
DROP FUNCTION outcome(text), pick(anyarray, int), again(text), drop_all(text, text, text), drop_it(text, text, text, text, text);
REVOKE CREATE ON SCHEMA public FROM store_types_owner;
DROP ROLE store_types_owner;
