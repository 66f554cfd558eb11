"""Makes a test of every C++ block in manual pages, so that the code on the pages compiles and runs.

usage: cpp_snippets.py exceptions|results docs/languages/cpp.md docs/coming-from.md > snippets.cpp
A block is the body of a function. One whose first line is the comment "with results" is for -fno-exceptions, others are
for exceptions. One that begins with "needs counters" is skipped with a message if there are none. The rows of a table
are one block, for exceptions: ci/docs/rows.py.
"""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "ci" / "docs"))
import rows  # noqa: E402

kind, blocks = sys.argv[1], []
for path in sys.argv[2:]:
    page = open(path, encoding="utf-8").read()
    blocks += re.findall(r"^```cpp\n(.*?)^```", page, flags=re.S | re.M)
    blocks += [rows.body(page, "cpp")] if "<!-- rows cpp" in page else []
chosen = [(n, b) for n, b in enumerate(blocks, 1) if b.startswith("// with results") == (kind == "results")]
if not chosen:
    sys.exit(f"there are no C++ blocks with {kind}")
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
