#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
#
# A live todo list in Perl without dependencies, written from PROTOCOL.md. To run it:
#   STATEWIRE=.build/debug/statewire perl Examples/Frontends/todo.pl
# "text" adds a todo, "x 2" completes number 2, "d 2" removes it, an empty line reloads the list.
# Several pasted lines become several todos. Refused lines stay below the list.
use strict; use warnings;
use IO::Select; use IPC::Open2; use JSON::PP;

binmode STDOUT, ':encoding(UTF-8)'; $| = 1; $SIG{PIPE} = 'IGNORE';
my $service = open2(my $from, my $to, $ENV{STATEWIRE} // 'statewire', 'serve');
my ($id, $open) = (0, 0);    # the latest request id; the number of open requests
my ($revision, %held);       # undefined while the state is requested; $held{state} is the state
my ($typed, @refused) = '';  # the latest line; the last ten refused lines, with reasons
my $ticked;                  # the id of the todo that the latest line completes
my $own = sprintf '%x-%x-%x-', time, $$, rand 2**32;    # the prefix of ids of new todos

sub ask {
    my ($method, %params) = (@_, store => 'todo');
    my %request = (jsonrpc => '2.0', id => ++$id, method => $method, params => \%params);
    $open++;
    print $to encode_json(\%request), "\n";
}
sub act { ask('store/send', input => {@_}, settle => JSON::PP::true) }
sub subscribe { undef $revision; ask('store/subscribe') }

sub apply {    # applies one operation of a patch; returns the removed value
    my ($op, $path, $value, $source) = @{$_[0]}{qw(op path value from)};
    die "unknown operation $op" if $op !~ /^(add|remove|replace|move)$/;
    $value = apply({op => 'remove', path => $source}) if $op eq 'move';
    my ($in, @keys) = (\%held, map { s/~1/\//gr =~ s/~0/~/gr } split m{/}, "state$path", -1);
    my $key = pop @keys;
    $in = ref $in eq 'ARRAY' ? $in->[$_] : $in->{$_} for @keys;
    return $op eq 'remove' ? delete $in->{$key} : ($in->{$key} = $value) if ref $in eq 'HASH';
    splice @$in, $key, $op =~ /^re/ ? 1 : 0, $op eq 'remove' ? () : $value;
}

sub shown {    # replaces control characters and bidirectional controls
    my $text = $_[0] =~ s/([\0-\x1f])/chr(0x2400 + ord $1)/ger;
    return $text =~ s/[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/\x{fffd}/gr;
}

sub draw {
    my ($state, $number) = ($held{state}, 0);
    print -t STDOUT ? "\e[H\e[2J\e[3J" : "--\n";
    printf "%3d [%s] %s\n", ++$number, $_->{completed} ? 'x' : ' ', shown($_->{title})
        for @{$state->{todos} // []};
    print shown($state->{message} // "($state->{type})"), "\n" if !$number;
    print map { "! $_\n" } @refused;
}

sub received {
    my ($method, $params, $result, $error) = @{$_[0]}{qw(method params result error)};
    if (!$method) {
        $open--;
        # One input is sent at a time, so an error with id null belongs to the latest line too.
        refuse($error->{message}) if $error;
        # A failed effect is not an error response but part of the state.
        refuse("$held{state}{message}, may not be done")
            if $typed ne '' && !$error && ($held{state}{type} // '') eq 'error';
        undef $ticked if $error;
        return subscribe() if defined $revision && ($result->{revision} // 0) > $revision;
        ($revision, $held{state}) = @$result{qw(revision state)} if $result->{state};
        # An input to a removed todo is accepted and ignored.
        if (defined $ticked && defined $revision) {
            my $todos = $held{state}{todos};
            refuse('another client has removed it')
                if $todos && !grep { $_->{id} eq $ticked } @$todos;
            undef $ticked;
        }
        return if !$result->{state};
    } else {
        return if $method ne 'store/changed' || !defined $revision;
        return subscribe() if $params->{base} != $revision;
        eval { apply($_) for @{$params->{patch}}; 1 } or return subscribe();
        $revision = $params->{revision};
    }
    draw();
}

sub refuse {
    my ($reason) = @_;
    push @refused, shown($typed eq '' ? $reason : "$reason: $typed");
    shift @refused if @refused > 10;
    print "! $refused[-1]\n";
}

sub typed {
    my ($line) = @_;
    utf8::decode($line);
    $typed = $line;
    return act(type => 'stateRequested') if $line eq '';
    return act(type => 'todoAdded', id => "$own$id", title => $line)
        if $line !~ /^([xd]) ([1-9][0-9]{0,8})$/;
    my $todo = ($held{state}{todos} // [])->[$2 - 1] or return refuse('there is no todo with this number');
    $ticked = $todo->{id} if $1 eq 'x';
    act(type => $1 eq 'x' ? 'todoCompleted' : 'todoRemoved', id => $todo->{id});
}

subscribe();
act(type => 'stateRequested');
my $both = IO::Select->new($from, \*STDIN);
my %unread = ($from, '', \*STDIN, '');
while ($open || $both->exists(\*STDIN)) {
    for my $in ($both->can_read) {
        next if sysread $in, $unread{$in}, 65536, length $unread{$in};
        die "the server has ended\n" if $in == $from;
        $both->remove($in);
        $unread{$in} =~ s/[^\n]\K\z/\n/;
    }
    received(decode_json($1)) while $unread{$from} =~ s/^(.*)\n//;
    typed($1) while !$open && $unread{+\*STDIN} =~ s/^(.*?)\r?\n//;    # one at a time: numbers as shown
}
close $to;
waitpid $service, 0;
