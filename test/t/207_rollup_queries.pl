# test/t/207_rollup_queries.pl
#	  Continuous aggregates of random definitions, and random aggregate queries
#	  of their table, beside a heap twin (test/props/rollup_queries.py, which has
#	  longer runs).  STRATA_SEED changes them.
use strict;
use warnings;

use FindBin;
use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{STRATA_SEED} || 1;
my $node = strata_node('rollup_queries', "shared_buffers = 128MB\nfsync = off\n");
my $output = '';

my $ok = IPC::Run::run(
	[   $ENV{STRATA_PYTHON} || 'python3', "$FindBin::RealBin/../props/rollup_queries.py", '--dsn', $node->connstr('postgres'),
		'--seed', $seed, '--steps', 300 ],
	'>', \$output, '2>&1');
diag($output) unless $ok;
ok($ok, "seed $seed: archives and rows agree");
like($output, qr/, [1-9]\d* answered by archives, 0 differences$/m, 'and archives have answered');
note($output);

$node->stop;
done_testing();
