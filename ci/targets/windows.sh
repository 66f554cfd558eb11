#!/usr/bin/env bash
# Does the histogram part work on Windows? Builds picollo.dll with mingw-w64,
# checks its exports, and runs the C tests on it under wine. Counters exist only on Linux: on Windows they return
# UNSUPPORTED, which is tested too. Ends with a line "N passed, N failed".
#
#   ci/targets/windows.sh
#
# The compilers and wine come from Debian and are unpacked in the cache directory: nothing is installed. A failed
# download fails the check.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$PWD/target/windows
mkdir -p "$work/tests"
compiler=$(ci/tools/cross.sh x86_64-pc-windows-gnu std,panic_unwind)
root=$(ci/tools/debian.sh windows)
export PATH=$PATH:$root/run

echo "windows: building picollo.dll"
eval "$compiler"
CARGO_TARGET_DIR=$PWD/target/cross CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc \
    cargo build --quiet --locked "${build_std[@]}" --target x86_64-pc-windows-gnu --release -p picollo-ffi
built=$PWD/target/cross/x86_64-pc-windows-gnu/release
cp "$built/picollo.dll" "$work/tests/"

. ci/tools/checks.sh
# objdump calls the table of exports "[Ordinal/Name Pointer]".
python3 ffi/describe/description.py >"$work/exports"
if diff "$work/exports" <(x86_64-w64-mingw32-objdump -p "$built/picollo.dll" |
    sed -n '/Ordinal\/Name Pointer/,/^$/{/Ordinal/d;s/.* \([A-Za-z_][A-Za-z0-9_]*\)$/\1/p}' | LC_ALL=C sort); then
    pass "$(wc -l <"$work/exports") functions exported, and nothing else"
else
    fail "the exports differ from what the header declares"
fi

export WINEPREFIX=$work/prefix WINEDEBUG=-all WINELOADER=$root/usr/lib/wine/wine64
export WINEDLLOVERRIDES="mscoree=;mshtml=;winemenubuilder.exe="
# wine64 COMMAND...: with its own libraries, and a time limit: a hanging program fails.
wine64() { LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu timeout 600 "$root/usr/lib/wine/wine64" "$@"; }
if [ ! -e "$WINEPREFIX/complete" ]; then
    echo "windows: setting up wine"
    rm -rf "$WINEPREFIX"
    # A library that Debian's wine needs, in a place that its loader searches.
    mkdir -p "$WINEPREFIX/drive_c/windows/system32"
    cp "$root/usr/x86_64-w64-mingw32/lib/zlib1.dll" "$WINEPREFIX/drive_c/windows/system32/"
    wine64 wineboot -i >"$work/wineboot.log" 2>&1 || true
    [ "$(wine64 cmd /c echo alive 2>/dev/null | tr -d '\r')" = alive ] ||
        { tail -n 20 "$work/wineboot.log"; echo "windows: wine does not run here"; exit 1; }
    touch "$WINEPREFIX/complete"
fi

# Excluded: what exists on Linux only (perf, of which counters tests the refusals, segment and why), and what needs its
# processes and signals.
python3 c-tests/layout_generated.py >"$work/tests/layout.c"
for test in c-tests/{histogram,inline,compare,log,double,counter,picture,metrics,threads}.c "$work/tests/layout.c" ci/targets/{unsupported,windows/counters}.c; do
    name=$(basename "$test" .c)
    if ! x86_64-w64-mingw32-gcc -std=c11 -Wall -Wextra -Werror -O2 -D__USE_MINGW_ANSI_STDIO=1 -I include -I c-tests "$test" \
        -o "$work/tests/$name.exe" "$built/libpicollo.dll.a" -Wl,-Bstatic -lpthread; then
        fail "$name does not compile"
        continue
    fi
    log=$work/tests/$name.log
    code=0
    # From this directory, where the tests find their texts.
    wine64 "$work/tests/$name.exe" >"$log" 2>&1 </dev/null || code=$?
    add_up "$name" "$log" $code
done
# The same with the static library, for programs without a DLL.
if x86_64-w64-mingw32-gcc -std=c11 -O2 -D__USE_MINGW_ANSI_STDIO=1 -I include -I c-tests c-tests/histogram.c -o "$work/tests/static.exe" \
    "$built/libpicollo.a" -lws2_32 -luserenv -lntdll -lbcrypt -ladvapi32 -lkernel32 -Wl,-Bstatic -lpthread -static-libgcc &&
    wine64 "$work/tests/static.exe" >"$work/tests/static.log" 2>&1 </dev/null; then
    add_up static "$work/tests/static.log"
else
    fail "the static library"
fi
finish
