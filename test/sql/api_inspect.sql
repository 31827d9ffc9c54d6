-- What the inspection functions show, to whom, and what they say of damage.
SET client_min_messages = warning;
SET strata.batch_rows = 99;
CREATE SCHEMA api_inspect;
SET search_path = api_inspect, public;
CREATE TABLE t (id int PRIMARY KEY, dev text, ts timestamptz, v float8, note text) USING strata;
ALTER TABLE t SET (strata.segmentby = 'dev', strata.orderby = 'ts DESC');

-- never compressed
SELECT strata.batch_relation('t');
SELECT * FROM strata.batches('t');
SELECT * FROM strata.batch_columns('t');
SELECT * FROM strata.verify('t');
SELECT chunk_name, compression_status, before_compression_total_bytes, after_compression_total_bytes FROM chunk_compression_stats('t');
SELECT pg_get_compression_ratio('t');
SELECT row_store_rows, batch_rows, batches, batch_bytes, segmentby, orderby FROM strata.tables WHERE relation = 't'::regclass;
SET client_min_messages = notice;
SELECT compress_chunk('t');
SELECT decompress_chunk('t');
SELECT decompress_chunk('t', if_compressed => false);
SET client_min_messages = warning;

INSERT INTO t SELECT i, 'd' || i % 3, timestamptz '2024-01-01 00:00Z' + i * interval '1 min', CASE WHEN i % 10 > 0 THEN i END,
    CASE WHEN i % 3 = 1 THEN NULL ELSE repeat('n', i % 70) END FROM generate_series(1, 1000) i;
SELECT compress_chunk('t');
SELECT strata.batch_relation('t')::text ~ '^_strata\.batch_0_\d+$' AS companion;
SELECT first_row, nrows, layout, segment, min_orderby, max_orderby, bytes > 100 AS bytes FROM strata.batches('t') ORDER BY first_row;
SELECT column_name, count(*), sum(nulls), min(min), bool_and(bytes > 0 OR codec = 'segmentby') AS bytes, bool_and(codec <> '') AS codec
FROM strata.batch_columns('t') GROUP BY 1 ORDER BY 1;
SELECT nulls, min, max FROM strata.batch_columns('t') WHERE column_name = 'v' ORDER BY first_row LIMIT 2;
SELECT chunk_schema, chunk_name, compression_status, after_compression_total_bytes = pg_total_relation_size('t') + pg_total_relation_size(strata.batch_relation('t')) + pg_total_relation_size(_strata.batch_index_relation(strata.batch_relation('t'))) AS on_disk,
       before_compression_total_bytes = before_compression_table_bytes + before_compression_index_bytes + before_compression_toast_bytes AS before_adds_up,
       after_compression_total_bytes = after_compression_table_bytes + after_compression_index_bytes + after_compression_toast_bytes AS after_adds_up, node_name
FROM chunk_compression_stats('t');
SELECT pg_get_compression_ratio('t') > 0 AS ratio;
SELECT row_store_rows, batch_rows, batches, batch_bytes > 0 AS batch_bytes, segmentby, orderby FROM strata.tables WHERE relation = 't'::regclass;
SELECT * FROM strata.verify('t');
SELECT count(*) > 5 AS codecs, bool_and(available) FROM strata.codecs;
SELECT * FROM strata.progress;
SET client_min_messages = notice;
SELECT compress_chunk('t');
SELECT compress_chunk('t', if_not_compressed => false);
SET client_min_messages = warning;
-- changed rows have left their batches
UPDATE t SET v = 0 WHERE id IN (1, 2, 3);
SELECT count(*), sum(nrows) FROM strata.batches('t');
SELECT row_store_rows, batch_rows, batches FROM strata.tables WHERE relation = 't'::regclass;
SELECT count(DISTINCT first_row) FROM strata.batch_columns('t');
SELECT * FROM strata.verify('t');
SELECT compress_chunk('t', recompress => true);
SELECT sum(nrows) FROM strata.batches('t');

-- wrong arguments
SELECT compress_chunk(NULL);
SET ROLE postgres;
SELECT compress_chunk('pg_class');
RESET ROLE;
SELECT compress_chunk(0);
SELECT compress_chunk(4294967295::oid::regclass);
SELECT * FROM strata.batches(0);
SELECT * FROM strata.verify('t_pkey');
CREATE VIEW v AS SELECT 1 AS one;
CREATE SEQUENCE seq;
CREATE TABLE h (i int);
SELECT compress_chunk('v');
SELECT compress_chunk('seq');
SELECT compress_chunk('h');
SELECT decompress_chunk('h');
SELECT * FROM strata.verify('h');
SELECT strata.batch_relation('h'), strata.batch_relation('v'), strata.batch_relation(0);
SELECT * FROM chunk_compression_stats('h');
SELECT * FROM strata.verify(strata.batch_relation('t')) LIMIT 0;
BEGIN READ ONLY;
SELECT compress_chunk('t', recompress => true);
ROLLBACK;
BEGIN READ ONLY;
SELECT decompress_chunk('t');
ROLLBACK;
DO $$ BEGIN PERFORM id, compress_chunk('t') FROM t; END $$;
SELECT strata.compressed_in('\x00');
SELECT '\x0102'::strata.compressed;

