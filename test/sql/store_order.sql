-- Rows with equal keys stay in the order they came in, however they get into batches.
CREATE EXTENSION IF NOT EXISTS strata;
SET client_min_messages = error;
CREATE TABLE o (seg int, ts int, id int, v text) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts DESC NULLS LAST');
CREATE VIEW moved AS SELECT count(*) FROM
	(SELECT id < lag(id) OVER (PARTITION BY seg, ts ORDER BY ctid) AS moved FROM o) AS x WHERE moved;

-- most are sorted, which takes the columns after a dropped one, a null, one that was added later
ALTER TABLE o DROP COLUMN v;
INSERT INTO o SELECT i % 3, nullif(i * 7919 % 50, 7), i FROM generate_series(1, 20000) AS i;
ALTER TABLE o ADD COLUMN w int DEFAULT 5;
INSERT INTO o SELECT i % 3, i * 7919 % 50, i, i FROM generate_series(20001, 30000) AS i;
SELECT count(*) > 0 AS batches FROM (SELECT compress_chunk('o')) AS c;
SELECT * FROM moved;
SELECT count(*), count(ts), sum(id), sum(w) FROM o;

-- new rows come after those there are
INSERT INTO o SELECT i % 3, i * 7919 % 50, i, i FROM generate_series(30001, 40000) AS i;
SELECT count(*) > 0 AS batches FROM (SELECT compress_chunk('o')) AS c;
SELECT count(*) > 0 AS merged FROM (SELECT compress_chunk('o', recompress => true)) AS c;
SELECT * FROM moved;
SELECT count(*), count(ts), sum(id), sum(w) FROM o;
SELECT * FROM strata.verify('o');

-- in little memory all are sorted
CREATE TABLE plain AS SELECT * FROM o;
TRUNCATE o;
INSERT INTO o SELECT * FROM plain ORDER BY id;
SET maintenance_work_mem = '1MB';
SELECT count(*) > 0 AS batches FROM (SELECT compress_chunk('o')) AS c;
RESET maintenance_work_mem;
SELECT * FROM moved;
(TABLE o EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE o);

-- an estimate sees them in that order too: the ids take what it says, about
TRUNCATE o;
INSERT INTO o SELECT 1, - i / 500, i, 0 FROM generate_series(1, 5000) AS i;
CREATE TABLE estimated AS SELECT * FROM estimate_compression('o');
SELECT count(*) > 0 AS batches FROM (SELECT compress_chunk('o')) AS c;
SELECT e.column_name, abs(e.bytes - sum(c.bytes)) <= 0.02 * e.bytes AS same FROM estimated e JOIN strata.batch_columns('o') c USING (column_name)
	GROUP BY e.column_name, e.bytes ORDER BY 1;

-- rows far ahead of their neighbours, and late ones, do not make batches overlap
CREATE TABLE e (seg int, ts int) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
CREATE VIEW overlapping AS SELECT count(*) FROM strata.batches('e') a JOIN strata.batches('e') b USING (segment)
	WHERE a.first_row < b.first_row AND a.min_orderby::int < b.max_orderby::int AND b.min_orderby::int < a.max_orderby::int;
CREATE TABLE rows_of_e AS SELECT i % 2 AS seg, i AS ts, i + CASE WHEN i % 499 = 0 THEN -5000 WHEN i % 97 = 0 THEN 20 ELSE 0 END AS place
	FROM generate_series(1, 20000) AS i;
INSERT INTO e SELECT seg, ts FROM rows_of_e ORDER BY place;
SELECT count(*) > 0 AS batches FROM (SELECT compress_chunk('e')) AS c;
SELECT * FROM overlapping;
TRUNCATE e;
INSERT INTO e SELECT seg, -ts FROM rows_of_e ORDER BY place;
SELECT count(*) > 0 AS batches FROM (SELECT compress_chunk('e')) AS c;
SELECT * FROM overlapping;
(TABLE e EXCEPT ALL SELECT seg, -ts FROM rows_of_e) UNION ALL (SELECT seg, -ts FROM rows_of_e EXCEPT ALL TABLE e);

DROP VIEW moved, overlapping;
DROP TABLE e, rows_of_e, o, plain, estimated;
