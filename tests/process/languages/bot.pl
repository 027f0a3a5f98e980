use strict; use warnings; use Time::HiRes; $| = 1;
while (<STDIN>) { my @kept = map { 'x' x 100_000 } 1 .. 50; Time::HiRes::sleep(0.001); print 'got ', $_; }
