# test/t/040_two_phase.pl
#	  Prepared transactions that compressed, promoted or decompressed: they
#	  survive a crash and a promotion, block who would change the same rows, and
#	  end well either way.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $node = strata_node('twophase', "max_prepared_transactions = 10\nwal_keep_size = 8GB\nwal_log_hints = on\nwal_consistency_checking = 'all'\n", allows_streaming => 1);
$node->safe_psql('postgres', 'CREATE EXTENSION strata');
make_twins($node, 't');
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

# each: what is prepared, as SQL with TABLE_NAME where the twin gets it too
my %works = (
	compress => [ q{SELECT compress_chunk('t')} ],
	recompress => [ q{SELECT compress_chunk('t', recompress => true)} ],
	decompress => [ q{SELECT decompress_chunk('t')} ],
	promote => [ q{UPDATE TABLE_NAME SET label = 'two' WHERE small = 77},
		q{DELETE FROM TABLE_NAME WHERE small BETWEEN 5 AND 9} ],
	insert_and_compress => [ q{INSERT INTO TABLE_NAME SELECT ts + interval '1 year', host, usage FROM t_heap WHERE small < 100},
		q{SELECT compress_chunk('t')} ],
	truncate => [ q{TRUNCATE TABLE_NAME} ],
	rewrite => [ q{ALTER TABLE TABLE_NAME ALTER COLUMN small TYPE int4} ],
	subtransactions => [ q{SAVEPOINT a}, q{SELECT compress_chunk('t', recompress => true)}, q{ROLLBACK TO a},
		q{UPDATE TABLE_NAME SET label = 'three' WHERE small = 78}, q{SAVEPOINT b}, q{SELECT decompress_chunk('t')}, q{RELEASE b} ],);

sub both
{
	my ($sql) = @_;
	return $sql unless $sql =~ /TABLE_NAME/;
	return join ';', map { (my $s = $sql) =~ s/TABLE_NAME/$_/g; $s } ('t', 't_heap');
}

foreach my $way ('crash', 'running')
{
	foreach my $what (sort keys %works)
	{
		foreach my $end ('COMMIT', 'ROLLBACK')
		{
			my $label = "$what, $end, $way";
			$node->safe_psql('postgres', 'TRUNCATE t, t_heap; ALTER TABLE t ALTER small TYPE int2; ALTER TABLE t_heap ALTER small TYPE int2');
			grow_twins($node, 't', 3000);
			$node->safe_psql('postgres', q{SELECT compress_chunk('t')});
			grow_twins($node, 't', 500);
			my $before = content_hash($node, 't');
			$node->safe_psql('postgres', 'BEGIN; ' . join('; ', map { both($_) } @{ $works{$what} }) . q{; PREPARE TRANSACTION 'p'});
			if ($way eq 'crash')
			{
				$node->stop('immediate');
				$node->start;
			}
			# readers see the rows from before (what locks all readers out is not asked)
			is(content_hash($node, 't'), $before, "$label: prepared, not visible") unless $what =~ /truncate|rewrite/;
			# and nobody changes them under the prepared transaction's feet
			if ($what =~ /compress/)
			{
				my (undef, undef, $error) = $node->psql('postgres',
					q{SET lock_timeout = '100ms'; DELETE FROM t WHERE small = 77});
				like($error, qr/lock timeout/, "$label: writers wait");
			}
			$node->safe_psql('postgres', "$end PREPARED 'p'");
			twins_are_equal($node, 't', $label);
			is_sound($node, 't', $label);
			is(content_hash($node, 't'), $before, "$label: as before") if $end eq 'ROLLBACK';
			is($node->safe_psql('postgres', 'SELECT strata.gc()'), '0', "$label: no orphans");
		}
	}
}

# --- FOR KEY SHARE beside changes that keep the key: locks that the new versions inherit, in WAL
$node->safe_psql('postgres', q{CREATE TABLE k (id int PRIMARY KEY, v int, pad text) USING strata;
	INSERT INTO k SELECT i, 0, 'x' FROM generate_series(1, 1000) i});
$node->safe_psql('postgres', q{SELECT compress_chunk('k')});
my $patience = q{SET lock_timeout = '10s'};
my $inherited = 0;

