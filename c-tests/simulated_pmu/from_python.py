"""One scenario of the simulated PMU for each width of counter, through the Python binding: checks every reading.

Run with the simulation preloaded and PICOLLO_RDPMC=force; see ci/simulated-pmu.sh. The full matrix is in matrix.c.
"""

import ctypes
import os
import sys

import picollo

READS = int(os.environ.get("SIMULATED_PMU_READS", 100_000))
REARM, RESET, MIGRATE = 2, 3, 6
#: Occasional actions, by width.
SCENARIOS = {32: ("re-arm", REARM), 40: ("reset by another holder", RESET), 48: ("migrate", MIGRATE)}


class Options(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in
                ("width", "period", "counters", "user_reads", "user_time", "hidden", "clock", "drift")]


class Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("opens", "reads", "ioctls", "maps", "closes", "rdpmcs", "foreign_rdpmcs", "open_events", "resets")]


pmu = ctypes.CDLL(None)
pmu.simulated_pmu_truth.restype = ctypes.c_uint64
pmu.simulated_pmu_count.argtypes = [ctypes.c_uint64]


def scenario(width: int, action: int) -> str:
    pmu.simulated_pmu_reset(ctypes.byref(Options(width=width, counters=4, user_reads=1, user_time=1)))
    fast = resynced = 0
    with picollo.Session(["cycles", "instructions"]) as session:
        before = [pmu.simulated_pmu_truth(k) for k in range(2)]
        for i in range(READS):
            pmu.simulated_pmu_count(i % 977 + (2000 if action == RESET else 0))
            acted = i % 20 == 19
            if acted:
                # Reads the counts so far, so that later counts cannot hide a reset.
                session.read()
                pmu.simulated_pmu_act(action)
                before = [0, 0] if action == RESET else [pmu.simulated_pmu_truth(k) for k in range(2)]
                pmu.simulated_pmu_count(7)
            session.read()
            truth = [pmu.simulated_pmu_truth(k) for k in range(2)]
            for reading, now, then in zip(session.readings(deltas=True), truth, before):
                if reading.raw != now - then or reading.resync != (acted and action == RESET):
                    raise AssertionError(f"width {width}: {reading}, truth {now - then}, round {i}")
                fast += reading.fast
                resynced += reading.resync
            before = truth
    found = Statistics()
    pmu.simulated_pmu_get_statistics(ctypes.byref(found))
    assert found.foreign_rdpmcs == found.resets == found.open_events == 0
    # Two counters per reading, and hardly a system call except after resets.
    assert found.rdpmcs >= 2 * READS and fast > READS * 2 * 0.8, (found.rdpmcs, fast)
    assert found.reads < READS * 0.12, found.reads
    return f"{found.rdpmcs} rdpmc, {found.reads} read(2), {fast} fast, {resynced} resync"


#: Raw codes of two of Intel's top-down events. The slots come first, as they lead the group.
TOPDOWN = {"topdown-slots": 0x400, "topdown-retiring": 0x8000}


def no_user_reads_of_topdown() -> str:
    """Every read(2) resets Intel's metrics in user space, which are in 255ths: they are read by system calls."""
    pmu.simulated_pmu_reset(ctypes.byref(Options(width=48, counters=len(TOPDOWN), user_reads=1, user_time=1)))
    with picollo.Session([f"r{code:x}" for code in TOPDOWN.values()]) as session:
        session.read()
        pmu.simulated_pmu_count(10)
        session.read()
        fast = [name for name, reading in zip(TOPDOWN, session.readings(deltas=True)) if reading.fast]
        read = {name: reading.value for name, reading in zip(TOPDOWN, session.readings(deltas=True))}
    assert not [name for name in fast if name != "topdown-slots"], f"read in user space: {fast}"
    assert read["topdown-retiring"] == 10 and None not in read.values(), read
    return "by system calls"


def main() -> None:
    failed = 0
    tests = {f"width {width}, {name}": (lambda width=width, action=action: scenario(width, action)) for width, (name, action) in SCENARIOS.items()}
    tests["top-down in user space"] = no_user_reads_of_topdown
    for name, test in tests.items():
        try:
            print(f"{name}: {test()}")
        except (AssertionError, picollo.PicolloError) as error:
            print(f"FAILED {name}: {error}")
            failed += 1
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
