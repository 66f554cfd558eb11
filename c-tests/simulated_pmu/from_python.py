"""One scenario of the simulated PMU for each width of counter, through the Python binding: every reading against the truth.

Run with the simulation preloaded and PICOLLO_RDPMC=force; see ci/simulated-pmu.sh. The full matrix is in matrix.c.
"""

import ctypes
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import picollo

READS = int(os.environ.get("SIMULATED_PMU_READS", 100_000))
SWITCH, REARM, RESET, ROTATE, MIGRATE = 1, 2, 3, 5, 6
#: What happens now and then, by width.
SCENARIOS = {32: ("re-arm", REARM), 40: ("reset by another holder", RESET), 48: ("migrate", MIGRATE)}


class Options(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in
                ("width", "period", "counters", "user_reads", "user_time", "hidden", "clock", "drift")]


class Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("opens", "reads", "ioctls", "maps", "closes", "rdpmcs", "foreign_rdpmcs", "idle_rdpmcs", "open_events", "resets")]


pmu = ctypes.CDLL(None)
pmu.simulated_pmu_truth.restype = ctypes.c_uint64
pmu.simulated_pmu_count.argtypes = [ctypes.c_uint64]
pmu.simulated_pmu_plant.argtypes = [ctypes.c_uint64, ctypes.c_uint64]


def statistics() -> Statistics:
    found = Statistics()
    pmu.simulated_pmu_get_statistics(ctypes.byref(found))
    return found


def scenario(width: int, action: int) -> str:
    pmu.simulated_pmu_reset(ctypes.byref(Options(width=width, counters=4, user_reads=1, user_time=1)))
    fast = resynced = 0
    with picollo.Session(["cycles", "instructions"]) as session:
        before = [pmu.simulated_pmu_truth(k) for k in range(2)]
        for i in range(READS):
            pmu.simulated_pmu_count(i % 977 + (2000 if action == RESET else 0))
            acted = i % 20 == 19
            if acted:
                # What was counted until now is read, so that a reset cannot be made up for by what comes after it.
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
    found = statistics()
    assert found.foreign_rdpmcs == found.resets == found.open_events == 0
    # Two counters a reading, and hardly a system call but where there was a reset.
    assert found.rdpmcs >= 2 * READS and fast > READS * 2 * 0.8, (found.rdpmcs, fast)
    assert found.reads < READS * 0.12, found.reads
    return f"{found.rdpmcs} rdpmc, {found.reads} read(2), {fast} fast, {resynced} resync"


#: Raw codes of the events of top-down, by their names in the built-in figures. Intel's slots come first: they lead the group.
INTEL = {"topdown-slots": 0x400, "topdown-retiring": 0x8000, "topdown-bad-spec": 0x8100, "topdown-fe-bound": 0x8200,
         "topdown-be-bound": 0x8300, "topdown-heavy-ops": 0x8400, "topdown-br-mispredict": 0x8500, "topdown-fetch-lat": 0x8600,
         "topdown-mem-bound": 0x8700}
AMD = {"ls_not_halted_cyc": 0x76, "de_no_dispatch.no_ops_from_frontend": 0x1000001A0, "de_no_dispatch.backend_stalls": 0x100001EA0,
       "de_no_dispatch.smt_contention": 0x1000060A0, "de_src_op_disp.all": 0x7AA, "ex_ret_ops": 0xC1}
#: What is planted for each unit of work, and the figures that have to come out.
TOPDOWN = {
    "Intel": (INTEL, [1200, 480, 120, 360, 240, 30, 90, 200, 180],
              {"retiring": 0.4, "bad-speculation": 0.1, "frontend-bound": 0.3, "backend-bound": 0.2}, "tma-"),
    "Intel, level 2": (INTEL, [1200, 480, 120, 360, 240, 30, 90, 200, 180],
                       {"heavy-operations": 0.025, "light-operations": 0.375, "branch-mispredicts": 0.075, "machine-clears": 0.025,
                        "fetch-latency": 200 / 1200, "fetch-bandwidth": 160 / 1200, "memory-bound": 0.15, "core-bound": 0.05}, "tma-"),
    "AMD": (AMD, [200, 240, 300, 60, 600, 480],
            {"retiring": 0.4, "bad-speculation": 0.1, "frontend-bound": 0.2, "backend-bound": 0.25, "smt-contention": 0.05}, "zen4-"),
}


def counts(session: picollo.Session, names: "list[str]") -> "dict[str, list[float | None]]":
    return {name: [reading.value] for name, reading in zip(names, session.readings(deltas=True))}


def topdown(kind: str) -> str:
    """Shares of planted counts are those that were planted, and add up to 1. What was not counted is in no figure."""
    events, planted, expected, prefix = TOPDOWN[kind]
    # All of them at once, and one after another.
    for counters in (len(events), 2):
        pmu.simulated_pmu_reset(ctypes.byref(Options(width=48, counters=counters, user_reads=1, user_time=1)))
        for code, rate in zip(events.values(), planted):
            pmu.simulated_pmu_plant(code, rate)
        with picollo.Session([f"r{code:x}" for code in events.values()], syscall_only=True) as session:
            session.read()
            pmu.simulated_pmu_count(1000)
            session.read()
            found = counts(session, list(events))
            if counters == 2:
                # Those that had no turn yet are not known, and neither is what is made of them. An invented zero would be a share.
                missing = [name for name, value in found.items() if value == [None]]
                unknown = [name for name in expected if any(event in picollo.figures()[prefix + name] for event in missing)]
                assert len(missing) >= 4 and len(unknown) >= 3, found
                for name in unknown:
                    try:
                        figure = picollo.figure(prefix + name, found)
                    except picollo.NotCountedError:
                        continue
                    raise AssertionError(f"{name} is {figure.value} of {found}")
                for _ in range(6 * len(events)):
                    pmu.simulated_pmu_act(ROTATE)
                    pmu.simulated_pmu_count(1000)
                session.read()
                assert all(reading.scaled for reading in session.readings()), "multiplexed, and not marked"
            else:
                shares = {name: picollo.figure(prefix + name, found).value for name in expected}
                for name, share in shares.items():
                    assert abs(share - expected[name]) < 1e-12, f"{name}: {share}, planted {expected[name]}"
                assert abs(sum(shares.values()) - 1) < 1e-12, shares
    return "as planted, adding to 1; what was not counted is not known"


