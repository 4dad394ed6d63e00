# SPDX-License-Identifier: Apache-2.0
# A live todo list over Statewire: "text" adds a todo, "x 2" completes number 2, "d 2" removes it.
# As short as possible; todo.pl is readable and detects more errors. perl short.pl [PROGRAM]
use strict; use warnings; use JSON::PP; use IPC::Open2; use IO::Select;
binmode STDOUT, ':encoding(UTF-8)'; $| = 1; $SIG{PIPE} = 'IGNORE';
my $pid = open2(my $from, my $to, $ENV{STATEWIRE} // shift // 'statewire', 'serve');
my $both = IO::Select->new($from, \*STDIN); my %got = ($from, '', \*STDIN, '');  # bytes unread
my ($id, $open, $typed, $revision, %held) = (0, 0, '');  # $open: open requests; $held{state}
sub ask { my ($method, %params) = (@_, store => 'todo'); $open++; print $to encode_json({
    jsonrpc => '2.0', id => ++$id, method => $method, params => \%params}), "\n" }
sub act { ask('store/send', input => {@_}, settle => JSON::PP::true) }
sub shown { $_[0] =~ s/[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/\x{fffd}/gr }  # safe on a terminal
sub typed { my ($line) = @_; utf8::decode($line); $typed = $line;
    return act(type => 'todoAdded', id => "$$-$^T-$id", title => $line)
        if $line !~ /^([xd]) ([1-9][0-9]{0,8})$/;
    my $todo = ($held{state}{todos} // [])->[$2 - 1] or return print "! there is no number $2\n";
    act(type => $1 eq 'x' ? 'todoCompleted' : 'todoRemoved', id => $todo->{id}) }
sub patch { my ($op, $path, $value, $source) = @{$_[0]}{'op', 'path', 'value', 'from'};
    $value = patch({op => 'remove', path => $source}) if $op eq 'move';
    my ($at, @keys) = (\%held, map { s/~1/\//gr =~ s/~0/~/gr } split m{/}, "state$path", -1);
    my $key = pop @keys; $at = ref $at eq 'ARRAY' ? $at->[$_] : $at->{$_} for @keys;
    return $op eq 'remove' ? delete $at->{$key} : ($at->{$key} = $value) if ref $at eq 'HASH';
    splice @$at, $key, $op =~ /^re/, $op eq 'remove' ? () : $value }  # both take one out
sub draw { my ($state, $n) = ($held{state}, 0); print -t STDOUT ? "\e[H\e[2J\e[3J" : "--\n";
    printf "%3d [%s] %s\n", ++$n, $_->{completed} ? 'x' : ' ', shown($_->{title})
        for @{$state->{todos} // []};
    print shown($state->{message} // "($state->{type})"), "\n" if !$n }
sub received { my ($method, $p, $result, $error) = @{$_[0]}{'method', 'params', 'result', 'error'};
    if (!$method) { $open--; print '! ', shown("$error->{message}: $typed"), "\n" if $error;
        return if !$result->{state};
        ($revision, $held{state}) = @$result{'revision', 'state'}; draw() }
    elsif ($method ne 'store/changed' || !defined $revision) { return }  # state requested
    elsif ($p->{base} != $revision) { undef $revision; ask('store/subscribe') }  # a gap
    else { patch($_) for @{$p->{patch}}; $revision = $p->{revision}; draw() } }
ask('store/open', kind => 'todo'); ask('store/subscribe'); act(type => 'stateRequested');
while ($open || $both->exists(\*STDIN)) {
    for my $in ($both->can_read) { next if sysread $in, $got{$in}, 65536, length $got{$in};
        die "server ended\n" if $in == $from; $both->remove($in); $got{$in} =~ s/[^\n]\K\z/\n/ }
    received(decode_json($1)) while $got{$from} =~ s/^(.*)\n//;
    typed($1) while !$open && $got{+\*STDIN} =~ s/^(.*?)\r?\n// }  # one at a time: numbers as shown
close $to; waitpid $pid, 0;
