# A bot for arena, in Perl without a module.
#
# It plays a legal action at random, in any game; the rest is up to you, in `act`. The messages are those of
# protocol.md: a line of JSON comes in, a line goes out. Types and fields you do not know are to be ignored.
# `print STDERR` goes to the bot's log; STDOUT belongs to the referee.
#
# Try it from the folder above this one:  arena check ./<this folder>

use strict;
use warnings;

$| = 1;    # every line leaves at once

while (my $line = <STDIN>) {
    next if $line !~ /\S/;
    my $message = from_json($line);
    my $type    = $message->{type};
    last if $type eq 'quit';
    if ($type eq 'hello') {
        print qq({"type":"hello","protocols":[1]}\n);
    }
    elsif ($type eq 'match_start') {
        srand $message->{bot_seed};    # the same seed gives the same match
        print '{"type":"ready","match":', json_string($message->{match}), "}\n";
    }
    elsif ($type eq 'request') {
        print qq({"type":"action","id":$message->{id},"action":), act($message), "}\n";
    }
    elsif ($type eq 'error') {
        print STDERR "referee: $message->{code}: $message->{message} ($message->{hint})\n";
    }
}

# The index of an action in `legal`, or an action as JSON text such as {"do":"roll"}. $request->{view} is all you may
# know.
sub act {
    my ($request) = @_;

    # Where `legal` is null the actions cannot be listed. In riffraff one may pass then; what else may be done, the
    # game's section of protocol.md tells.
    return '{"pass":true}' if !defined $request->{legal};
    return int rand @{ $request->{legal} };
}

# JSON text -> hash and array references, strings, numbers; null is undef, true and false are 1 and 0.
sub from_json {
    local $_ = shift;
    return json_value();
}

sub json_value {
    /\G\s*/gc;
    if (/\G\{\s*/gc) {
        my %object;
        until (/\G\s*\}/gc) {
            my $key = json_value();
            /\G\s*:/gc or die 'no colon at ' . pos;
            $object{$key} = json_value();
            /\G\s*,\s*/gc;
        }
        return \%object;
    }
    if (/\G\[\s*/gc) {
        my @array;
        until (/\G\s*\]/gc) {
            push @array, json_value();
            /\G\s*,\s*/gc;
        }
        return \@array;
    }
    return plain_text($1) if /\G"((?:[^"\\]|\\.)*)"/gc;
    return $1 if /\G(-?\d[\d.eE+-]*)/gc;
    return { null => undef, true => 1, false => 0 }->{$1} if /\G(null|true|false)/gc;
    die 'not JSON at ' . (pos // 0);
}

sub plain_text {
    my ($text) = @_;
    my %letter = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");
    $text =~ s/\\(?:u([0-9a-fA-F]{4})|(.))/defined $1 ? utf8_bytes(hex $1) : $letter{$2} \/\/ $2/ge;
    return $text;
}

sub utf8_bytes {
    my $character = chr shift;
    utf8::encode($character);
    return $character;
}

sub json_string {
    my ($text) = @_;
    $text =~ s/(["\\])/\\$1/g;
    $text =~ s/([\x00-\x1f])/sprintf '\\u%04x', ord $1/ge;
    return qq("$text");
}
