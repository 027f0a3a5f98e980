#!/usr/bin/perl
# Forks until it cannot, and says how far it came.
use strict; use warnings; $| = 1;
my $note = "";
while (my $line = <STDIN>) {
    if ($line =~ /"type":"hello"/) { print qq({"type":"hello","protocols":[1]}\n); }
    elsif ($line =~ /"type":"match_start","match":"([^"]+)"/ or $line =~ /"match":"([^"]+)".*"type":"match_start"/) {
        print qq({"type":"ready","match":"$1"}\n);
    }
    elsif ($line =~ /"type":"request","id":(\d+)/) {
        my $id = $1;
        my $pid = fork();
        if (defined $pid and $pid == 0) { sleep 60; exit 0; }
        $note = defined $pid ? "BROKE: forked" : "kept: $!";
        print qq({"type":"action","id":$id,"action":0,"note":"$note"}\n);
    }
    elsif ($line =~ /"type":"quit"/) { exit 0; }
}
