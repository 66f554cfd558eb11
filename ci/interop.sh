#!/usr/bin/env bash
# Do other implementations of HdrHistogram read our data, and we theirs, with equal counts?
#
#   ci/interop.sh              the last line is "interop: N checks passed"
#   ci/interop.sh --fetch      only fetch the peers
#
# The peers are hdrhistogram of PyPI, the crate hdrhistogram, and hdr-histogram-js of npm, in pinned versions. Random
# histograms go both ways: of 0 to 5 digits (PyPI: 1 to 5), sparse and dense, edge cases, and in units of 2 to 2^40
# (lowest discernible values, powers of two or not); in V2, compressed V2, and logs with tags. Figures are compared too:
# extremes, equivalent values, and with the crate percentiles and steps. INTEROP_SEED selects other histograms.
#
# The library is that of target/stage, or of the directory in STAGE. The peers are kept in ~/.cache/picollo/interop. A
# failed download fails the check.
set -euo pipefail
cd "$(dirname "$0")/.."

stage=$(realpath -m "${STAGE:-target/stage}")
out=$(realpath -m "${CARGO_TARGET_DIR:-target}")/interop
cache=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/interop

fail() {
    echo "$*" >&2
    echo "interop: FAILED"
    exit 1
}

# A directory for each set of pinned versions.
key() { cat "$@" | sha256sum | cut -c 1-12; }
modules=$cache/js-$(key ci/interop/package-lock.json)

fetch() {
    mkdir -p "$cache"
    local work
    work=$(mktemp -d "$cache/fetch.XXXXXX")
    # shellcheck disable=SC2064 # the directory of now
    trap "rm -rf '$work'" EXIT
    venv=$(ci/tools/venv.sh interop --only-binary :all: -r ci/interop/requirements.txt) || fail "hdrhistogram could not be fetched from PyPI: is there a network?"
    if [ ! -d "$modules" ]; then
        command -v npm >/dev/null && command -v node >/dev/null || fail "node and npm are missing: install Node.js"
        cp ci/interop/package.json ci/interop/package-lock.json "$work/"
        (cd "$work" && npm ci --silent --ignore-scripts --no-audit --no-fund) \
            || fail "hdr-histogram-js could not be fetched from npm: is there a network?"
        mv "$work" "$modules"
    fi
}

fetch
[ "${1:-}" = --fetch ] && exit 0
[ -e "$stage/lib/libpicollo.so" ] || ci/stage.sh
export PICOLLO_LIBRARY=$stage/lib/libpicollo.so PYTHONDONTWRITEBYTECODE=1

rm -rf "$out"
mkdir -p "$out"
python3 ci/interop/interop.py prepare "$out" "${INTEROP_SEED:-1}" || fail "no histograms to try"
"$venv/bin/python" ci/interop/peer.py "$out" || fail "PyPI's hdrhistogram ended early"
NODE_PATH=$modules/node_modules node ci/interop/peer.js "$out" || fail "npm's hdr-histogram-js ended early"
cargo run --quiet -p picollo-codec --example interop -- "$out" || fail "the crate hdrhistogram ended early"
python3 ci/interop/interop.py check "$out"
