# ArenaKit: the protocol arena/1 for bots in Perl, without a module from elsewhere.
#
# You write one function and call `play`:
#
#   use lib '.';
#   use ArenaKit;
#
#   sub choose {
#       my ($view, $legal, $clock) = @_;
#       return $legal->[0];
#   }
#
#   play(\&choose);
#
#   $view     all that your seat may know; the page of the game describes it; a hash reference
#   $legal    the legal actions; undef where they cannot be listed
#   $clock    milliseconds: $clock->{move_ms} for this move, $clock->{bank_ms} in the bank
#   returns   one of $legal, its index, or an action of your own: { pass => TRUE }
#
# You may use:
#
#   request()              the whole message: events, refused...
#   note('I am ahead')     a note that stands at this step in `arena show`
#   rand                   is seeded for each match, so that it can be repeated
#   print                  goes to stderr, and `arena match --steps` shows it; stdout is the referee's
#   hello(), match()       the messages `hello` and `match_start`
#   play(\&choose, start => sub {...}, end => sub {...})  functions for `match_start` and `match_end`
#   play(\&choose, evaluate => sub {...})  a function ($view, $legal, $budget_ms) that judges every action for
#                          `arena coach --by`: it returns a reference to values from 0 to 1, or ($values, $errors)
#                          with their standard errors
#
# In what you read, null is undef, true and false are TRUE and FALSE, which count as 1 and 0, and texts are characters.
# `die` ends the process with its text on stderr; the match is lost, and its story has the text.

package ArenaKit;

use strict;
use warnings;
use utf8;
use Exporter 'import';

our @EXPORT = qw(play note hello match request TRUE FALSE);

use constant TRUE  => bless \(my $one  = 1), 'ArenaKit::Boolean';
use constant FALSE => bless \(my $zero = 0), 'ArenaKit::Boolean';

my ($hello, $match, $request, @notes);

sub hello   { return $hello }
sub match   { return $match }
sub request { return $request }

# A note for the story of the match; several are joined. The opponent never sees it.
sub note { push @notes, @_; return }

# Plays until the referee says quit or goes away.
sub play {
    my ($choose, %hooks) = @_;
    open my $referee, '>&', \*STDOUT or die "no stdout: $!";
    open STDOUT, '>&', \*STDERR or die "no stderr: $!";
    $referee->autoflush(1);
    STDOUT->autoflush(1);
    binmode STDERR, ':encoding(UTF-8)';
    binmode STDOUT, ':encoding(UTF-8)';
    while (my $line = <STDIN>) {
        next if $line !~ /\S/;
        my $message = from_json($line);
        last if $message->{type} eq 'quit';
        my $answer = answer($message, $choose, \%hooks);
        print {$referee} to_json($answer), "\n" if $answer;
    }
    return;
}

# Unknown types get no answer, so that the protocol can grow.
sub answer {
    my ($message, $choose, $hooks) = @_;
    my $type = $message->{type};
    if ($type eq 'hello') {
        $hello = $message;
        return { type => 'hello', protocols => [1], capabilities => [ $hooks->{evaluate} ? 'evaluate' : () ] };
    }
    if ($type eq 'match_start') {
        $match = $message;
        srand $message->{bot_seed};
        $hooks->{start}->($message) if $hooks->{start};
        return { type => 'ready', match => $message->{match} };
    }
    if ($type eq 'request') {
        $request = $message;
        @notes   = ();
        my $action = $choose->(@{$message}{qw(view legal clock)});
        die "choose must return an action (a hash reference) or an index in legal\n"
            unless ref $action eq 'HASH' || defined $action && $action =~ /^-?\d+\z/;
        my %note = @notes ? (note => substr join("\n", @notes), 0, 1000) : ();
        return { type => 'action', id => $message->{id}, action => ref $action ? $action : 0 + $action, %note };
    }
    if ($type eq 'evaluate' && $hooks->{evaluate}) {
        $request = $message;
        my ($values, $errors) = $hooks->{evaluate}->(@{$message}{qw(view legal budget_ms)});
        my %errors = $errors ? (errors => [ map { 0 + $_ } @$errors ]) : ();
        return { type => 'evaluation', id => $message->{id}, values => [ map { 0 + $_ } @$values ], %errors };
    }
    $hooks->{end}->($message) if $type eq 'match_end' && $hooks->{end};
    print STDERR "referee: $message->{code}: $message->{message} ($message->{hint})\n" if $type eq 'error';
    return;
}

# ---- JSON ----

sub from_json {
    local $_ = shift;
    utf8::decode($_);
    my $value = json_value(0);
    die 'not JSON: something follows at ' . pos if /\G\s*\S/gc;
    return $value;
}

sub json_value {
    my ($depth) = @_;
    die "JSON is nested too deeply\n" if $depth > 200;
    /\G\s*/gc;
    if (/\G\{\s*/gc) {
        my %object;
        until (/\G\s*\}/gc) {
            my $key = json_value($depth + 1);
            /\G\s*:/gc or die 'no colon in JSON at ' . pos;
            $object{$key} = json_value($depth + 1);
            /\G\s*,\s*/gc;
        }
        return \%object;
    }
    if (/\G\[\s*/gc) {
        my @array;
        until (/\G\s*\]/gc) {
            push @array, json_value($depth + 1);
            /\G\s*,\s*/gc;
        }
        return \@array;
    }
    return plain_text() if /\G"/gc;
    return 0 + $1 if /\G(-?\d[\d.eE+-]*)/gc;
    return { null => undef, true => TRUE, false => FALSE }->{$1} if /\G(null|true|false)/gc;
    die 'not JSON at ' . (pos // 0);
}

# The text from here to its end; `\u` escapes beyond 16 bits come in pairs.
sub plain_text {
    my %letter = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");
    my $text   = '';
    until (/\G"/gc) {
        if    (/\G([^"\\]+)/gc) { $text .= $1 }
        elsif (/\G\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)/gc) {
            $text .= chr 0x10000 + ((hex($1) - 0xd800) << 10) + hex($2) - 0xdc00;
        }
        elsif (/\G\\u(....)/gc) { $text .= chr hex $1 }
        elsif (/\G\\(.)/gc)     { $text .= $letter{$1} // $1 }
        else                    { die 'a text of JSON without its end' }
    }
    return $text;
}

# Hash and array references, TRUE, FALSE, undef, numbers; everything else is a text.
sub to_json {
    my ($value) = @_;
    return 'null'                   if !defined $value;
    return $$value ? 'true' : 'false' if ref $value eq 'ArenaKit::Boolean';
    return '[' . join(',', map { to_json($_) } @$value) . ']' if ref $value eq 'ARRAY';
    return '{' . join(',', map { json_string($_) . ':' . to_json($value->{$_}) } sort keys %$value) . '}' if ref $value;
    return is_number($value) ? $value : json_string($value);
}

# Whether a value was made as a number: then a bitwise operation with it gives a number.
sub is_number {
    my ($value) = @_;
    no warnings 'numeric';
    return !utf8::is_utf8($value) && length((my $empty = '') & $value) > 0;
}

sub json_string {
    my ($text) = @_;
    $text =~ s/(["\\])/\\$1/g;
    $text =~ s/([\x00-\x1f])/sprintf '\\u%04x', ord $1/ge;
    utf8::encode($text);
    return qq("$text");
}

package ArenaKit::Boolean;

use overload '0+' => sub { ${ $_[0] } }, 'bool' => sub { ${ $_[0] } }, '""' => sub { ${ $_[0] } }, fallback => 1;

1;
