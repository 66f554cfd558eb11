"""A Python service for ci/prometheus.sh: prints its port, records a round for each line of input, then prints its
count."""

import sys
import time

import picollo

registry = picollo.Registry()
classic = picollo.Histogram(0.01)
native = picollo.Histogram(0.01)
options = {"help": "How long requests took", "unit": "seconds", "divisor": 1e9}
classic_id = registry.add(classic, "py_classic_seconds", bounds=[round(0.05 * step * 1e9) for step in range(1, 21)], **options)
registry.add(native, "py_native_seconds", native=True, **options)
requests = registry.add_counter("py_requests", help="Requests that were served")
depth = registry.add_gauge("py_depth", help="How much was recorded")
# It has no memory for counts, and loses all.
small = picollo.Histogram(0.01, storage="sparse", max_bytes=picollo.Histogram(0.01, storage="sparse").footprint + 100)
registry.add(small, "py_small", help="What there was no memory for")
with registry.serve(0) as server:
    print(server.port, flush=True)
    recorded = 0
    for line in sys.stdin:
        for histogram in (classic, native):
            histogram.record_many([value * 1_000_000 for value in range(1, 1001)])
        small.record(5)
        requests.add(1000)
        recorded += 1000
        slow = picollo.Exemplar(993_000_000, time.time(), "5e" * 16, "1d" * 8, {"queue": "a"})
        registry.set_exemplars(classic_id, [slow])
        depth.set(recorded)
    print(recorded, flush=True)
    time.sleep(600)
