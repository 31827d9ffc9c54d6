-- Who may do what with a hypertable: its owner, who is no superuser; one who may insert; a stranger.
SET client_min_messages = warning;
CREATE ROLE "hyper Owner";
CREATE ROLE hyper_writer;
CREATE ROLE hyper_stranger;
GRANT "hyper Owner", hyper_writer, hyper_stranger TO CURRENT_USER;
CREATE SCHEMA "hyper App";
GRANT USAGE, CREATE ON SCHEMA "hyper App" TO "hyper Owner";
GRANT USAGE ON SCHEMA "hyper App" TO hyper_writer, hyper_stranger;
SET search_path = '';
SET ROLE "hyper Owner";
CREATE TABLE "hyper App"."M" ("Time" timestamptz NOT NULL, d int, v float8, PRIMARY KEY (d, "Time"));
SELECT created FROM public.create_hypertable('"hyper App"."M"', 'Time', chunk_time_interval => interval '1 day');
GRANT INSERT, SELECT ON "hyper App"."M" TO hyper_writer;
RESET ROLE;
-- chunks are made as the owner, who needs the right to
REVOKE CREATE ON SCHEMA "hyper App" FROM "hyper Owner";
SET ROLE hyper_writer;
INSERT INTO "hyper App"."M" VALUES ('2026-01-01', 1, 1);
BEGIN;
INSERT INTO "hyper App"."M" VALUES ('2026-01-01', 1, 1);
ROLLBACK;
RESET ROLE;
-- one that this transaction has given, or taken away
BEGIN;
GRANT CREATE ON SCHEMA "hyper App" TO "hyper Owner";
INSERT INTO "hyper App"."M" VALUES ('2026-01-01', 1, 1);
REVOKE CREATE ON SCHEMA "hyper App" FROM "hyper Owner";
INSERT INTO "hyper App"."M" VALUES ('2026-01-02', 1, 1);
ROLLBACK;
GRANT CREATE ON SCHEMA "hyper App" TO "hyper Owner";
SET ROLE hyper_writer;
INSERT INTO "hyper App"."M" SELECT '2026-01-01'::timestamptz + g * interval '1 hour', g % 5, g FROM generate_series(0, 95) g;
RESET ROLE;
CREATE FUNCTION pg_temp.outcome(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE command; RETURN 'done';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM; END $$;
CREATE TEMP TABLE commands (n int GENERATED ALWAYS AS IDENTITY, command text);
INSERT INTO commands (command) SELECT replace(command, '%M', '"hyper App"."M"') FROM (VALUES
	('SELECT * FROM public.show_chunks(''%M'')'), ('SELECT public.hypertable_size(''%M'')'), ('SELECT * FROM public.hypertable_detailed_size(''%M'')'),
	('SELECT * FROM public.chunks_detailed_size(''%M'')'), ('SELECT public.hypertable_approximate_size(''%M'')'), ('SELECT public.hypertable_index_size(''"hyper App"."M_pkey"'')'),
	('SELECT public.approximate_row_count(''%M'')'), ('SELECT * FROM public.hypertable_compression_stats(''%M'')'), ('SELECT * FROM public.chunk_compression_stats(''%M'')'),
	('SELECT * FROM strata.hypertables'), ('SELECT * FROM strata.chunks'), ('SELECT * FROM strata.dimensions'), ('SELECT * FROM strata.compression_settings'),
	('SELECT * FROM strata.jobs'), ('SELECT * FROM strata.job_stats'), ('SELECT * FROM strata.job_errors'), ('SELECT * FROM strata.job_history'), ('SELECT * FROM strata.problems'), ('SELECT * FROM strata.tables'),
	('SELECT public.set_chunk_time_interval(''%M'', interval ''2 days'')'), ('ALTER TABLE %M SET (strata.segmentby = ''d'')'), ('ALTER TABLE %M SET (fillfactor = 90)'),
	('SELECT public.compress_chunk(c) FROM public.show_chunks(''%M'') c'), ('SELECT public.decompress_chunk(c) FROM public.show_chunks(''%M'') c'),
	('SELECT public.reorder_chunk(c, ''"hyper App"."M_pkey"'') FROM public.show_chunks(''%M'') c'),
	('CALL public.merge_chunks(''"hyper App"."M_20260101_chunk"'', ''"hyper App"."M_20260102_chunk"'')'), ('CALL public.split_chunk(''"hyper App"."M_20260101_chunk"'')'),
	('SELECT public.add_retention_policy(''%M'', interval ''10000 days'')'), ('SELECT public.remove_retention_policy(''%M'')'),
	('SELECT public.add_compression_policy(''%M'', interval ''10000 days'')'), ('SELECT public.remove_compression_policy(''%M'')'),
	('CALL public.detach_chunk(''"hyper App"."M_20260104_chunk"'')'), ('SELECT public.drop_chunks(''%M'', older_than => timestamptz ''2030-01-01'')')) x (command);
GRANT SELECT ON commands TO PUBLIC;
SET ROLE hyper_stranger;
SELECT n, pg_temp.outcome(command) FROM pg_temp.commands ORDER BY n;
SET ROLE hyper_writer;
SELECT count(*) FILTER (WHERE pg_temp.outcome(command) = 'done') FROM pg_temp.commands;
SET ROLE "hyper Owner";
SELECT n, command, pg_temp.outcome(command) FROM pg_temp.commands ORDER BY n;
RESET ROLE;
-- nothing that we make takes the schema's default privileges: they would lead past the hypertable's, and its row security
SET ROLE "hyper Owner";
ALTER DEFAULT PRIVILEGES IN SCHEMA "hyper App" GRANT SELECT ON TABLES TO hyper_stranger;
CREATE TABLE "hyper App".own ("Time" timestamptz NOT NULL, v int);
CREATE TABLE "hyper App".rows ("Time" timestamptz NOT NULL, v int);
REVOKE ALL ON "hyper App".own, "hyper App".rows FROM hyper_stranger;
INSERT INTO "hyper App".rows SELECT '2026-01-01'::timestamptz + g * interval '1 hour', g FROM generate_series(0, 95) g;
SELECT created FROM public.create_hypertable('"hyper App".own', 'Time', chunk_time_interval => interval '1 day');
SELECT created FROM public.create_hypertable('"hyper App".rows', 'Time', chunk_time_interval => interval '1 day', migrate_data => true);
INSERT INTO "hyper App".own SELECT '2026-01-01'::timestamptz + g * interval '1 hour', g FROM generate_series(0, 47) g;
SELECT public.create_chunks('"hyper App".own', timestamptz '2026-01-05', timestamptz '2026-01-07');
CALL public.split_chunk('"hyper App".own_20260101_chunk');
CREATE MATERIALIZED VIEW "hyper App".days WITH (strata.continuous) AS
	SELECT public.time_bucket('1 day', "Time") AS day, sum(v) FROM "hyper App".own GROUP BY 1;
REVOKE ALL ON "hyper App".days FROM hyper_stranger;
RESET ROLE;
SELECT count(*), count(relacl) AS granted, (SELECT count(*) FROM pg_shdepend d WHERE d.objid = ANY (array_agg(c.oid)) AND d.deptype = 'a') AS depend
	FROM pg_class c WHERE relnamespace = '"hyper App"'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'M' AND relname NOT IN ('own', 'rows');
SET ROLE hyper_stranger;
SELECT * FROM "hyper App".own_20260101_chunk;
SELECT * FROM "hyper App".days;
RESET ROLE;
SET search_path = public;
DROP SCHEMA "hyper App" CASCADE;
DROP ROLE "hyper Owner", hyper_writer, hyper_stranger;