-- whoever does not own the table sees nothing and does nothing
CREATE ROLE api_inspect_user;
GRANT api_inspect_user TO CURRENT_USER;
GRANT USAGE ON SCHEMA api_inspect TO api_inspect_user;
GRANT SELECT ON t TO api_inspect_user;
SET ROLE api_inspect_user;
SELECT count(*) FROM t;
SELECT compress_chunk('t');
SELECT decompress_chunk('t');
SELECT * FROM strata.batches('t');
SELECT * FROM strata.batch_columns('t');
SELECT * FROM strata.verify('t');
SELECT strata.gc();
SELECT count(*) FROM strata.tables WHERE relation = 't'::regclass;
SELECT count(*) FROM strata.compression_settings WHERE hypertable_name = 't';
SELECT count(*) FROM strata.codecs WHERE false;
SELECT * FROM _strata.row_counts('t');
DO $$ BEGIN EXECUTE format('SELECT * FROM %s', strata.batch_relation('t')); EXCEPTION WHEN insufficient_privilege THEN RAISE WARNING 'not readable'; END $$;
DO $$ BEGIN EXECUTE format('DELETE FROM %s', strata.batch_relation('t')); EXCEPTION WHEN insufficient_privilege THEN RAISE WARNING 'not writable'; END $$;
CREATE TABLE _strata.mine (i int);
RESET ROLE;
-- nor can a function of the table's owner be made to run as somebody else
CREATE FUNCTION whoami(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_user <> 'api_inspect_user' THEN RAISE EXCEPTION 'run as %', current_user; END IF;
    RETURN $1;
END $$;
GRANT CREATE ON SCHEMA api_inspect TO api_inspect_user;
SET ROLE api_inspect_user;
CREATE TABLE theirs (i int) USING strata;
INSERT INTO theirs SELECT generate_series(1, 1000);
CREATE INDEX ON theirs (whoami(i));
RESET ROLE;
SELECT compress_chunk('theirs');
SELECT decompress_chunk('theirs');
SELECT compress_chunk('theirs');
SELECT count(*) FROM strata.verify('theirs');

-- damage: each byte of an encoded column flipped in turn.  verify() reports
-- every one; queries raise data_corrupted or are not concerned; nothing crashes.
CREATE TABLE d (id int, dev text, v float8, note text, n numeric) USING strata;
ALTER TABLE d SET (strata.segmentby = 'dev', strata.orderby = 'id');
INSERT INTO d SELECT i, 'd', i * 1.25, 'note ' || i % 7, i / 7.0 FROM generate_series(1, 400) i;
SELECT compress_chunk('d');
CREATE TABLE d_before AS TABLE d;
SELECT strata.batch_relation('d') AS companion \gset
CREATE FUNCTION flip(x bytea, pos int, which int) RETURNS bytea LANGUAGE sql AS $$ SELECT set_byte(x, pos, get_byte(x, pos) # (1 << which)) $$;
CREATE FUNCTION damage(companion text, col text, step int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    bytes bytea;
    damaged bytea;
    n int := 0;
    unseen int := 0;
    wrong int := 0;
    raised int := 0;
    other text := '';
    i int;
    m bigint;
    q text;
BEGIN
    EXECUTE format('SELECT %I::text::bytea FROM %s WHERE first_row = 0', col, companion) INTO bytes;
    IF bytes IS NULL THEN RETURN NULL; END IF;
    FOR i IN 0 .. length(bytes) - 1 BY step LOOP
        damaged := flip(bytes, i, (i * 5) % 8);
        n := n + 1;
        BEGIN
            EXECUTE format('UPDATE %s SET %I = $1::text::%s WHERE first_row = 0', companion, col,
                (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = companion::regclass AND attname = col)) USING damaged;
            IF NOT EXISTS (SELECT FROM strata.verify('d')) THEN unseen := unseen + 1; END IF;
            FOREACH q IN ARRAY ARRAY['SELECT count(*) FROM ((TABLE d EXCEPT ALL TABLE d_before) UNION ALL (TABLE d_before EXCEPT ALL TABLE d)) x', 'SELECT count(*) - 400 FROM d WHERE v > -1 AND length(note) > 0 AND n > 0',
                                     'UPDATE d SET v = v WHERE id = 5', 'SELECT 1 FROM decompress_chunk(''d'')', 'SELECT count(*) FROM strata.batch_columns(''d'')'] LOOP
                BEGIN
                    IF q LIKE 'UPDATE%' THEN EXECUTE q; ELSE EXECUTE q INTO m; END IF;
                    IF q LIKE '%d_before%' AND m <> 0 THEN wrong := wrong + 1; END IF;
                    RAISE EXCEPTION 'undo' USING ERRCODE = 'ZZ000';
                EXCEPTION
                    WHEN data_corrupted THEN raised := raised + 1;
                    WHEN SQLSTATE 'ZZ000' THEN NULL;
                    WHEN OTHERS THEN other := other || format(' %s: %s (%s);', SQLSTATE, SQLERRM, q);
                END;
            END LOOP;
            RAISE EXCEPTION 'undo' USING ERRCODE = 'ZZ000';
        EXCEPTION WHEN SQLSTATE 'ZZ000' THEN NULL;
        END;
    END LOOP;
    RETURN format('%s: tried %s, unseen %s, wrong %s, raised %s%s', col, n > 0, unseen, wrong, raised > 0, other);
END $$;
SET ROLE postgres;
SELECT x AS damage FROM pg_attribute a, damage(:'companion', a.attname, CASE WHEN attname LIKE 'col%' THEN 1 ELSE 3 END) x
WHERE attrelid = :'companion'::regclass AND attnum > 0 AND attname ~ '^(col|summary)' AND x IS NOT NULL ORDER BY attnum;
RESET ROLE;
-- metadata
CREATE FUNCTION damage_row(companion text, change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    problems bigint;
    answer text;
BEGIN
    EXECUTE format('UPDATE %s SET %s WHERE first_row = 0', companion, change);
    SELECT count(*) INTO problems FROM strata.verify('d');
    BEGIN
        SELECT count(*) || ' rows differ' INTO answer FROM ((TABLE d EXCEPT ALL TABLE d_before) UNION ALL (TABLE d_before EXCEPT ALL TABLE d)) x;
    EXCEPTION WHEN data_corrupted THEN answer := 'corrupted';
    END;
    RAISE EXCEPTION 'undo' USING ERRCODE = 'ZZ000', DETAIL = format('%s; %s, %s', change, CASE WHEN problems > 0 THEN 'reported' ELSE 'UNSEEN' END, answer);
EXCEPTION
    WHEN SQLSTATE 'ZZ000' THEN GET STACKED DIAGNOSTICS answer = PG_EXCEPTION_DETAIL; RETURN answer;
    WHEN OTHERS THEN RETURN format('%s; %s: %s', change, SQLSTATE, SQLERRM);
END $$;
SET strata.enable_ordered_scan = off;	-- an index on the layout does not lead to a damaged one (18 orders for EXCEPT)
SET ROLE postgres;
SELECT damage_row(:'companion', x) FROM unnest(ARRAY['nrows = nrows - 1', 'nrows = nrows + 1', 'nrows = 0', 'nrows = -nrows', 'nrows = 2147483647', 'nrows = -2147483648', 'layout = ''''', 'layout = ''99/98''', 'layout = ''2/1x''',
    'layout = repeat(''2/1al'', 1000)', 'summary = NULL', 'summary = ''''', 'col_1 = NULL', 'col_3 = col_1', 'seg_2 = ''other''', 'min_1 = min_1 + 1', 'max_1 = max_1 - 1', 'min_1 = NULL', 'entry = ''\x00''',
    'first_row = -5', 'first_row = 50', 'first_row = 549755813000']) x;
RESET ROLE;
RESET strata.enable_ordered_scan;
SELECT * FROM strata.verify('d');
SELECT count(*) FROM (TABLE d EXCEPT ALL TABLE d_before) x;
DROP SCHEMA api_inspect CASCADE;
DROP ROLE api_inspect_user;
SELECT count(*) AS companions FROM pg_class WHERE relnamespace = '_strata'::regnamespace AND relname LIKE 'batch\_%' AND relkind = 'r';
-- who looks at sizes keeps no lock
CREATE TABLE nolock (ts timestamptz, host int, note text) USING strata WITH (strata.segmentby = 'host');
INSERT INTO nolock SELECT now(), i % 3, repeat(md5(i::text), 10) FROM generate_series(1, 3000) i;
SELECT compress_chunk('nolock') IS NOT NULL AS compressed;
DELETE FROM nolock WHERE host = 1 AND note LIKE '%a%';
BEGIN;
SELECT table_bytes > 0 AS before FROM _strata.before_sizes('nolock');
SELECT _strata.is_compressed('nolock'::regclass), strata.batch_relation('nolock') IS NOT NULL AS companion, count(*) FROM _strata.layout_of('nolock'::regclass);
SELECT count(*) FROM chunk_compression_stats('nolock');
SELECT row_store_rows, batches FROM _strata.row_counts('nolock');
SELECT c.relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation'
	AND (c.oid = 'nolock'::regclass OR c.oid = strata.batch_relation('nolock') OR c.relname ~ ('^' || split_part(strata.batch_relation('nolock')::text, '.', 2)) OR c.relname ~ ('^pg_toast_' || strata.batch_relation('nolock')::oid));
COMMIT;
DROP TABLE nolock;
