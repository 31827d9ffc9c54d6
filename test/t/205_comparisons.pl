# test/t/205_comparisons.pl
#	  Comparisons between types, around changes of clocks in many time zones:
#	  heap and strata must agree (test/props/comparisons.py, which has longer runs).
#	  STRATA_SEED changes the values.
use strict;
use warnings;

use FindBin;
use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{STRATA_SEED} || 1;
my $node = strata_node('comparisons', "shared_buffers = 128MB\nfsync = off\n");
my $output = '';

my $ok = IPC::Run::run(
	[   $ENV{STRATA_PYTHON} || 'python3', "$FindBin::RealBin/../props/comparisons.py", '--dsn', $node->connstr('postgres'),
		'--seed', $seed, '--dates', 1, '--each', 1, '--plain', 1, '--layouts', 2, '--minutes', 30 ],
	'>', \$output, '2>&1');
diag($output) unless $ok;
ok($ok, "seed $seed: heap and strata agree");
like($output, qr/ 0 differences$/m, 'and the tester ran to its end');
note($output);

$node->stop;
done_testing();
