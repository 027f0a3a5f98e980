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

sub evaluate {
    my ($view, $legal) = @_;
    my @values;
    for my $action (@$legal) {
        my @heaps = @{ $view->{heaps} };
        $heaps[ $action->{heap} ] -= $action->{count};
        my $sum = 0;
        $sum ^= $_ for @heaps;
        push @values, $sum ? 0 : 1;
    }
    return (\@values, [ map { 0 } @values ]);
}

play(\&choose, evaluate => \&evaluate);
