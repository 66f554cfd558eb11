"""Follows the path of a record through the disassembly on standard input, for several kinds of histograms.

The code compares the kind of a histogram at its beginning; this script decides those branches like the processor. All
other taken branches leave the hot path, unless they lead directly to the return.
"""

import operator
import re
import sys

RECORD = "picollo_histogram_record"
# The same as in core/src/cells/kind.rs: width of the cells, storage, mode.
KINDS = {
    "single writer, 64-bit": 0x400000,
    "single writer, 32-bit": 0x200000,
    "thread-local, 64-bit": 0x400002,
    "thread-local, 32-bit": 0x200002,
    "interlocked, 64-bit": 0x400001,
    "per-CPU, 64-bit": 0x400004,
}
# Functions of a record must start on a cache line. Parts of names, since Rust's names are mangled.
ON_A_LINE = [
    "picollo_histogram_record",
    "picollo_histogram_record_n",
    "picollo_histogram_record_batch",
    "8dispatch11record_wide17h",
    "8dispatch13record_narrow17h",
    "8dispatch21record_interlocked_6417h",
    "8dispatch21record_interlocked_3217h",
    "8dispatch22record_thread_local_3217h",
    "8dispatch14record_per_cpu17h",
    "7sharded17count_64_by_table17h",
    "7sharded17count_32_by_table17h",
]
LINE = 64
# Callgrind does not support restartable sequences, so this limits the instructions of such a record and its call.
MOST = {"per-CPU, 64-bit": 37}
# Conditional jumps, by their ends.
DECIDE = {"e": operator.eq, "ne": operator.ne}
DECIDE |= dict.fromkeys(["le", "be"], operator.le) | dict.fromkeys(["g", "a"], operator.gt)
DECIDE |= dict.fromkeys(["l", "b"], operator.lt) | dict.fromkeys(["ge", "ae"], operator.ge)


def read(lines):
    """Instructions by address: (text, address of the next); and functions by name: their first address and the rest."""
    code, functions, name, last = {}, {}, None, None
    for line in lines:
        if start := re.match(r"([0-9a-f]+) <(.+)>:$", line):
            name, last = start[2], None
            functions.setdefault(name, [])
        elif instruction := re.match(r"\s*([0-9a-f]+):\t(.+)$", line):
            address = int(instruction[1], 16)
            if last is not None:
                code[last] = (code[last][0], address)
            code[address] = (instruction[2].split("#")[0].strip(), None)
            functions[name].append(address)
            last = address
    return code, functions


def path(code, functions, kind):
    """The instructions that a record in range executes."""
    at, steps, compared, register = functions[RECORD][0], [], None, None
    while at is not None and len(steps) < 200:
        text, following = code[at]
        steps.append(text)
        operation, _, operands = text.partition(" ")
        operands = operands.strip()
        target = re.match(r"([0-9a-f]+) <", operands)
        if operation.startswith("ret"):
            return steps
        if re.match(r"mov 0x28\(%rdi\),%e", re.sub(r"\s+", " ", text)):
            register = operands.split(",")[1]
        elif operation.startswith("cmp"):
            constant = re.match(r"\$0x([0-9a-f]+),(%\w+|0x28\(%rdi\))$", operands.replace("cmpl", ""))
            is_kind = constant and (constant[2] == register or constant[2] == "0x28(%rdi)")
            compared = int(constant[1], 16) if is_kind else None
        elif operation == "jmp":
            following = int(target[1], 16) if target else None
        elif operation[:1] == "j" and operation[1:] in DECIDE and target:
            destination = int(target[1], 16)
            returns = code.get(destination, ("", None))[0].startswith("ret")
            if returns if compared is None else DECIDE[operation[1:]](kind, compared):
                following = destination
            at = following
            continue
        elif operation.startswith("j"):
            pass
        elif operands.endswith(register or "?") and not operation.startswith(("test", "bt")):
            # The flags are overwritten: later branches test something else.
            register, compared = None, None
        at = following
    return steps


def problems(steps):
    """Operations that a record of a single writer must not contain."""
    found = []
    if not steps[-1].startswith("ret"):
        found.append("does not end in ret: " + steps[-1])
    for text in steps:
        if text.startswith("call"):
            found.append("a call: " + text)
        if "lock" in text.split() or text.startswith("xchg") and "(" in text:
            found.append("an atomic operation: " + text)
    stores = [text for text in steps if re.match(r"(inc|add|mov)[lq]? .*\)$", re.sub(r"\s+", " ", text))]
    if len(stores) != 1:
        found.append(f"{len(stores)} writes to memory instead of one: {stores}")
    elif stores[0].startswith("mov"):
        found.append(f"not one instruction, so that a signal handler may come between: {stores[0]}")
    return found


def misplaced(functions, part):
    """Functions that start in the middle of a cache line."""
    found = [name for name in functions if (part in name if "17h" in part else part == name)]
    starts = [functions[name][0] % LINE for name in found]
    return [f"starts at {start} mod {LINE}" for start in starts if start] if found else ["is not there"]


# The thread registers the sequence that begins here with the kernel, and reads its CPU's number.
ARMS = re.compile(r"mov\s+%r\w+,%fs:0x8\(")
READS = re.compile(r"mov\s+%fs:0x4\(")


def sequence_problems(steps):
    """Checks a restartable sequence: armed, followed at once by the CPU's number, ended by the addition."""
    armed = [at for at, text in enumerate(steps) if ARMS.match(text)]
    if len(armed) != 1:
        return [f"armed {len(armed)} times instead of once"]
    sequence = steps[armed[0] + 1 : -1]
    found = [] if READS.match(sequence[0]) else ["the first instruction does not read the CPU: " + sequence[0]]
    if not sequence[-1].startswith("inc"):
        found.append("the last instruction does not add: " + sequence[-1])
    return found


def main():
    code, functions = read(sys.stdin.read().splitlines())
    if RECORD not in functions:
        sys.exit(f"FAILED: no {RECORD} in the library")
    judged = {}
    for name, kind in KINDS.items():
        steps = path(code, functions, kind)
        found = problems(steps)
        if name.startswith("interlocked"):
            # The same rules must fail here, or they would never fail.
            atomic = [problem for problem in found if problem.startswith("an atomic operation")]
            found = [problem for problem in found if problem.startswith(("a call", "does not end"))]
            found += [f"{len(atomic)} atomic operations instead of one"] if len(atomic) != 1 else []
        elif name.startswith("per-CPU"):
            found = sequence_problems(steps) + problems([text for text in steps if not ARMS.match(text)])
        judged[name] = found + ([f"more than {MOST[name]} instructions"] if len(steps) > MOST.get(name, len(steps)) else [])
        print(f"{name}: {len(steps)} instructions")
        if "-v" in sys.argv:
            print("    " + "\n    ".join(steps))
    for part in ON_A_LINE:
        judged[f"{part} on a cache line"] = misplaced(functions, part)
    everything = [(address, code[address][0]) for address in functions[RECORD]]
    length = next(address for address, text in everything if text.startswith("ret")) + 1 - everything[0][0]
    judged["a single writer in one cache line"] = [f"{length} bytes"] if length > LINE else []
    judged["no way to a panic"] = [text for _, text in everything if re.search(r"panic|unwind|bounds", text)]
    failed = {name: found for name, found in judged.items() if found}
    for name, found in failed.items():
        print(f"FAILED {name}: {'; '.join(found)}")
    print(f"{len(judged) - len(failed)} passed, {len(failed)} failed")
    return bool(failed)


sys.exit(main())
