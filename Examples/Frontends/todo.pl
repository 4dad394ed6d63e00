#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
#
# A live todo list, written from PROTOCOL.md alone. It needs nothing but Perl; to run it:
#   STATEWIRE=.build/debug/statewire perl Examples/Frontends/todo.pl
# "text" adds it, "x 2" completes number 2, "d 2" removes it, an empty line loads the list again.
use strict; use warnings;
use IO::Select; use IPC::Open2; use JSON::PP;

binmode STDOUT, ':encoding(UTF-8)'; $| = 1; $SIG{PIPE} = 'IGNORE';
my $service = open2(my $from, my $to, $ENV{STATEWIRE} // 'statewire', 'serve');
my ($id, $open) = (0, 0);    # the latest request; how many wait for their answer
my ($revision, %held);       # undefined while the state is asked for; $held{state} is the state

sub ask {
    my ($method, %params) = (@_, store => 'todo');
    my %request = (jsonrpc => '2.0', id => ++$id, method => $method, params => \%params);
    $open++;
    print $to encode_json(\%request), "\n";
}
sub act { ask('store/send', input => {@_}, settle => JSON::PP::true) }
sub subscribe { undef $revision; ask('store/subscribe') }

sub apply {    # one operation of a patch; gives what was removed
    my ($op, $path, $value, $source) = @{$_[0]}{qw(op path value from)};
    die "what is $op?" if $op !~ /^(add|remove|replace|move)$/;
    $value = apply({op => 'remove', path => $source}) if $op eq 'move';
    my ($in, @keys) = (\%held, map { s/~1/\//gr =~ s/~0/~/gr } split m{/}, "state$path", -1);
    my $key = pop @keys;
    $in = ref $in eq 'ARRAY' ? $in->[$_] : $in->{$_} for @keys;
    return $op eq 'remove' ? delete $in->{$key} : ($in->{$key} = $value) if ref $in eq 'HASH';
    splice @$in, $key, $op =~ /^re/ ? 1 : 0, $op eq 'remove' ? () : $value;
}

sub draw {
    my ($state, $number) = ($held{state}, 0);
    print -t STDOUT ? "\e[H\e[2J\e[3J" : "--\n";
    printf "%3d [%s] %s\n", ++$number, $_->{completed} ? 'x' : ' ', $_->{title} =~ s/\p{Cc}/ /gr
        for @{$state->{todos} // []};
    print $state->{message} // "($state->{type})", "\n" if !$number;
}

sub received {
    my ($method, $params, $result, $error) = @{$_[0]}{qw(method params result error)};
    if (!$method) {
        $open--;
        print "! $error->{message}\n" if $error;
        return subscribe() if defined $revision && ($result->{revision} // 0) > $revision;
        return if !$result->{state};
        ($revision, $held{state}) = @$result{qw(revision state)};
    } else {
        return if $method ne 'store/changed' || !defined $revision;
        return subscribe() if $params->{base} != $revision;
        eval { apply($_) for @{$params->{patch}}; 1 } or return subscribe();
        $revision = $params->{revision};
    }
    draw();
}

sub typed {
    my ($line) = @_;
    utf8::decode($line);
    return act(type => 'stateRequested') if $line eq '';
    return act(type => 'todoAdded', title => $line) if $line !~ /^([xd]) ([1-9][0-9]{0,8})$/;
    my $todo = ($held{state}{todos} // [])->[$2 - 1] or return print "! there is no number $2\n";
    act(type => $1 eq 'x' ? 'todoCompleted' : 'todoRemoved', id => $todo->{id});
}

subscribe();
act(type => 'stateRequested');
my $both = IO::Select->new($from, \*STDIN);
my %unread = ($from, '', \*STDIN, '');
while ($open || $both->exists(\*STDIN)) {
    for my $in ($both->can_read) {
        next if sysread $in, $unread{$in}, 65536, length $unread{$in};
        die "the service has ended\n" if $in == $from;
        $both->remove($in);
        $unread{$in} =~ s/[^\n]\K\z/\n/;
    }
    received(decode_json($1)) while $unread{$from} =~ s/^(.*)\n//;
    typed($1) while !$open && $unread{+\*STDIN} =~ s/^(.*?)\r?\n//;    # numbers as they are shown
}
close $to;
waitpid $service, 0;
