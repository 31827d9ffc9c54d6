-- UPDATE and MERGE into ranges without chunk.
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE TABLE u (gone int, time timestamptz NOT NULL, d int NOT NULL, v float8, PRIMARY KEY (time, d));
SELECT created FROM create_hypertable('u', 'time', chunk_time_interval => interval '1 day');
INSERT INTO u (time, d, v) SELECT '2026-01-01'::timestamptz + g * interval '10 minutes', g % 3, g FROM generate_series(0, 431) g;
ALTER TABLE u DROP COLUMN gone;
ALTER TABLE u ADD COLUMN note text DEFAULT 'none';
INSERT INTO u SELECT '2026-01-04'::timestamptz + g * interval '1 hour', g % 3, g + 432 FROM generate_series(0, 23) g;
CREATE TABLE plain (LIKE u INCLUDING ALL);
INSERT INTO plain SELECT * FROM u;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM (SELECT * FROM u EXCEPT ALL SELECT * FROM plain) x)
		 + (SELECT count(*) FROM (SELECT * FROM plain EXCEPT ALL SELECT * FROM u) x) $$;
-- UPDATE: rows of several chunks into several new ones; old chunks have other column numbers
UPDATE u SET time = time + interval '10 days', note = 'moved' WHERE v < 250 AND d = 1;
UPDATE plain SET time = time + interval '10 days', note = 'moved' WHERE v < 250 AND d = 1;
SELECT differences();
SELECT tableoid::regclass, count(*) FROM u WHERE note = 'moved' GROUP BY 1 ORDER BY 1;
UPDATE u SET note = 'here', time = x.time FROM (VALUES (5, timestamptz '2026-03-01'), (6, '2026-03-02'), (7, '2026-01-01 00:00:01')) x (v, time) WHERE u.v = x.v RETURNING u.v, u.time, u.note;
UPDATE plain SET note = 'here', time = x.time FROM (VALUES (5, timestamptz '2026-03-01'), (6, '2026-03-02'), (7, '2026-01-01 00:00:01')) x (v, time) WHERE plain.v = x.v;
SELECT differences();
UPDATE u SET v = v + 0.5 WHERE time > '2026-03-01';
UPDATE plain SET v = v + 0.5 WHERE time > '2026-03-01';
PREPARE move(timestamptz, float8) AS UPDATE u SET time = $1 WHERE v = $2;
EXECUTE move('2026-04-01', 10);
EXECUTE move('2026-04-02', 11);
UPDATE plain SET time = '2026-04-01' WHERE v = 10;
UPDATE plain SET time = '2026-04-02' WHERE v = 11;
WITH m AS (UPDATE u SET time = '2026-04-03' WHERE v = 12 RETURNING *) SELECT count(*) FROM m;
UPDATE plain SET time = '2026-04-03' WHERE v = 12;
SELECT differences();
UPDATE u SET time = NULL WHERE v = 13;
UPDATE u SET time = 'infinity' WHERE v = 13;
UPDATE plain SET time = 'infinity' WHERE v = 13;
-- a failed statement, a transaction that is rolled back
UPDATE u SET time = '2026-05-01', v = 1 / (d - d) WHERE v = 14;
BEGIN;
UPDATE u SET time = '2026-05-02' WHERE v = 14;
SELECT tableoid::regclass FROM u WHERE v = 14;
ROLLBACK;
SELECT differences();
-- in the transaction that makes the hypertable
BEGIN;
CREATE TABLE n (t int NOT NULL, v int);
SELECT created FROM create_hypertable('n', 't', chunk_time_interval => 10);
INSERT INTO n VALUES (1, 1), (2, 2), (11, 11);
UPDATE n SET t = t + 100 WHERE v <> 2;
SELECT tableoid::regclass, * FROM n ORDER BY t;
COMMIT;
-- chunks only that are needed
UPDATE n SET t = 555 WHERE v = 99;
UPDATE n SET t = 3 WHERE v = 2;
SELECT count(*) FROM show_chunks('n');
EXPLAIN (COSTS OFF) UPDATE n SET v = 3 WHERE t = 3;

-- MERGE
CREATE TABLE s (time timestamptz, d int, v float8);
INSERT INTO s VALUES ('2026-01-01', 0, 100), ('2026-06-01', 1, 101), ('2026-06-02', 2, 102), ('2026-06-03', 3, NULL), ('2026-06-03', 4, 104);
MERGE INTO u USING s ON u.time = s.time AND u.d = s.d
	WHEN MATCHED THEN UPDATE SET v = s.v
	WHEN NOT MATCHED AND s.d = 2 THEN DO NOTHING
	WHEN NOT MATCHED AND s.v IS NULL THEN INSERT (time, d) VALUES (s.time + interval '10 days', s.d)
	WHEN NOT MATCHED THEN INSERT (d, v, time) VALUES (s.d, s.v, s.time);
