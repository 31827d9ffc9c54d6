-- COPY FROM with every option, into chunks that are missing: what a plain partitioned table (p, its partitions made
-- by hand) does, word for word.  Each statement goes to p, then to the hypertable.  What is refused before it asks
-- for rows takes them from /dev/null: psql differs in what it does with rows that nobody asked for.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET client_encoding = 'UTF8';
CREATE TABLE p (t timestamp NOT NULL, a int CHECK (a < 1000), b text, c bytea, f float8, g int GENERATED ALWAYS AS (a + 1) STORED, UNIQUE (t, a)) PARTITION BY RANGE (t);
CREATE TABLE m (LIKE p INCLUDING ALL);
SELECT created FROM create_hypertable('m', 't', chunk_time_interval => interval '1 day', create_default_indexes => false);
DO $$ BEGIN FOR d IN 1 .. 40 LOOP
	EXECUTE format('CREATE TABLE p_%s PARTITION OF p FOR VALUES FROM (%L) TO (%L)', d, timestamp '2026-01-01' + d * interval '1 day',
		timestamp '2026-01-02' + d * interval '1 day');
END LOOP; END $$;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM (TABLE p EXCEPT ALL TABLE m) x) + (SELECT count(*) FROM (TABLE m EXCEPT ALL TABLE p) x) $$;
CREATE TEMP TABLE source AS SELECT timestamp '2026-01-02' + g * interval '7 hours' AS t, g AS a, CASE WHEN g % 5 > 0 THEN 'row ' || g END AS b,
	decode(md5(g::text), 'hex') AS c, CASE g % 4 WHEN 0 THEN float8 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '-infinity' ELSE g / 7.0 END AS f FROM generate_series(1, 8) g;
