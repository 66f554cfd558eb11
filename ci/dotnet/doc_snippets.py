"""Makes a test of every C# block in manual pages, so that the code on the pages compiles and runs.

usage: doc_snippets.py docs/languages/dotnet.md docs/coming-from.md > DocSnippets.cs
       doc_snippets.py --program README.md > Readme.cs
With --program, the first C# block of a page is a separate program, unchanged. Otherwise a block is the body of a
method. A block that begins with a comment "needs counters" is skipped with a message if there are none. The rows of a
table are one block: ci/docs/rows.py.
"""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "docs"))
import rows  # noqa: E402

if sys.argv[1] == "--program":
    print(re.search(r"^```(?:csharp|cs)\n(.*?)^```", open(sys.argv[2], encoding="utf-8").read(), flags=re.S | re.M)[1], end="")
    sys.exit()
blocks = []
for path in sys.argv[1:]:
    page = open(path, encoding="utf-8").read()
    found = re.findall(r"^```csharp\n(.*?)^```", page, flags=re.S | re.M)
    found += [rows.body(page, "csharp")] if "<!-- rows csharp" in page else []
    if not found:
        sys.exit(f"{path} has no C# blocks")
    blocks += found
print("using System;\nusing System.Threading;\nusing System.Threading.Tasks;\nusing Picollo;\nusing Picollo.Metrics;")
print("using Picollo.PerfEvent;\n\nnamespace Picollo.Tests\n{\n    public static class DocSnippets\n    {")
for number, block in enumerate(blocks, 1):
    body = "".join(f"            {line}" if line.strip() else line for line in block.splitlines(keepends=True))
    print(f"        [Test]\n        public static void Block{number:02}()\n        {{")
    if block.startswith("// needs counters"):
        print("            if (!PerfEventCounterSession.TryGetNumberOfCounters(out _, out _))")
        print('                throw new SkippedException("there are no performance counters here");')
    print(f"{body}        }}\n")
print("    }\n}")