MERGE INTO plain u USING s ON u.time = s.time AND u.d = s.d
	WHEN MATCHED THEN UPDATE SET v = s.v
	WHEN NOT MATCHED AND s.d = 2 THEN DO NOTHING
	WHEN NOT MATCHED AND s.v IS NULL THEN INSERT (time, d) VALUES (s.time + interval '10 days', s.d)
	WHEN NOT MATCHED THEN INSERT (d, v, time) VALUES (s.d, s.v, s.time);
SELECT differences();
SELECT show_chunks('u', newer_than => '2026-06-01');
-- into an empty hypertable, again and again
CREATE TABLE e (t int NOT NULL, v int DEFAULT 7);
SELECT created FROM create_hypertable('e', 't', chunk_time_interval => 10);
MERGE INTO e USING (SELECT g FROM generate_series(0, 50, 5) g) s ON e.t = s.g
	WHEN MATCHED THEN UPDATE SET v = v + 1
	WHEN NOT MATCHED THEN INSERT (t) VALUES (s.g);
MERGE INTO e USING (SELECT g FROM generate_series(0, 100, 5) g) s ON e.t = s.g
	WHEN MATCHED THEN UPDATE SET v = v + 1
	WHEN NOT MATCHED THEN INSERT (t) VALUES (s.g);
SELECT v, count(*), min(t), max(t) FROM e GROUP BY v ORDER BY v;
-- an UPDATE of a MERGE moves rows, by conditions on the old row and the new
MERGE INTO e USING (SELECT 5 AS g) s ON e.t = s.g WHEN MATCHED THEN UPDATE SET t = 95, v = 0;
MERGE INTO e USING (SELECT g FROM generate_series(0, 60, 5) g) s ON e.t = s.g
	WHEN MATCHED AND e.v = 8 AND s.g > 20 THEN UPDATE SET t = s.g + 1000 * e.v, v = e.v + 1
	WHEN MATCHED AND s.g = 15 THEN DELETE
	WHEN MATCHED AND s.g = 20 THEN DO NOTHING
	WHEN MATCHED THEN UPDATE SET t = 2000 + e.t;
SELECT tableoid::regclass, t, v FROM e WHERE t > 100 OR t IN (15, 20) OR v = 0 ORDER BY t;
MERGE INTO e USING (SELECT g FROM generate_series(65, 75, 5) g) s ON e.t = s.g WHEN MATCHED THEN UPDATE SET t = s.g * 100;
SELECT tableoid::regclass, t, v FROM e WHERE t > 6000 AND t < 8000 ORDER BY t;
SELECT count(*) FROM show_chunks('e');
-- what BEFORE triggers make of the time: of rows that stay, move, move twice; a chunk's own trigger
CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.time := OLD.time + (TG_ARGV[0] || ' days')::interval; RETURN NEW; END $$;
CREATE TRIGGER later BEFORE UPDATE ON u FOR EACH ROW WHEN (NEW.d = 1) EXECUTE FUNCTION later(400);
CREATE TRIGGER later BEFORE UPDATE ON plain FOR EACH ROW WHEN (NEW.d = 1) EXECUTE FUNCTION later(400);
UPDATE u SET v = v + 1000 WHERE v BETWEEN 430 AND 440;
UPDATE plain SET v = v + 1000 WHERE v BETWEEN 430 AND 440;
SELECT differences();
SELECT tableoid::regclass, v FROM u WHERE v > 1000 AND d = 1 ORDER BY v;
EXPLAIN (COSTS OFF) UPDATE u SET v = 3 WHERE time = '2026-01-01';
PREPARE again(float8) AS UPDATE u SET v = v + 1000 WHERE v BETWEEN $1 AND $1 + 10;
EXECUTE again(1430);
UPDATE plain SET v = v + 1000 WHERE v BETWEEN 1430 AND 1440;
SELECT differences();
CREATE TRIGGER zz BEFORE UPDATE ON u FOR EACH ROW WHEN (NEW.d = 1) EXECUTE FUNCTION later(800);
CREATE TRIGGER zz BEFORE UPDATE ON plain FOR EACH ROW WHEN (NEW.d = 1) EXECUTE FUNCTION later(800);
EXECUTE again(2430);
UPDATE plain SET v = v + 1000 WHERE v BETWEEN 2430 AND 2440;
UPDATE u SET time = '2040-01-01', v = v + 1000 WHERE v BETWEEN 3430 AND 3433;
UPDATE plain SET time = '2040-01-01', v = v + 1000 WHERE v BETWEEN 3430 AND 3433;
SELECT differences();
SELECT show_chunks('u', newer_than => '2028-01-01');
DROP TRIGGER zz ON u;
DROP TRIGGER later ON u;
DROP TRIGGER zz ON plain;
DROP TRIGGER later ON plain;
CREATE TRIGGER later BEFORE UPDATE ON u_20260101_chunk FOR EACH ROW EXECUTE FUNCTION later(5000);
UPDATE u SET v = v + 0.25 WHERE time < '2026-01-03' AND v < 150;
UPDATE plain SET v = v + 0.25, time = CASE WHEN time < '2026-01-02' THEN time + interval '5000 days' ELSE time END WHERE time < '2026-01-03' AND v < 150;
SELECT differences();
SELECT show_chunks('u', newer_than => '2035-01-01');
DROP TRIGGER later ON u_20260101_chunk;
DROP FUNCTION later;
-- a trigger that needs a chunk for itself, and writes into the new row's; one that keeps the row where it is
CREATE FUNCTION also() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO e VALUES (NEW.t + 300000), (OLD.t + 200000) ;
	NEW.t := OLD.t + 200000;
	RETURN CASE WHEN OLD.t < 40 THEN NEW END;
