-- Every way in which rows of a tracked range come, go and change is noted, by old and new time.
SET timezone = 'UTC';
SET strata.batch_rows = 50;
CREATE TABLE trk (time timestamptz NOT NULL, host int NOT NULL, v float8, PRIMARY KEY (host, time));
SELECT FROM create_hypertable('trk', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE trk SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO trk SELECT t, h, h FROM generate_series('2026-01-01'::timestamptz, '2026-01-03 23:50', '10 minutes') t, generate_series(1, 4) h;
SELECT count(compress_chunk(c)) FROM show_chunks('trk', older_than => '2026-01-03'::timestamptz) c;
-- late rows
INSERT INTO trk SELECT t + interval '1 minute', h, h FROM generate_series('2026-01-01'::timestamptz, '2026-01-02 23:00', '3 hours') t, generate_series(1, 4) h;

CREATE FUNCTION trk_key(t timestamptz) RETURNS bigint LANGUAGE sql RETURN (extract(epoch FROM t - '2000-01-01') * 1000000)::bigint;
CREATE FUNCTION trk_time(k bigint) RETURNS text LANGUAGE sql
	RETURN CASE k WHEN -9223372036854775808 THEN '-infinity' WHEN 9223372036854775807 THEN 'infinity' ELSE to_char('2000-01-01'::timestamptz + k / 1000000 * interval '1 s', 'DD HH24:MI:SS') END;

-- Runs statements in a savepoint of its own: what changed, in ranges, and whether they cover all that did.
CREATE FUNCTION trk_note(VARIADIC statements text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
	missed bigint;
	n bigint;
	ranges text;
BEGIN
	CREATE TEMP TABLE trk_before AS SELECT * FROM trk;
	FOREACH statement IN ARRAY statements LOOP
		EXECUTE statement;
	END LOOP;
	WITH diff AS ((SELECT * FROM trk_before EXCEPT ALL SELECT * FROM trk) UNION ALL (SELECT * FROM trk EXCEPT ALL SELECT * FROM trk_before))
	SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT FROM _strata.track_pending('trk') p WHERE trk_key(time) BETWEEN p.lo AND p.hi)
		AND trk_key(time) BETWEEN trk_key('2026-01-01 06:00') AND trk_key('2026-01-03 05:59:59')) INTO n, missed FROM diff;
	SELECT count(*) || ' ranges' || coalesce(', ' || trk_time(min(lo)) || ' to ' || trk_time(max(hi)), '') INTO ranges FROM _strata.track_pending('trk');
	DROP TABLE trk_before;
	RETURN format('%s rows, %s missed, %s', n, missed, ranges);
END $$;

-- nothing is tracked
BEGIN; SELECT trk_note('DELETE FROM trk'); ROLLBACK;
SELECT _strata.track('trk', trk_key('2026-01-01 06:00'), trk_key('2026-01-03 05:59:59'));
SELECT _strata.track_wait('trk');
-- outside: before, behind, and where no chunk is yet
BEGIN; SELECT trk_note($$INSERT INTO trk VALUES ('2026-01-01 05:00:30', 1, 1), ('2026-01-03 06:00:01', 1, 1), ('2026-01-05', 1, 1)$$); ROLLBACK;
-- rows come
BEGIN; SELECT trk_note($$INSERT INTO trk VALUES ('2026-01-01 07:00:30', 1, 1)$$); ROLLBACK;
BEGIN; SELECT trk_note($$INSERT INTO trk SELECT t, 9, 1 FROM generate_series('2026-01-01'::timestamptz, '2026-01-04', '1 minute') t$$); ROLLBACK;
BEGIN; SELECT trk_note($$INSERT INTO trk VALUES ('2026-01-02 07:00', 1, 7) ON CONFLICT DO NOTHING$$); ROLLBACK;
BEGIN; SELECT trk_note($$INSERT INTO trk VALUES ('2026-01-02 07:00', 1, 7), ('2026-01-02 07:00:01', 1, 7) ON CONFLICT (host, time) DO UPDATE SET v = excluded.v$$); ROLLBACK;
BEGIN; SELECT trk_note($$MERGE INTO trk USING (VALUES ('2026-01-02 07:00'::timestamptz, 1), ('2026-01-02 08:00:01', 1)) s(t, h) ON trk.time = t AND host = h
	WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (t, h, 0)$$); ROLLBACK;
