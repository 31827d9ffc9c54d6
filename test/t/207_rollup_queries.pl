# test/t/207_rollup_queries.pl
#	  Continuous aggregates of random definitions, and random aggregate queries
#	  of their table, beside a heap twin; archives of several widths, and queries
#	  beyond the rows (test/props/rollup_queries.py and rollup_archives.py, which
#	  have longer runs).  STRATA_SEED changes them.
use strict;
use warnings;

use FindBin;
use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{STRATA_SEED} || 1;
my $node = strata_node('rollup_queries', "shared_buffers = 128MB\nfsync = off\n");

sub agree
{
	my ($script, $steps, $what) = @_;
	my $output = '';
	my $ok = IPC::Run::run(
		[   $ENV{STRATA_PYTHON} || 'python3', "$FindBin::RealBin/../props/$script", '--dsn', $node->connstr('postgres'),
			'--seed', $seed, '--steps', $steps ],
		'>', \$output, '2>&1');
	diag($output) unless $ok;
	ok($ok, "seed $seed: $what");
	like($output, qr/, [1-9]\d* answered by archives, .*0 differences$/m, 'and archives have answered');
	note($output);
	return;
}

agree('rollup_queries.py', 300, 'archives and rows agree');
agree('rollup_archives.py', 300, 'archives of several widths agree with all rows there ever were');

$node->stop;
done_testing();
