#!/usr/bin/env bash
# Does docs/layout.html compute what the library does? The module in it is held against the library in Node, on layouts and values
# of every size; and headless Chromium opens the page from a file and says what it shows. Ends with "explorer: N checks passed".
#
#   ci/explorer.sh              builds the module of explorer/, compares it with the page's, and checks the page
#   ci/explorer.sh --write      puts the module that it built into the page first
#   ci/explorer.sh --picture    also takes the picture of it in docs/images
#
# The page says by which compiler its module was built. With another (Debian's is as new as it happens to be) the bytes may differ:
# that is said, and only what the module computes is compared.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$PWD/target/explorer
mkdir -p "$work"
page=docs/layout.html

if ! rustc=$(ci/tools/cross-rust.sh); then
    echo "explorer: FAILED: the compiler for WebAssembly could not be fetched (no network, or no Debian machine)"
    exit 1
fi
lld=$(find "$(rustc --print sysroot)/lib/rustlib" -name rust-lld | head -1)
compiler="$("$rustc" --version | cut -d' ' -f1,2), $("$lld" -flavor wasm --version | cut -d' ' -f1,2)"
RUSTC=$rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$PWD/target/cross \
    RUSTFLAGS="-C linker=$lld --remap-path-prefix=$PWD=picollo --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo" \
    cargo build --quiet --locked --release --manifest-path explorer/Cargo.toml --target wasm32-unknown-unknown -Zbuild-std=core
write=0
case " $* " in *" --write "*) write=1 ;; esac
# The page with the module built here goes to rebuilt.html.
python3 - "$PWD/target/cross/wasm32-unknown-unknown/release/layout_explorer.wasm" $page "$compiler" "$work/rebuilt.html" $write <<'END'
import base64, re, sys
from pathlib import Path

wasm, page, compiler, rebuilt, write = sys.argv[1:]
module = base64.b64encode(Path(wasm).read_bytes()).decode()
line = re.compile('^const MODULE = "([^"]*)"; // built by (.*)$', re.MULTILINE)
text = Path(page).read_text()
found = line.findall(text)
if len(found) != 1:
    sys.exit(f"explorer: FAILED: {page} has {len(found)} lines for the module, not one")
Path(rebuilt).write_text(line.sub(f'const MODULE = "{module}"; // built by {compiler}', text))
if write == "1":
    Path(page).write_text(Path(rebuilt).read_text())
elif found[0] == (module, compiler):
    print(f"the module in the page is what {compiler} builds of explorer/")
elif found[0][1] != compiler:
    print(f"SKIPPED comparing the module's bytes: the page's was built by {found[0][1]}, and here is {compiler}")
else:
    sys.exit(f"explorer: FAILED: the module in {page} is not what explorer/ is compiled to: ci/explorer.sh --write")
END

cargo run --quiet --release -p picollo-core --example layouts >"$work/layouts.txt"
node explorer/check.js "$work/rebuilt.html" "$work/layouts.txt" >/dev/null
node explorer/check.js $page "$work/layouts.txt" | tee "$work/node.log"
checks=$(awk '{ print $1 }' "$work/node.log")

find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome || true; }
browser=$(find_browser)
if [ -z "$browser" ]; then
    ci/setup.sh browser && browser=$(find_browser) || true
fi
if [ -z "$browser" ]; then
    echo "SKIPPED the page itself: no Chromium, so nobody looked at it"
else
    browse() {
        # What a run that was killed left there would be in the way.
        rm -rf "$work/profile"
        timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-sync \
            --disable-background-networking --disable-component-update --hide-scrollbars --user-data-dir="$work/profile" "$@" 2>"$work/browser.log"
    }
    # shows QUERY WHAT...: the page, opened with the query, holds all of these.
    shows() {
        local query=$1 what
        shift
        browse --dump-dom "file://$PWD/$page?$query" | sed 's/\xe2\x80\xaf//g' >"$work/dom.html"
        for what in "$@"; do
            if grep -qF -- "$what" "$work/dom.html"; then
                checks=$((checks + 1))
            else
                echo "explorer: FAILED: with ?$query the page does not show: $what"
                exit 1
            fi
        done
    }
    shows "error=0.01&min=0&max=18446744073709551615&value=1000000" '<dd id="bucket">999424 to 1007615</dd>' '<dd id="step">8192</dd>' \
        '<dd id="midpoint">1003520, off by 3520: 0.352 %</dd>' '<dd id="logical-index">954, block 14</dd>' '<dd id="length">3776</dd>' \
        'on a logarithmic axis'
    shows "error=0.01&min=10000&max=30000&value=9" '<dd id="length">104</dd>' 'none: an underflow'
    shows "error=0.01&min=10000&max=30000&value=18446744073709551615" 'none: an overflow'
    shows "error=0.1&min=0&max=255&value=100" '<dd id="block-size">8 (2^3)</dd>' 'as wide as their values' '<dd id="bucket">96 to 103</dd>'
    shows "error=0.001&min=5&max=5&value=5" 'The smallest value must be below the largest.'
    shows "error=x&min=0&max=5&value=5" 'error: a number above 0'
    shows "error=0.1&min=0&max=18446744073709551616&value=5" 'max: beyond'
    shows "" '<dd id="storage-index">'
    if [ "${1-}" = --picture ] || [ "${2-}" = --picture ]; then
        browse --window-size=1040,1180 --screenshot="$PWD/docs/images/layout-explorer.png" \
            "file://$PWD/$page?error=0.1&min=0&max=255&value=100" >/dev/null
    fi
fi
echo "explorer: $checks checks passed"
