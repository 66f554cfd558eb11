"""Benchmarks of functions, and the command that compares processes."""

from __future__ import annotations

import functools
import gc
import json
import math
import pickle
import re
import sys
from typing import Any

import pytest
from conftest import assert_refused, on_a_terminal, python_m

import picollo
from picollo import Benchmark, Step, Verdict
from picollo.work import add_chain_256


def simulated(a: float, b: float, **options: Any) -> picollo.BenchmarkResult:
    """A benchmark of code that takes these times, in seconds, within a thousandth."""
    state = 1
    with Benchmark(**{"max_blocks": 40, "warm_up": 0, "keep_disturbed": True, **options}) as bench:
        while (step := bench.next()) is not None:
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            bench.done_after((a, b, 0.0)[step.which] * step.repetitions * (1 + (state >> 40) / 2**34))
        return bench.result(name="one", other_name="two")


def test_made_up_times() -> None:
    result = simulated(1e-6, 1.1e-6)
    assert result.verdict is Verdict.SLOWER
    assert result.blocks.median_a == pytest.approx(1e6, rel=2e-3)
    assert result.blocks.difference == pytest.approx(1e5, rel=2e-2)
    assert result.overhead == (0, 0)
    assert result.repetitions[0] > 10
    count = result.blocks.block_count
    assert 20 <= count <= 40 and (result.a.total_count, result.b.total_count) == (2 * count, 2 * count)
    assert result.a.name == "one" and result.counters == ()
    assert str(result).startswith("two is 10.") and " slower than one (95 %: +" in str(result)
    text = result.markdown()
    assert text.startswith("##### Picoseconds a call\n") and " slower |" in text and " two |" in text
    assert "slower: +10" in repr(result) and result._repr_markdown_() == text and result.seconds > 0
    assert simulated(1e-6, 1e-6, relative_threshold=0.5).blocks.is_within_margin
    once = simulated(1e-3, 1e-3, repetitions=1, overhead=False, max_blocks=3)
    assert once.repetitions == (1, 1) and once.blocks.has_too_few


def test_other_activity() -> None:
    """Whatever this machine does meanwhile: the numbers, the verdict and the texts agree."""
    result = picollo.benchmark(
        lambda: add_chain_256(20), lambda: add_chain_256(60), budget=20, precision=0, max_blocks=60, warm_up=0.02
    )
    noise = result.noise
    assert isinstance(noise, picollo.BenchmarkNoise) and noise.blocks == 60
    assert noise.left_out + result.blocks.block_count == 60 and noise.left_out <= noise.disturbed <= 60
    told = json.loads(result.json())
    assert told["noisy"] is result.is_noisy is result.blocks.is_noisy and told["noise"]["disturbed"] == noise.disturbed
    if result.is_noisy:
        assert result.verdict is Verdict.NO_EVIDENCE and noise.left_out == 0 < noise.disturbed
        assert told["verdict"] == result.blocks.verdict_text == "unproven: noisy" and str(result).startswith("Unproven: ")
        assert " unproven: noisy |" in result.markdown() and " disturbed" in str(result)
    else:
        assert result.verdict is Verdict.SLOWER and noise.left_out in (0, noise.disturbed) and told["verdict"] == "slower"
        assert ("left out" in str(result).replace("\n", " ")) == (noise.left_out > 0)
    assert noise.seconds is not None and 0 < noise.seconds <= result.seconds
    if noise.others is None:
        print("SKIPPED what others took: there is no /proc/stat")
    else:
        assert noise.cpus is not None and 0 <= noise.others <= (noise.seconds + 0.1) * noise.cpus
    assert noise.pressure is None or 0 <= noise.pressure <= noise.seconds
    assert noise.frequency is None or noise.frequency[0] <= noise.frequency[1]


