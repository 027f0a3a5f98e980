"""A bot that answers hello, whatever it got, and sleeps before every second answer for as many seconds as told."""

import sys
import time

for number, _ in enumerate(sys.stdin):
    if number % 2:
        time.sleep(float(sys.argv[1]))
    sys.stdout.write('{"type":"hello","protocols":[1]}\n')
    sys.stdout.flush()
