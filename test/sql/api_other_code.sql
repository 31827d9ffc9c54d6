-- Code of somebody else (operators in a search_path, index expressions, CHECK constraints, partitioning
-- functions, checks of a job's config) never runs with the rights of who has a table looked after.
-- needs superuser: it is about superusers who look after tables of others
SET client_min_messages = error;
\set VERBOSITY terse
CREATE SCHEMA code;
CREATE ROLE code_mallory LOGIN;
CREATE ROLE code_owner LOGIN;
GRANT ALL ON SCHEMA code TO code_mallory, code_owner;
SET search_path = code, public;
CREATE TABLE log (who text, what text);
GRANT INSERT ON log TO PUBLIC;
CREATE FUNCTION refused(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE command; RETURN 'DONE';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;

-- Mallory's operators, better matches than any of pg_catalog, for what a policy asks of its chunks
CREATE SCHEMA evil AUTHORIZATION code_mallory;
SET ROLE code_mallory;
GRANT USAGE ON SCHEMA evil TO PUBLIC;
CREATE FUNCTION evil.note(op text) RETURNS void LANGUAGE sql AS $$ INSERT INTO code.log VALUES (current_user, op) $$;
DO $do$
DECLARE op text; l text; r text; n int := 0;
BEGIN
	FOREACH op IN ARRAY ARRAY['+', '*', '/', '>', '<', '-', '=', '<>'] LOOP
		FOREACH l IN ARRAY ARRAY['float8', 'int4', 'int8', 'numeric', 'text', 'interval', 'timestamptz', 'oid'] LOOP
			FOREACH r IN ARRAY ARRAY['float8', 'int4', 'int8', 'numeric', 'text', 'interval', 'timestamptz', 'oid', 'regclass'] LOOP
				n := n + 1;
				EXECUTE format('CREATE FUNCTION evil.f%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM evil.note(%L); RETURN %s; END $f$',
					n, l, r, CASE WHEN op IN ('>', '<', '=', '<>') THEN 'bool' WHEN r = 'regclass' THEN 'oid' ELSE r END, op, CASE WHEN op IN ('>', '<', '=', '<>') THEN 'true' WHEN r = 'regclass' THEN '1' ELSE 'NULL' END);
				EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.f%s)', op, l, r, n);
			END LOOP;
		END LOOP;
	END LOOP;
	-- and functions and aggregates of the same names
	EXECUTE $f$CREATE FUNCTION evil.ceil(numeric) RETURNS numeric LANGUAGE plpgsql AS $b$ BEGIN PERFORM evil.note('ceil'); RETURN $1; END $b$$f$;
	EXECUTE $f$CREATE FUNCTION evil.nextval(text) RETURNS int LANGUAGE plpgsql AS $b$ BEGIN PERFORM evil.note('nextval'); RETURN 1; END $b$$f$;
	EXECUTE $f$CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE plpgsql AS $b$ BEGIN PERFORM evil.note('now'); RETURN NULL; END $b$$f$;
END $do$;
RESET ROLE;
SET search_path = evil, pg_catalog, code, public;
CREATE TABLE code.mine (t timestamptz NOT NULL, device int, v float8);
SELECT (public.create_hypertable('code.mine', 't', chunk_time_interval => interval '1 day')).created;
ALTER TABLE code.mine SET (strata.segmentby = 'device', strata.orderby = 't');
INSERT INTO code.mine SELECT g, 1, 1 FROM generate_series(timestamptz '2020-01-01 00:00+00', '2020-01-02 06:00+00', '1 min') g;
SELECT public.add_compression_policy('code.mine', interval '1 day', initial_start => '2100-01-01') AS policy \gset
SELECT public.add_retention_policy('code.mine', interval '1000 years', initial_start => '2100-01-01') AS retention \gset
CALL public.run_job(:policy);
INSERT INTO code.mine SELECT g, 1, 1 FROM generate_series(timestamptz '2020-01-01 00:00+00', '2020-01-02 06:00+00', '1 min') g;
TRUNCATE code.log;
CALL public.run_job(:policy);
CALL public.run_job(:retention);
CALL public.run_job(1);
CALL public.run_job(2);
SELECT public.drop_chunks('code.mine', timestamptz '2010-01-01');
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 0 FROM public.show_chunks('code.mine') c;
SELECT pg_catalog.count(public.compress_chunk(c, recompress => true)) FROM public.show_chunks('code.mine') c;
SELECT pg_catalog.count(*) FROM public.chunk_compression_stats('code.mine');
SELECT pg_catalog.count(*) FROM public.hypertable_compression_stats('code.mine');
SELECT pg_catalog.count(*) FROM public.hypertable_detailed_size('code.mine');
SELECT public.hypertable_size('code.mine') IS NOT NULL, public.pg_get_compression_ratio('code.mine') IS NOT NULL;
SELECT pg_catalog.count(*) IS NOT NULL AS read FROM strata.problems;
SELECT pg_catalog.count(*) IS NOT NULL AS read FROM strata.chunks;
SELECT pg_catalog.count(*) IS NOT NULL AS read FROM strata.compression_settings;
SELECT a.scheduled FROM public.alter_job(:policy, schedule_interval => '2 days') a;
SELECT pg_catalog.array_agg(c) AS chunks FROM public.show_chunks('code.mine') c \gset
CALL public.merge_chunks(:'chunks');
SELECT public.set_chunk_time_interval('code.mine', interval '2 days');
SELECT public.remove_retention_policy('code.mine'), public.remove_compression_policy('code.mine');
SELECT pg_catalog.count(*) FROM public.advise_compression((SELECT c FROM public.show_chunks('code.mine') c LIMIT 1));
SELECT * FROM public.by_range('t', interval '1 day');
SET search_path = code, public;
SELECT DISTINCT who, what FROM log;
DROP TABLE mine;

-- a superuser looks after Mallory's tables
SET ROLE code_mallory;
CREATE FUNCTION evil.look(i int, what text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM evil.note(what || ' with ' || current_setting('search_path'));
	RETURN i;
END $$;
CREATE FUNCTION evil.check_it(i int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN evil.look(i, 'check') IS NOT NULL; END $$;
CREATE FUNCTION evil.time_of(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN evil.look(i, 'time'); END $$;
CREATE FUNCTION evil.of_index(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN evil.look(i, 'index'); END $$;
CREATE TABLE trap (t int NOT NULL, v int);
INSERT INTO trap SELECT g, g FROM generate_series(1, 1999) g;
CREATE INDEX ON trap (evil.of_index(v));
CREATE INDEX ON trap (v) WHERE evil.of_index(v) > 0;
ALTER TABLE trap ADD CHECK (evil.check_it(v));
CREATE INDEX trap_t ON trap (t);
RESET ROLE;
TRUNCATE log;
SELECT count(*) FROM create_hypertable('trap', 't', chunk_time_interval => 1000, time_partitioning_func => 'evil.time_of', migrate_data => true);
SELECT DISTINCT who, what FROM log ORDER BY 2;
TRUNCATE log;
SELECT count(compress_chunk(c)) FROM show_chunks('trap') c;
SELECT count(decompress_chunk(c)) FROM show_chunks('trap') c;
SELECT DISTINCT who, what FROM log ORDER BY 2;
TRUNCATE log;
SELECT array_agg(c) AS chunks FROM show_chunks('trap') c \gset
CALL merge_chunks(:'chunks');
SELECT DISTINCT who, what FROM log ORDER BY 2;
TRUNCATE log;
SELECT c AS chunk FROM show_chunks('trap') c \gset
CALL split_chunk(:'chunk', 1000);
SELECT DISTINCT who, what FROM log ORDER BY 2;
SELECT DISTINCT relowner::regrole FROM pg_class WHERE oid IN (SELECT show_chunks('trap'));
TRUNCATE log;
SELECT count(*) FROM (SELECT reorder_chunk(c, 'trap_t') FROM show_chunks('trap') c) s;
SELECT DISTINCT who, what FROM log ORDER BY 2;
TRUNCATE log;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('trap') c;
SELECT count(*) FROM show_chunks('trap') c, LATERAL strata.verify(c);
SELECT count(*) FROM show_chunks('trap') c, LATERAL estimate_compression(c);
SELECT count(*) >= 0 AS advised FROM show_chunks('trap') c, LATERAL advise_compression(c);
CALL detach_chunk(:'chunk');
CALL attach_chunk('trap', :'chunk', '{"t": [0, 1000]}');
SELECT count(*) FROM trap WHERE v > 0;
SELECT count(*) FROM strata.problems WHERE problem LIKE 'x%';
ANALYZE trap;
VACUUM trap;
SELECT DISTINCT who, what FROM log WHERE who <> 'code_mallory' ORDER BY 2;
TRUNCATE log;

-- what is constant in a partition key or an index is evaluated when relcache needs it, here in sessions that have not yet seen the table,
-- and in the processes that make chunks
SET ROLE code_mallory;
CREATE FUNCTION evil.key_of(i int) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT CASE WHEN evil.look(1, 'key') = 1 THEN i END $$;
CREATE FUNCTION evil.folded(i int) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT CASE WHEN evil.look(1, 'folded') = 1 THEN i END $$;
CREATE FUNCTION evil.folded_now() RETURNS int STABLE LANGUAGE sql AS $$ SELECT evil.look(3500, 'folded now') $$;
CREATE TABLE folded (t int NOT NULL, v int);
SELECT count(*) FROM create_hypertable('folded', 't', chunk_time_interval => 1000, time_partitioning_func => 'evil.key_of');
CREATE INDEX ON folded (evil.folded(v));
CREATE INDEX ON folded (v) WHERE evil.folded(v) > 0;
CREATE INDEX folded_t ON folded (t);
CREATE TABLE old_parts (t int NOT NULL, v int) PARTITION BY RANGE (t);
CREATE TABLE old_part PARTITION OF old_parts FOR VALUES FROM (0) TO (1000) USING heap;
ALTER TABLE old_parts ADD CHECK (evil.folded(v) > 0), ALTER v SET DEFAULT evil.folded(1);
CREATE INDEX ON old_parts (evil.folded(v));
INSERT INTO old_parts VALUES (1, 1);
INSERT INTO folded SELECT g, g FROM generate_series(1, 1999) g;
RESET ROLE;
SELECT count(*) FROM show_chunks('folded');
SET ROLE code_mallory;
SELECT count(set_integer_now_func('folded', 'evil.folded_now'));
RESET ROLE;
\set fresh 'SET client_min_messages = error; SET search_path = code, public;'
\c -
:fresh
SELECT create_chunks('folded', 2000, 3999);
\c -
:fresh
SELECT count(compress_chunk(c)) FROM show_chunks('folded', older_than => 2000) c;
\c -
:fresh
SELECT count(*) FROM show_chunks('folded') c, LATERAL strata.verify(c);
SELECT count(*) FROM show_chunks('folded', older_than => 2000) c, LATERAL estimate_compression(c);
SELECT count(*) >= 0 AS advised FROM show_chunks('folded', older_than => 2000) c, LATERAL advise_compression(c);
SELECT count(*) IS NOT NULL AS read FROM strata.problems;
SELECT count(*) IS NOT NULL AS read FROM strata.chunks;
SELECT count(*) IS NOT NULL AS read FROM strata.hypertables;
SELECT count(*) IS NOT NULL AS read FROM strata.compression_settings;
SELECT count(*) IS NOT NULL AS read FROM hypertable_detailed_size('folded');
SELECT count(*) IS NOT NULL AS read FROM chunk_compression_stats('folded');
\c -
:fresh
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('folded', older_than => 2000) c;
\c -
:fresh
VACUUM ANALYZE folded;
\c -
:fresh
SELECT count(decompress_chunk(c)) FROM show_chunks('folded', older_than => 2000) c;
\c -
:fresh
SELECT count(*) FROM (SELECT reorder_chunk(c, 'folded_t') FROM show_chunks('folded', older_than => 2000) c) s;
\c -
:fresh
SELECT array_agg(c) AS chunks FROM show_chunks('folded', older_than => 2000) c \gset
CALL merge_chunks(:'chunks');
\c -
:fresh
SELECT c AS chunk FROM show_chunks('folded', older_than => 2000) c \gset
CALL split_chunk(:'chunk', 1000);
\c -
:fresh
CALL detach_chunk(:'chunk');
\c -
:fresh
CALL attach_chunk('folded', :'chunk', '{"t": [0, 1000]}');
\c -
:fresh
CREATE INDEX CONCURRENTLY folded_later ON folded (evil.folded(v + 1));
\c -
:fresh
CREATE UNIQUE INDEX folded_unique ON folded (t, v);
\c -
:fresh
CREATE INDEX folded_by_chunk ON folded (v) WITH (strata.transaction_per_chunk) WHERE evil.folded(v) > 1;
\c -
:fresh
SELECT count(*) FROM set_chunk_time_interval('folded', 500);
SELECT count(*) FROM drop_chunks('folded', older_than => 1000);
\c -
:fresh
SELECT count(*) FROM create_hypertable('old_parts', 't', chunk_time_interval => 1000);
\c -
:fresh
CALL strata.convert('old_parts');
\c -
:fresh
SELECT add_compression_policy('folded', 10, initial_start => '2100-01-01') AS policy \gset
CALL run_job(:policy);
\c -
:fresh
CALL run_job(1);
SELECT remove_compression_policy('folded');
\c -
:fresh
TRUNCATE folded, old_parts;
SELECT DISTINCT who, what FROM log WHERE who <> 'code_mallory' ORDER BY 2;
SELECT DISTINCT what FROM log WHERE what ~ 'key|folded' AND what ~ 'pg_catalog' ORDER BY 1;
TRUNCATE log;

-- checks of configs run as the job's owner, whoever changes the job
SET ROLE code_mallory;
CREATE FUNCTION evil.act(job_id int, config jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN INSERT INTO code.log VALUES (current_user, 'act'); END $$;
CREATE FUNCTION evil.config_ok(config jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN INSERT INTO code.log VALUES (current_user, 'check ' || code.refused('SET ROLE postgres')); END $$;
SELECT add_job('evil.act', '1 day', '{"password": "x"}', check_config => 'evil.config_ok', initial_start => '2100-01-01') AS job \gset
RESET ROLE;
SELECT max_retries FROM alter_job(:job, max_retries => 3);
CALL run_job(:job);
SELECT who, what, count(*) FROM log GROUP BY 1, 2 ORDER BY 2;
TRUNCATE log;

-- an integer_now function that its owner may not call
CREATE FUNCTION code.secret_now() RETURNS int LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$ BEGIN RAISE WARNING 'called by %', session_user; RETURN 5; END $$;
REVOKE ALL ON FUNCTION code.secret_now() FROM PUBLIC;
SET ROLE code_mallory;
CREATE TABLE ticks (t int NOT NULL);
SELECT count(*) FROM create_hypertable('ticks', 't', chunk_time_interval => 10);
SELECT refused($$SELECT set_integer_now_func('ticks', 'code.secret_now')$$);
SELECT refused($$ALTER TABLE ticks SET (strata.integer_now_func = 'code.secret_now')$$) IS NOT NULL;
RESET ROLE;
-- one that he was allowed to call
GRANT EXECUTE ON FUNCTION code.secret_now() TO code_mallory;
SET ROLE code_mallory;
SELECT refused($$SELECT set_integer_now_func('ticks', 'code.secret_now')$$);
RESET ROLE;
REVOKE ALL ON FUNCTION code.secret_now() FROM code_mallory;
SET ROLE code_mallory;
SELECT refused($$SELECT add_compression_policy('ticks', 10)$$);
RESET ROLE;

-- who sees the config of a job
SELECT config FROM strata.jobs WHERE job_id = :job;
SET ROLE code_mallory;
SELECT config FROM strata.jobs WHERE job_id = :job;
SET ROLE code_owner;
SELECT job_id = :job AS seen, config FROM strata.jobs WHERE job_id = :job;
SELECT count(*) FROM strata.jobs WHERE config::text ~ 'password';
SELECT refused(format('SELECT alter_job(%s, scheduled => false)', :job)), refused(format('SELECT delete_job(%s)', :job)), refused(format('CALL run_job(%s)', :job));
RESET ROLE;

-- no job's config, schedule or name keeps strata.problems and the other views from being read
SET ROLE code_mallory;
CREATE TABLE hyper (t timestamptz NOT NULL, v int);
SELECT count(*) FROM create_hypertable('hyper', 't', chunk_time_interval => interval '1 day');
INSERT INTO hyper SELECT timestamptz '2020-01-01 00:00+00' + g * interval '1 min', g FROM generate_series(0, 2000) g;
SELECT add_compression_policy('hyper', interval '1 day', initial_start => '2100-01-01') AS policy \gset
SELECT add_retention_policy('hyper', interval '1 day', initial_start => '2100-01-01') AS retention \gset
SELECT c, refused(format('SELECT alter_job(%s, config => %L)', :policy, c)) AS alter_job, refused('CALL run_job(' || :policy || ')') AS run_job,
	refused('SELECT count(*) FROM strata.problems') AS problems
	FROM unnest(array['{"compress_after": "soon"}', '{"compress_after": {}}', '{"compress_after": [1]}', '[]', '[1]', '7', '{}', '{"compress_after": null}',
		'{"compress_after": "178000000 years"}', '{"compress_after": true}', '"x"', '{"recompress": [1], "compress_after": "1 day"}']) c;
SELECT refused(format('SELECT alter_job(%s, schedule_interval => interval ''170000000 years'')', :policy));
SELECT refused(format('SELECT alter_job(%s, job_name => repeat(''x'', 1000))', :policy));
RESET ROLE;
UPDATE _strata.job SET config = '{"compress_after": "soon"}' WHERE id = :policy;
SELECT count(*) FROM strata.problems WHERE object ~ 'hyper';
UPDATE _strata.job SET config = '[1]' WHERE id = :policy;
SELECT count(*) FROM strata.problems WHERE object ~ 'hyper';
UPDATE _strata.job SET config = '{"compress_after": "1 day"}', schedule_interval = '170000000 years' WHERE id = :policy;
SELECT count(*) FROM strata.problems WHERE object ~ 'hyper';
UPDATE _strata.job SET owner = 4294967290::oid::regrole, hypertable = 4294967291::oid::regclass, proc_schema = 'no', proc_name = 'no' WHERE id = :policy;
SELECT count(*) FROM strata.problems WHERE object ~ 'hyper';
SELECT count(*) FROM strata.jobs WHERE job_id = :policy;
SELECT count(*) FROM strata.job_stats WHERE job_id = :policy;
SET ROLE code_owner;
SELECT count(*) FROM strata.problems WHERE object ~ 'hyper';
SELECT config FROM strata.jobs WHERE job_id = :policy;
RESET ROLE;
DELETE FROM _strata.job WHERE id = :policy;
DELETE FROM _strata.job_stat WHERE job_id = :policy;

-- strata.torture is for superusers to set, and for tables that are the user's
SET ROLE code_mallory;
SELECT refused('SET strata.torture = on');
CREATE TABLE tortured (a int) USING strata;
GRANT INSERT ON tortured TO code_owner;
RESET ROLE;
SET strata.torture = on;
SET ROLE code_owner;
INSERT INTO tortured SELECT generate_series(1, 100);
SELECT strata.batch_relation('tortured') IS NULL AS left_alone;
SET ROLE code_mallory;
INSERT INTO tortured SELECT generate_series(1, 100);
SELECT strata.batch_relation('tortured') IS NULL AS left_alone, count(*) FROM tortured;
RESET ROLE;
RESET strata.torture;

SELECT delete_job(:job);
DROP TABLE trap, ticks, hyper, tortured;
DROP OWNED BY code_mallory, code_owner CASCADE;
RESET search_path;
DROP SCHEMA code CASCADE;
DROP ROLE code_mallory, code_owner;
