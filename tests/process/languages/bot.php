<?php while (($line = fgets(STDIN)) !== false) { echo 'got ' . $line; }
