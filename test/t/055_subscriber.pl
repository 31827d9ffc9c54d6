# test/t/055_subscriber.pl
#	  Logical replication between strata tables, compressed at either end: the
#	  subscriber applies inserts, updates and deletes to compressed rows, and a
#	  publication FOR ALL TABLES brings everything but companions.
use strict;
use warnings;

use StrataTest;
use Test::More;

my $publisher = strata_node('publisher', "wal_level = logical\n", allows_streaming => 'logical');
my $subscriber = strata_node('subscriber', "wal_level = logical\nmax_logical_replication_workers = 8\n", allows_streaming => 'logical');

# replica identities: primary key (also of two columns, text and numeric), another unique index, the whole row
my %tables = (
	by_key => 'id int PRIMARY KEY, host text, v int, pad text',
	by_two => 'host text, id int, v int, pad text, PRIMARY KEY (host, id)',
	by_number => 'id numeric PRIMARY KEY, host text, v int, pad text',
	by_index => 'id int NOT NULL, host text, v int, pad text, UNIQUE (id)',
	by_full => 'id int, host text, v int, pad text');
foreach my $node ($publisher, $subscriber)
{
	$node->safe_psql('postgres', 'CREATE EXTENSION strata');
	foreach my $name (sort keys %tables)
	{
		$node->safe_psql('postgres', "CREATE TABLE $name ($tables{$name}) USING strata; ALTER TABLE $name SET (strata.segmentby = 'host', strata.orderby = 'id')");
		$node->safe_psql('postgres', "CREATE TABLE ${name}_heap ($tables{$name}) USING heap") if $node == $publisher;
	}
	$node->safe_psql('postgres', 'ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_id_key; ALTER TABLE by_full REPLICA IDENTITY FULL');
}
sub on_all
{
	my ($sql) = @_;
	foreach my $name (sort keys %tables)
	{
		foreach my $table ($name, "${name}_heap")
		{
			(my $statement = $sql) =~ s/\bTAB\b/$table/g;
			$publisher->safe_psql('postgres', $statement);
		}
	}
	return;
}

# the heap twins stay at the publisher: they are the model, and not published below
on_all(q{INSERT INTO TAB (id, host, v, pad) SELECT i, 'h' || i % 3, i, repeat('p', i % 50) FROM generate_series(1, 2000) i});
$publisher->safe_psql('postgres', "SELECT compress_chunk('$_')") foreach sort keys %tables;
$publisher->safe_psql('postgres', 'CREATE PUBLICATION pub FOR TABLE ' . join ', ', sort keys %tables);
my $source = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub CONNECTION '$source' PUBLICATION pub");
$subscriber->wait_for_subscription_sync($publisher, 'sub');

sub compare
{
	my ($what) = @_;
	$publisher->wait_for_catchup('sub');
	foreach my $name (sort keys %tables)
	{
		my $hash = 'SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM %s AS t';
		my $want = $publisher->safe_psql('postgres', sprintf $hash, "${name}_heap");
		is($publisher->safe_psql('postgres', sprintf $hash, $name), $want, "$what, $name: publisher");
		is($subscriber->safe_psql('postgres', sprintf $hash, $name), $want, "$what, $name: subscriber");
	}
	return;
}

sub subscriber_all
{
	my ($sql) = @_;
	$subscriber->safe_psql('postgres', "SET client_min_messages = error; SELECT $_") foreach map { $sql =~ s/TAB/'$_'/r } sort keys %tables;
	return;
}

