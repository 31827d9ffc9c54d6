# test/t/057_foreign_key_chunks.pl
#	  Writers of a hypertable with foreign keys from and to it, who write to the
#	  tables at the other ends in the same transactions, go on from chunk to chunk:
#	  these are there before rows need them.  Where one is not, and another writer
#	  does not end, there is an error that says to try again; nobody else fails.
use strict;
use warnings;

use StrataTest;
use Test::More;

my $writers = 4;
my $rows = 3000;
my $node = strata_node('foreign_keys', "max_worker_processes = 24\nlog_min_messages = warning\nautovacuum = off\n");
sub sql { return $node->safe_psql('postgres', $_[0]); }
sql(q{
	CREATE EXTENSION strata;
	CREATE TABLE device (id bigint PRIMARY KEY, seen bigint);
	-- time goes on with the rows, however slow the machine is
	CREATE SEQUENCE clock;
	CREATE TABLE m (t bigint NOT NULL, device bigint REFERENCES device, v float8, PRIMARY KEY (t, device));
	SELECT create_hypertable('m', 't', chunk_time_interval => 1000);
	-- one that refers to it, and is a hypertable too: each shuts out the other's writers when it gets a chunk
	CREATE TABLE note (t bigint NOT NULL, device bigint, FOREIGN KEY (t, device) REFERENCES m);
	SELECT create_hypertable('note', 't', chunk_time_interval => 1000);
	CREATE TABLE plain_note (t bigint NOT NULL, device bigint, FOREIGN KEY (t, device) REFERENCES m ON DELETE CASCADE);
	CREATE TABLE report (writer int, written int, failed int);
	CREATE PROCEDURE write_rows(writer int, n int) LANGUAGE plpgsql AS $$
	DECLARE
		written int := 0;
		failed int := 0;
		now bigint;
		id bigint;
	BEGIN
		WHILE written < n LOOP
			BEGIN
				id := writer * 1000000::bigint + written;
				now := nextval('clock');
				INSERT INTO device VALUES (id, now);
				INSERT INTO m VALUES (now, id, written);
				UPDATE device SET seen = seen + 1 WHERE device.id = write_rows.writer * 1000000::bigint;
				INSERT INTO note VALUES (now, id);
				INSERT INTO plain_note VALUES (now, id);
				written := written + 1;
			EXCEPTION WHEN serialization_failure THEN
				failed := failed + 1;
			END;
			COMMIT;
		END LOOP;
		INSERT INTO report VALUES (writer, written, failed);
	END $$;
	SELECT create_chunks('m', 0), create_chunks('note', 0);
});
my @sessions = map { [ start_psql($node, "CALL write_rows($_, $rows);\n") ] } 1 .. $writers;
$_->[0]->finish foreach @sessions;
is(join('', map { PostgreSQL::Test::Utils::slurp_file($_->[1]) } @sessions), '', 'writers meet no other error than 40001');
my $failed = sql('SELECT sum(failed) FROM report');
my $intervals = int($writers * $rows / 1000);
note("$failed transactions of " . $writers * $rows . " had to be repeated in $intervals intervals");
cmp_ok($failed, '<=', $intervals, 'and that one hardly ever');
is(sql('SELECT count(*) FROM m'), $writers * $rows, 'all rows');
is(sql(q{SELECT (SELECT count(*) FROM note JOIN m USING (t, device)), (SELECT count(*) FROM plain_note JOIN m USING (t, device)), (SELECT count(*) FROM m JOIN device ON id = device)}),
	join('|', ($writers * $rows) x 3), 'each with its keys');
ok(wait_until(sub { sql(q{SELECT min(n) >= 2 FROM (SELECT count(*) AS n FROM strata.chunks, (SELECT last_value FROM clock) c
	WHERE range_start_integer > last_value GROUP BY hypertable_name) t}) eq 't' }), 'chunks are ahead of the rows');
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/deadlock detected/, 'no deadlock');

