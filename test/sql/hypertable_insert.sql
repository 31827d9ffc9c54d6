-- Chunks on demand in every form of INSERT.
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE TABLE devices (id int PRIMARY KEY);
INSERT INTO devices VALUES (1), (2);
CREATE TABLE m (time timestamptz NOT NULL, device int REFERENCES devices, v int, PRIMARY KEY (device, time));
SELECT created FROM create_hypertable('m', 'time', chunk_time_interval => interval '1 day');
CREATE TABLE twin (LIKE m INCLUDING INDEXES);
CREATE FUNCTION chunks(relation regclass) RETURNS bigint LANGUAGE sql AS
	$$ SELECT count(*) FROM pg_inherits WHERE inhparent = relation $$;

INSERT INTO m VALUES ('2026-01-01', 1, 1), ('2026-01-03', 1, 2), ('2026-01-01 12:00', 2, 3);
INSERT INTO m SELECT '2026-02-01'::timestamptz + g * interval '7 hours', 1 + g % 2, g FROM generate_series(1, 50) g;
INSERT INTO m VALUES ('2026-03-01', 1, 7) RETURNING tableoid::regclass, *;
INSERT INTO m VALUES ('2026-03-01', 1, 8), ('2026-03-02', 1, 9)
	ON CONFLICT (device, time) DO UPDATE SET v = m.v * 10 + excluded.v RETURNING *;
INSERT INTO m VALUES ('2026-03-02', 1, 8), ('2026-03-03', 1, 9) ON CONFLICT DO NOTHING RETURNING *;
WITH w AS (INSERT INTO m VALUES ('2026-03-05', 1, 10), ('2026-03-06', 1, 10) RETURNING *) SELECT count(*) FROM w;
PREPARE p(timestamptz, int) AS INSERT INTO m VALUES ($1, 2, $2);
EXECUTE p('2026-04-01', 1);
EXECUTE p('2026-04-02', 2);
SET plan_cache_mode = force_generic_plan;
EXECUTE p('2026-04-03', 3);
EXECUTE p('2026-04-04', 4);
RESET plan_cache_mode;
DO $$ BEGIN FOR i IN 1..5 LOOP INSERT INTO m VALUES ('2026-05-01'::timestamptz + i * interval '1 day', 1, i); END LOOP; END $$;
CREATE FUNCTION put(timestamptz) RETURNS void LANGUAGE sql AS $$ INSERT INTO m VALUES ($1, 1, 0) $$;
SELECT put('2026-06-01'), put('2026-06-02');
SELECT count(*), sum(v), chunks('m') FROM m;
-- rows go to where they belong
SELECT bool_and(pg_get_expr(relpartbound, m.tableoid) ~ to_char(time, 'YYYY-MM-DD')) FROM m JOIN pg_class c ON c.oid = m.tableoid;

-- by one who may insert and nothing else
CREATE ROLE hyper_writer;
GRANT hyper_writer TO CURRENT_USER;
GRANT INSERT ON m TO hyper_writer;
SET ROLE hyper_writer;
INSERT INTO m VALUES ('2026-06-10', 1, 1);
SELECT count(*) FROM m;
RESET ROLE;
SELECT pg_get_userbyid(relowner) = current_user FROM pg_class WHERE relname = 'm_20260610_chunk';
REVOKE ALL ON m FROM hyper_writer;
DROP ROLE hyper_writer;

-- in a transaction that wrote to the referenced table
BEGIN;
INSERT INTO devices VALUES (3);
INSERT INTO m VALUES ('2026-07-01', 3, 1);
SAVEPOINT s;
INSERT INTO m VALUES ('2026-07-02', 3, 1);
ROLLBACK TO s;
INSERT INTO m VALUES ('2026-07-02', 3, 2);
COMMIT;
-- a failed statement leaves an empty chunk and no row
INSERT INTO m VALUES ('2026-07-03', 3, 1), ('2026-07-04', 99, 1);
SELECT count(*) FROM m WHERE time >= '2026-07-01';
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO m VALUES ('2026-08-01', 1, 1);
SELECT count(*) FROM m WHERE time >= '2026-08-01';
COMMIT;
BEGIN;
LOCK TABLE m;
TRUNCATE m;
INSERT INTO m VALUES ('2026-09-01', 1, 1);
SELECT count(*) FROM m;
ROLLBACK;
-- while a cursor reads it
BEGIN;
DECLARE c CURSOR FOR SELECT v FROM m ORDER BY time DESC;
FETCH 1 FROM c;
INSERT INTO m VALUES ('2026-09-02', 1, 1);
FETCH 1 FROM c;
COMMIT;
BEGIN;
INSERT INTO m VALUES ('2026-09-03', 1, 1);
PREPARE TRANSACTION 'hyper';
COMMIT PREPARED 'hyper';

