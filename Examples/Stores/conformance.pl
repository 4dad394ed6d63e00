#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
#
# The conformance store of Tests/Stores/README.md without a library: written from docs/reference/store-protocol.md.
# Needs Perl 5 and its module JSON::PP only.
use strict;
use warnings;
use JSON::PP;

$| = 1;
my $json = JSON::PP->new->utf8->allow_nonref->canonical;
# The stores by their numbers, and the ids of the requests for work that waits, by the number of the work.
my (%stores, %waiting);

while (my $line = <STDIN>) {
  my $message = $json->decode($line);
  my ($id, $method, $params) = @$message{qw(id method params)};
  if (!exists $message->{id}) {
    delete $stores{ $params->{store} } if $method eq 'machine/close';
    if ($method eq 'machine/cancel' and my $request = delete $waiting{ $params->{run} }) {
      send_response($request, result => {});
    }
    next;
  }
  my $result = eval { respond($method, $params, $id) };
  if (my $error = $@) {
    if (!ref $error) {
      print STDERR $error;
      $error = { code => -32603, message => $error };
    }
    send_response($id, error => $error);
  } elsif ($result) {
    send_response($id, result => $result);
  }
}

sub send_response {
  my ($id, $member, $value) = @_;
  print $json->encode({ jsonrpc => '2.0', id => $id, $member => $value }), "\n";
}

sub refuse {
  my ($message, $path, %more) = @_;
  die { code => -32602, message => $message, data => { path => $path, %more } };
}

# Returns the result of a request; nothing for work that has its response later.
sub respond {
  my ($method, $params, $id) = @_;
  return describe() if $method eq 'machine/describe';
  return begin($params, initial($params->{configuration}), 1) if $method eq 'machine/open';
  return restore($params) if $method eq 'machine/restore';
  return work($params, $id) if $method eq 'machine/run';
  my $store = $stores{ $params->{store} } or die "unknown store\n";
  return watched($store, $params->{viewers}) if $method eq 'machine/viewers';
  my ($patch, %more) =
      $method eq 'machine/input' ? input($store, $params->{input}, $params)
    : $method eq 'machine/action' ? action($store->{state}, $params->{action}, $params->{error})
    : die "unknown method $method\n";
  return update($store, $patch, %more);
}

sub describe {
  return {
    protocol => 1, version => 2, viewsBy => 'frontend', watchesViewers => JSON::PP::true,
    schemas => { input => { type => 'object', properties => { type => { type => 'string' } }, required => ['type'] } },
  };
}

sub initial {
  my ($configuration) = @_;
  my $count = $configuration->{count} // 0;
  refuse('the count is negative', ['count']) if $count < 0;
  my @items = map { { id => "$_", title => "Item $_" } } 1 .. $configuration->{items} // 0;
  return { count => $count, items => \@items, map => {}, last => undef, log => [], viewers => [] };
}

# Keeps a store that is opened or restored.
sub begin {
  my ($params, $state, $is_new) = @_;
  my $store = $stores{ $params->{store} } = {
    state => $state, name => $params->{name}, has_view => $params->{configuration}{view}, keys => {} };
  my %update;
  $update{state} = $state if $is_new;
  $update{view} = view($store) if $store->{has_view};
  return \%update;
}

sub restore {
  my ($params) = @_;
  my ($version, $state) = @$params{qw(version state)};
  die "a state of version $version is not known\n" if $version > 2;
  return begin($params, $state, 0) if $version == 2;
  my $number = 0;
  my $new = initial({ count => $state->{number} });
  $new->{items} = [map { { id => '' . ++$number, title => $_ } } @{ $state->{titles} }];
  return begin($params, $new, 1);
}

sub view {
  my ($store, $key) = @_;
  my $state = $store->{state};
  return { count => $state->{count}, items => $state->{items}, defined $key ? (you => $key) : () };
}

# Returns an update with a patch that was applied to the state. Patches of the parts that views have are patches of views.
sub update {
  my ($store, $patch, %more) = @_;
  $more{patch} = $patch if @$patch;
  my @seen = grep { $_->{path} =~ m{^/(count|items)\b} } @$patch;
  if (@seen and $store->{has_view}) {
    $more{viewPatch} = \@seen;
    $more{views} = { map { $_ => { viewPatch => \@seen } } keys %{ $store->{keys} } } if %{ $store->{keys} };
  }
  return \%more;
}

sub watched {
  my ($store, $viewers) = @_;
  my @names = grep { defined } map { $_->{frontend} } @$viewers;
  $store->{state}{viewers} = \@names;
  my %update = (patch => [replace('/viewers', \@names)]);
  if ($store->{has_view}) {
    my %keys = map { $_ => 1 } @names;
    my %views = map { $_ => undef } grep { !$keys{$_} } keys %{ $store->{keys} };
    $views{$_} = { view => view($store, $_) } for grep { !$store->{keys}{$_} } keys %keys;
    $store->{keys} = \%keys;
    $update{views} = \%views if %views;
  }
  return \%update;
}

sub replace { return { op => 'replace', path => $_[0], value => $_[1] } }

# Sets a member of the state; returns the operation of the patch.
sub set {
  my ($state, $member, $value) = @_;
  $state->{$member} = $value;
  return replace("/$member", $value);
}

sub add_to_log {
  my ($state, $text) = @_;
  push @{ $state->{log} }, $text;
  return { op => 'add', path => '/log/-', value => $text };
}