def test_copies() -> None:
    seen: dict[int, Any] = {}

    def first(number: int = 1, *, other: int = 2) -> None:
        # Kept, so that no two have the same address.
        code = sys._getframe().f_code
        seen[id(code)] = code
        assert (number, other) == (1, 2)

    class Thing:
        def method(self) -> None:
            assert type(self) is Thing

    options: dict[str, Any] = {"budget": 20.0, "max_blocks": 3, "warm_up": 0, "repetitions": 3, "precision": 0}
    picollo.benchmark(first, Thing().method, **options)
    assert list(seen) == [id(first.__code__)]
    seen.clear()
    picollo.benchmark(first, Thing().method, clone=True, **options)
    assert len(seen) >= 3 and id(first.__code__) not in seen
    # Callables without Python code run unchanged.
    assert picollo.benchmark(dict, list, clone=True, **options).blocks.block_count == 3


def test_known_work() -> None:
    options: dict[str, Any] = {"budget": 20, "precision": 0, "max_blocks": 30, "warm_up": 0.01, "keep_disturbed": True}
    result = picollo.benchmark(
        lambda: add_chain_256(100), lambda: add_chain_256(300), events=["page-faults", "instructions"], **options
    )
    assert result.verdict is Verdict.SLOWER
    # Three times as much, but a busy machine interrupts the longer blocks more often: the shortest samples have a limit above, too.
    assert result.blocks.median_b / result.blocks.median_a > 1.5
    assert 1.5 < result.b.snapshot().min / result.a.snapshot().min < 6
    faults, instructions = result.counters
    assert "age" in faults.name and faults.a is not None and faults.a < 1
    if instructions.a is None:
        print("SKIPPED the count of instructions:", picollo.perf_probe().explanation)
    else:
        assert instructions.b is not None and instructions.b > 2 * instructions.a
    assert "| Per call" in result.markdown() and "\nper call" in str(result)


def test_names_and_collection() -> None:
    seen = []

    def first() -> None:
        seen.append(gc.isenabled())

    options: dict[str, Any] = {"budget": 20.0, "max_blocks": 1, "warm_up": 0, "repetitions": 1, "overhead": False}
    result = picollo.benchmark(first, lambda: None, **options)
    assert (result.a.name, result.b.name) == ("first", "B")
    assert set(seen) == {False} and gc.isenabled()
    seen.clear()
    picollo.benchmark(first, first, collect_garbage=True, **options)
    assert set(seen) == {True}

    def fails() -> None:
        raise KeyError("as it should")

    with pytest.raises(KeyError):
        picollo.benchmark(first, fails, **options)
    assert gc.isenabled()


def test_refusals() -> None:
    wrongs = (("budget", 0), ("budget", math.nan), ("sample", -1), ("warm_up", -1), ("min_blocks", 0), ("max_blocks", 2**32))
    bench, closed = Benchmark(), Benchmark()
    closed.close()
    closed.close()
    assert_refused(
        *((functools.partial(Benchmark, **{name: value}), ValueError, name) for name, value in wrongs),  # type: ignore[arg-type]
        (lambda: Benchmark(confidence=2), picollo.InvalidArgumentError, ""),
        (lambda: Benchmark(events=["no-such-event"]), picollo.NoSuchEventError, ""),
        (bench.done, picollo.InvalidArgumentError, ""),
        (bench.result, picollo.EmptyError, ""),
        (lambda: pickle.dumps(bench), TypeError, "a benchmark cannot be pickled"),
        (closed.next, picollo.ClosedError, ""),
    )


# ---- the command


command = functools.partial(python_m, "compare")


# A few of twenty blocks may fail on a busy machine; of eight, none.
FEW = ("--min-blocks", "20", "--max-blocks", "20", "--budget", "60", "--keep-disturbed")