COPY source TO PROGRAM 'cat > strata_copy.bin' (FORMAT binary);
COPY (SELECT t + interval '1 day' AS t, f, b FROM source) TO PROGRAM 'cat > strata_some.bin' (FORMAT binary);
-- binary
COPY p FROM PROGRAM 'head -c 100 strata_copy.bin' (FORMAT binary);
COPY m FROM PROGRAM 'head -c 100 strata_copy.bin' (FORMAT binary);
COPY p FROM PROGRAM 'cat strata_copy.bin' (FORMAT binary);
COPY m FROM PROGRAM 'cat strata_copy.bin' (FORMAT binary);
COPY p (t, f, b) FROM PROGRAM 'cat strata_some.bin' BINARY;
COPY m (t, f, b) FROM PROGRAM 'cat strata_some.bin' BINARY;
COPY p FROM PROGRAM 'cat strata_copy.bin' WITH (FORMAT 'binary') WHERE a > 1000;
COPY m FROM PROGRAM 'cat strata_copy.bin' WITH (FORMAT 'binary') WHERE a > 1000;
COPY p FROM PROGRAM 'echo no' (FORMAT binary);
COPY m FROM PROGRAM 'echo no' (FORMAT binary);
COPY p (t, a) FROM PROGRAM 'cat strata_copy.bin' (FORMAT binary);
COPY m (t, a) FROM PROGRAM 'cat strata_copy.bin' (FORMAT binary);
COPY p FROM PROGRAM 'cat strata_copy.bin' (FORMAT binary, DELIMITER '|');
COPY m FROM PROGRAM 'cat strata_copy.bin' (FORMAT binary, DELIMITER '|');
SELECT differences(), count(*) FROM m;
-- csv
COPY p FROM stdin (FORMAT csv, HEADER match, DELIMITER ';', NULL 'nil', QUOTE '''', ESCAPE '!', FORCE_NOT_NULL (b), FORCE_NULL (f), FREEZE false);
t;a;b;c;f
2026-01-05;1;'it!'s';\x00ff;'nil'
'2026-01-06';2;nil;nil;-0
2026-01-07;3;'two
lines';;NaN
\.
COPY m FROM stdin (FORMAT csv, HEADER match, DELIMITER ';', NULL 'nil', QUOTE '''', ESCAPE '!', FORCE_NOT_NULL (b), FORCE_NULL (f), FREEZE false);
t;a;b;c;f
2026-01-05;1;'it!'s';\x00ff;'nil'
'2026-01-06';2;nil;nil;-0
2026-01-07;3;'two
lines';;NaN
\.
COPY p FROM stdin CSV HEADER QUOTE AS '"' FORCE NOT NULL b;
any,thing,as,a,header
2026-01-08,4,,,1e300
\.
COPY m FROM stdin CSV HEADER QUOTE AS '"' FORCE NOT NULL b;
any,thing,as,a,header
2026-01-08,4,,,1e300
\.
COPY p FROM stdin (FORMAT csv, HEADER match);
t,a,b,c,g
2026-01-08,4,,,1e300
\.
COPY m FROM stdin (FORMAT csv, HEADER match);
t,a,b,c,g
2026-01-08,4,,,1e300
\.
COPY p FROM PROGRAM 'echo ''2026-01-09,5,"open''' (FORMAT csv);
COPY m FROM PROGRAM 'echo ''2026-01-09,5,"open''' (FORMAT csv);
\copy p from /dev/null (FORMAT csv, FORCE_NULL (nothing))
\copy m from /dev/null (FORMAT csv, FORCE_NULL (nothing))
\copy p (t, a) from /dev/null (FORMAT csv, FORCE_NULL (b))
\copy m (t, a) from /dev/null (FORMAT csv, FORCE_NULL (b))
SELECT differences(), count(*) FROM m;
-- text
COPY p FROM stdin (NULL '', DELIMITER '|', HEADER, ENCODING 'LATIN1');
header
2026-01-10|6|cafe|\x01|
2026-01-11|7||| Infinity
\.
COPY m FROM stdin (NULL '', DELIMITER '|', HEADER, ENCODING 'LATIN1');
header
2026-01-10|6|cafe|\x01|
2026-01-11|7||| Infinity
\.
COPY p (a, t) FROM stdin USING DELIMITERS ',' WITH NULL AS 'x';
8,2026-01-12
x,2026-01-13
\.
COPY m (a, t) FROM stdin USING DELIMITERS ',' WITH NULL AS 'x';
8,2026-01-12
x,2026-01-13
\.
COPY p (t, a, b) FROM stdin WHERE a % 2 = 0 AND b LIKE 'k%' AND t <> '2026-01-16';
2026-01-14	10	keep
2026-01-15	11	kill
2026-01-16	12	keep
2026-01-17	14	other
\.
COPY m (t, a, b) FROM stdin WHERE a % 2 = 0 AND b LIKE 'k%' AND t <> '2026-01-16';
2026-01-14	10	keep
2026-01-15	11	kill
2026-01-16	12	keep
2026-01-17	14	other
\.
SELECT differences(), count(*) FROM m;
-- errors, and where
COPY p (t, a) FROM stdin;
2026-01-18	1
2026-01-19	1000
\.
COPY m (t, a) FROM stdin;
2026-01-18	1
2026-01-19	1000
\.
COPY p (t, a) FROM stdin;
2026-01-18	1
2026-01-18
\.
COPY m (t, a) FROM stdin;
2026-01-18	1
2026-01-18
\.
COPY p (t, a) FROM stdin;
2026-01-18	1	more
\.
COPY m (t, a) FROM stdin;
2026-01-18	1	more
\.
\set VERBOSITY terse
COPY p (t, a) FROM stdin;
2026-01-18	1
2026-01-19	2
2026-01-18	1
\.
COPY m (t, a) FROM stdin;
2026-01-18	1
2026-01-19	2
2026-01-18	1
\.
\set VERBOSITY default
COPY p (t, a) FROM stdin;
2026-01-18	1
2026-02-30	2
\.
COPY m (t, a) FROM stdin;
2026-01-18	1
2026-02-30	2
\.
COPY p (t, f) FROM stdin (FORMAT csv);
2026-01-18,1
2026-01-19,
2026-01-19,one
\.
COPY m (t, f) FROM stdin (FORMAT csv);
2026-01-18,1
2026-01-19,
2026-01-19,one
\.
COPY p (t, a) FROM stdin;
2026-01-18	1
\N	2
\.
COPY m (t, a) FROM stdin;
2026-01-18	1
\N	2
\.
COPY p (a) FROM stdin;
1
\.
COPY m (a) FROM stdin;
1
\.
COPY p (t, a) FROM stdin WHERE a / 0 > 1;
2026-01-18	1
\.
COPY m (t, a) FROM stdin WHERE a / 0 > 1;
2026-01-18	1
\.
\copy p (t, a) from /dev/null WHERE g > 1
\copy m (t, a) from /dev/null WHERE g > 1
\copy p (t, a) from /dev/null WHERE p IS NOT NULL
\copy m (t, a) from /dev/null WHERE m IS NOT NULL
COPY p (t, a) FROM stdin WHERE tableoid > 0;
2026-01-23	1
\.
COPY m (t, a) FROM stdin WHERE tableoid > 0;
2026-01-23	1
\.
\copy p (t, a) from /dev/null WHERE a > (SELECT 1)
\copy m (t, a) from /dev/null WHERE a > (SELECT 1)
\copy p (t, a) from /dev/null WHERE nothing > 1
\copy m (t, a) from /dev/null WHERE nothing > 1
\copy p (t, a) from /dev/null WHERE a
\copy m (t, a) from /dev/null WHERE a
\copy p (t, a, t) from /dev/null
\copy m (t, a, t) from /dev/null
\copy p from /dev/null (FREEZE)
\copy m from /dev/null (FREEZE)
\copy p from /dev/null (FREEZE maybe)
\copy m from /dev/null (FREEZE maybe)
\copy p from /dev/null (FORMAT parquet)
\copy m from /dev/null (FORMAT parquet)
\copy p from /dev/null (FORMAT csv, FORMAT text)
\copy m from /dev/null (FORMAT csv, FORMAT text)
\copy p from /dev/null (NOTHING)
\copy m from /dev/null (NOTHING)
\copy p from /dev/null (DELIMITER 'ab')
\copy m from /dev/null (DELIMITER 'ab')
\copy p from /dev/null (ENCODING 'none')
\copy m from /dev/null (ENCODING 'none')
-- versions word these differently
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE code text; message text; detail text; hint text;
BEGIN
	EXECUTE statement;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN format('%s: %s. %s %s', code, message, detail, hint);
END $$;
CREATE FUNCTION same_refusal(tail text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN ours = theirs THEN substring(ours, 1, 5) ELSE ours || ', not ' || theirs END
	FROM (SELECT refusal('COPY m ' || tail) AS ours, refusal('COPY p ' || tail) AS theirs) r $$;
SELECT same_refusal($$FROM PROGRAM 'true' (QUOTE '|')$$), same_refusal($$FROM PROGRAM 'true' (FORCE_QUOTE *)$$);
COPY p FROM '/nowhere/at/all';
COPY m FROM '/nowhere/at/all';
COPY p FROM 'relative';
COPY m FROM 'relative';
COPY p FROM PROGRAM 'exit 3';
COPY m FROM PROGRAM 'exit 3';
SELECT differences(), count(*) FROM m;
-- triggers see the same, and so does who may do it
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% % %: %', TG_WHEN, TG_OP, TG_LEVEL,
	CASE WHEN TG_LEVEL = 'ROW' THEN NEW.a END; RETURN NEW; END $$;
CREATE TRIGGER one BEFORE INSERT ON p FOR EACH STATEMENT EXECUTE FUNCTION note();
CREATE TRIGGER two AFTER INSERT ON p FOR EACH ROW WHEN (NEW.a > 1) EXECUTE FUNCTION note();
CREATE TRIGGER one BEFORE INSERT ON m FOR EACH STATEMENT EXECUTE FUNCTION note();
CREATE TRIGGER two AFTER INSERT ON m FOR EACH ROW WHEN (NEW.a > 1) EXECUTE FUNCTION note();
COPY p (t, a) FROM stdin;
2026-01-20	1
2026-01-21	2
\.
COPY m (t, a) FROM stdin;
2026-01-20	1
2026-01-21	2
\.
-- how far it is
CREATE FUNCTION tell_progress() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE told record; BEGIN
	SELECT command, type, bytes_processed > 0, tuples_processed, tuples_excluded INTO told FROM pg_stat_progress_copy WHERE pid = pg_backend_pid();
	RAISE NOTICE '%', told; RETURN NULL; END $$;
CREATE TRIGGER three AFTER INSERT ON p FOR EACH STATEMENT EXECUTE FUNCTION tell_progress();
CREATE TRIGGER three AFTER INSERT ON m FOR EACH STATEMENT EXECUTE FUNCTION tell_progress();
COPY p (t, a) FROM PROGRAM 'seq 10 50 | sed "s/.*/2026-01-23 00:00:&\t-&/"' WHERE a % 3 <> 0;
COPY m (t, a) FROM PROGRAM 'seq 10 50 | sed "s/.*/2026-01-23 00:00:&\t-&/"' WHERE a % 3 <> 0;
DROP TRIGGER three ON p;
DROP TRIGGER three ON m;
SELECT differences(), count(*) FROM m;
CREATE ROLE strata_copy_user;
GRANT strata_copy_user TO CURRENT_USER;
GRANT INSERT (t, a) ON p, m TO strata_copy_user;
SET ROLE strata_copy_user;
COPY p (t, a) FROM stdin;
2026-01-22	1
\.
COPY m (t, a) FROM stdin;
2026-01-22	1
\.
\copy p (t, a, b) from /dev/null
\copy m (t, a, b) from /dev/null
\copy p (t, a) from /dev/null WHERE b = 'x'
\copy m (t, a) from /dev/null WHERE b = 'x'
SELECT same_refusal($$(t, a) FROM PROGRAM 'true'$$), same_refusal($$(t, a) FROM '/nowhere/at/all'$$);
RESET ROLE;
SELECT differences(), count(*), count(DISTINCT tableoid) FROM m;
-- the chunk is its owner's, whoever made a row need it
SELECT DISTINCT relowner = (SELECT relowner FROM pg_class WHERE relname = 'm') AS same FROM pg_class WHERE relname LIKE 'm\_%chunk';
COPY source TO PROGRAM 'rm strata_copy.bin strata_some.bin; cat > /dev/null';
DROP TABLE p, m;
DROP FUNCTION differences, note, tell_progress, refusal, same_refusal;
DROP ROLE strata_copy_user;
