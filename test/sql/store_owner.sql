-- Whatever an owner, who is no superuser, may do with a heap table he may do with a
-- compressed one; companions, which are not his, follow.
\set runner :USER
\c - postgres
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE store_owner_space LOCATION '';
GRANT CREATE ON TABLESPACE store_owner_space TO PUBLIC;
CREATE ROLE store_owner;
CREATE ROLE store_heir;
CREATE SCHEMA store_owner AUTHORIZATION store_owner;
GRANT ALL ON SCHEMA store_owner TO store_heir;
GRANT store_heir TO store_owner;
GRANT store_owner TO :"runner";
\c - :runner
SET client_min_messages = error;
SET ROLE store_owner;
SET search_path = store_owner, public;

CREATE FUNCTION tried(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE command; RETURN 'done';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, 'batch_\d+_\d+', 'companion'); END $$;
CREATE FUNCTION make(name text, kind text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE %s TABLE %I (ts timestamptz NOT NULL, k int, v float8, t text, gone int) USING strata', kind, name);
	EXECUTE format('ALTER TABLE %I SET (strata.segmentby = ''k'')', name);
	EXECUTE format('CREATE INDEX ON %I (k, ts)', name);
	EXECUTE format('INSERT INTO %I SELECT ''2026-01-01''::timestamptz + g * interval ''1 min'', g %% 3, g, ''x'' || g, g FROM generate_series(1, 2000) g', name);
	EXECUTE format('SELECT compress_chunk(%L)', name);
	EXECUTE format('INSERT INTO %I SELECT ''2026-02-01''::timestamptz + g * interval ''1 min'', g %% 3, g, ''y'' || g, g FROM generate_series(1, 100) g', name);
	EXECUTE format('UPDATE %I SET v = -v WHERE v = 77', name);
END $$;
-- rows, their sum, rows in batches and in the row store, what verify() says
CREATE FUNCTION shown(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || sum(v) FROM %I', name) INTO r;
	IF (SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.oid = name::regclass) = 'strata' THEN
		EXECUTE format('SELECT concat_ws('' '', %L, batch_rows || ''/'' || row_store_rows, (SELECT string_agg(problem, '','') FROM strata.verify(%2$L))) FROM _strata.row_counts(%2$L)', r, name) INTO r;
	END IF;
	RETURN r;
END $$;
CREATE FUNCTION space_of(name text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(coalesce((SELECT spcname FROM pg_tablespace s WHERE s.oid = reltablespace), '-'), ' ' ORDER BY c.oid = name::regclass DESC)
	FROM pg_class c WHERE c.oid IN (name::regclass, strata.batch_relation(name::regclass)) $$;
SELECT current_setting('is_superuser');

-- more columns than a companion has room for
SELECT make('s'), shown('s');
SELECT tried('ALTER TABLE s DROP gone'), string_agg(DISTINCT tried(format('ALTER TABLE s ADD c%s int DEFAULT %s', g, g)), ',') FROM generate_series(1, 60) g;
VACUUM FULL s;
SELECT shown('s'), sum(c60) FROM s;
SELECT string_agg(DISTINCT tried(format('ALTER TABLE s ADD d%s int DEFAULT %s', g, g)), ',') FROM generate_series(1, 60) g;
CLUSTER s USING s_k_ts_idx;
SELECT shown('s'), sum(d60) FROM s;

-- tablespaces
SELECT tried('ALTER TABLE s SET TABLESPACE store_owner_space'), shown('s'), space_of('s');
SELECT tried('ALTER TABLE ALL IN TABLESPACE store_owner_space SET TABLESPACE pg_default'), shown('s'), space_of('s');
SELECT tried('ALTER TABLE ALL IN TABLESPACE pg_default OWNED BY store_owner SET TABLESPACE store_owner_space'), shown('s'), space_of('s');
SELECT tried('ALTER INDEX ALL IN TABLESPACE store_owner_space SET TABLESPACE pg_default'), space_of('s');
SELECT tried('ALTER MATERIALIZED VIEW ALL IN TABLESPACE store_owner_space SET TABLESPACE pg_default'), space_of('s');
SET ROLE store_heir;
SELECT tried('ALTER TABLE ALL IN TABLESPACE store_owner_space SET TABLESPACE pg_default');
SET ROLE store_owner;
SELECT tried('ALTER TABLE s SET TABLESPACE pg_default'), shown('s'), space_of('s');

-- types, persistence, access methods, the other rewrites
SELECT tried('ALTER TABLE s ALTER t TYPE varchar(100)'), shown('s'), tried('ALTER TABLE s ALTER k TYPE bigint'), shown('s');
SELECT compress_chunk('s'), tried('ALTER TABLE s SET UNLOGGED'), shown('s'), compress_chunk('s'), shown('s');
SELECT tried('ALTER TABLE s SET LOGGED'), shown('s'), compress_chunk('s'), shown('s');
SELECT tried('ALTER TABLE s SET ACCESS METHOD heap'), shown('s'), tried('ALTER TABLE s SET ACCESS METHOD strata'), shown('s'), compress_chunk('s'), shown('s');
REINDEX TABLE s;
REINDEX TABLE CONCURRENTLY s;
REINDEX SCHEMA store_owner;
VACUUM (FULL, ANALYZE) s;
VACUUM ANALYZE s;
INSERT INTO s SELECT * FROM s WHERE v < 100;
SELECT compress_chunk('s', recompress => true), shown('s'), decompress_chunk('s'), shown('s');
SELECT compress_chunk('s'), tried('ALTER TABLE s SET (strata.segmentby = '''')'), compress_chunk('s', recompress => true), shown('s');
CREATE INDEX CONCURRENTLY s_t ON s (t);
SELECT tried('CREATE INDEX ON s (v)'), tried('ALTER TABLE s RENAME t TO tt'), tried('ALTER TABLE s ADD CHECK (k < 1000)'), tried('ALTER TABLE s ALTER k SET NOT NULL'),
	tried('ALTER TABLE s REPLICA IDENTITY FULL'), tried('ALTER TABLE s CLUSTER ON s_k_ts_idx'), tried('ALTER TABLE s RENAME TO s2'), tried('ALTER TABLE s2 RENAME TO s'), shown('s');
CREATE MATERIALIZED VIEW mv USING strata AS SELECT * FROM s;
SELECT compress_chunk('mv')::text, shown('mv'), tried('REFRESH MATERIALIZED VIEW mv'), shown('mv'), compress_chunk('mv')::text,
	tried('ALTER MATERIALIZED VIEW ALL IN TABLESPACE pg_default OWNED BY store_owner SET TABLESPACE store_owner_space'), shown('mv'), space_of('mv'), tried('DROP MATERIALIZED VIEW mv');

-- unlogged and temporary tables, prepared transactions
SELECT make('un', 'UNLOGGED'), shown('un');
VACUUM FULL un;
SELECT shown('un'), tried('ALTER TABLE un SET TABLESPACE store_owner_space'), shown('un'), tried('TRUNCATE un'), shown('un');
SELECT make('tmp', 'TEMP'), shown('tmp');
SELECT string_agg(DISTINCT tried(format('ALTER TABLE tmp ADD c%s int DEFAULT %s', g, g)), ',') FROM generate_series(1, 60) g;
VACUUM FULL tmp;
SELECT shown('tmp'), tried('ALTER TABLE tmp SET TABLESPACE store_owner_space'), shown('tmp'), tried('TRUNCATE tmp'), shown('tmp'), tried('DROP TABLE tmp');
BEGIN;
SELECT make('tp');
PREPARE TRANSACTION 'store_owner';
COMMIT PREPARED 'store_owner';
SELECT shown('tp');
BEGIN;
UPDATE tp SET v = v + 1 WHERE k = 1;
SELECT compress_chunk('tp', recompress => true);
PREPARE TRANSACTION 'store_owner';
COMMIT PREPARED 'store_owner';
SELECT shown('tp');

-- owners change and go
SELECT tried('ALTER TABLE s OWNER TO store_heir');
SET ROLE store_heir;
SELECT tried('ALTER TABLE s ADD e int DEFAULT 1'), tried('ALTER TABLE s SET TABLESPACE store_owner_space'), shown('s');
VACUUM FULL s;
SELECT compress_chunk('s'), shown('s');
SET ROLE store_owner;
SELECT tried('REASSIGN OWNED BY store_heir TO store_owner'), tried('ALTER TABLE s SET TABLESPACE pg_default'), shown('s');
SELECT make('s3'), tried('ALTER TABLE s3 OWNER TO store_heir');
SET ROLE store_heir;
SELECT tried('DROP OWNED BY store_heir'), to_regclass('s3');
SET ROLE store_owner;
SELECT tried('DROP TABLE s, un, tp');

-- a hypertable
CREATE TABLE m (ts timestamptz NOT NULL, k int, v float8, t text);
SELECT created FROM create_hypertable('m', 'ts', chunk_time_interval => interval '1 day');
ALTER TABLE m SET (strata.segmentby = 'k');
INSERT INTO m SELECT '2026-01-01'::timestamptz + g * interval '2 min', g % 3, g, 'x' || g FROM generate_series(1, 5000) g;
SELECT count(compress_chunk(c)) FROM show_chunks('m') c;
INSERT INTO m SELECT '2026-01-01'::timestamptz + g * interval '10 min', g % 3, g, 'x' || g FROM generate_series(1, 1000) g;
SELECT string_agg(DISTINCT tried(format('ALTER TABLE m ADD c%s int DEFAULT %s', g, g)), ',') FROM generate_series(1, 60) g;
SELECT tried($$SELECT move_chunk(chunk => 'm_20260101_chunk', destination_tablespace => 'store_owner_space', index_destination_tablespace => 'store_owner_space', reorder_index => 'm_ts_idx')$$), space_of('m_20260101_chunk'),
	tried($$SELECT move_chunk('m_20260102_chunk', 'store_owner_space')$$), space_of('m_20260102_chunk');
SELECT tried($$SELECT reorder_chunk('m_20260103_chunk', 'm_ts_idx')$$);
CALL merge_chunks('m_20260103_chunk', 'm_20260104_chunk');
CALL split_chunk('m_20260103_chunk');
CALL detach_chunk('m_20260105_chunk');
CALL attach_chunk('m', 'm_20260105_chunk', '{"ts": ["2026-01-05 00:00+00", "2026-01-06 00:00+00"]}');
VACUUM FULL m;
SELECT tried('ALTER TABLE m ALTER v TYPE numeric'), tried('ALTER TABLE m SET TABLESPACE store_owner_space'), tried('CREATE INDEX ON m (k)'), tried('REINDEX TABLE m_20260102_chunk');
SELECT count(compress_chunk(c)) FROM show_chunks('m') c;
SELECT count(*), sum(v), sum(c60), (SELECT count(*) FROM show_chunks('m') c, strata.verify(c)) AS problems FROM m;
SELECT string_agg(shown(c::text), ', ') FROM show_chunks('m') c;
SELECT tried('ALTER TABLE m OWNER TO store_heir'), tried('REASSIGN OWNED BY store_heir TO store_owner'), tried('TRUNCATE m'), tried('DROP TABLE m');

RESET ROLE;
\c - postgres
SET client_min_messages = warning;
DROP SCHEMA store_owner CASCADE;
DROP TABLESPACE store_owner_space;
DROP ROLE store_owner, store_heir;
