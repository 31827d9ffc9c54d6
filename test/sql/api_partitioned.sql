-- verify(), batches(), batch_columns() of a whole hypertable, as compress_chunk() takes one; verify() of what is not ours.
SET client_min_messages = notice;
CREATE ROLE api_part_owner;
CREATE ROLE api_part_other;
SET client_min_messages = warning;
GRANT api_part_owner, api_part_other TO CURRENT_USER;
RESET client_min_messages;
SET client_min_messages = warning;
GRANT api_part_owner, api_part_other TO CURRENT_USER;
RESET client_min_messages;
GRANT CREATE ON SCHEMA public TO api_part_owner;
SET ROLE api_part_owner;
CREATE TABLE h (t int NOT NULL, d int, v float8);
SELECT FROM create_hypertable('h', 't', chunk_time_interval => 1000);
ALTER TABLE h SET (strata.segmentby = 'd', strata.orderby = 't');
INSERT INTO h SELECT g, g % 2, g FROM generate_series(0, 2999) g;
SET client_min_messages = warning;
SELECT compress_chunk('h');
SET client_min_messages = notice;
INSERT INTO h VALUES (5000, 1, 1);
SELECT * FROM strata.verify('h');
SELECT chunk, count(*), sum(nrows) FROM strata.batches('h') GROUP BY chunk ORDER BY chunk::text;
SELECT chunk, count(*), count(DISTINCT column_name) FROM strata.batch_columns('h') GROUP BY chunk ORDER BY chunk::text;
SELECT DISTINCT chunk FROM strata.batches('h_1000_chunk');
-- a chunk of another access method
CREATE TABLE plain (LIKE h);
CALL attach_chunk('h', 'plain', '{"t": [10000, 11000]}');
INSERT INTO h VALUES (10500, 1, 1);
SELECT count(*) FROM strata.verify('h');
SELECT count(*) FROM strata.batches('h');
-- alone
SELECT count(*) FROM strata.verify('plain');
CREATE VIEW seen AS SELECT * FROM h;
SELECT count(*) FROM strata.verify('seen');
SELECT count(*) FROM strata.verify('h_t_idx');
SELECT count(*) FROM strata.batches('plain');
-- partitions of partitions, made by hand
CREATE TABLE p (a int, b int) PARTITION BY LIST (a);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1) PARTITION BY RANGE (b);
CREATE TABLE p11 PARTITION OF p1 FOR VALUES FROM (0) TO (10000) USING strata;
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
INSERT INTO p SELECT 1 + g % 2, g FROM generate_series(0, 4999) g;
SELECT compress_chunk('p');
SELECT * FROM strata.verify('p');
SELECT chunk, sum(nrows) FROM strata.batches('p') GROUP BY chunk;
-- whose it is
SET ROLE api_part_other;
SELECT * FROM strata.verify('h');
SELECT * FROM strata.verify('plain');
SELECT * FROM strata.batches('h');
SELECT * FROM strata.batch_columns('h');
-- what is wrong is said with the chunk's name
SET ROLE postgres;
SELECT format('UPDATE %s SET nrows = nrows + 1 WHERE first_row = 0', strata.batch_relation('h_2000_chunk')) AS command \gset
SET ROLE postgres;
\set ECHO none
:command;
\set ECHO all
SET ROLE api_part_owner;
SELECT column_name, problem LIKE 'h\_2000\_chunk: %' AS named FROM strata.verify('h') GROUP BY 1, 2;
SELECT column_name, problem LIKE 'h\_2000\_chunk: %' AS named FROM strata.verify('h_2000_chunk') GROUP BY 1, 2;
DROP VIEW seen;
DROP TABLE h, p;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM api_part_owner;
DROP ROLE api_part_owner, api_part_other;
