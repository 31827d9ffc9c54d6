# test/t/StrataProtocol.pm
#	  A client of PostgreSQL's protocol that keeps all bytes it is sent: the
#	  extended protocol with formats, portals and portions, which psql has not.
package StrataProtocol;

use strict;
use warnings;

use IO::Socket::UNIX;

# A session of the node's owner, in the database postgres.
sub new
{
	my ($class, $node) = @_;
	my $path = $node->host . '/.s.PGSQL.' . $node->port;
	my $socket = IO::Socket::UNIX->new(Peer => $path) || die "no connection to $path: $!";
	my $self = bless { socket => $socket, pending => '', bytes => '', notices => [] }, $class;
	my $startup = pack('N', 196608) . "user\0" . getpwuid($<) . "\0database\0postgres\0\0";
	print $socket pack('N', 4 + length $startup) . $startup;
	$self->read_until('Z');
	return $self;
}

sub send_message
{
	my ($self, $type, $body) = @_;
	my $socket = $self->{socket};
	print $socket $type . pack('N', 4 + length $body) . $body;
	$socket->flush;
	return;
}

# Messages up to one of these types, or of an error; what it was.  Notices are kept apart.
sub read_until
{
	my ($self, $types) = @_;
	while (1)
	{
		while (length $self->{pending} >= 5)
		{
			my ($type, $len) = unpack('aN', $self->{pending});
			last if length $self->{pending} < 1 + $len;
			my $message = substr($self->{pending}, 0, 1 + $len, '');
			if ($type eq 'N')
			{
				push @{ $self->{notices} }, $message;
				next;
			}
			# the secret of the session, its place: different for each
			$self->{bytes} .= $message if $type ne 'K';
			return $type if index($types . 'E', $type) >= 0 && ($type ne 'E' || $types ne 'Z');
		}
		sysread($self->{socket}, $self->{pending}, 1 << 20, length $self->{pending}) || die 'the server has closed the connection';
	}
	return;
}

# All bytes since the last call, but those of notices.
sub bytes
{
	my ($self) = @_;
	my $bytes = $self->{bytes};
	$self->{bytes} = '';
	return $bytes;
}

# Notices of this text.
sub count
{
	my ($self, $text) = @_;
	return scalar grep { $_ =~ $text } @{ $self->{notices} };
}

sub simple
{
	my ($self, $query) = @_;
	$self->send_message('Q', "$query\0");
	return $self->read_until('Z');
}

sub sync
{
	my ($self) = @_;
	$self->send_message('S', '');
	return $self->read_until('Z');
}

# Make a portal of the query and have it described.
sub bind
{
	my ($self, $portal, $query, %options) = @_;
	my @parameters = @{ $options{parameters} // [] };
	my @formats = @{ $options{formats} // [] };
	my $bind = "$portal\0\0" . pack('nn', 0, scalar @parameters);
	$bind .= pack('N', length $_) . $_ foreach (@parameters);
	$self->send_message('P', "\0$query\0" . pack('n', 0));
	$self->send_message('B', $bind . pack('n*', scalar @formats, @formats));
	$self->send_message('D', "P$portal\0");
	$self->send_message('H', '');
	return $self->read_until('Tn');
}

# So many rows of the portal, 0: all; the type of the message behind them.
sub execute
{
	my ($self, $portal, $rows) = @_;
	$self->send_message('E', "$portal\0" . pack('N', $rows));
	$self->send_message('H', '');
	return $self->read_until('CsI');
}

# All of a query's rows, in portions; how many these were.
sub query
{
	my ($self, $query, %options) = @_;
	my $portal = $options{portal} // '';
	my $end = $self->bind($portal, $query, %options);
	my $portions = 0;
	while ($end ne 'E')
	{
		$end = $self->execute($portal, $options{rows} // 0);
		$portions++;
		last if $end ne 's';
	}
	$self->sync;
	return $portions;
}

1;
