-- A drop that takes a table and what its columns are of (types, collations, the extension that brought them) takes its companion along, whatever is dropped first.
CREATE ROLE store_cascade_owner;
SET client_min_messages = warning;
GRANT store_cascade_owner TO CURRENT_USER;
RESET client_min_messages;
CREATE VIEW store_cascade_companions AS SELECT oid FROM pg_class WHERE relname ~ '^batch_' AND relkind = 'r';
GRANT SELECT ON store_cascade_companions TO PUBLIC;
CREATE FUNCTION store_cascade_fill(temporary bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	kind text := CASE WHEN temporary THEN 'TEMP' ELSE '' END;
	target text := CASE WHEN temporary THEN 'pg_temp' ELSE 'store_cascade' END;
	types text[] := ARRAY['CREATE TYPE store_cascade.mood AS ENUM (''low'', ''high'')', 'CREATE TYPE store_cascade.pair AS (a int, b text)',
		'CREATE TYPE store_cascade.span AS RANGE (subtype = int8)', 'CREATE DOMAIN store_cascade.kind AS store_cascade.mood',
		'CREATE COLLATION store_cascade.own (provider = icu, locale = ''de'')'];
	spec text;
	t text;
BEGIN
	CREATE SCHEMA store_cascade;
	FOREACH t IN ARRAY types LOOP EXECUTE t; END LOOP;
	FOREACH spec IN ARRAY ARRAY['mood/low', 'pair/(1,a)', 'span/[1,5)', 'kind/high', 'mood[]/{low,high}', 'own/x'] LOOP
		FOREACH t IN ARRAY ARRAY['segmentby', 'orderby'] LOOP
			EXECUTE format('CREATE %s TABLE %s.%I (k %s, v int) USING strata', kind, target, t || spec,
				CASE WHEN spec ~ '^own' THEN 'text COLLATE ' ELSE '' END || 'store_cascade.' || split_part(spec, '/', 1));
			EXECUTE format('ALTER TABLE %s.%I SET (strata.%s = ''k'')', target, t || spec, t);
			EXECUTE format('INSERT INTO %s.%I SELECT %L, i FROM generate_series(1, 1000) i', target, t || spec, split_part(spec, '/', 2));
			PERFORM compress_chunk(format('%s.%I', target, t || spec)::regclass);
			EXECUTE format('INSERT INTO %s.%I (v) VALUES (0)', target, t || spec);
		END LOOP;
	END LOOP;
	IF NOT temporary THEN
		CREATE TABLE store_cascade.hyper (ts timestamptz NOT NULL, k store_cascade.mood, p store_cascade.pair, v int);
		PERFORM create_hypertable('store_cascade.hyper', 'ts', chunk_time_interval => interval '1 day');
		ALTER TABLE store_cascade.hyper SET (strata.segmentby = 'k', strata.orderby = 'p, ts');
		INSERT INTO store_cascade.hyper SELECT timestamptz '2026-02-01' + i * interval '1 min', 'low', (i, 'x')::store_cascade.pair, i FROM generate_series(1, 4000) i;
		PERFORM compress_chunk('store_cascade.hyper');
		INSERT INTO store_cascade.hyper VALUES ('2026-02-01', 'high', NULL, 0);
		-- its storage was swapped, and it was settled anew
		CREATE TABLE store_cascade.moved (k store_cascade.mood, p store_cascade.pair, v int) USING strata WITH (strata.segmentby = 'k');
		INSERT INTO store_cascade.moved SELECT 'low', (i, 'x')::store_cascade.pair, i FROM generate_series(1, 1000) i;
		PERFORM compress_chunk('store_cascade.moved');
		ALTER TABLE store_cascade.moved SET (strata.orderby = 'p');
		INSERT INTO store_cascade.moved SELECT 'low', (i, 'x')::store_cascade.pair, i FROM generate_series(1, 1000) i;
		PERFORM compress_chunk('store_cascade.moved');
	END IF;
END $$;
CREATE FUNCTION store_cascade_try(command text, temporary bool) RETURNS TABLE (did text, left_over bigint, lost bigint) LANGUAGE plpgsql AS $$
DECLARE
	before oid[] := ARRAY(SELECT oid FROM store_cascade_companions);
	ours oid[];
	n bigint;
BEGIN
	PERFORM store_cascade_fill(temporary);
	ours := ARRAY(SELECT oid FROM store_cascade_companions EXCEPT SELECT unnest(before));
	did := command || ': ' || CASE WHEN cardinality(ours) >= 12 THEN 'companions' ELSE 'too few' END;
	-- what is rolled back was not dropped
	BEGIN
		EXECUTE command;
		RAISE EXCEPTION 'back' USING ERRCODE = 'P0099';
	EXCEPTION WHEN SQLSTATE 'P0099' THEN NULL;
	END;
	SELECT count(*) INTO lost FROM unnest(ours) o WHERE o NOT IN (SELECT oid FROM store_cascade_companions);
	IF NOT temporary THEN
		SELECT lost + abs(count(k) - 4001) + (SELECT count(*) FROM strata.verify('store_cascade.hyper')) INTO lost FROM store_cascade.hyper;
	END IF;
	EXECUTE command;
	SELECT count(*) INTO left_over FROM unnest(ours) o WHERE o IN (SELECT oid FROM store_cascade_companions);
	RETURN NEXT;
	DROP SCHEMA IF EXISTS store_cascade CASCADE;
END $$;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO store_cascade_owner', current_database()); END $$;
SET ROLE store_cascade_owner;
SET client_min_messages = error;
SELECT * FROM store_cascade_try('DROP SCHEMA store_cascade CASCADE', false);
SELECT * FROM store_cascade_try('DROP OWNED BY store_cascade_owner CASCADE', false);
-- PostgreSQL needs no CASCADE where all that depends is owned, too
SELECT * FROM store_cascade_try('DROP OWNED BY store_cascade_owner', false);
SELECT * FROM store_cascade_try('DROP OWNED BY store_cascade_owner CASCADE', true);
SELECT * FROM store_cascade_try('DROP SCHEMA store_cascade CASCADE; DISCARD TEMP', true);

-- the extension that a type is of, with its operator classes; the table goes in the same drop, or stays without the column
CREATE SCHEMA store_cascade;
CREATE EXTENSION citext SCHEMA store_cascade;
CREATE TABLE store_cascade.t (k store_cascade.citext, v int) USING strata WITH (strata.segmentby = 'k');
INSERT INTO store_cascade.t SELECT 'a', i FROM generate_series(1, 1000) i;
SELECT compress_chunk('store_cascade.t');
SELECT strata.batch_relation('store_cascade.t') AS companion \gset
BEGIN;
DROP SCHEMA store_cascade CASCADE;
SELECT to_regclass(:'companion') IS NULL AS gone;
ROLLBACK;
BEGIN;
DROP OWNED BY store_cascade_owner;
SELECT to_regclass(:'companion') IS NULL AS gone;
ROLLBACK;
DROP EXTENSION citext CASCADE;
SELECT count(*), sum(v) FROM store_cascade.t;
SELECT * FROM strata.verify('store_cascade.t');
DROP TABLE store_cascade.t;
SELECT to_regclass(:'companion') IS NULL AS gone;

-- only the table whose rows they are takes the parts along: not the hypertable that a chunk has left, nor what storage was swapped with
CREATE TYPE store_cascade.mood AS ENUM ('low', 'high');
CREATE TABLE store_cascade.hyper (ts timestamptz NOT NULL, k store_cascade.mood, v int);
SELECT FROM create_hypertable('store_cascade.hyper', 'ts', chunk_time_interval => interval '1 day');
ALTER TABLE store_cascade.hyper SET (strata.segmentby = 'k', strata.orderby = 'ts');
INSERT INTO store_cascade.hyper SELECT timestamptz '2026-02-01' + i * interval '1 min', 'low', i FROM generate_series(1, 4000) i;
SELECT count(*) FROM (SELECT compress_chunk('store_cascade.hyper')) c;
SELECT count(*) FROM show_chunks('store_cascade.hyper') c, LATERAL reorder_chunk(c, 'store_cascade.hyper_ts_idx') r;
SELECT (array_agg(c ORDER BY c))[1] AS a, (array_agg(c ORDER BY c))[2] AS b, (array_agg(c ORDER BY c))[3] AS c FROM show_chunks('store_cascade.hyper') c \gset
CALL merge_chunks(ARRAY[:'a', :'b']::regclass[]);
SELECT FROM compress_chunk(:'a', recompress => true);
CALL detach_chunk(:'c');
SELECT k, count(*), sum(v) FROM store_cascade.hyper GROUP BY k;
SELECT * FROM strata.verify('store_cascade.hyper');
CREATE TEMP TABLE kept AS SELECT * FROM :c;
DROP TABLE store_cascade.hyper;
SELECT count(*) FROM (SELECT * FROM kept EXCEPT ALL SELECT * FROM :c) e;
SELECT * FROM strata.verify(:'c');
SELECT count(*) FROM strata.batches(:'c') WHERE nrows > 0;
VACUUM FULL :c;
SELECT count(*) FROM (SELECT * FROM kept EXCEPT ALL SELECT * FROM :c) e;
SELECT * FROM strata.verify(:'c');
-- the table's own storage anew, and a companion with it
TRUNCATE :c;
INSERT INTO :c SELECT * FROM kept;
SELECT FROM compress_chunk(:'c');
DROP OWNED BY store_cascade_owner;
RESET ROLE;
SELECT strata.gc();
DROP VIEW store_cascade_companions;
DROP FUNCTION store_cascade_try(text, bool), store_cascade_fill(bool);
DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM store_cascade_owner', current_database()); END $$;
DROP ROLE store_cascade_owner;