END $$;
CREATE TRIGGER also BEFORE UPDATE ON e FOR EACH ROW EXECUTE FUNCTION also();
UPDATE e SET v = 100, t = t + 400000 WHERE t IN (20, 80, 85);
SELECT tableoid::regclass, t, v FROM e WHERE t >= 200000 OR t IN (20, 80, 85) ORDER BY t, v;
DROP TRIGGER also ON e;
DROP FUNCTION also;
-- volatile functions run once for each row
CREATE SEQUENCE seq START 1000;
MERGE INTO e USING (SELECT 1) s ON false WHEN NOT MATCHED THEN INSERT (t) VALUES (nextval('seq'));
SELECT last_value, is_called FROM seq;
MERGE INTO e USING (SELECT 1000 AS g UNION ALL SELECT 5 UNION ALL SELECT -1) s ON e.t = s.g
	WHEN MATCHED AND s.g = 5 + nextval('seq') - nextval('seq') + 1 THEN DO NOTHING
	WHEN MATCHED THEN UPDATE SET t = nextval('seq') + 50000
	WHEN NOT MATCHED AND nextval('seq') > 0 THEN INSERT (v, t) VALUES (3, -nextval('seq'));
SELECT last_value - 1000 AS calls FROM seq;
SELECT tableoid::regclass, t > 51000 AS new_time, v FROM e WHERE t BETWEEN 51000 AND 52000 OR t < 0 ORDER BY 1, 2;
MERGE INTO e USING (SELECT 80 AS g UNION ALL SELECT -7) s ON e.t = s.g
	WHEN MATCHED THEN UPDATE SET t = NULL
	WHEN NOT MATCHED THEN INSERT (v) VALUES (3);

-- a partitioning function
CREATE FUNCTION id_time(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT substr($1, 2)::bigint';
CREATE TABLE f (v int, id text NOT NULL);
SELECT created FROM create_hypertable('f', 'id', chunk_time_interval => 100, time_partitioning_func => 'id_time');
INSERT INTO f VALUES (1, 'c1'), (2, 'c2');
UPDATE f SET id = 'c' || v || '00';
CREATE FUNCTION other_id() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := 'c' || NEW.v || '999'; RETURN NEW; END $$;
CREATE TRIGGER other_id BEFORE UPDATE ON f FOR EACH ROW WHEN (NEW.v > 20) EXECUTE FUNCTION other_id();
INSERT INTO f VALUES (3, 'c3');
UPDATE f SET v = 30 WHERE v = 3;
DROP TRIGGER other_id ON f;
DROP FUNCTION other_id;
MERGE INTO f USING (VALUES ('c100'), ('c700')) s (id) ON f.id = s.id WHEN MATCHED THEN UPDATE SET v = 11, id = 'c4400' WHEN NOT MATCHED THEN INSERT VALUES (7, s.id);
SELECT tableoid::regclass, * FROM f ORDER BY id;

-- in one transaction: chunks go, and rows come again
BEGIN;
SELECT drop_chunks('e', 50);
INSERT INTO e VALUES (5), (25), (300);
SELECT tableoid::regclass, t FROM e WHERE t < 50 OR t = 300 ORDER BY t;
COMMIT;
SELECT count(*) FROM e;
DROP TABLE u, plain, n, s, e, f;
DROP FUNCTION differences, id_time;
DROP SEQUENCE seq;