# A writer who does not end: the row's transaction fails, with what to do, and the chunk is made when he has.
my ($out, $err);
my ($long) = start_psql($node, q{
	SET application_name = 'long';
	BEGIN;
	INSERT INTO device VALUES (1, 1);
	SELECT pg_sleep(600);
});
wait_until(sub { sql(q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'long' AND wait_event = 'PgSleep'}) eq '1' }) or die 'no writer';
$node->psql('postgres', '\set VERBOSITY verbose
	INSERT INTO m VALUES (777777, 1000000, 1)', stderr => \$err);
like($err, qr/40001: could not make a chunk of hypertable "m": other transactions write to table "device", or change it/, 'retry');
my ($hint) = $err =~ /HINT: .* (SELECT create_chunks\(.*\);)/;
is($hint, q{SELECT create_chunks('public.m', '777777');}, 'what to do');
# others are not kept from writing for long
is(sql(q{INSERT INTO device VALUES (2, 1) RETURNING id}), '2', 'writers go on');
sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'long'});
$long->finish;
ok(wait_until(sub { sql(q{SELECT count(*) FROM show_chunks('m', newer_than => 777000)}) ge '1' }), 'the chunk comes, though nobody asks again');
is(sql($hint), '0', 'nothing left to do');
is(sql('INSERT INTO m VALUES (777777, 1000000, 1) RETURNING t'), '777777', 'on it goes');

# Two who wrote to the table referred to, and need a chunk: one fails, and soon, the other goes on.
for my $case ([ 2000000, 2000000 ], [ 3000000, 3005000 ])
{
	my @pair = map { [ start_psql($node, q{
		SET strata.chunks_ahead = 0;
		SET deadlock_timeout = '60s';
		\\set VERBOSITY sqlstate
		BEGIN;
		INSERT INTO device VALUES (} . (-10 - $_ - $case->[0]) . qq{, 1);
		SET LOCAL client_min_messages = error;
		DO \$\$ BEGIN
			PERFORM pg_advisory_lock(100 + $_);
			WHILE (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid IN (100, 101)) < 2 LOOP
				PERFORM pg_sleep(0.01);
			END LOOP;
		END \$\$;
		INSERT INTO m VALUES ($case->[$_], } . (-10 - $_ - $case->[0]) . qq{, 1);
		COMMIT;
		DO \$\$ BEGIN PERFORM pg_sleep(0.1); END \$\$;
	}) ] } 0 .. 1;
	$_->[0]->finish foreach @pair;
	is(join('', map { PostgreSQL::Test::Utils::slurp_file($_->[1]) } @pair) =~ s/^psql:.*?: //r, "ERROR:  40001\n", 'one of two is told to try again');
	is(sql("SELECT count(*) FROM m WHERE t >= $case->[0] AND device < 0 AND t < $case->[0] + 10000"), '1', 'the other is not');
}

# Nothing is made ahead when rows come into the past, or when that is switched off.
my $chunks = sql(q{SELECT count(*) FROM show_chunks('m')});
sql(q{INSERT INTO m VALUES (-55555, 1000000, 1); SET strata.chunks_ahead = 0; INSERT INTO m VALUES (999999, 1000000, 1)});
ok(wait_until(sub { sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'strata chunks ahead'}) eq '0' }), 'workers have gone');
is(sql(q{SELECT count(*) FROM show_chunks('m')}) - $chunks >= 2 ? 1 : 0, 1, 'chunks for these rows');
is(sql(q{SELECT count(*) FROM show_chunks('m', newer_than => -55000, older_than => 0)}) . '|' . sql(q{SELECT count(*) FROM show_chunks('m', newer_than => 1000000, older_than => 1100000)}), '0|0', 'and no others');
# Code of the owner's in the partition key runs as the owner, in the process that makes chunks ahead, too.
sql(q{
	CREATE ROLE mallory;
	GRANT CREATE ON SCHEMA public TO mallory;
	GRANT REFERENCES, SELECT ON device TO mallory;
	CREATE TABLE who (name text);
	GRANT INSERT ON who TO mallory;
	SET ROLE mallory;
	CREATE FUNCTION note_it() RETURNS void LANGUAGE sql AS $$ INSERT INTO public.who VALUES (current_user) $$;
	CREATE FUNCTION is_one(i int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.note_it(); RETURN i = 1; END $$;
	CREATE FUNCTION key_of(t bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$ SELECT CASE WHEN public.is_one(1) THEN t END $$;
	CREATE TABLE trap (t bigint NOT NULL, device bigint REFERENCES device);
	SELECT create_hypertable('trap', 't', chunk_time_interval => 1000, time_partitioning_func => 'key_of');
	INSERT INTO trap VALUES (1, NULL)});
becomes($node, q{SELECT count(*) >= 2 FROM show_chunks('trap')}, 'the next chunk is made');
is(sql(q{SELECT string_agg(DISTINCT name, ' ') FROM who}), 'mallory', 'as its owner');
$node->stop;
done_testing();
