#!/usr/bin/env bash
# Does the output of packaging/dist.sh work elsewhere? Everything is unpacked or installed in an empty directory, and runs the
# first example of the README. Ends with a line "N passed, N failed".
#
#   gnu           for x86-64 and glibc: what the files need of the C library; the tarball after a move, with pkg-config and
#                 CMake, shared and static, gcc and clang, C and C++; the wheel with its tests; the installer
#   aarch64       for arm64, in an emulator: tarball, command, wheel
#   musl          for musl: the static commands, alone in a directory; the library, with musl's loader; the wheel's content
#   nuget         the layout of the NuGet package, and the C# example on its library
#   pypi          twine's and auditwheel's opinion; a wheel out of the source distribution alone, which compiles for minutes
#   instructions  the instruction budgets of the hot paths, also minutes
#   twice         the same bytes from copies of the sources in two directories? Twice as many minutes
#
#   ci/dist/test.sh [--in DIRECTORY] [PART]...      default: target/dist; all except the last two
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
tools=$(packaging/portable.sh)

. ci/tools/checks.sh

out=target/dist
if [ "${1:-}" = --in ]; then out=$2 && shift 2; fi
out=$(realpath -m "$out")
[ $# -gt 0 ] || set -- gnu aarch64 musl nuget pypi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=picollo-$version-linux-$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Moved after it was unpacked.
mkdir "$work/unpacked"
tar -C "$work/unpacked" -xzf "$out/$name.tar.gz"
mv "$work/unpacked/$name" "$work/moved here"
tree="$work/moved here"
cd "$work"
unset LD_LIBRARY_PATH PYTHONPATH PICOLLO_LIBRARY PKG_CONFIG_PATH

wants() {
    local file highest
    for file in "$@"; do
        highest=$(readelf -VW "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
        echo "$file: $highest"
        [ "$(printf '%s\n' "$highest" GLIBC_2.17 | sort -V | tail -n 1)" = GLIBC_2.17 ] || return 1
        # Only the C library's own libraries.
        ! readelf -dW "$file" | grep NEEDED | grep -vE '\[(lib(m|c|pthread|dl|rt)\.so\.[0-9]|ld-linux-.*)\]' || return 1
    done
}
is_told_apart() { ! wants "$root/target/stage/lib/libpicollo.so"; }
loads_as_it_should() {
    local dynamic
    dynamic=$(readelf -dW "$tree/lib/libpicollo.so")
    grep -q "SONAME.*\[libpicollo\.so\.$("$root/ci/tools/abi-version.sh")\]" <<<"$dynamic" &&
        grep -q NODELETE <<<"$dynamic" &&
        grep -q STATIC_TLS <<<"$dynamic" &&
        # Only the header's functions are exported.
        nm -D --defined-only "$tree/lib/libpicollo.so" | awk '{ sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u |
        diff - <(python3 "$root/ffi/describe/description.py")
}
objects() {
    # Every linker can read each object; none is bitcode.
    mkdir -p objects && (cd objects && ar x "$tree/lib/libpicollo.a") &&
        [ -z "$(find objects -type f -exec sh -c 'head -c 4 "$1" | grep -qa ELF || echo "$1"' _ {} \;)" ]
}
example() { readme c example.c && readme c++ example.cpp; }
by_pkg_config() {
    local flags
    example && export PKG_CONFIG_PATH="$tree/lib/pkgconfig" && eval "flags=($(pkg-config --cflags --libs picollo))" &&
        gcc example.c -o shared "${flags[@]}" "-Wl,-rpath,$tree/lib" && LD_BIND_NOW=1 ./shared &&
        g++ -std=c++17 example.cpp -o cpp "${flags[@]}" "-Wl,-rpath,$tree/lib" && ./cpp
}
static_by() {
    # clang and gcc find gcc_s; zig's clang has its own.
    example && "$@" -I"$tree/include" example.c "$tree/lib/libpicollo.a" -o static -lpthread -lm -ldl && ./static &&
        ! readelf -dW static | grep -q picollo
}
command_runs() {
    [ "$("$tree/bin/picollo" --version)" = "picollo $version" ] && "$tree/bin/picollo" list
}
wheel_works() {
    python3 -m venv venv &&
        venv/bin/pip --disable-pip-version-check install -q --no-index "$out"/picollo-*manylinux*_x86_64.whl &&
        venv/bin/python -I "$root/ci/install/wheel.py" &&
        python_example venv/bin/python && venv/bin/picollo list && venv/bin/python -m picollo --version
}
# The tests that need only the package, away from the sources.
wheel_passes() {
    mkdir -p elsewhere/tests && local file
    for file in conftest test_batch test_clock test_counter test_errors test_log \
        test_picture test_recording test_segment test_snapshot test_summary test_timing; do
        cp "$root/python/tests/$file.py" elsewhere/tests/ || return 1
    done
    venv/bin/pip --disable-pip-version-check install -q -c "$root/python/requirements-test.txt" pytest hypothesis numpy &&
        cd elsewhere && ../venv/bin/python -m pytest -q -p no:cacheprovider tests
}
instructions() { cd "$root" && STAGE=$out/$name PICOLLO_STAGED=1 ci/cost.sh; }

same_twice() {
    local work=$PWD/target/dist-twice file
    rm -rf "$work"
    build() {
        mkdir -p "$work/$1"
        git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - | tar -xf - -C "$work/$1"
        SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) "$work/$1/packaging/dist.sh" "$work/$2" x86_64-gnu >/dev/null
    }
    build a first
    build somewhere-else-entirely/deeper second
    for file in "$work"/first/picollo-*linux*.{tar.gz,whl}; do
        check "$(basename "$file") is the same twice" cmp "$file" "$work/second/$(basename "$file")"
    done
    # There is no trace of the build directory either.
    names_no_place() { ! grep -rlaF -e "$work/somewhere" -e "${CARGO_HOME:-$HOME/.cargo}" "$work"/second/picollo-*/lib; }
    check "no library names a directory of this machine" names_no_place
}

# The example of the README in a language, into a file.
readme() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$root/README.md" | sed '/^```/d' >"$2"; }

installer_works() {
    local home=$work/home
    mkdir -p "$home" && cp "$out/install.sh" .
    HOME=$home PICOLLO_RELEASES=file://$out sh install.sh && "$home/.local/bin/picollo" list &&
        [ -e "$home/.local/lib/libpicollo.so" ] && [ -e "$home/.local/share/man/man1/picollo.1" ] &&
        if grep -q "linux-x86_64-static" "$out/SHA256SUMS"; then
            HOME=$home PICOLLO_RELEASES=file://$out sh install.sh --static --prefix "$work/static here" && "$work/static here/bin/picollo" list
        fi &&
        # One changed byte is noticed, and nothing is installed.
        mkdir -p forged && cp "$out"/SHA256SUMS "$out/$name.tar.gz" forged/ && printf x >>"forged/$name.tar.gz" &&
        ! HOME=$home PICOLLO_RELEASES=file://$work/forged sh install.sh --prefix "$work/none" && [ ! -e "$work/none" ]
}
python_example() {
    readme python example.py && "$@" example.py | grep '1,000 values'
}

# Arm64.
arm() {
    LD_LIBRARY_PATH=$arm_root/usr/lib/x86_64-linux-gnu:$arm_root/lib/x86_64-linux-gnu \
        "$arm_root/usr/bin/qemu-aarch64" -U LD_LIBRARY_PATH -L "$arm_root" "$@"
}
arm_tarball() {
    readme c example.c && "$tools/bin/zig-cc" -target aarch64-linux-gnu.2.17 -I"$arm_tree/include" example.c "$arm_tree/lib/libpicollo.so" -o arm-shared &&
        arm -E LD_LIBRARY_PATH="$arm_tree/lib" ./arm-shared | grep '1,000 values' &&
        "$tools/bin/zig-cc" -target aarch64-linux-gnu.2.17 -I"$arm_tree/include" example.c "$arm_tree/lib/libpicollo.a" -lunwind -o arm-static &&
        arm ./arm-static | grep '1,000 values'
}
arm_command() { [ "$(arm "$1" --version)" = "picollo $version" ] && arm "$1" list; }
arm_wheel() {
    mkdir -p arm-wheel && python3 -m zipfile -e "$out"/picollo-*manylinux*_aarch64.whl arm-wheel &&
        python_example arm -E PYTHONHOME="$arm_root/usr" -E PYTHONPATH="$work/arm-wheel" "$arm_root/usr/bin/python3.11" -c '
import sys, picollo
assert picollo.extension_path and picollo.library_path, picollo.extension_path
exec(open(sys.argv[1]).read())'
}

# Musl.
is_static() { readelf -lW "$1" | grep -q 'INTERP' && return 1; ! readelf -dW "$1" | grep -q NEEDED; }
alone() {
    is_static "$1" && mkdir -p empty && install -m 755 "$1" empty/picollo || return 1
    if [ "$(id -u)" -eq 0 ]; then chroot empty /picollo --version && chroot empty /picollo list; else empty/picollo list; fi
}
musl_library() {
    local loader=$musl_root/lib/x86_64-linux-musl/libc.so
    mkdir -p musl-wheel && python3 -m zipfile -e "$out"/picollo-*musllinux*.whl musl-wheel &&
        cmp musl-wheel/picollo/libpicollo.so "$out/nuget/runtimes/linux-musl-x64/native/libpicollo.so" &&
        ln -s libpicollo.so "musl-wheel/picollo/libpicollo.so.$("$root/ci/tools/abi-version.sh")" &&
        readme c example.c && "$tools/bin/zig-cc" -target x86_64-linux-musl -dynamic -I"$root/include" example.c musl-wheel/picollo/libpicollo.so -o musl-shared &&
        "$loader" --library-path musl-wheel/picollo ./musl-shared | grep '1,000 values' || return 1
    # Each symbol that the extension module needs is Python's or musl's.
    nm -D --undefined-only musl-wheel/picollo/_speed.abi3.so | awk '$1 != "w" { print $2 }' | grep -vE '^_?Py' | sort -u >wanted
    nm -D --defined-only "$loader" | awk '{ print $3 }' | sort -u | comm -23 wanted - | grep . && return 1
    is_static musl-wheel/picollo/bin/picollo
}

nuget_layout() {
    (cd "$out/nuget/runtimes" && find . -type f | sort | diff - <(printf './%s/native/libpicollo.so\n' linux-arm64 linux-musl-x64 linux-x64)) &&
        readelf -h "$out/nuget/runtimes/linux-arm64/native/libpicollo.so" | grep -q AArch64 &&
        ! readelf -dW "$out/nuget/runtimes/linux-musl-x64/native/libpicollo.so" | grep -E 'NEEDED.*(libc\.so\.6|gcc_s)' || return 1
    python3 - "$root" <<'END'
import pathlib, sys, xml.etree.ElementTree as xml
dotnet = pathlib.Path(sys.argv[1], "dotnet")
props = xml.parse(dotnet / "Directory.Build.props").getroot()
for name in ("Version", "Authors", "PackageLicenseExpression", "PackageProjectUrl", "PackageIcon", "RepositoryUrl", "PublishRepositoryUrl"):
    assert props.findtext(f".//{name}"), name
project = xml.parse(dotnet / "src/Picollo/Picollo.csproj").getroot()
packed = {item.get("Include"): item.get("PackagePath") for item in project.iter("None") if item.get("Pack") == "true"}
assert packed["@(NativeLibrary)"] == "runtimes" and packed["README.md"] == "/", packed
assert (dotnet / "icon.png").read_bytes().startswith(b"\x89PNG")
END
}
csharp_example() {
    local runtime=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/dotnet/runtime-8.0.4
    (cd "$root" && STAGE=$out/$name ci/dotnet.sh --compile) &&
        LD_LIBRARY_PATH=$out/nuget/runtimes/linux-x64/native DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 \
            "$runtime/dotnet" exec "$root/target/dotnet/core/Readme.exe.dll" | grep -q '10,000'
}

twine_agrees() {
    python3 -m venv twine && twine/bin/pip --disable-pip-version-check install -q twine==6.2.0 &&
        twine/bin/twine check --strict "$out"/picollo-*.whl "$out/picollo-$version.tar.gz"
}
# auditwheel TAG WHEEL
auditwheel() { "$tools/bin/auditwheel" show "$2" | tr '\n' ' ' | grep -q "consistent with *the following platform tag: \"$1\""; }
source_distribution() {
    mkdir -p built && python3 -m venv built/venv &&
        env -i PATH="$PATH" HOME="$HOME" CARGO_TARGET_DIR="$root/target" built/venv/bin/pip --disable-pip-version-check wheel -q --no-deps -w built "$out/picollo-$version.tar.gz" &&
        built/venv/bin/pip --disable-pip-version-check install -q --no-index built/picollo-*.whl &&
        built/venv/bin/python -I "$root/ci/install/wheel.py" && python_example built/venv/bin/python
}

for part in "$@"; do
    case $part in
    gnu)
        mkdir unzipped && python3 -m zipfile -e "$out"/picollo-*manylinux*_x86_64.whl unzipped
        check "glibc 2.17 and nothing besides is wanted" wants "$tree/lib/libpicollo.so" "$tree/bin/picollo" unzipped/picollo/*.so \
            unzipped/picollo/bin/picollo "$out"/nuget/runtimes/linux-{x64,arm64}/native/*
        if [ -e "$root/target/stage/lib/libpicollo.so" ]; then
            check "a library for this machine alone is told apart" is_told_apart
        fi
        check "checksums" sh -c "cd '$out' && sha256sum -c SHA256SUMS"
        check "SONAME, NODELETE, thread-local storage, exports" loads_as_it_should
        check "the static library is of objects for any linker" objects
        check "the tarball by pkg-config, bound at once" by_pkg_config
        check "the static library by gcc" static_by gcc
        check "the static library by clang (zig's)" static_by "$tools/bin/zig-cc" -lunwind
        check "the tarball by CMake" cmake_project "$tree" cmake
        check "the command" command_runs
        check "the installer" installer_works
        check "the wheel in an empty environment" wheel_works
        check "the wheel passes its tests" wheel_passes
        ;;
    aarch64)
        arm_root=$("$root/ci/tools/debian.sh" arm64-python)
        tar -xzf "$out/picollo-$version-linux-aarch64.tar.gz" && arm_tree=$work/picollo-$version-linux-aarch64
        check "arm64: the tarball, shared and static" arm_tarball
        check "arm64: the command" arm_command "$arm_tree/bin/picollo"
        check "arm64: the static command" arm_command "$out/picollo-$version-linux-aarch64-static"
        check "arm64: the wheel" arm_wheel
        ;;
    musl)
        musl_root=$("$root/ci/tools/debian.sh" musl)
        check "the static command, alone" alone "$out/picollo-$version-linux-x86_64-static"
        check "the static command for arm64 needs nothing" is_static "$out/picollo-$version-linux-aarch64-static"
        check "musl: the library with its loader, the content of the wheel" musl_library
        echo "SKIPPED the wheel in Python for musl: there is none to fetch here"
        ;;
    nuget)
        check "NuGet: layout and metadata" nuget_layout
        check "NuGet: the C# example" csharp_example
        ;;
    pypi)
        check "twine" twine_agrees
        check "auditwheel: manylinux_2_17, x86-64" auditwheel manylinux_2_17_x86_64 "$out"/picollo-*manylinux*_x86_64.whl
        check "auditwheel: manylinux_2_17, arm64" auditwheel manylinux_2_17_aarch64 "$out"/picollo-*manylinux*_aarch64.whl
        check "auditwheel: musllinux_1_2" auditwheel musllinux_1_2_x86_64 "$out"/picollo-*musllinux*_x86_64.whl
        check "a wheel out of the source distribution" source_distribution
        ;;
    instructions) check "the instructions of the hot paths" instructions ;;
    twice) same_twice ;;
    *) echo "unknown part: $part" >&2; exit 2 ;;
    esac
done
finish
