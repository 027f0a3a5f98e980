# A bot for arena. It plays a legal action at random, in any game; the rest is up to you, in `choose`.
#
# ArenaKit.pm beside this file tells what `choose` gets and what you may use.
#
# Try it from the folder above this one:  arena check ./<this folder>

use strict;
use warnings;
use lib '.';
use ArenaKit;

sub choose {
    my ($view, $legal, $clock) = @_;

    # The actions cannot be listed: the page of the game has their form; in riffraff this passes.
    return { pass => TRUE } if !defined $legal;
    return $legal->[rand @$legal];
}

play(\&choose);