# Returns the index of an item; the number of items for an unknown id.
sub place {
  my ($items, $id) = @_;
  return scalar @$items unless defined $id;
  for my $index (0 .. $#$items) { return $index if $items->[$index]{id} eq $id }
  return scalar @$items;
}

# Applies an input to a state. Returns the patch and other members of the update.
sub input {
  my ($store, $input, $params) = @_;
  my ($type, $state) = ($input->{type}, $store->{state});
  my $items = $state->{items};
  if ($type eq 'add') {
    my $by = $input->{by};
    refuse('by is not an integer', ['by']) unless $json->encode($by) =~ /^-?\d+$/;
    return [$by ? set($state, count => $state->{count} + $by) : ()];
  }
  if ($type eq 'insert') {
    refuse('the title is empty', ['title']) if $input->{title} eq '';
    my $item = { id => $input->{id}, title => $input->{title} };
    my $index = place($items, $input->{before});
    splice @$items, $index, 0, $item;
    return [{ op => 'add', path => "/items/$index", value => $item }];
  }
  if ($type eq 'insertAll') {
    my @new = @{ $input->{items} };
    for my $index (0 .. $#new) { refuse('the title is empty', ['items', $index, 'title']) if $new[$index]{title} eq '' }
    push @$items, @new;
    return [map { { op => 'add', path => '/items/-', value => $_ } } @new];
  }
  if ($type =~ /^(remove|move|rename)$/) {
    my $index = place($items, $input->{id});
    return [] if $index == @$items;
    if ($type eq 'rename') {
      $items->[$index]{title} = $input->{title};
      return [replace("/items/$index/title", $input->{title})];
    }
    my ($item) = splice @$items, $index, 1;
    return [{ op => 'remove', path => "/items/$index" }] if $type eq 'remove';
    my $target = place($items, $input->{before});
    splice @$items, $target, 0, $item;
    return [$index == $target ? () : { op => 'move', from => "/items/$index", path => "/items/$target" }];
  }
  if ($type eq 'put') {
    my ($map, $key, $value) = ($state->{map}, $input->{key}, $input->{value});
    (my $token = $key) =~ s/~/~0/g;
    $token =~ s{/}{~1}g;
    if (!defined $value) {
      return [] unless exists $map->{$key};
      delete $map->{$key};
      return [{ op => 'remove', path => "/map/$token" }];
    }
    refuse('the map is full', [], limit => 'mapKeys') if keys %$map == 4 and !exists $map->{$key};
    $map->{$key} = $value;
    return [{ op => 'add', path => "/map/$token", value => $value }];
  }
  return [set($state, last => $input->{value})] if $type eq 'echo';
  if ($type eq 'look') {
    my %viewer = map { $_ => $params->{viewer}{$_} } qw(identity frontend role);
    return [set($state, last => { now => $params->{now}, viewer => \%viewer, name => $store->{name} })];
  }
  return [] if $type eq 'nothing';
  return action($state, { type => 'chained', n => $input->{n} }) if $type eq 'chain';
  my %woke = (milliseconds => $input->{milliseconds}, action => { type => 'woke' });
  return ([], effects => [{ type => 'after', %woke, id => 'wait' }]) if $type eq 'wait';
  return ([], effects => [{ type => 'every', %woke, id => 'ticks' }]) if $type eq 'start';
  return ([], effects => [map { { type => 'cancel', id => $_ } } qw(wait ticks)]) if $type eq 'stop';
  if ($type eq 'work') {
    my %run = (name => 'work', arguments => $input->{arguments}, failed => { type => 'workFailed' });
    return ([], effects => [{ type => 'run', %run, %{ $input->{policies} } }]);
  }
  if ($type eq 'shout') {
    my $shouted = { event => { type => 'shouted', text => $input->{text} } };
    $shouted->{to} = $input->{to} if defined $input->{to};
    return ([], events => [$shouted, { event => { type => 'echoed' } }]);
  }
  return ([set($state, last => undef)], redacted => JSON::PP::true) if $type eq 'hide';
  die "the program has failed\n" if $type eq 'crash';
  refuse('unknown type', ['type']);
}

sub action {
  my ($state, $action, $error) = @_;
  my $type = $action->{type};
  if ($type eq 'chained') {
    my $patch = [set($state, count => $state->{count} + 1)];
    return ($patch) if $action->{n} <= 1;
    return ($patch, effects => [{ type => 'action', action => { type => 'chained', n => $action->{n} - 1 } }]);
  }
  return [add_to_log($state, 'woke')] if $type eq 'woke';
  return [set($state, last => $action->{value}), add_to_log($state, 'worked')] if $type eq 'worked';
  return [add_to_log($state, "failed: $error->{reason}")] if $type eq 'workFailed';
  return [];
}

# Does work. Work that waits gets its response when it is cancelled: the program has one thread.
sub work {
  my ($params, $id) = @_;
  my ($run, $arguments) = @$params{qw(run arguments)};
  die "unknown work $params->{name}\n" unless $params->{name} eq 'work';
  my $do = $arguments->{do};
  my $worked = sub { return { type => 'worked', value => $_[0] } };
  return { action => $worked->($arguments->{value}) } if $do eq 'give';
  die "$arguments->{message}\n" if $do eq 'fail';
  if ($do eq 'count') {
    for my $number (1 .. $arguments->{to}) {
      my %send = (store => $params->{store}, run => $run, action => $worked->($number));
      print $json->encode({ jsonrpc => '2.0', method => 'machine/send', params => \%send }), "\n";
    }
  }
  if ($do eq 'retry') {
    die "not yet\n" if $params->{attempt} < $arguments->{attempts};
    return { action => $worked->($params->{attempt}) };
  }
  if ($do eq 'wait') {
    $waiting{$run} = $id;
    return;
  }
  return {};
}
