"""Makes a test of every C# block in a manual page, so that what the page says compiles and runs.

usage: doc_snippets.py docs/dotnet.md > DocSnippets.cs
A block is the body of a method. One that begins with a comment "needs counters" is skipped, aloud, where there are none.
"""

import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"^```csharp\n(.*?)^```", page, flags=re.S | re.M)
if not blocks:
    sys.exit(f"{sys.argv[1]} has no C# blocks")
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