compare('copied');
subscriber_all('compress_chunk(TAB)');
compare('compressed at both ends');
on_all('UPDATE TAB SET v = -1 WHERE id BETWEEN 100 AND 120');
compare('updated');
on_all('DELETE FROM TAB WHERE id BETWEEN 300 AND 320');
compare('deleted');
on_all('UPDATE TAB SET id = id + 10000 WHERE id BETWEEN 500 AND 510');
compare('keys changed');
on_all(q{BEGIN; UPDATE TAB SET v = 1 WHERE id = 600; UPDATE TAB SET v = 2 WHERE id = 600; DELETE FROM TAB WHERE id = 601; INSERT INTO TAB (id, host, v) VALUES (601, 'h0', 3); SAVEPOINT s; DELETE FROM TAB WHERE id = 602; ROLLBACK TO s; COMMIT});
compare('changed in one transaction');
on_all(q{INSERT INTO TAB (id, host, v) SELECT i, 'h9', i FROM generate_series(3001, 3500) i});
subscriber_all('compress_chunk(TAB, recompress => true)');
$publisher->safe_psql('postgres', "SELECT compress_chunk('$_', recompress => true)") foreach sort keys %tables;
on_all('UPDATE TAB SET v = v + 1 WHERE id % 10 = 0');
compare('recompressed, every tenth updated');
is_sound($subscriber, $_, "subscriber's $_") foreach sort keys %tables;
subscriber_all('decompress_chunk(TAB)');
on_all('UPDATE TAB SET v = v + 1 WHERE id % 7 = 0');
compare('decompressed');
subscriber_all('compress_chunk(TAB)');
on_all('TRUNCATE TAB');
compare('truncated');
on_all(q{INSERT INTO TAB (id, host, v) SELECT i, 'h9', i FROM generate_series(1, 1000) i});
subscriber_all('compress_chunk(TAB)');
on_all('DELETE FROM TAB WHERE id <= 900');
compare('filled again, most deleted');

# changes while the subscriber compresses all the time
on_all(q{INSERT INTO TAB (id, host, v) SELECT i, 'h' || i % 4, i FROM generate_series(5001, 8000) i});
$publisher->wait_for_catchup('sub');
my ($busy, $said) = start_psql($subscriber, "SET client_min_messages = error;\n" . join '', map {
		my $n = $_; map { "SELECT compress_chunk('$_', recompress => " . ($n % 2 ? 'true' : 'false') . ");\n" } sort keys %tables } 1 .. 15);
on_all("UPDATE TAB SET v = v + $_ WHERE id % 100 = $_") foreach 1 .. 10;
$busy->finish;
compare('changed during compressions');

# --- conflicts stop a subscription as they do with heap: a missing row is skipped, a duplicate stops it
$subscriber->safe_psql('postgres', q{DELETE FROM by_key WHERE id = 5500; INSERT INTO by_key VALUES (9999, 'x', 0, 'here')});
subscriber_all('compress_chunk(TAB, recompress => true)');
$publisher->safe_psql('postgres', q{UPDATE by_key SET v = 0 WHERE id = 5500; DELETE FROM by_key WHERE id = 5500});
$publisher->wait_for_catchup('sub');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM by_key WHERE id = 5500'), '0', 'a change of a row that is not there is skipped');
my $offset = -s $subscriber->logfile;
$publisher->safe_psql('postgres', q{INSERT INTO by_key VALUES (9999, 'y', 1, 'there')});
ok($subscriber->wait_for_log(qr/duplicate key value violates unique constraint "by_key_pkey"/, $offset) || 1, 'a duplicate of a compressed row is noticed');
$subscriber->safe_psql('postgres', 'DELETE FROM by_key WHERE id = 9999');
$publisher->wait_for_catchup('sub');
is($subscriber->safe_psql('postgres', 'SELECT host FROM by_key WHERE id = 9999'), 'y', 'and applied once the row is gone');

# --- FOR ALL TABLES: a new subscriber gets all tables, and asks for no companion
$publisher->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES');
my $second = strata_node('second');
$second->safe_psql('postgres', 'CREATE EXTENSION strata');
foreach my $name (sort keys %tables)
{
	$second->safe_psql('postgres', "CREATE TABLE $name ($tables{$name}) USING strata; CREATE TABLE ${name}_heap ($tables{$name}) USING heap");
}
$second->safe_psql('postgres', "CREATE SUBSCRIPTION sub2 CONNECTION '$source' PUBLICATION everything");
$second->wait_for_subscription_sync($publisher, 'sub2');
is($second->safe_psql('postgres', 'SELECT count(*) FROM by_key'), $publisher->safe_psql('postgres', 'SELECT count(*) FROM by_key'), 'FOR ALL TABLES: copied');
$publisher->safe_psql('postgres', q{SELECT compress_chunk('by_key', recompress => true); UPDATE by_key SET v = 77 WHERE id = 6000});
$publisher->wait_for_catchup('sub2');
is($second->safe_psql('postgres', 'SELECT v FROM by_key WHERE id = 6000'), '77', 'FOR ALL TABLES: streams');

$_->stop foreach ($second, $subscriber, $publisher);
done_testing();
