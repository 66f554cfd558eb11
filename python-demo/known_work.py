"""Known work: checks the counters with a chain of additions whose cost is known.

Each repetition does 256 additions, each of which waits for the previous one. So the cycles are known beforehand (one
for each addition), and the counts can be checked against them.
"""

from __future__ import annotations

import argparse

import picollo
from picollo import work

EVENTS = ["cycles", "instructions", "branches", "branch-misses", "task-clock", "page-faults"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2_000, help="measurements (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=1_000, help="work in each (default: %(default)s)")
    arguments = parser.parse_args()
    additions = arguments.repetitions * 256

    time = picollo.Histogram(relative_error=0.001, name="Time (ns)")
    tsc = picollo.Histogram(relative_error=0.001, name="TSC (ticks)")

    # An event that this machine cannot count stays in the session as an entry with an explanation.
    with picollo.Session(EVENTS, skip_unavailable=True) as session:
        measurement, time_scope, tsc_scope = session.measure(), time.nano_scope(), tsc.tick_scope()
        for _ in range(arguments.rounds):
            # Each instrument measures a separate call: reading one inside another would be counted as work.
            with measurement:
                work.add_chain_256(arguments.repetitions)
            with time_scope:
                work.add_chain_256(arguments.repetitions)
            with tsc_scope:
                work.add_chain_256(arguments.repetitions)

        print(f"{arguments.rounds:,} rounds of {additions:,} dependent additions each.\n")
        print(time.summary())
        print(tsc.summary())
        print(session)

        print("An addition takes, at the median:")
        for name, histogram in [("nanoseconds", time), ("TSC ticks", tsc), *session.histograms.items()]:
            if name in ("nanoseconds", "TSC ticks", "cycles", "instructions"):
                print(f"- {histogram.summary().p50 / additions:.4f} {name}")
        nanoseconds = time.summary().p50 / additions
        print(f"At one cycle each, the processor runs at {1 / nanoseconds:.2f} GHz.")


if __name__ == "__main__":
    main()
