#!/usr/bin/env python3
"""Do benchmarks in C, C++ and Python, counted under Valgrind, find what is planted, and nothing else?

    ci/counted.py       compiles programs against the staged library (target/stage, or STAGE), and counts them with the command

In C and C++ calls take 10,000 instructions, or 10,100, and all is exact. In Python they take 1,000 turns of a loop, or 1,010: what a turn takes is the
same in all of them, and two that are equal are never told apart. (In Rust: cli/tests/counted_benchmarks.rs.) Without valgrind it fails: it
is what all this is about. Ends with "N passed, M failed".
"""

import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAGE = pathlib.Path(os.environ.get("STAGE", ROOT / "target/stage")).resolve()

C = r"""
#include <picollo.h>
#include <stdlib.h>

#define WORK(name, count) static __attribute__((noinline)) void name(void) { __asm__ volatile(".rept " #count "\n\tnop\n\t.endr"); }
WORK(few, 10000)
WORK(same, 10000)
WORK(more, 10100)

static void run(const char *title, void (*a)(void), void (*b)(void))
{
    picollo_benchmark *benchmark;
    picollo_benchmark_outcome result;
    uint32_t which;
    uint64_t n;
    char text[4096];
    size_t length;
    if (picollo_benchmark_create(NULL, NULL, 0, &benchmark, NULL) != PICOLLO_OK) abort();
    while (picollo_benchmark_next(benchmark, &which, &n, NULL) == PICOLLO_OK) {
        if (which == PICOLLO_BENCHMARK_A) while (n--) a();
        else if (which == PICOLLO_BENCHMARK_B) while (n--) b();
        if (picollo_benchmark_done(benchmark, NULL) != PICOLLO_OK) abort();
    }
    if (picollo_benchmark_result(benchmark, &result) != PICOLLO_OK) abort();
    if (result.flags != PICOLLO_BENCHMARK_SIMULATED || result.blocks.verdict != PICOLLO_VERDICT_NO_EVIDENCE) abort();
    if (picollo_benchmark_format(benchmark, title, "a", "b", PICOLLO_TEXT_HUMAN, text, sizeof text, &length) != PICOLLO_OK) abort();
    picollo_benchmark_free(benchmark);
}

int main(void)
{
    run("more", few, more);
    run("equal", few, same);
    run("less", more, few);
    return 0;
}
"""

CPP = r"""
#include <picollo.hpp>
#include <cstdlib>

template <int Count> int work()
{
    __asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(Count));
    return Count;
}

template <class A, class B> void run(const char *title, A a, B b)
{
    picollo::benchmark benchmark;
    benchmark.run(a, b);
    if (benchmark.text(title, "a", "b").empty()) std::abort();
}

int main()
{
    auto few = [] { return work<10000>(); };
    auto same = [] { return work<10000>(); };
    auto more = [] { return work<10100>(); };
    run("more", few, more);
    run("equal", few, same);
    run("less", more, few);
}
"""

PYTHON = r"""
import picollo


def turns(number):
    def work():
        total = 0
        for turn in range(number):
            total += turn
        return total

    return work


for title, a, b in (("more", 1000, 1010), ("equal", 1000, 1000), ("less", 1010, 1000)):
    result = picollo.benchmark(turns(a), turns(b), title=title)
    assert result.is_simulated and str(result.verdict) == "no evidence", result
"""

PASSED, FAILED = [], []


def check(what, holds, why=""):
    (PASSED if holds else FAILED).append(what)
    if not holds:
        print(f"FAILED: {what}: {why}")


def counted(command, *variables):
    """What the command says of the benchmarks in a program, by their titles."""
    picollo = ROOT / "target/debug/picollo"
    arguments = [picollo, "stat", "--counts=valgrind", "--benchmarks", "--json", *(f"--env={one}" for one in variables)]
    done = subprocess.run([*map(str, arguments), *command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    return {of["title"]: of["metrics"]["instructions"] for of in json.loads(done.stdout)["benchmarks"]}


def differences(found):
    """By their titles: by how much B's instructions are more, where it is the same in each block."""
    return {title: of["difference_least"] if of["exact"] else None for title, of in found.items()}


def main():
    if platform.machine() != "x86_64":
        sys.exit("benchmarks are counted on x86-64 only")
    subprocess.run(["cargo", "build", "--quiet", "-p", "picollo-cli"], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as directory:
        for name, code, compiler in (("c", C, ["gcc", "-std=c11"]), ("cpp", CPP, ["g++", "-std=c++17"])):
            source, program = (pathlib.Path(directory) / f"planted{end}" for end in (f".{name}", f"-{name}"))
            source.write_text(code)
            libraries = [f"-I{STAGE}/include", f"-L{STAGE}/lib", "-lpicollo", f"-Wl,-rpath,{STAGE}/lib"]
            for level in ("-O0", "-O2"):
                subprocess.run([*compiler, level, str(source), "-o", str(program), *libraries], check=True)
                found = counted([str(program)])
                planted = {"more": 100, "equal": 0, "less": -100}
                check(f"{name} {level}", differences(found) == planted, found)
                verdicts = {title: of["verdict"] for title, of in found.items()}
                check(f"{name} {level}, verdicts", verdicts == {title: title for title in planted}, verdicts)
        script = pathlib.Path(directory) / "planted.py"
        script.write_text(PYTHON)
        variables = f"PYTHONPATH={ROOT}/python-demo", f"PICOLLO_LIBRARY={STAGE}/lib/libpicollo.so"
        found = counted([sys.executable, str(script)], *variables)
        check("python, what is planted", (found["more"]["verdict"], found["less"]["verdict"]) == ("more", "less"), found)
        # Now and then the interpreter tries to make a faster form of what surrounds a sample: such a block takes some instructions more.
        turn = found["more"]["difference_least"] / 10
        check("python, a turn", 10 < turn < 2000 and found["more"]["difference_most"] - 10 * turn < turn, found["more"])
        less = found["less"]
        holds = less["difference_least"] - turn < -10 * turn < less["difference_most"] + turn
        check("python, as much the other way", holds, less)
        check("python, equal", found["equal"]["verdict"] in ("equal", "no evidence"), found["equal"])
        print(f"python {platform.python_version()}: a turn takes {turn} instructions; two that are equal: {found['equal']['verdict']}")
    print(f"{len(PASSED)} passed, {len(FAILED)} failed")
    sys.exit(bool(FAILED))


main()
