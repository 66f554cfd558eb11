#!/bin/sh
# Are the compilers here those of ci/compilers.txt? Prints those that are not, and then fails.
#
#   ci/tools/compiler.sh rustc|gcc...
cd "$(dirname "$0")/../.." || exit 2
others=0
for name in "$@"; do
    expected=$(sed -n "s/^$name //p" ci/compilers.txt)
    case $name in
    rustc) here=$(rustc --version | cut -d' ' -f2) ;;
    gcc) here=$(gcc -dumpfullversion) ;;
    *) echo "no such compiler: $name" >&2; exit 2 ;;
    esac
    case $here. in
    "$expected".*) ;;
    *) echo "$name $here instead of $expected"; others=1 ;;
    esac
done
exit $others
