#!/usr/bin/env bash
# The NuGet packages Picollo.Native and Picollo.Native.MeterListener.
#
#   packaging/nuget.sh         puts the staged library of this machine into target/nuget/runtimes/RID/native, and packs if there
#                              is an SDK
#   packaging/nuget.sh pack    packs the libraries that are there: those of packaging/dist.sh
#   packaging/nuget.sh --repack FILE.nupkg      rewrites the archive: sorted, with one time for all, so that it is reproducible
#
# The library is that of target/stage, or of the directory in STAGE. NUGET sets another directory than target/nuget. Times are
# SOURCE_DATE_EPOCH, or that of the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

repack() {
    python3 - "$1" <<'EOF'
import os
import sys
import time
import zipfile

path = sys.argv[1]
# Archives have no times before 1980.
when = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
with zipfile.ZipFile(path) as archive:
    files = {name: archive.read(name) for name in archive.namelist()}
with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED) as archive:
    for name in sorted(files):
        entry = zipfile.ZipInfo(name, when)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        archive.writestr(entry, files[name])
os.replace(path + ".new", path)
EOF
}

if [ "${1:-}" = --repack ]; then
    repack "$2"
    exit
fi

stage=$(realpath -m "${STAGE:-target/stage}")
nuget=${NUGET:-target/nuget}
if [ "${1:-}" != pack ]; then
    case $(uname -m) in
    x86_64) native=$nuget/runtimes/linux-x64/native ;;
    aarch64) native=$nuget/runtimes/linux-arm64/native ;;
    *) echo "there is no name of .NET's for $(uname -m) here" >&2; exit 1 ;;
    esac
    mkdir -p "$native"
    # The file itself: a package cannot contain links.
    cp -L "$stage/lib/libpicollo.so" "$native/libpicollo.so"
    echo "$native/libpicollo.so"
fi

if ! command -v dotnet >/dev/null || [ -z "$(dotnet --list-sdks 2>/dev/null)" ]; then
    echo "no .NET SDK here: nothing was packed"
    exit
fi
for project in dotnet/src/Picollo/Picollo.csproj adapters/meter-listener/src/Picollo.Native.MeterListener.csproj; do
    dotnet pack -c Release -p:NativeRoot="$(realpath "$nuget")/runtimes/" -o "$nuget" "$project"
done
for package in "$nuget"/*.nupkg "$nuget"/*.snupkg; do
    repack "$package"
    echo "$package"
done
