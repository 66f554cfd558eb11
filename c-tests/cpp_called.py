"""Fails if no test calls some function of the C++ headers: reads gcov's counts.

usage: cpp_called.py FOLDER
FOLDER contains programs that were compiled with --coverage and -fkeep-inline-functions, and have run.
"""

import collections
import json
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
calls, names = collections.Counter(), {}
for notes in sorted(folder.glob("*.gcno")):
    told = subprocess.run(["gcov", "--json-format", "--stdout", notes.name], cwd=folder, check=True, capture_output=True, text=True).stdout
    for file in json.loads(told)["files"]:
        header = folder / file["file"]
        if header.suffix == ".hpp" and header.name.startswith("picollo"):
            for function in file["functions"]:
                # Identified by its line, as templates have many names.
                place = header.name, function["start_line"]
                if "= default" in header.read_text().splitlines()[place[1] - 1]:
                    continue
                calls[place] += function["execution_count"]
                names[place] = function["demangled_name"]
never = sorted(place for place in names if not calls[place])
for header, line in never:
    print(f"FAILED: no test calls {names[header, line]} ({header}:{line})")
print(f"{len(names) - len(never)} of {len(names)} functions of the C++ headers are called by a test")
sys.exit(bool(never) or not names)
