# test/t/307_jobs_hang.pl
#	  Code of owners that hangs, in the time of a table and in an index: what the
#	  system does goes on, and who hangs is passed over.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('hang', "strata.max_job_workers = 5\nmax_worker_processes = 16\nautovacuum = off\n");

sub sql { return $node->safe_psql('postgres', $_[0]); }

# a session has an application_name, background workers have none
sql(q{
	CREATE EXTENSION strata;
	CREATE ROLE alice LOGIN;
	GRANT CREATE ON SCHEMA public TO alice;
	SET ROLE alice;
	CREATE FUNCTION hangs() RETURNS int8 LANGUAGE plpgsql STABLE AS $$
	BEGIN
		IF current_setting('application_name') = '' THEN
			PERFORM pg_sleep(1000);
		END IF;
		RETURN 1000;
	END $$;
	CREATE FUNCTION key_hangs(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		IF current_setting('application_name') = '' THEN
			PERFORM pg_sleep(1000);
		END IF;
		RETURN $1;
	END $$;
});
my $hanging = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND backend_type LIKE 'strata%'};

# an index that hangs, and a table that waits behind it
sql(q{SET ROLE alice;
	CREATE TABLE slow (ts timestamptz NOT NULL, what text);
	SELECT create_hypertable('slow', 'ts');
	CREATE INDEX ON slow (key_hangs(what));
	INSERT INTO slow SELECT '2026-01-01'::timestamptz + i * interval '1 s', 'row ' || i FROM generate_series(1, 20000) i;
	SELECT count(compress_chunk(c)) FROM show_chunks('slow') c});
becomes($node, "SELECT ($hanging) = 1", 'an index hangs');
sql(q{SET ROLE alice;
	CREATE TABLE behind (ts timestamptz NOT NULL, what text);
	SELECT create_hypertable('behind', 'ts');
	INSERT INTO behind SELECT '2026-01-01'::timestamptz + i * interval '1 s', 'row ' || i FROM generate_series(1, 20000) i;
	SELECT count(compress_chunk(c)) FROM show_chunks('behind') c});

# times that hang take all workers but the one that is kept
sql(q{SET ROLE alice;
	DO $$
	BEGIN
		FOR i IN 1 .. 5 LOOP
			EXECUTE format('CREATE TABLE time_%s (t int8 NOT NULL)', i);
			PERFORM create_hypertable('time_' || i, 't', chunk_time_interval => 100);
			PERFORM set_integer_now_func('time_' || i, 'hangs');
			PERFORM add_compression_policy('time_' || i, 100::int8);
		END LOOP;
	END $$});
becomes($node, "SELECT ($hanging) = 4", 'four of five workers hang');
my $runs = sql('SELECT total_runs FROM strata.job_stats WHERE job_id = 1');
sql('SELECT alter_job(1, next_start => now())');
becomes($node, "SELECT total_runs > $runs FROM strata.job_stats WHERE job_id = 1", 'the fifth is for jobs of the system');
is(sql($hanging), '4', 'beside them');

# who hangs is canceled, and the others have their turn
becomes($node, q{SELECT count(*) > 0 FROM strata.job_errors WHERE sqlerrcode = '57014' AND err_message LIKE '%took longer than%'}, 'a policy that hangs fails');
becomes($node, q{SELECT count(*) = 0 FROM _strata.space_queue q JOIN show_chunks('behind') c ON c = q.relation}, 'the table behind has its turn');
is(sql(q{SELECT DISTINCT waits_for FROM _strata.space_queue q JOIN show_chunks('slow') c ON c = q.relation}),
	'functions of its owner that took too long', 'and it is said what the other waits for');

$node->stop('immediate');
done_testing();
