# test/t/395_monitoring.pl
#	  monitoring/: each query of the exporter runs as a role that watches, gives
#	  the columns it declares, and the dashboard uses metrics that there are.
use strict;
use warnings;

use FindBin;
use JSON::PP;
use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $directory = "$FindBin::RealBin/../../monitoring";
my $node = strata_node('watched', "autovacuum = off\n");
sub sql { return $node->safe_psql('postgres', $_[0]); }

# The file is YAML of one shape: names, a query as a block, metrics one a line.
sub read_queries
{
	my (%queries, $name, $in_query);
	foreach my $line (split /\n/, slurp_file("$directory/queries.yaml"))
	{
		if ($line =~ /^(\w+):$/) { ($name, $in_query) = ($1, 0); }
		elsif ($line =~ /^  query: \|$/) { $in_query = 1; }
		elsif ($in_query && $line =~ /^    (.*)/) { $queries{$name}{query} .= "$1\n"; }
		elsif ($line =~ /^    - (\w+): \{usage: "(LABEL|GAUGE|COUNTER)", description: "[^"]+"\}$/)
		{
			push @{ $queries{$name}{columns} }, $1;
			$queries{$name}{usage}{$1} = $2;
		}
		else
		{
			$in_query = 0;
			like($line, qr/^(#.*|  metrics:|  cache_seconds: \d+|)$/, "a line of the shape: $line") if $line !~ /^(#|$)/;
		}
	}
	return \%queries;
}

sql(q{
	CREATE EXTENSION strata;
	CREATE ROLE owner;
	GRANT CREATE ON SCHEMA public TO owner;
	CREATE ROLE watcher LOGIN;
	GRANT pg_monitor TO watcher;
	SET ROLE owner;
	SET client_min_messages = error;
	CREATE TABLE m (ts timestamptz NOT NULL, host text, v float8);
	SELECT create_hypertable('m', 'ts', chunk_time_interval => interval '12 hours');
	ALTER TABLE m SET (strata.segmentby = 'host');
	INSERT INTO m SELECT '2026-01-01 00:00+00'::timestamptz + i * interval '10 s', 'h' || i % 5, i % 90 FROM generate_series(0, 8639) i;
	SELECT compress_chunk(c) FROM show_chunks('m') c;
	INSERT INTO m SELECT '2026-01-01 00:00:01+00'::timestamptz + i * interval '200 s', 'h' || i % 5, i % 90 FROM generate_series(0, 431) i;
	SELECT count(v) FROM m WHERE host = 'h1';
	SELECT add_compression_policy('m', interval '1 day', initial_start => 'infinity');
	CREATE TABLE plain (i int) USING strata;
});

my $queries = read_queries();
cmp_ok(scalar(keys %$queries), '>=', 6, 'queries are there');
my %values;
foreach my $name (sort keys %$queries)
{
	my $query = $queries->{$name};
	my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE watcher; SELECT row_to_json(q) FROM ($query->{query}) q");
	is($err, '', "$name: runs for a member of pg_monitor");
	my @rows = map { decode_json($_) } grep { /^\{/ } split /\n/, $out;
	$values{$name} = \@rows;
	# a count of no progress is a row, and no problem is none
	cmp_ok(scalar(@rows), '>', 0, "$name: has rows") if $name ne 'strata_problem';
	foreach my $row (@rows)
	{
		my $columns = join(' ', sort keys %$row);
		is($columns, join(' ', sort @{ $query->{columns} }), "$name: columns are those declared");
		my @bad = grep { $query->{usage}{$_} ne 'LABEL' && defined $row->{$_} && $row->{$_} !~ /^-?[0-9.]+(e[+-]?\d+)?$/i } keys %$row;
		is("@bad", '', "$name: values are numbers");
		last;
	}
	my %seen;
	my @labels = grep { $query->{usage}{$_} eq 'LABEL' } @{ $query->{columns} };
	my @twice = grep { $seen{ join("\t", @{$_}{@labels}) }++ } @rows;
	is(scalar(@twice), 0, "$name: labels tell rows apart");
}

# what they say is so
my ($m) = grep { $_->{relation} eq 'm' } @{ $values{strata_savings} };
is($m->{compressed_tables}, 2, 'savings of a hypertable of somebody else');
is($m->{bytes_now}, sql("SELECT hypertable_size('m')"), 'bytes on disk');
my $bytes = 0;
$bytes += $_->{bytes} foreach grep { $_->{relation} eq 'm' } @{ $values{strata_size} };
is($bytes, $m->{bytes_now}, 'sizes by kind add up');
my ($counted) = grep { $_->{relation} eq 'm' } @{ $values{strata_table} };
cmp_ok($counted->{batches_pruned_by_segment}, '>', 0, 'counters of a hypertable');
is(scalar(grep { $_->{relation} eq 'plain' } @{ $values{strata_table} }), 1, 'and of a table');
is(scalar(grep { $_->{relation} eq 'm' } @{ $values{strata_job} }), 1, 'a policy is a job of its hypertable');

# the dashboard
my $dashboard = decode_json(slurp_file("$directory/grafana.json"));
my %metrics = map { my $name = $_; map { ("${name}_$_" => 1) } @{ $queries->{$name}{columns} } } keys %$queries;
my (%used, %ids);
foreach my $panel (@{ $dashboard->{panels} })
{
	is($ids{ $panel->{id} }++, 0, "panel $panel->{id} is one: $panel->{title}");
	next if $panel->{type} eq 'row';
	foreach my $target (@{ $panel->{targets} })
	{
		my @names = $target->{expr} =~ /\b(strata_\w+)/g;
		cmp_ok(scalar(@names), '>', 0, "$panel->{title}: asks for metrics");
		is(join(' ', grep { !$metrics{$_} } @names), '', "$panel->{title}: all of them are exported");
		$used{ (/^(strata_[a-z]+)/)[0] }++ foreach @names;
		is($target->{expr} =~ tr/(//, $target->{expr} =~ tr/)//, "$panel->{title}: parentheses");
		foreach my $variable ($target->{expr} =~ /\$(\w+)/g)
		{
			ok($variable eq '__rate_interval' || (grep { $_->{name} eq $variable } @{ $dashboard->{templating}{list} }), "$panel->{title}: variable $variable");
		}
	}
}
is(join(' ', sort keys %used), join(' ', sort keys %$queries), 'every query is shown');
$node->stop;
done_testing();
