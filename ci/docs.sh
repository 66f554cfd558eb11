#!/usr/bin/env bash
# Is the manual true, and are committed files current? Ends with "docs: N passed, N failed", which counts the parts.
#
#   ci/docs.sh [links] [readme] [projects] [commands] [pictures]      default: all; needs the staged library (ci/stage.sh)
#
# links     every link and anchor has a target, every page is linked
# readme    the README's examples, with the commands printed there
# projects  project files that no tool here reads parse, and the projects that they name exist
# commands  every command on the pages is run, here or by another check
# pictures  the pictures of docs/pictures.md match the library's output
set -euo pipefail
cd "$(dirname "$0")/.."

pictures() {
    local drawn="${CARGO_TARGET_DIR:-target}/pictures" number=0 picture
    mkdir -p "$drawn"
    cargo run --quiet --release -p picollo-text --example pictures -- "$drawn" "$drawn/report.html" >/dev/null || return 1
    for picture in "$drawn"/*.svg; do
        cmp "$picture" "docs/images/$(basename "$picture")" || {
            echo "pictures: FAILED: draw them anew, as docs/pictures.md says, and look at them"
            return 1
        }
        number=$((number + 1))
    done
    echo "pictures: $number are current"
    [ "$number" -gt 0 ]
}

# There is no .NET SDK here to load them.
projects() {
    git ls-files -z '*.csproj' '*.props' '*.targets' '*.svg' '*.sln' | python3 -c '
import pathlib, re, sys, xml.etree.ElementTree
names = sys.stdin.read().split("\0")[:-1]
for path in map(pathlib.Path, names):
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".sln":
        xml.etree.ElementTree.fromstring(text)
    for name in re.findall("\"([^\"*$@]+[.]csproj)\"", text):
        assert (path.parent / name.replace("\\", "/")).exists(), f"{path} names {name}, which does not exist"
print(f"projects: {len(names)} parse")'
}

passed=0 failed=0
[ $# -gt 0 ] || set -- links readme projects commands pictures
for part in "$@"; do
    echo "-- $part"
    case $part in
    links | readme | commands) run=(python3 "ci/docs/$part.py") ;;
    projects | pictures) run=("$part") ;;
    *) echo "no such part: $part" >&2; exit 2 ;;
    esac
    if "${run[@]}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $part"
    fi
done
echo "docs: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
