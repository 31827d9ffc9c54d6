# test/t/200_differential.pl
#	  A short run of the differential tester (test/props): the same random
#	  statements on heap and strata tables must give the same answers.
#	  STRATA_SEED and STRATA_STEPS change it; make test-props runs longer ones.
#
#	  Switches are turned on and off in between: scan:R12, base:A1.
use strict;
use warnings;

use FindBin;
use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{STRATA_SEED} || 1;
my $steps = $ENV{STRATA_STEPS} || 2000;
my $node = strata_node('differential', "max_wal_size = 2GB\nshared_buffers = 128MB\nmax_prepared_transactions = 8\n");
my $output = '';

my $ok = IPC::Run::run(
	[   $ENV{STRATA_PYTHON} || 'python3', "$FindBin::RealBin/../props/differential.py", '--dsn', $node->connstr('postgres'),
		'--seed', $seed, '--steps', $steps, '--out', $PostgreSQL::Test::Utils::log_path ],
	'>', \$output, '2>&1');
diag($output) unless $ok;
ok($ok, "seed $seed, $steps steps: heap and strata agree");
like($output, qr/ 0 differences$/m, 'and the tester ran to its end');

$ok = IPC::Run::run(
	[   $ENV{STRATA_PYTHON} || 'python3', "$FindBin::RealBin/../props/differential.py", '--dsn', $node->connstr('postgres'), '--am', 'strata_dedup',
		'--seed', $seed, '--steps', $steps / 4, '--out', $PostgreSQL::Test::Utils::log_path ],
	'>', \$output, '2>&1');
diag($output) unless $ok;
ok($ok, "heap and strata_dedup agree");

$node->stop;
done_testing();
