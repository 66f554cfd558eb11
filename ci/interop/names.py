"""Do libpfm4's codes for Intel's names match Intel's own lists?

    names.py PERF PICOLLO     the commands perf, of Linux 6.1, and picollo

With a made-up /sys, perf lists the events of a processor that this machine is not, from Intel's own files. For each
name that libpfm4 also has, the codes must be equal, or picollo must refuse it. A few names have two codes for one
thing. Ends with "N names passed".
"""

import json
import os
import re
import subprocess
import sys
import tempfile

# libpfm4's PMUs, and the processors that have these lists in perf.
PMUS = {
    "nhm": "1A", "nhm_ex": "2E", "wsm": "25", "wsm_dp": "2C", "snb": "2A", "snb_ep": "2D", "ivb": "3A", "ivb_ep": "3E", "hsw": "3C", "hsw_ep": "3F",
    "bdw": "3D", "bdw_ep": "4F", "slm": "37", "glm": "5C", "knl": "57", "knm": "85", "skl": "5E", "skx": "55-4", "clx": "55-7", "icl": "7E", "icx": "6A",
    "tmt": "86", "spr": "8F",
}  # fmt: skip
# Two codes for one thing: a fixed counter's (event 0) and the same on any counter, and masks that only add precision.
ALIKE = [
    {0x100, 0xC0, 0x1C0},  # INST_RETIRED
    {0x200, 0x3C},  # CPU_CLK_UNHALTED
    {0xC4, 0x4C4},  # BR_INST_RETIRED.ALL_BRANCHES
    {0xC5, 0x4C5},  # BR_MISP_RETIRED.ALL_BRANCHES
]
# The kernel has no second register for it, and ignores libpfm4's.
IGNORED = {"EXE.AMX_BUSY"}
SHIFTS = {"umask": 8, "edge": 18, "any": 21, "inv": 23, "cmask": 24}
BESIDE = ("offcore_rsp", "frontend", "ldlat")


def listed(perf, sysfs, model):
    """Intel's list: terms by names."""
    env = {**os.environ, "SYSFS_PATH": sysfs, "PERF_CPUID": f"GenuineIntel-6-{model}"}
    done = subprocess.run([perf, "list", "--details", "pmu"], env=env, check=True, capture_output=True, text=True)
    found = re.findall(r"^  (\S+) *\n(?: {7}\[[^\]]*\]\n)? {8}cpu/(.*)/ *$", done.stdout, re.MULTILINE)
    return {name.upper(): terms for name, terms in found}


def code(terms):
    """The code, and its additional terms."""
    config, beside = 0, 0
    for term in terms.split(","):
        name, _, value = term.partition("=")
        number = int(value, 0) if value else 1
        if name == "event":
            config |= number
        elif name in SHIFTS:
            config |= number << SHIFTS[name]
        elif name in BESIDE:
            beside |= number
        else:
            assert name == "period", f"unknown term {term}"
    return config, beside


def named(picollo, pmu):
    """libpfm4's codes: picollo's list of a PMU that it is made to take for this machine's."""
    env = {**os.environ, "LIBPFM_FORCE_PMU": pmu}
    done = subprocess.run([picollo, "events", f"{pmu}::", "--json"], env=env, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    perf, picollo = sys.argv[1:]
    passed, failed, refused = 0, 0, 0
    with tempfile.TemporaryDirectory() as sysfs:
        cpu = os.path.join(sysfs, "bus/event_source/devices/cpu")
        os.makedirs(os.path.join(cpu, "format"))
        with open(os.path.join(cpu, "type"), "w") as file:
            file.write("4\n")
        for pmu, model in PMUS.items():
            theirs, both = listed(perf, sysfs, model), 0
            for event in named(picollo, pmu):
                name = event["name"].partition("::")[2].upper()
                if name not in theirs:
                    continue
                both += 1
                want = code(theirs[name])
                if "config" not in event:
                    refused += 1
                    assert "has two codes" in event["why_not"], event
                    continue
                have = int(event["config"], 16), int(event["config1"], 16)
                alike = any({have[0], want[0]} <= codes for codes in ALIKE) and have[1] == want[1]
                if have == want or alike or name in IGNORED and have[0] == want[0]:
                    passed += 1
                else:
                    failed += 1
                    print(f"{pmu}::{name}: {have[0]:#x} {have[1]:#x}, in Intel's list {theirs[name]}")
            assert both > 20, f"{pmu}: {both} names in both lists"
    print(f"{passed} names passed, {refused} refused, {failed} failed")
    sys.exit(failed != 0)


if "is not installed here" in subprocess.run([sys.argv[2], "events"], capture_output=True, text=True).stdout:
    print("SKIPPED: libpfm4 is not installed, so nobody compared its codes with Intel's: ci/setup.sh tests names it")
    sys.exit(0)
main()