-- after DDL in the same transaction
BEGIN;
ALTER TABLE m ADD COLUMN extra int DEFAULT 5;
CREATE INDEX m_extra ON m (extra);
INSERT INTO m VALUES ('2026-10-01', 1, 1);
INSERT INTO m VALUES ('2026-10-02', 1, 1, 6);
DECLARE c CURSOR FOR SELECT time, extra FROM m WHERE extra IS NOT NULL ORDER BY time DESC;
FETCH 2 FROM c;
INSERT INTO m VALUES ('2026-10-03', 1, 1, 7), ('2026-10-04', 1, 1, 8);
FETCH 2 FROM c;
COMMIT;
SELECT count(*) FROM pg_index WHERE indrelid = 'm_20261004_chunk'::regclass;
BEGIN;
ALTER TABLE m DROP CONSTRAINT m_pkey;
INSERT INTO m VALUES ('2026-10-05', 1, 1), ('2026-10-05', 1, 1);
ROLLBACK;
SELECT to_regclass('m_20261005_chunk');
BEGIN;
DROP INDEX m_extra;
INSERT INTO m VALUES ('2026-10-06', 1, 1);
COMMIT;

-- in the transaction that makes it
BEGIN;
CREATE TABLE n (t int NOT NULL, v text);
SELECT created FROM create_hypertable('n', 't', chunk_time_interval => 10);
INSERT INTO n SELECT g, g FROM generate_series(1, 95) g;
DECLARE c CURSOR FOR SELECT * FROM n ORDER BY t;
FETCH 2 FROM c;
INSERT INTO n SELECT g, g FROM generate_series(101, 115) g RETURNING t;
FETCH 2 FROM c;
SELECT count(*), chunks('n') FROM n;
COMMIT;
SELECT count(*), chunks('n') FROM n;
BEGIN;
CREATE TABLE o (t int NOT NULL, v text);
INSERT INTO o SELECT g, g FROM generate_series(1, 30) g;
SELECT created FROM create_hypertable('o', 't', chunk_time_interval => 10, migrate_data => true);
SAVEPOINT s;
INSERT INTO o VALUES (55, 'x');
ROLLBACK TO s;
INSERT INTO o VALUES (55, 'y'), (66, 'z');
COMMIT;
SELECT tableoid::regclass, count(*) FROM o GROUP BY 1 ORDER BY min(t);

-- statement and row triggers see what they should
CREATE TABLE log (what text, n bigint);
CREATE FUNCTION log_rows() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN INSERT INTO log SELECT tg_op || ' ' || tg_level, count(*) FROM new_rows; RETURN NULL; END $$;
CREATE TRIGGER o_after AFTER INSERT ON o REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_rows();
CREATE FUNCTION log_row() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN INSERT INTO log VALUES (tg_op || ' ' || tg_table_name, NEW.t); RETURN NULL; END $$;
CREATE TRIGGER o_row AFTER INSERT ON o FOR EACH ROW EXECUTE FUNCTION log_row();
INSERT INTO o VALUES (71, 'a'), (81, 'b'), (72, 'c');
SELECT * FROM log;
-- a trigger that inserts into another hypertable
CREATE FUNCTION forward() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN INSERT INTO n VALUES (NEW.t + 1000, NEW.v); RETURN NEW; END $$;
CREATE TRIGGER o_forward BEFORE INSERT ON o FOR EACH ROW EXECUTE FUNCTION forward();
INSERT INTO o VALUES (91, 'a'), (191, 'b');
SELECT count(*) FROM n WHERE t > 1000;

EXPLAIN (COSTS OFF) INSERT INTO o VALUES (1, '');
-- an UPDATE makes its chunk; a time must not be null
UPDATE o SET t = 5000 WHERE t = 1;
INSERT INTO o VALUES (NULL, '');
DROP TABLE m, n, o, twin, log, devices;
DROP FUNCTION put, chunks, log_rows, log_row, forward;
-- a statement that needs many chunks does not keep what each one took to make (190 MB here, once)
BEGIN;
CREATE TABLE lots (t int NOT NULL, v bigint);
SELECT created FROM create_hypertable('lots', 't', chunk_time_interval => 10);
INSERT INTO lots SELECT g * 10, CASE WHEN g = 300 THEN (SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE g > 0) END FROM generate_series(1, 300) g;
SELECT max(v) < 80000000 AS little, count(DISTINCT tableoid) FROM lots;
ROLLBACK;
