#!/usr/bin/env bash
# The NuGet packages Picollo.Native and Picollo.Native.MeterListener.
#
#   packaging/nuget.sh         puts the staged library of this machine into target/nuget/runtimes/RID/native, and packs if there
#                              is an SDK
#   packaging/nuget.sh pack    packs the libraries that are there: those of packaging/dist.sh
#
# The library is that of target/stage, or of the directory in STAGE. NUGET sets another directory than target/nuget.
set -euo pipefail
cd "$(dirname "$0")/.."

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
ls "$nuget"/*.nupkg "$nuget"/*.snupkg