def test_processes() -> None:
    result = command("sleep 0.01", "sleep 0.05", *FEW, "--name", "short", "--name", "long")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    # The answer comes first.
    assert re.match(r"long is [\d.]+ × slower than short \(", lines[0]) and lines[1] == ""
    assert lines[2:4] == ["short: sleep 0.01", "long: sleep 0.05"]
    assert lines[4].startswith("40 runs of each in 20 blocks, ")
    first = next(at for at, line in enumerate(lines) if line.startswith("Per run "))
    table = lines[first : lines.index("", first)]
    verdict = table[0].index("Verdict")
    assert all(line[verdict - 2 : verdict] == "  " and line[verdict] != " " for line in table) and " short " in table[0]
    assert any(line.startswith("Wall time ") and " slower" in line and " ms " in line for line in table)
    assert [line.split("  ")[0] for line in table[1:]] == ["Wall time", "CPU time", "Peak memory"]
    assert any(line.startswith("Peak memory ") and line.count(" ≤ ") == 2 for line in table), "what the command itself had"
    assert "\nPage faults " in command("true", "true", *FEW, "--all").stdout
    told = json.loads(command("sleep 0.01", "sleep 0.01", *FEW, "--json").stdout)["noise"]
    assert told["left_out"] == [] and told["noisy"] is False and 0 <= told["disturbed"] <= 20 and told["seconds"] > 0
    slow = command("sleep 0.01", "sleep 0.05", *FEW, "--fail-if-slower")
    assert slow.returncode == 3
    back = command("sleep 0.05", "sleep 0.01", *FEW, "--fail-if-slower", "--json")
    assert back.returncode == 0
    told = json.loads(back.stdout)
    assert told["metrics"]["wall"]["verdict"] == "faster"
    assert told["commands"] == [["sleep", "0.05"], ["sleep", "0.01"]]
    assert len(told["metrics"]["page_faults"]["blocks"]) == told["block_count"] == 20
    assert 0.05 <= told["metrics"]["wall"]["a"] < 5


def test_memory_and_counters() -> None:
    # Two hundred megabytes, with a page fault for each page.
    small, large = (f"{sys.executable} -c 'bytearray({size}); bytearray(range(250)) * {size // 250}'" for size in (10**4, 10**8))
    result = command(small, large, *FEW, "--event", "page-faults", "--event", "instructions", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    metrics = json.loads(result.stdout)["metrics"]
    assert metrics["memory"]["verdict"] == metrics["cpu"]["verdict"] == "more"
    assert metrics["memory"]["difference"] > 50_000
    assert metrics["page-faults"]["difference"] == pytest.approx(metrics["page_faults"]["difference"], rel=0.2)
    if metrics["instructions"] is None:
        print("SKIPPED the count of instructions:", picollo.perf_probe().explanation)


def test_progress_on_a_terminal() -> None:
    output, shown = on_a_terminal(sys.executable, "-m", "picollo", "compare", "sleep 0.05", "sleep 0.06", *FEW)
    assert "Wall time " in output
    assert shown.startswith("\r") and "% [" in shown and " runs  A " in shown and "nan" not in shown
    assert shown.endswith("\r") and all(len(part) <= 79 for part in shown.split("\r"))


def test_longer_than_the_budget() -> None:
    # One run of A to warm up, and a block: it reports that this is too little.
    long = command("sleep 0.3", "sleep 0.3", "--budget", "0.1", "--keep-disturbed")
    assert (long.returncode, long.stderr) == (0, "")
    assert "2 runs of each in 1 block," in long.stdout and "Too few runs" in long.stdout
    # In the middle of a block.
    part = command("sleep 0.1", "sleep 0.1", "--budget", "1.0", "--json")
    assert part.returncode == 0
    told = json.loads(part.stdout)
    assert told["block_count"] == len(told["metrics"]["wall"]["blocks"]) >= 1
    assert all(0.1 <= time < 5 for block in told["metrics"]["wall"]["blocks"] for time in block)


def test_what_can_go_wrong() -> None:
    missing = command("no-such-program-here", "true")
    assert missing.returncode == 1 and "no-such-program-here" in missing.stderr and "Traceback" not in missing.stderr
    failing = command("true", "false")
    assert failing.returncode == 1 and "failed with status 1" in failing.stderr
    assert command("false", "false", *FEW, "--ignore-failure").returncode == 0
    assert command("sh -c 'kill -9 $$'", "true").stderr.count("signal 9") == 1
    assert command("'", "true").returncode == 1
    assert command("", "true").returncode == 1
    for usage in (("--budget", "0"), ("--confidence", "1"), ("--max-blocks", "-1")):
        assert command("true", "true", *usage).returncode == 2
    shell = command("true | true", "true", *FEW, "--shell", "--show-output")
    assert shell.returncode == 0 and "sh -c 'true | true'" in shell.stdout
    few = command("true", "true", "--min-blocks", "2", "--max-blocks", "2", "--keep-disturbed")
    assert few.returncode == 0 and "Too few runs" in few.stdout