-- rows change: value, time within a chunk, time to another chunk; of batches and of the row store
BEGIN; SELECT trk_note($$UPDATE trk SET v = 100 WHERE time = '2026-01-01 08:00' AND host = 2$$); ROLLBACK;
BEGIN; SELECT trk_note($$UPDATE trk SET v = 100 WHERE time = '2026-01-01 09:01' AND host = 2$$); ROLLBACK;
BEGIN; SELECT trk_note($$UPDATE trk SET time = time + interval '2 hours 1 s' WHERE time = '2026-01-01 08:00'$$); ROLLBACK;
BEGIN; SELECT trk_note($$UPDATE trk SET time = time + interval '1 day 1 s' WHERE time IN ('2026-01-01 08:00', '2026-01-01 09:01', '2026-01-02 20:00')$$); ROLLBACK;
BEGIN; SELECT trk_note($$UPDATE trk SET v = v + 1$$); ROLLBACK;
-- rows go: single ones, some of a batch, whole batches, chunks
BEGIN; SELECT trk_note($$DELETE FROM trk WHERE time = '2026-01-01 08:00' AND host = 2$$); ROLLBACK;
BEGIN; SELECT trk_note($$DELETE FROM trk WHERE time = '2026-01-01 09:01' AND host = 2$$); ROLLBACK;
BEGIN; SELECT trk_note($$DELETE FROM trk WHERE time BETWEEN '2026-01-01 08:00' AND '2026-01-01 13:00'$$); ROLLBACK;
BEGIN; SELECT trk_note($$DELETE FROM trk WHERE host = 3$$); ROLLBACK;
BEGIN; SELECT trk_note($$DELETE FROM trk WHERE time < '2026-01-02 12:00' RETURNING v$$); ROLLBACK;
BEGIN; SELECT trk_note($$SELECT drop_chunks('trk', older_than => '2026-01-02'::timestamptz)$$); ROLLBACK;
BEGIN; SELECT trk_note($$TRUNCATE trk$$); ROLLBACK;
-- undone by a savepoint: still noted
BEGIN; SELECT trk_note($$DO 'BEGIN DELETE FROM trk WHERE host = 1 AND time = ''2026-01-01 08:00''; RAISE EXCEPTION ''no''; EXCEPTION WHEN others THEN NULL; END'$$); ROLLBACK;
-- no row changes: nothing to note
BEGIN; SELECT trk_note($$SELECT compress_chunk(c, recompress => true) FROM show_chunks('trk') c$$); ROLLBACK;
BEGIN; SELECT trk_note($$SELECT decompress_chunk(c) FROM show_chunks('trk', older_than => '2026-01-02 12:00'::timestamptz) c$$); ROLLBACK;
BEGIN; SELECT trk_note($$ALTER TABLE trk ADD COLUMN more int DEFAULT 7$$, $$ALTER TABLE trk DROP COLUMN more$$); ROLLBACK;
BEGIN; SELECT trk_note($$SELECT FROM trk WHERE host = 1 FOR UPDATE$$, $$CREATE INDEX ON trk (v)$$, $$ANALYZE trk$$); ROLLBACK;
-- straight into batches, without a key
ALTER TABLE trk DROP CONSTRAINT trk_pkey;
ALTER TABLE trk SET (strata.direct_load);
BEGIN; SELECT trk_note($$INSERT INTO trk SELECT t, 9, 1 FROM generate_series('2026-01-01 10:00'::timestamptz, '2026-01-02 10:00', '1 minute') t$$); ROLLBACK;
-- the transaction's end writes the log, once, and an abort does not
SELECT count(*) FROM _strata.track_marks('trk');
BEGIN;
INSERT INTO trk VALUES ('2026-01-01 07:00:30', 1, 1), ('2026-01-01 07:00:30', 2, 1);
SAVEPOINT s;
DELETE FROM trk WHERE time = '2026-01-02 20:00';
ROLLBACK TO s;
COMMIT;
SELECT trk_time(lo), trk_time(hi) FROM _strata.track_marks('trk') ORDER BY lo;
BEGIN;
INSERT INTO trk VALUES ('2026-01-01 09:00:30', 1, 1);
PREPARE TRANSACTION 'trk';
SELECT count(*) FROM _strata.track_marks('trk');
COMMIT PREPARED 'trk';
SELECT trk_time(lo), trk_time(hi) FROM _strata.track_marks('trk') ORDER BY lo;
-- many times: few marks, wider
SELECT FROM _strata.track_no_more('trk');
SELECT FROM _strata.track('trk', trk_key('2026-01-01 06:00'), trk_key('2026-01-03 05:59:59'));
INSERT INTO trk SELECT t, 5, 0 FROM generate_series('2026-01-01 12:00'::timestamptz, '2026-01-01 23:59', '7 minutes') t;
SELECT count(*), trk_time(min(lo)), trk_time(max(hi)) FROM _strata.track_marks('trk');
-- more is tracked, of chunks that this session knows, too
INSERT INTO trk VALUES ('2026-01-01 05:00:30', 1, 1);
SELECT _strata.track('trk', trk_key('2026-01-01'), trk_key('2026-01-01 06:00'));
INSERT INTO trk VALUES ('2026-01-01 05:00:30', 1, 1);
SELECT trk_time(lo), trk_time(hi) FROM _strata.track_marks('trk') WHERE lo < trk_key('2026-01-01 06:00');
-- nobody wants to know any more
SELECT _strata.track_no_more('trk');
DELETE FROM trk WHERE host = 1;
SELECT count(*) FROM _strata.track_marks('trk');
SELECT _strata.track('trk', 2, 1);
CREATE TABLE trk_t (t int);
SELECT _strata.track('trk_t', 1, 1);
DROP TABLE trk_t;
-- integers, dates, UUIDs; the ends of the type
CREATE TABLE trk_i (t bigint NOT NULL, v int);
SELECT FROM create_hypertable('trk_i', 't', chunk_time_interval => 1000000000000000000);
SELECT _strata.track('trk_i', -9223372036854775808, 9223372036854775807);
BEGIN;
INSERT INTO trk_i VALUES (9223372036854775807, 1), (9223372036854775806, 1), (-9223372036854775808, 1), (0, 1), (-1, 1);
SELECT * FROM _strata.track_pending('trk_i') ORDER BY 1;
ROLLBACK;
CREATE TABLE trk_d (t date NOT NULL, v int);
SELECT FROM create_hypertable('trk_d', 't', chunk_time_interval => interval '7 days');
SELECT _strata.track('trk_d', 0, 10000);
BEGIN;
INSERT INTO trk_d VALUES ('2000-01-03', 1), ('2000-01-04', 1), ('2010-01-01', 1), ('1999-01-01', 1);
SELECT * FROM _strata.track_pending('trk_d') ORDER BY 1;
ROLLBACK;
DROP TABLE trk, trk_i, trk_d;
DROP FUNCTION trk_key, trk_time, trk_note;
