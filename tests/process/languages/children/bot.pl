$| = 1; while (<STDIN>) { my $said = `echo got`; chomp $said; print "$said $_"; }
