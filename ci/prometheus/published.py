"""Three processes of one program that publish, and `picollo serve`, for ci/prometheus.sh. Prints its port, lets each
process record a round for each line of input, then prints how much one of them recorded.

    published.py PICOLLO FOLDER SEGMENT [OPTION OF SERVE...]
"""

import os
import subprocess
import sys
import time

import picollo

command, folder, name, *options = sys.argv[1:]
os.makedirs(folder, mode=0o700, exist_ok=True)
os.environ["PICOLLO_DIR"] = folder


def publish(rounds):
    with picollo.Segment(name) as segment:
        latency = segment.histogram("published", unit="ns", help="How long requests took")
        done = segment.counter("published_requests", help="Requests")
    for _ in iter(lambda: os.read(rounds, 1), b""):
        latency.record_many([value * 1_000_000 for value in range(1, 1001)])
        done.add(1000)
    time.sleep(600)


pipes = []
for _ in range(3):
    reading, writing = os.pipe()
    if os.fork() == 0:
        for pipe in (*pipes, writing):
            os.close(pipe)
        publish(reading)
    os.close(reading)
    pipes.append(writing)
server = subprocess.Popen([command, "serve", "--listen", "127.0.0.1:0", *options], stdout=subprocess.PIPE, text=True)
print(server.stdout.readline().strip().removesuffix("/metrics").rsplit(":", 1)[1], flush=True)
rounds = 0
for _ in sys.stdin:
    for pipe in pipes:
        os.write(pipe, b".")
    rounds += 1
for pipe in pipes:
    os.close(pipe)
print(rounds * 1000, flush=True)
time.sleep(600)
