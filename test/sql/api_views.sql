-- No view fails, whoever reads it and whatever the planner makes of it: a stranger without
-- rights on schemas, names that want quotes, owners and tables that are gone.
\set runner :USER
\c - postgres
SET client_min_messages = error;
CREATE EXTENSION strata_timescale_compat;
CREATE ROLE views_owner LOGIN;
CREATE ROLE views_stranger;
CREATE SCHEMA "Views' Own" AUTHORIZATION views_owner;
GRANT views_owner, views_stranger TO :"runner";
\c - :runner
SET client_min_messages = error;
CREATE FUNCTION views_read() RETURNS TABLE (nviews bigint, view text, outcome text) LANGUAGE plpgsql AS $$
DECLARE plan text; seen regclass; n bigint := 0;
BEGIN
	FOREACH plan IN ARRAY '{on,enable_hashjoin,enable_mergejoin,enable_nestloop,enable_hashjoin enable_mergejoin,enable_hashjoin enable_nestloop,enable_mergejoin enable_nestloop,enable_seqscan,enable_indexscan enable_bitmapscan enable_indexonlyscan,enable_hashagg enable_sort,enable_memoize enable_material}'::text[] LOOP
		PERFORM set_config(o, 'off', true) FROM string_to_table(plan, ' ') o WHERE o <> 'on';
		FOR seen IN SELECT c.oid FROM pg_class c JOIN pg_namespace p ON p.oid = relnamespace
				WHERE nspname IN ('strata', '_strata', 'timescaledb_information') AND relkind = 'v' AND has_table_privilege(c.oid, 'SELECT') ORDER BY c.oid::regclass::text LOOP
			BEGIN
				n := n + 1;
				EXECUTE format('SELECT md5(string_agg(v::text, '','')) FROM %s v', seen);
			EXCEPTION WHEN OTHERS THEN
				view := seen; outcome := plan || ': ' || SQLSTATE || ' ' || SQLERRM; nviews := n; RETURN NEXT;
			END;
		END LOOP;
		PERFORM set_config(o, 'on', true) FROM string_to_table(plan, ' ') o WHERE o <> 'on';
	END LOOP;
	view := NULL; outcome := NULL; nviews := n; RETURN NEXT;
END $$;
SET ROLE views_owner;
SET search_path = "Views' Own", public;
CREATE TABLE "M.x" ("Time" timestamptz NOT NULL, "K k" int, v float8);
SELECT created FROM create_hypertable('"M.x"', 'Time', chunk_time_interval => interval '1 day');
ALTER TABLE "M.x" SET (strata.segmentby = '"K k"');
INSERT INTO "M.x" SELECT '2026-01-01 00:00+00'::timestamptz + g * interval '1 min', g % 3, g FROM generate_series(0, 4000) g;
SELECT count(compress_chunk(c)) FROM show_chunks('"M.x"', older_than => '2026-01-03 00:00+00'::timestamptz) c;
CREATE TABLE "I" (t bigint NOT NULL, v int);
SELECT created FROM create_hypertable('"I"', 't', chunk_time_interval => 1000);
CREATE FUNCTION clock() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 5000::bigint';
SELECT set_integer_now_func('"I"', 'clock');
INSERT INTO "I" SELECT g * 100, g FROM generate_series(1, 30) g;
SELECT add_compression_policy('"M.x"', interval '100 years') > 0, add_retention_policy('"I"', 1000000) > 0;
CREATE PROCEDURE job(job_id int, config jsonb) LANGUAGE plpgsql AS 'BEGIN END';
SELECT add_job('job', '1 day') AS job \gset
CALL run_job(:job);
CREATE TABLE s (a int, ts date) USING strata;
INSERT INTO s SELECT g, '2026-01-01' FROM generate_series(1, 2000) g;
SELECT compress_chunk('s')::text;

SELECT nviews > 100 AS many, view, outcome FROM views_read();
SELECT * FROM timescaledb_information.hypertable_compression_settings ORDER BY hypertable::text;
SELECT * FROM timescaledb_information.chunk_compression_settings ORDER BY chunk::text;
SET search_path = public;
SET ROLE views_stranger;
SELECT nviews > 100 AS many, view, outcome FROM views_read();
SELECT * FROM timescaledb_information.hypertable_compression_settings ORDER BY hypertable::text;
SELECT * FROM timescaledb_information.chunk_compression_settings ORDER BY chunk::text;
SET ROLE views_owner;

-- what the rows of views stand on may be gone when a function looks: OIDs of nothing
SELECT _strata.chunk_info(4000000000), _strata.dimension_of(4000000000), (SELECT count(*) FROM _strata.layout_of(4000000000)), _strata.before_sizes(4000000000),
	_strata.relation_bytes(4000000000, NULL), strata.batch_relation(4000000000);
SELECT _strata.chunk_info('pg_class'::regclass), _strata.dimension_of('pg_class'::regclass), (SELECT count(*) FROM _strata.layout_of('pg_class')),
	_strata.before_sizes('pg_class'), strata.batch_relation('pg_class'), strata.batch_relation('pg_class_oid_index');

-- tables, functions and roles that are gone
DROP FUNCTION "Views' Own".clock();
DROP PROCEDURE "Views' Own".job;
DROP TABLE "Views' Own"."I";
SELECT nviews > 100 AS many, view, outcome FROM views_read();
RESET ROLE;
\c - postgres
SET client_min_messages = error;
DROP SCHEMA "Views' Own" CASCADE;
SET search_path = public;
-- as of a job whose owner was dropped in another database
UPDATE _strata.job SET owner = '4000000000' WHERE proc_schema = 'Views'' Own';
SELECT nviews > 100 AS many, view, outcome FROM views_read();
DROP FUNCTION views_read;
DROP OWNED BY views_owner;
DROP ROLE views_owner, views_stranger;
SELECT proc_name AS left_behind FROM strata.jobs WHERE proc_schema = 'Views'' Own';
SELECT count(delete_job(job_id)) FROM strata.jobs WHERE job_id >= 1000;
DROP EXTENSION strata_timescale_compat;
