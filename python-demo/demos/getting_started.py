"""Getting started: two distributions, their summaries, and what changed.

How long does it take to find a number in a list, and in a set?
"""

from __future__ import annotations

import argparse
import random

import picollo


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searches", type=int, default=50_000, help="how often to search (default: %(default)s)")
    searches = parser.parse_args().searches

    numbers = list(range(1000))
    wanted = random.Random(1).choices(numbers, k=searches)

    # One histogram for each distribution. The name becomes the title of its table.
    in_list = picollo.Histogram(relative_error=0.01, name="Find a number in a list of 1,000 (ns)")
    in_set = picollo.Histogram(relative_error=0.01, name="Find a number in a set of 1,000 (ns)")

    for histogram, haystack in ((in_list, numbers), (in_set, frozenset(numbers))):
        scope = histogram.nano_scope()  # made once, used often
        for needle in wanted:
            with scope:
                needle in haystack

    # Summaries print short, in the unit that their name ends with; so does the difference of two, the answer first.
    print(in_list.summary())
    print(in_set.summary())
    print(in_list.diff(in_set, "A set instead of a list (ns)", name="List", other_name="Set"))

    # Single numbers, for programs.
    p99 = in_list.percentile(99)
    print(f"One percentile: {p99}")
    rank = in_list.snapshot().rank_of_value(5_000)
    print(f"{rank:.1f}% of the searches in the list took at most 5 microseconds.")


if __name__ == "__main__":
    main()
