# test/t/420_documents.pl
#	  Every SQL example of README.md and docs/ runs, as a role that is no superuser
#	  and owns its database; every function and view that users call has one, and
#	  docs/functions.md is what the catalog says.
#
#	  In a page, "<!-- before: SQL -->" runs where it stands and is not shown, and
#	  the example behind "<!-- runs in FILE -->" is one that the test FILE runs, as
#	  it takes more than one server; the file must be there.
use strict;
use warnings;

use FindBin;
use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = "$FindBin::RealBin/../..";
my $node = strata_node('documents',
	"allow_in_place_tablespaces = on\nmax_worker_processes = 32\nautovacuum = off\nstrata.max_job_workers = 0\n");
$node->safe_psql('postgres', 'CREATE ROLE docs_owner LOGIN');

# The text runs in a database of its own, from its first to its last line.
my $databases = 0;
sub runs
{
	my ($name, $text) = @_;
	my $database = 'docs_' . ++$databases;
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER docs_owner");
	$node->safe_psql($database, 'CREATE EXTENSION strata');
	my ($out, $err) = ('', '');
	my $file = "$PostgreSQL::Test::Utils::tmp_check/$database.sql";
	append_to_file($file, "SET client_min_messages = warning;\nGRANT ALL ON SCHEMA public TO docs_owner;\n"
		. "SET SESSION AUTHORIZATION docs_owner;\n$text");
	my $ok = IPC::Run::run(
		[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', $file ],
		'>', \$out, '2>', \$err);
	ok($ok, "examples of $name");
	diag($err) unless $ok;
	return;
}

# What of a page is run, and how many of its examples.
sub examples_of
{
	my ($page) = @_;
	my ($text, $examples, $elsewhere) = ('', 0, undef);
	my $source = slurp_file($page);
	while ($source =~ /<!-- before:\s(.*?)-->|<!-- runs in (\S+) -->|^```sql\n(.*?)^```$/gms)
	{
		if (defined $1) { $text .= "$1\n"; }
		elsif (defined $2)
		{
			$elsewhere = $2;
			ok(-f "$root/$elsewhere", "$page: $elsewhere is there");
		}
		else
		{
			$text .= "$3\n" unless $elsewhere;
			$examples++;
			$elsewhere = undef;
		}
	}
	return ($text, $examples);
}

foreach my $page ("$root/README.md", sort glob("$root/docs/*.md"))
{
	next if $page =~ /functions\.md$/;
	my ($text, $examples) = examples_of($page);
	(my $name = $page) =~ s{.*/}{};
	runs("$name ($examples)", $text) if $text ne '';
}

my @sections = split /^-- # (.+)$/m, slurp_file("$root/docs/functions.sql");
shift @sections;
while (my ($title, $text) = splice(@sections, 0, 2))
{
	# strata.gc() is a superuser's
	$text =~ s/^(SELECT strata\.gc\(\);.*)$/RESET SESSION AUTHORIZATION;\n$1\nSET SESSION AUTHORIZATION docs_owner;/m;
	runs("functions.sql, $title", $text);
}

$node->safe_psql('postgres', 'CREATE EXTENSION strata');
my $said = '';
ok(IPC::Run::run([ $ENV{STRATA_PYTHON} || 'python3', "$root/tools/functions.py", $node->connstr('postgres'), '--check' ], '>', \$said),
	'every function and view has an example and a description, and docs/functions.md is up to date')
  or diag($said);

$node->stop;
done_testing();
