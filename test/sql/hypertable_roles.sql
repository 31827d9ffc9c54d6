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
SET search_path = public;
DROP SCHEMA "hyper App" CASCADE;
DROP ROLE "hyper Owner", hyper_writer, hyper_stranger;
