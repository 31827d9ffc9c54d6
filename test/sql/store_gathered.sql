-- DELETE of what joins find (USING, IN, EXISTS) deletes rows of a batch together, too: as heap.
SET strata.batch_rows = 100;
SET client_min_messages = error;
CREATE TABLE gathered_h (id int PRIMARY KEY, seg int, v float8, note text);
CREATE TABLE gathered_t (LIKE gathered_h, PRIMARY KEY (id)) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'id');
INSERT INTO gathered_h SELECT i, i % 3, i / 4.0, 'note ' || i FROM generate_series(1, 6000) i;
INSERT INTO gathered_t TABLE gathered_h;
SELECT compress_chunk('gathered_t');
-- some that are in the row store
INSERT INTO gathered_h SELECT i, i % 3, i / 4.0, 'late' FROM generate_series(6001, 6100) i;
INSERT INTO gathered_t SELECT i, i % 3, i / 4.0, 'late' FROM generate_series(6001, 6100) i;
-- one value twice: rows are found twice
CREATE TABLE wanted AS SELECT i AS id, 'w' || i AS what FROM generate_series(1, 6100, 7) i UNION ALL SELECT 8, 'again' FROM generate_series(1, 2);
ANALYZE gathered_h;
ANALYZE gathered_t;
ANALYZE wanted;
CREATE TABLE log (target text, id int, v float8, what text);
-- the statement (% is the table) on both: rows affected, what it returned in whatever order, and what triggers wrote
CREATE FUNCTION gathered_both(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	target text;
	said text[] := '{}';
	returned text[];
	r record;
BEGIN
	FOREACH target IN ARRAY ARRAY['gathered_t', 'gathered_h'] LOOP
		TRUNCATE log;
		returned := '{}';
		BEGIN
			FOR r IN EXECUTE replace(statement, '%', target) LOOP
				returned := returned || r::text;
			END LOOP;
			said := said || ((SELECT count(*) || ' ' || coalesce(md5(string_agg(x, ',' ORDER BY x)), '') FROM unnest(returned) x) || (SELECT ' ' || count(*) || ' ' ||
				coalesce(md5(string_agg(l.id || '=' || l.v || l.what, ',' ORDER BY l.id, l.what)), '') FROM log l));
		EXCEPTION WHEN OTHERS THEN
			said := said || SQLSTATE;
		END;
	END LOOP;
	RETURN CASE WHEN said[1] = said[2] THEN split_part(said[1], ' ', 1) ELSE 'DIFFERS: ' || said::text END;
END $$;
CREATE FUNCTION gathered_check() RETURNS TABLE (differences bigint, problems bigint) LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM ((TABLE gathered_h EXCEPT ALL TABLE gathered_t) UNION ALL (TABLE gathered_t EXCEPT ALL TABLE gathered_h)) d),
		(SELECT count(*) FROM strata.verify('gathered_t')) $$;
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id = %.id AND w.id < 1000 RETURNING %.*, w.what LIKE ''w%''');
SELECT * FROM gathered_check();
SELECT gathered_both('DELETE FROM % WHERE id IN (SELECT id + 1 FROM wanted) AND id < 2000 RETURNING id, v * 2, note');
SELECT gathered_both('DELETE FROM % WHERE EXISTS (SELECT FROM wanted w WHERE w.id + 2 = %.id) AND id BETWEEN 1500 AND 2500 RETURNING *');
SET enable_hashjoin = off;
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id + 3 = %.id AND %.id < 2000 RETURNING %.id');
SET enable_mergejoin = off;
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id + 4 = %.id AND %.id < 600 RETURNING w.*, %.note');
RESET enable_hashjoin;
RESET enable_mergejoin;
-- itself, all rows of some batches, the same again
SELECT gathered_both('DELETE FROM % USING % o WHERE o.id + 3 = %.id AND %.seg = 1 AND %.id BETWEEN 2600 AND 3600 RETURNING %.id');
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id = %.id AND w.id < 1000 RETURNING %.id');
SELECT * FROM gathered_check();
-- without RETURNING, and how few entries that leaves
CREATE TEMP TABLE before AS SELECT 0::bigint AS n;
SET ROLE postgres;
DO $$ BEGIN EXECUTE format('UPDATE before SET n = (SELECT count(*) FROM %s WHERE first_row < 0)', strata.batch_relation('gathered_t')); END $$;
RESET ROLE;
DELETE FROM gathered_h USING wanted w WHERE w.id = gathered_h.id AND w.id BETWEEN 2500 AND 4500;
DELETE FROM gathered_t USING wanted w WHERE w.id = gathered_t.id AND w.id BETWEEN 2500 AND 4500;
CREATE FUNCTION gathered_entries() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('SELECT count(*) - (SELECT b.n FROM before b) FROM %s WHERE first_row < 0', strata.batch_relation('gathered_t')) INTO n;
	RETURN n;
END $$;
SET ROLE postgres;
SELECT gathered_entries() < 100 OR NOT current_setting('strata.enable_batch_delete')::boolean AS few;
RESET ROLE;
SELECT * FROM gathered_check();
-- volatile functions find the rows one by one; so do sub-selects of RETURNING
CREATE FUNCTION left_of(target text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM ' || target INTO n;
	RETURN n;
END $$;
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id = %.id AND w.id BETWEEN 4501 AND 4520 AND mod(left_of(''%''), 2) >= 0 RETURNING left_of(''%'')');
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id = %.id AND w.id BETWEEN 4521 AND 4560 RETURNING (SELECT left_of(''%'') WHERE %.id > 0)');
SELECT * FROM gathered_check();
-- so does an aggregate whose transition function is volatile
CREATE FUNCTION left_seen(seen bigint[], target text) RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN seen || left_of(target); END';
CREATE AGGREGATE seen(text) (SFUNC = left_seen, STYPE = bigint[], INITCOND = '{}');
BEGIN;
SET LOCAL strata.enable_scan = on; -- as on heap, the aggregates come first and their rows are looked up
SET LOCAL enable_hashagg = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SELECT gathered_both('DELETE FROM % USING (SELECT id, seen(''%'') AS n FROM wanted WHERE id > 5000 GROUP BY id) w WHERE w.id = %.id RETURNING %.id, w.n');
ROLLBACK;
DROP AGGREGATE seen(text);
DROP FUNCTION left_seen;
-- triggers afterwards and before, keys of other tables that refer to it
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log VALUES (TG_TABLE_NAME, OLD.id, OLD.v, 'row');
	RETURN NULL;
END $$;
CREATE FUNCTION note_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log SELECT TG_TABLE_NAME, id, v, 'all' FROM gone;
	RETURN NULL;
END $$;
CREATE FUNCTION keep_odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN CASE WHEN OLD.id % 2 = 0 THEN OLD END; END';
CREATE TRIGGER after_row AFTER DELETE ON gathered_t FOR EACH ROW EXECUTE FUNCTION note_row();
CREATE TRIGGER after_row AFTER DELETE ON gathered_h FOR EACH ROW EXECUTE FUNCTION note_row();
CREATE TRIGGER after_all AFTER DELETE ON gathered_t REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_all();
CREATE TRIGGER after_all AFTER DELETE ON gathered_h REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_all();
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id = %.id AND w.id BETWEEN 4561 AND 4900 RETURNING %.id');
CREATE TRIGGER before_row BEFORE DELETE ON gathered_t FOR EACH ROW EXECUTE FUNCTION keep_odd();
CREATE TRIGGER before_row BEFORE DELETE ON gathered_h FOR EACH ROW EXECUTE FUNCTION keep_odd();
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id = %.id AND w.id BETWEEN 4901 AND 5000 RETURNING %.id');
DROP TRIGGER before_row ON gathered_t;
DROP TRIGGER before_row ON gathered_h;
CREATE TABLE ref_t (id int REFERENCES gathered_t ON DELETE CASCADE);
CREATE TABLE ref_h (id int REFERENCES gathered_h ON DELETE CASCADE);
INSERT INTO ref_t SELECT id FROM gathered_t WHERE id BETWEEN 5001 AND 5100;
INSERT INTO ref_h SELECT id FROM gathered_h WHERE id BETWEEN 5001 AND 5100;
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id = %.id AND w.id BETWEEN 5001 AND 5200 RETURNING %.id');
SELECT (SELECT count(*) FROM ref_t) AS t, (SELECT count(*) FROM ref_h) AS h;
SELECT * FROM gathered_check();
-- a savepoint, rows that this transaction has locked and changed, row store and batches
BEGIN;
SAVEPOINT a;
DELETE FROM gathered_t USING wanted w WHERE w.id = gathered_t.id AND w.id > 5200;
ROLLBACK TO a;
SELECT count(*) FROM (SELECT FROM gathered_t WHERE id BETWEEN 5200 AND 5250 FOR UPDATE) l;
UPDATE gathered_t SET v = 0 WHERE id BETWEEN 5240 AND 5300;
UPDATE gathered_h SET v = 0 WHERE id BETWEEN 5240 AND 5300;
SELECT gathered_both('DELETE FROM % USING wanted w WHERE w.id = %.id AND w.id > 5200 RETURNING %.*');
COMMIT;
SELECT * FROM gathered_check();
-- prepared; a function's rows; all that is left
PREPARE gone(int) AS DELETE FROM gathered_t USING wanted w WHERE w.id + $1 = gathered_t.id;
EXECUTE gone(5);
EXECUTE gone(6);
DELETE FROM gathered_h USING wanted w WHERE w.id + 5 = gathered_h.id;
DELETE FROM gathered_h USING wanted w WHERE w.id + 6 = gathered_h.id;
SELECT * FROM gathered_check();
SELECT gathered_both('DELETE FROM % USING generate_series(1, 7000) AS g(i) WHERE g.i = %.id RETURNING %.id');
SELECT gathered_both('DELETE FROM % USING (VALUES (1), (2)) AS g(i) WHERE g.i <> %.id RETURNING %.id');
SELECT * FROM gathered_check();
DROP TABLE ref_t, ref_h, gathered_h, gathered_t, wanted, log;
DROP FUNCTION gathered_both, gathered_check, gathered_entries, left_of, note_row, note_all, keep_odd;

-- chunks of a hypertable, and a heap partition beside them
CREATE TABLE gathered_p (time timestamptz NOT NULL, host text, v int);
SELECT count(*) FROM create_hypertable('gathered_p', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE gathered_p SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO gathered_p SELECT timestamptz '2026-01-01 UTC' + i * interval '1 min', 'host_' || i % 5, i FROM generate_series(0, 4319) i;
SELECT count(compress_chunk(c)) FROM show_chunks('gathered_p') c;
INSERT INTO gathered_p SELECT timestamptz '2026-01-01 UTC' + i * interval '1 min', 'late', i FROM generate_series(0, 4319, 10) i;
CREATE TABLE gathered_heap PARTITION OF gathered_p FOR VALUES FROM ('2027-01-01') TO ('2027-01-02') USING heap;
INSERT INTO gathered_heap SELECT timestamptz '2027-01-01 12:00 UTC' + i * interval '1 s', 'host_1', i FROM generate_series(1, 100) i;
CREATE TABLE some_hosts (host text);
INSERT INTO some_hosts VALUES ('host_1'), ('host_3'), ('late');
ANALYZE gathered_p;
ANALYZE some_hosts;
WITH found AS (SELECT p.* FROM gathered_p p JOIN some_hosts s USING (host) WHERE v % 3 = 0) SELECT count(*), sum(v) FROM found;
DELETE FROM gathered_p p USING some_hosts s WHERE s.host = p.host AND v % 3 = 0;
WITH found AS (SELECT p.* FROM gathered_p p JOIN some_hosts s USING (host) WHERE v % 3 = 0) SELECT count(*), sum(v) FROM found;
SELECT count(*), sum(v), count(*) FILTER (WHERE v % 3 = 0) FROM gathered_p;
DROP TABLE gathered_p, some_hosts;

-- a query that is run once, in the middle, and looks: it sees no more gone than on heap
CREATE TABLE noticed (id int, v int) USING strata;
INSERT INTO noticed SELECT i, i FROM generate_series(1, 10000) i;
SELECT compress_chunk('noticed') IS NOT NULL AS compressed;
CREATE TABLE all_ids AS SELECT id FROM noticed;
CREATE FUNCTION left_of_noticed() RETURNS bigint VOLATILE LANGUAGE sql AS 'SELECT count(*) FROM noticed';
ANALYZE noticed, all_ids;
BEGIN;
WITH gone AS (DELETE FROM noticed t USING all_ids x WHERE t.id = x.id RETURNING (SELECT left_of_noticed()) AS n) SELECT min(n), max(n), count(*) FROM gone;
ROLLBACK;
BEGIN;
WITH gone AS (DELETE FROM noticed RETURNING (SELECT left_of_noticed()) AS n) SELECT min(n), max(n), count(*) FROM gone;
ROLLBACK;
WITH gone AS (DELETE FROM noticed t USING all_ids x WHERE t.id = x.id AND t.v <= (SELECT max(v) / 2 FROM noticed) RETURNING (SELECT count(*) FROM noticed) AS n) SELECT min(n), max(n), count(*) FROM gone;
SELECT count(*), min(id) FROM noticed;
DROP FUNCTION left_of_noticed;
DROP TABLE noticed, all_ids;

-- an aggregate that StrataAgg computes, whose function looks
CREATE TABLE looked_at (k int, v int) USING strata;
INSERT INTO looked_at SELECT i % 50, i FROM generate_series(1, 20000) i;
SELECT compress_chunk('looked_at') IS NOT NULL AS compressed;
CREATE TABLE looking (LIKE looked_at) USING strata;
INSERT INTO looking TABLE looked_at;
SELECT compress_chunk('looking') IS NOT NULL AS compressed;
CREATE TABLE keys_of AS SELECT generate_series(0, 49) k;
CREATE INDEX ON keys_of (k);
ANALYZE looked_at, looking, keys_of;
CREATE FUNCTION look(s bigint, v int) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN IF s = 0 THEN RETURN 1 + (SELECT count(*) FROM looked_at); END IF; RETURN s; END $$;
CREATE AGGREGATE look_once(int) (sfunc = look, stype = bigint, initcond = '0');
CREATE VIEW looks AS SELECT keys_of.k, s.n FROM keys_of CROSS JOIN LATERAL (SELECT look_once(v) n FROM looking WHERE looking.k = keys_of.k) s OFFSET 0;
SET enable_memoize = off; SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET max_parallel_workers_per_gather = 0; SET join_collapse_limit = 1; SET from_collapse_limit = 1;
BEGIN;
DELETE FROM looked_at t USING looks WHERE t.k = looks.k AND looks.n > 10000;
SELECT count(*) FROM looked_at;
ROLLBACK;
SET strata.enable_any_agg = off;
BEGIN;
DELETE FROM looked_at t USING looks WHERE t.k = looks.k AND looks.n > 10000;
SELECT count(*) FROM looked_at;
ROLLBACK;
RESET strata.enable_any_agg;
RESET enable_memoize; RESET enable_material; RESET enable_hashjoin; RESET enable_mergejoin;
RESET max_parallel_workers_per_gather; RESET join_collapse_limit; RESET from_collapse_limit;
DROP VIEW looks;
DROP TABLE looked_at, looking, keys_of;
DROP AGGREGATE look_once(int);
DROP FUNCTION look;
