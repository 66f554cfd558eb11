"""Makes a test of every C++ block in a manual page, so that what the page says compiles and runs.

usage: cpp_snippets.py docs/cpp.md exceptions|results > snippets.cpp
A block is the body of a function. One whose first line is the comment "with results" is for -fno-exceptions, others are for
exceptions; one that begins with "needs counters" is skipped, aloud, where there are none.
"""

import re
import sys

page, kind = open(sys.argv[1], encoding="utf-8").read(), sys.argv[2]
blocks = re.findall(r"^```cpp\n(.*?)^```", page, flags=re.S | re.M)
chosen = [(n, b) for n, b in enumerate(blocks, 1) if b.startswith("// with results") == (kind == "results")]
if not chosen:
    sys.exit(f"{sys.argv[1]} has no C++ blocks with {kind}")
print('#include "cpp_test.hpp"\n#include <iostream>\n#include <thread>\n#include <vector>\n')
print("using namespace std::chrono_literals;\n")
print("static void work() { picollo::add_chain_256(100); }\n")
for number, block in chosen:
    print(f"static void block_{number}()\n{{")
    if block.startswith("// needs counters"):
        print("    picollo_perf_info machine;")
        print("    if (picollo_perf_probe(&machine, nullptr) != PICOLLO_OK || !machine.pmu_available) {")
        print('        SKIPPED("there are no performance counters here");\n        return;\n    }')
    print(block + "}\n")
print("int main()\n{\n    work();")
for number, _ in chosen:
    print(f"    RUN(block_{number});")
print("    return report();\n}")
