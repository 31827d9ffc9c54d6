# test/t/210_damage.pl
#	  A short run of test/damage: whatever is written into a companion, queries
#	  say so or answer right.  STRATA_SEED and STRATA_STEPS change it; make
#	  test-damage runs longer ones.
use strict;
use warnings;

use FindBin;
use StrataTest;
use Test::More;

my $seed = $ENV{STRATA_SEED} || 1;
my $rounds = $ENV{STRATA_STEPS} || 60;
my $node = strata_node('damage');
my $output = '';

$node->safe_psql('postgres', 'CREATE EXTENSION strata');
my $ok = IPC::Run::run(
	[   $ENV{STRATA_PYTHON} || 'python3', "$FindBin::RealBin/../damage/damage.py", '--dsn', $node->connstr('postgres'),
		'--seed', $seed, '--rounds', $rounds ],
	'>', \$output, '2>&1');
diag($output) unless $ok;
ok($ok, "seed $seed, $rounds rounds: no crash, no wrong row");
like($output, qr/^$rounds rounds, 0 findings$/m, 'and the program ran to its end');

$node->stop;
done_testing();
