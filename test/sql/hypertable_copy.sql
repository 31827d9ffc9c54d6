-- COPY FROM into a hypertable: what COPY does on any table.
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE TABLE c (time timestamptz NOT NULL, gone int, d int DEFAULT 7, v float8 CHECK (v < 1000), twice float8 GENERATED ALWAYS AS (v * 2) STORED,
	id int GENERATED ALWAYS AS IDENTITY, note text);
ALTER TABLE c DROP COLUMN gone;
SELECT created FROM create_hypertable('c', 'time', chunk_time_interval => interval '1 day');
COPY c (time, v) FROM stdin WITH (FORMAT csv, HEADER true);
time,v
2026-01-01,1
2026-01-02,2
2026-01-01 05:00,3
\.
COPY c (time, d, v, id, note) FROM stdin WITH (NULL 'none', DELIMITER '|') WHERE v > 1 AND d <> 9;
2026-02-01|8|2|100|none
2026-02-02|9|2|101|skipped
2026-02-03|8|1|102|skipped
2026-02-04|none|4|103|kept
\.
SELECT tableoid::regclass, * FROM c ORDER BY time;
SELECT count(*) FROM show_chunks('c');
-- errors say where
COPY c (time, v) FROM stdin;
2026-01-01	1
2026-03-01	1
2026-03-01	2000
\.
COPY c (time, v) FROM stdin;
2026-01-01	1
2026-01-01	x
\.
COPY c (time, v) FROM stdin;
\N	1
\.
\copy c (time, twice) FROM '/dev/null'
\copy c (time, nothing) FROM '/dev/null'
\copy c (time, v) FROM '/dev/null' WITH (FREEZE)
\copy c (time, v) FROM '/dev/null' WHERE count(*) > 1
SELECT count(*) FROM c;
-- privileges
CREATE ROLE hyper_copier;
GRANT hyper_copier TO CURRENT_USER;
GRANT INSERT (time, v) ON c TO hyper_copier;
SET ROLE hyper_copier;
COPY c (time, v) FROM stdin;
2026-04-01	1
\.
\copy c (time, d) FROM '/dev/null'
\copy c FROM '/dev/null'
\set VERBOSITY sqlstate
COPY c (time, v) FROM '/nowhere';
COPY c (time, v) FROM PROGRAM 'true';
\set VERBOSITY default
RESET ROLE;
ALTER TABLE c ENABLE ROW LEVEL SECURITY;
GRANT INSERT ON c TO hyper_copier;
SET ROLE hyper_copier;
\copy c (time, v) FROM '/dev/null'
RESET ROLE;
ALTER TABLE c DISABLE ROW LEVEL SECURITY;
REVOKE ALL ON c FROM hyper_copier;
DROP ROLE hyper_copier;
BEGIN READ ONLY;
\copy c (time, v) FROM '/dev/null'
ROLLBACK;
-- triggers, also ones that drop or change rows; a rule is not COPY's business
CREATE TABLE log (what text, n bigint);
CREATE FUNCTION log_rows() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN INSERT INTO log SELECT 'statement', count(*) FROM new_rows; RETURN NULL; END $$;
CREATE FUNCTION drop_some() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN IF NEW.v = 13 THEN RETURN NULL; END IF; NEW.note := 'triggered'; RETURN NEW; END $$;
CREATE TRIGGER c_after AFTER INSERT ON c REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_rows();
CREATE TRIGGER c_before BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION drop_some();
CREATE RULE c_rule AS ON INSERT TO c DO INSTEAD NOTHING;
COPY c (time, v) FROM stdin;
2026-05-01	12
2026-05-02	13
2026-05-03	14
\.
SELECT * FROM log;
SELECT time, v, note FROM c WHERE time >= '2026-05-01' ORDER BY time;
DROP RULE c_rule ON c;
-- in the transaction that made the table, and into compressed chunks
BEGIN;
CREATE TABLE n (t int NOT NULL, v text, PRIMARY KEY (t)) ;
SELECT created FROM create_hypertable('n', 't', chunk_time_interval => 500);
COPY n FROM stdin;
1	a
11	b
\.
COMMIT;
INSERT INTO n SELECT g, repeat('x', 100) FROM generate_series(100, 1000) g;
SELECT compress_chunk('n') IS NOT NULL;
\set VERBOSITY terse
COPY n FROM stdin;
20	fine
105	again
\.
\set VERBOSITY default
SELECT count(*) FROM n WHERE t = 20;
COPY n FROM stdin;
5	late
\.
SELECT count(*), min(t) FROM n;
-- many rows, in and out of order, over many chunks, with foreign keys, generated columns and a trigger on one chunk
CREATE TABLE ref (k int PRIMARY KEY);
INSERT INTO ref SELECT generate_series(0, 9);
CREATE TABLE many (gone int, t int NOT NULL, k int REFERENCES ref, v text, g int GENERATED ALWAYS AS (t + k) STORED, CHECK (v <> ''), UNIQUE (t, k));
ALTER TABLE many DROP COLUMN gone;
SELECT created FROM create_hypertable('many', 't', chunk_time_interval => 1000);
COPY many (t, k, v) FROM PROGRAM 'seq 1 20000 | sed "s/.*/&\t3\ttext &/"';
COPY many (t, k, v) FROM PROGRAM 'seq 0 7 79999 | awk ''{print $1 * 7919 % 80000 "\t" $1 % 3 "\t" "more"}''';
SELECT count(*), sum(t), sum(g - t - k), count(DISTINCT tableoid) FROM many;
SELECT count(*) FROM many WHERE (tableoid, t / 1000 * 1000) NOT IN (SELECT (chunk_schema || '.' || chunk_name)::regclass, range_start_integer
	FROM strata.chunks WHERE hypertable_name = 'many');
SET enable_seqscan = off;
SELECT count(*) FROM many WHERE t BETWEEN 3000 AND 3999;
RESET enable_seqscan;
CREATE OR REPLACE FUNCTION drop_some() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN IF NEW.t % 2 = 0 THEN RETURN NULL; END IF; NEW.k := 5; RETURN NEW; END $$;
CREATE TRIGGER many_before BEFORE INSERT ON many_2000_chunk FOR EACH ROW EXECUTE FUNCTION drop_some();
COPY many (t, k, v) FROM PROGRAM 'seq 1990 2010 | sed "s/.*/&\t4\tx/"';
SELECT t, k, g FROM many WHERE k IN (4, 5) AND t > 1996 AND t < 2005 ORDER BY t;
DROP TRIGGER many_before ON many_2000_chunk;
\set VERBOSITY terse
COPY many (t, k, v) FROM PROGRAM 'seq 1 3000 | sed "s/.*/&\t6\tx/; s/2500\t6/2500\t77/"';
COPY many (t, k, v) FROM PROGRAM 'seq 1 3000 | sed "s/.*/&\t6\tx/; s/2500\t6\tx/2500\t6\t/"';
\set VERBOSITY default
SELECT count(*) FROM many WHERE k = 6;
DROP TABLE many, ref;
-- prepared like any other
DO $$ BEGIN EXECUTE 'COPY n FROM PROGRAM ''printf "2001\\tprogram\\n"'''; END $$;
SELECT * FROM n WHERE t = 2001;
DROP TABLE c, n, log;
DROP FUNCTION log_rows, drop_some;