def no_user_reads_of_topdown() -> str:
    """Intel's metrics in user space are reset by every read(2), and are in 255ths: they are read by system calls."""
    pmu.simulated_pmu_reset(ctypes.byref(Options(width=48, counters=len(INTEL), user_reads=1, user_time=1)))
    with picollo.Session([f"r{code:x}" for code in INTEL.values()]) as session:
        session.read()
        pmu.simulated_pmu_count(10)
        session.read()
        fast = [name for name, reading in zip(INTEL, session.readings(deltas=True)) if reading.fast]
        read = {name: reading.value for name, reading in zip(INTEL, session.readings(deltas=True))}
    assert not [name for name in fast if name != "topdown-slots"], f"read in user space: {fast}"
    assert read["topdown-retiring"] == 10 and None not in read.values(), read
    return "by system calls"


def makers_names() -> str:
    """Events by their makers' names are counted by the codes that the maker gave them, in user space as all others."""
    os.environ["LIBPFM_FORCE_PMU"] = "skx"
    names = {"MEM_LOAD_RETIRED.L1_MISS": (0x8D1, 3), "CYCLE_ACTIVITY.STALLS_L3_MISS": (0x60006A3, 5), "INST_RETIRED.ANY_P:c=2": (0x20000C0, 7)}
    try:
        picollo.Event(next(iter(names)))
    except picollo.NoSuchEventError as error:
        if "is not installed here" in str(error):
            return "SKIPPED: libpfm4 is not installed (ci/setup.sh tests installs it)"
        raise
    pmu.simulated_pmu_reset(ctypes.byref(Options(width=48, counters=4, user_reads=1, user_time=1)))
    for code, rate in names.values():
        pmu.simulated_pmu_plant(code, rate)
    with picollo.Session(list(names)) as session:
        for _ in range(2):
            session.read()
            pmu.simulated_pmu_count(1000)
            session.read()
        for (name, (_, rate)), reading, info in zip(names.items(), session.readings(deltas=True), session.info):
            assert reading.value == 1000 * rate and reading.fast, f"{name}: {reading}"
            assert info.name == f"skx::{name}", info
            # That this is no Skylake, where it is none, is told.
            assert info.message == "" or "skx is Intel family 6 model 85" in info.message, info
        found = counts(session, list(names))
    assert found["MEM_LOAD_RETIRED.L1_MISS"] == [3000.0], found
    return "counted by the makers' codes, in user space"


def spin(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def slow_ones() -> str:
    """Ordinary requests of half a millisecond, half a million cycles and a million instructions, and some of forty times as much."""
    slow = picollo.Exemplars(picollo.Histogram(), 3_000_000, controls=1000, slowest=32, ring=False, counters=True)
    slow.prepare_thread()
    for request in range(220):
        with slow.scope():
            times = 40 if request % 20 == 19 else 1
            spin(0.0005 * times)
            pmu.simulated_pmu_count(500_000 * times)
    kept = [one for one in slow.collect().exemplars if one.value >= 20_000_000]
    assert len(kept) >= 11, kept
    for one in kept:
        assert one.instructions is not None and one.cycles is not None and one.usual_ipc is not None, one
        assert 40_000_000 <= one.instructions == 2 * one.cycles < 60_000_000 and abs(one.usual_ipc - 2) < 0.01, one
    # Others may have had the CPU for as long.
    causes = [one.cause for one in kept if (one.run_delay_nanos or 0) < 1_000_000]
    assert set(causes) <= {picollo.Cause.MORE_INSTRUCTIONS}, causes
    return f"{len(causes)} of {len(kept)} requests judged"


def slow_ones_on_a_thread() -> str:
    """Which ends, and with it its counters."""
    pmu.simulated_pmu_reset(ctypes.byref(Options(width=48, counters=4, user_reads=1, user_time=1)))
    with ThreadPoolExecutor(1) as threads:
        said = threads.submit(slow_ones).result()
    # Python takes a thread for ended before it is.
    end = time.monotonic() + 10
    while statistics().open_events > 0 and time.monotonic() < end:
        time.sleep(0.001)
    assert statistics().open_events == 0, statistics().open_events
    return said


def main() -> None:
    failed = 0
    tests = {f"width {width}, {name}": (lambda width=width, action=action: scenario(width, action)) for width, (name, action) in SCENARIOS.items()}
    tests |= {f"top-down, {kind}": (lambda kind=kind: topdown(kind)) for kind in TOPDOWN}
    tests["top-down in user space"] = no_user_reads_of_topdown
    tests["makers' names"] = makers_names
    tests["more instructions"] = slow_ones_on_a_thread
    for name, test in tests.items():
        try:
            print(f"{name}: {test()}")
        except (AssertionError, picollo.PicolloError) as error:
            print(f"FAILED {name}: {error}")
            failed += 1
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