sub lock_key
{
	$node->safe_psql('postgres', "$patience; BEGIN; SELECT v FROM k WHERE id = $_[0] FOR KEY SHARE; PREPARE TRANSACTION 'lock$inherited'");
	$inherited++;
	return;
}

sub change
{
	my ($id, $prepare) = @_;
	$node->safe_psql('postgres', "$patience; BEGIN; UPDATE k SET v = v + 1 WHERE id = $id; " . $prepare);
	return;
}
lock_key(1);
change(1, 'COMMIT');
change(2, q{PREPARE TRANSACTION 'u'});
lock_key(2);
$node->safe_psql('postgres', q{COMMIT PREPARED 'u'});
change(3, q{UPDATE k SET v = v + 1 WHERE id = 3; PREPARE TRANSACTION 'u'});
lock_key(3);
$node->safe_psql('postgres', q{COMMIT PREPARED 'u'});
lock_key(4);
lock_key(4);
change(4, 'COMMIT');
change(5, q{PREPARE TRANSACTION 'u'});
lock_key(5);
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'u'});
change(6, q{SAVEPOINT s; UPDATE k SET v = 9 WHERE id = 6; ROLLBACK TO s; PREPARE TRANSACTION 'u'});
lock_key(6);
lock_key(6);
$node->safe_psql('postgres', q{COMMIT PREPARED 'u'});

sub are_locked
{
	my ($server, $what) = @_;
	foreach my $id (1 .. 6)
	{
		my (undef, undef, $error) = $server->psql('postgres', "SELECT FROM k WHERE id = $id FOR UPDATE NOWAIT");
		like($error, qr/could not obtain lock on row/, "$what: row $id is locked");
		is($server->safe_psql('postgres', "SELECT v FROM k WHERE id = $id FOR NO KEY UPDATE NOWAIT"),
			(1, 1, 2, 1, 0, 1)[ $id - 1 ], "$what: not against changes that keep the key of row $id");
	}
	return;
}
are_locked($node, 'running');
$node->safe_psql('postgres', 'VACUUM (FREEZE) k');
are_locked($node, 'vacuumed');
$node->stop('immediate');
$node->start;
are_locked($node, 'crashed');

# --- a standby that is promoted between the two phases
$node->safe_psql('postgres', 'TRUNCATE t, t_heap');
grow_twins($node, 't', 3000);
$node->safe_psql('postgres', q{BEGIN; SELECT compress_chunk('t'); PREPARE TRANSACTION 'one'});
$node->safe_psql('postgres', q{CREATE TABLE u (a int, d date) USING strata; INSERT INTO u SELECT i, '2026-01-01' FROM generate_series(1, 3000) i});
$node->safe_psql('postgres', q{SELECT compress_chunk('u'); BEGIN; UPDATE u SET a = -a WHERE a = 1500; PREPARE TRANSACTION 'two'});
$node->wait_for_catchup($standby);
$node->kill9;
$standby->promote;
is($standby->safe_psql('postgres', q{SELECT count(*) FROM pg_prepared_xacts WHERE gid IN ('one', 'two')}), '2', 'promoted: both are prepared');
are_locked($standby, 'promoted');
$standby->safe_psql('postgres', "COMMIT PREPARED 'lock$_'") foreach (0 .. $inherited - 1);
is($standby->safe_psql('postgres', 'SELECT count(*) FROM (SELECT FROM k WHERE id < 7 FOR UPDATE NOWAIT) AS k'), '6', 'promoted: and free again');
is_sound($standby, 'k', 'promoted, locked');
twins_are_equal($standby, 't', 'promoted, prepared');
is($standby->safe_psql('postgres', 'SELECT count(*), sum(a) FROM u'), '3000|4501500', 'promoted: the old row');
$standby->safe_psql('postgres', q{COMMIT PREPARED 'one'});
$standby->safe_psql('postgres', q{COMMIT PREPARED 'two'});
twins_are_equal($standby, 't', 'promoted, committed');
is($standby->safe_psql('postgres', 'SELECT count(*), sum(a) FROM u'), '3000|4498500', 'promoted: the new row');
is_sound($standby, $_, 'promoted, committed') foreach ('t', 'u');
is($standby->safe_psql('postgres', q{SELECT sum(nrows) FROM strata.batches('t')}), '3000', 'promoted: batches are there');

$standby->stop;
done_testing();
