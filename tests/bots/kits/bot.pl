use strict;
use warnings;
use lib '.';
use ArenaKit;

sub choose {
    my ($view, $legal, $clock) = @_;
    print "stray $view->{say} $clock->{move_ms}\n";
    note($view->{say});
    return { twice => 2 * $view->{number}, items => scalar @{ $view->{items} } } if !defined $legal;
    return $legal->[ $view->{pick} ];
}

play(\&choose);
