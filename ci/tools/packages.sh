#!/bin/sh
# Prints the published libraries of the workspace, one a line: NAME FOLDER. `packages.sh all` also prints the command and the C library.
cd "$(dirname "$0")/../.." || exit
cargo metadata --quiet --no-deps --format-version 1 | ALL=$1 python3 -c '
import json, os, sys

for package in json.load(sys.stdin)["packages"]:
    if package["publish"] != [] and (os.environ["ALL"] or any(target["kind"] == ["lib"] for target in package["targets"])):
        print(package["name"], os.path.relpath(os.path.dirname(package["manifest_path"])))
'
