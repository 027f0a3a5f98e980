"""A bot that sleeps for as many seconds as its first argument says, and then answers with a hello, whatever it got."""

import sys
import time

for _ in sys.stdin:
    time.sleep(float(sys.argv[1]))
    sys.stdout.write('{"type":"hello","protocols":[1]}\n')
    sys.stdout.flush()
