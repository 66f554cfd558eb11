#!/usr/bin/env bash
# Does the output of packaging/dist.sh work elsewhere? Each package is installed out of its files alone, in an empty folder, and runs
# the README's example of its language. Ends with a table of these, the time of all, and a line "N passed, N failed".
#
#   gnu           on this machine: what the files for glibc need of it; the tarball by gcc, clang and CMake; the wheel with its tests
#   clean         every package in Debians that have nothing else, from glibc 2.31 to the newest, without a network. Needs root
#   aarch64       for arm64, in an emulator: tarball, commands, wheel
#   musl          for musl: the static command, alone in a directory; the library, with musl's loader; the wheel's content
#   nuget         the layout of the NuGet package, and the C# example on its library
#   pypi          twine's and auditwheel's opinion; a wheel out of the source distribution alone, which compiles for minutes
#   crates        each crate builds from its package; in a registry of these alone, `cargo install` and the example work
#   pythons       the wheel passes its tests in each Python from 3.9 on that is here, or pyenv's, and in the newest Debian's
#   instructions  the instruction budgets of the hot paths, also minutes
#   twice         the same bytes from copies of the sources in two directories? Twice as many minutes
#
#   ci/dist/test.sh [--in DIRECTORY] [PART]...      default: target/dist; all except the last two
#
# `clean` takes the packages of Debian from target/deb. It changes only systems that are thrown away, and needs no
# PICOLLO_MAY_CHANGE_THIS_MACHINE=1.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
tools=$(packaging/portable.sh)
. ci/tools/checks.sh

out=target/dist
if [ "${1:-}" = --in ]; then out=$2 && shift 2; fi
out=$(realpath -m "$out")
[ $# -gt 0 ] || set -- gnu aarch64 musl nuget pypi crates clean pythons
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
abi=$(ci/tools/abi-version.sh)
name=picollo-$version-linux-x86_64
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset LD_LIBRARY_PATH PYTHONPATH PICOLLO_LIBRARY PKG_CONFIG_PATH

# What trials have beside the files: the examples of the README, with its commands for C and C++, and a check of the wheel.
examples=$work/examples registry=$target/package/registry rust=$(rustc --print sysroot) python=$(python3 -c 'import sys; print(sys.executable)')
dotnet=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/dotnet/runtime-8.0.4
mkdir examples
readme() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$root/README.md" | sed '/^```/d' >"examples/$2"; }
readme c example.c && readme c++ example.cpp && readme python example.py && readme rust main.rs
awk '/^cc example\.c/, /^```$/' "$root/README.md" | sed '/^```/d' >examples/commands.sh
cp -r "$root/ci/install/wheel.py" "$root/python/tests" examples/

rows=()
# trial CHANNEL FILE SYSTEM HOW COMMAND...: a check that is also a row of the table.
trial() {
    local began=$SECONDS before=$failed result=passed
    check "$1: $2, $3" "${@:5}"
    [ "$failed" -eq "$before" ] || result=FAILED
    rows+=("$(printf '| %-7s | %-44s | %-21s | %-34s | %-7s | %7d |' "$1" "${2//$version/*}" "$3" "$4" "$result" $((SECONDS - began)))")
}
# skip CHANNEL FILE SYSTEM WHY: a row of what cannot be tried here.
skip() {
    echo "SKIPPED $1: $2, $3: $4"
    rows+=("$(printf '| %-7s | %-44s | %-21s | SKIPPED: %s |' "$1" "$2" "$3" "$4")")
}

# in_clean SYSTEM SCRIPT: runs a script in an empty folder, with the files in $DIST. The system is a Debian with compilers and Python,
# as if just installed and without a network, or `here`.
in_clean() {
    local empty base
    empty=$(mktemp -d "$work/empty.XXXX")
    if [ "$1" = here ]; then
        (cd "$empty" && env -i PATH="$rust/bin:${python%/*}:/usr/local/bin:/usr/bin:/bin" HOME="$empty" DIST="$out" EXAMPLES="$examples" \
            REGISTRY="$registry" DOTNET="$dotnet" sh -euc "$2")
        return
    fi
    base=$("$root/ci/tools/debian.sh" "root-$1") || return 1
    mkdir "$empty"/{new,work,root}
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount --net --pid --fork --kill-child bash -euc '
        mount -t overlay -o "lowerdir=$1,upperdir=$2/new,workdir=$2/work" overlay "$2/root"
        cd "$2/root"
        for pair in "${@:4}"; do
            if [ -e "${pair#*=}" ]; then mkdir -p "${pair%%=*}" && mount --bind -o ro "${pair#*=}" "${pair%%=*}"; fi
        done
        mount -t proc proc proc
        mount --rbind /dev dev
        mkdir empty
        # The loopback interface, up.
        python3 -c "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack(\"16sh14x\", b\"lo\", 0x41))"
        exec env -i PATH=/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/empty LC_ALL=C.UTF-8 DIST=/dist EXAMPLES=/examples REGISTRY=/registry \
            DOTNET=/dotnet chroot . sh -euc "cd /empty; $3"' _ "$base" "$empty" "$2" \
        dist="$out" examples="$examples" registry="$registry" rust="$rust" dotnet="$dotnet" deb="$root/target/deb"
}
# Where one system is enough.
system=here
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then system=bookworm; fi

# The scripts, for any system. What the README prints below its examples finds the library in target/stage.
tarball='PICOLLO_RELEASES=file://$DIST sh $DIST/install.sh >/dev/null && .local/bin/picollo list && [ -e .local/share/man/man1/picollo.1 ]
    cp $EXAMPLES/example.c* . && mkdir target && ln -s $HOME/.local target/stage
    LD_BIND_NOW=1 sh -eu $EXAMPLES/commands.sh >printed; cat printed; [ $(grep -c "1,000" printed) -ge 3 ]'
static='PICOLLO_RELEASES=file://$DIST sh $DIST/install.sh --static >/dev/null && .local/bin/picollo list'
wheel='python3 -m venv venv && venv/bin/pip install --quiet --no-index $WHEEL && venv/bin/python -I $EXAMPLES/wheel.py
    venv/bin/python $EXAMPLES/example.py | grep "1,000 values" && venv/bin/picollo list && venv/bin/python -m picollo --version'
passing='cp -r $EXAMPLES/tests . && python3 -m venv venv && venv/bin/python -m pip install --quiet --no-index --find-links $EXAMPLES/wheels \
    $DIST/picollo-*manylinux*_x86_64.whl pytest hypothesis numpy && venv/bin/python -m pytest -q -p no:cacheprovider tests'
debian='dpkg -i /deb/*.deb >/dev/null && cc $EXAMPLES/example.c $(pkg-config --cflags --libs picollo) && ./a.out | grep "1,000 values" && picollo list'
csharp='cp $EXAMPLES/csharp/* $DIST/nuget/runtimes/linux-x64/native/libpicollo.so . &&
    DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 $DOTNET/dotnet exec Readme.exe.dll | grep "10,000"'
# Unoptimized, which takes a quarter of the time.
cargo='export CARGO_HOME=$HOME/cargo CARGO_TARGET_DIR=$HOME/built CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
    CARGO_PROFILE_COMMAND_OPT_LEVEL=0 CARGO_PROFILE_COMMAND_LTO=off
    mkdir cargo && printf "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"%s\"\n[net]\noffline = true\n" $REGISTRY >cargo/config.toml;'
crates=$cargo'cargo install --quiet --debug --root installed picollo-cli && installed/bin/picollo list
    mkdir -p example/src && cp $EXAMPLES/main.rs example/src && cd example
    printf "[package]\nname = \"example\"\nedition = \"2024\"\n[dependencies]\npicollo = { version = \"0\", features = [\"perf\", \"text\"] }\n" >Cargo.toml
    cargo run --quiet | grep "1,000"'
sdist=$cargo'python3 -m venv build && build/bin/pip wheel --quiet --no-deps --no-index --find-links $EXAMPLES -w . $DIST/picollo-'$version'.tar.gz
    WHEEL=$(ls picollo-*.whl);'$wheel

# Glibc.
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
    grep -q "SONAME.*\[libpicollo\.so\.$abi\]" <<<"$dynamic" && grep -q NODELETE <<<"$dynamic" && grep -q STATIC_TLS <<<"$dynamic" &&
        # Only the header's functions are exported.
        nm -D --defined-only "$tree/lib/libpicollo.so" | awk '{ sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u |
        diff - <(python3 "$root/ffi/describe/description.py")
}
# The checksums are right, and of every file.
checksums() {
    (cd "$out" && sha256sum -c SHA256SUMS && diff <(sed 's/.*  //' SHA256SUMS | sort) \
        <(find . -maxdepth 1 -type f \( -name "picollo-$version[-.]*" -o -name install.sh -o -name Containerfile \) -printf '%P\n' | sort))
}
# Wheels have the tracked modules and what is built, and nothing else; the source distribution has the crates too.
for_python() {
    python3 - "$root" "$version" "$out"/picollo-*.whl "$out/picollo-$version.tar.gz" <<'END'
import subprocess, sys, tarfile, zipfile

root, version, *wheels, sources = sys.argv[1:]
tracked = subprocess.run(["git", "ls-files", "."], cwd=f"{root}/python/src/picollo", check=True, capture_output=True, text=True).stdout.split()
built = ["libpicollo.so", "_speed.abi3.so", "bin/picollo"]
about = [f"picollo-{version}.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt", "licenses/LICENSE", "licenses/LICENSE-THIRD-PARTY.txt")]
expected = {*about, *(f"picollo/{name}" for name in [*tracked, *built] if not name.endswith(".c"))}
for path in wheels:
    with zipfile.ZipFile(path) as wheel:
        assert set(wheel.namelist()) == expected, (path, set(wheel.namelist()) ^ expected)
        assert wheel.getinfo("picollo/bin/picollo").external_attr >> 16 & 0o111 == 0o111, path
        assert f"\nVersion: {version}\n" in wheel.read(about[0]).decode(), path
        assert "Tag: " + path.split(f"-{version}-")[1].removesuffix(".whl") in wheel.read(about[1]).decode(), path
with tarfile.open(sources) as archive:
    names = {name.partition("/")[2] for name in archive.getnames()}
wanted = {"LICENSE", "PKG-INFO", "README.md", "rust/Cargo.lock", "rust/ffi/LICENSE", *(f"src/picollo/{name}" for name in tracked)}
assert wanted <= names, wanted - names
assert not [name for name in names if name.startswith("tests") or "/target/" in name]
END
}
# Those for other machines have the same files. Licenses of other code are in them.
tarballs() {
    local other package
    for package in "Rust's standard library, by the Rust Project Developers" musl 'ring [0-9.]*' 'rustls [0-9.]*' 'gimli [0-9.]*' 'prost [0-9.]*'; do
        grep -qE "^(.*, )?$package(,.*)?\$" "$tree/LICENSE-THIRD-PARTY.txt" || { echo "no license of $package"; return 1; }
    done
    has_all_files "$tree" LICENSE LICENSE-THIRD-PARTY.txt README || return 1
    for other in "$out/picollo-$version"-linux-*.tar.gz; do
        diff <(tar -tzf "$out/$name.tar.gz" | cut -d/ -f2- | sort) <(tar -tzf "$other" | cut -d/ -f2- | sort) || return 1
    done
}
objects() {
    # Every linker can read each object; none is bitcode.
    mkdir -p objects && (cd objects && ar x "$tree/lib/libpicollo.a") &&
        [ -z "$(find objects -type f -exec sh -c 'head -c 4 "$1" | grep -qa ELF || echo "$1"' _ {} \;)" ]
}
# zig's clang brings its own unwinder.
by_clang() {
    "$tools/bin/zig-cc" -I"$tree/include" examples/example.c "$tree/lib/libpicollo.a" -o clang -lunwind -lpthread -lm -ldl && ./clang &&
        ! readelf -dW clang | grep -q picollo
}
# One changed byte is noticed, and nothing is installed.
installer_refuses() {
    mkdir forged && cp "$out"/SHA256SUMS "$out/$name.tar.gz" forged/ && printf x >>"forged/$name.tar.gz" &&
        ! PICOLLO_RELEASES=file://$work/forged sh "$out/install.sh" --prefix "$work/none" && [ ! -e "$work/none" ]
}
# wheel_passes PYTHON
wheel_passes() {
    local place
    place=$(PYTHON=$1 "$root/ci/tools/venv.sh" wheel-tests --only-binary :all: -c "$root/python/requirements-test.txt" pytest hypothesis numpy) &&
        rm -rf elsewhere && mkdir elsewhere && cp -r examples/tests elsewhere/ &&
        "$place/bin/pip" --disable-pip-version-check install -q --no-index --no-deps --target elsewhere/package "$out"/picollo-*manylinux*_x86_64.whl &&
        (cd elsewhere && PYTHONPATH=$work/elsewhere/package "$place/bin/python" -m pytest -q -p no:cacheprovider tests)
}
# wheels_for VERSION: what these tests need, for a system without a network.
wheels_for() {
    "$python" -m pip --disable-pip-version-check download -q --only-binary :all: --python-version "$1" -d examples/wheels \
        -c "$root/python/requirements-test.txt" pytest hypothesis numpy
}
instructions() (cd "$root" && STAGE=$tree PICOLLO_STAGED=1 ci/cost.sh)

same_twice() {
    local work=$root/target/dist-twice file
    rm -rf "$work"
    build() {
        mkdir -p "$work/$1"
        (cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf -) | tar -xf - -C "$work/$1"
        SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct) "$work/$1/packaging/dist.sh" "$work/$2" x86_64-gnu >/dev/null
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

# Arm64.
arm() {
    LD_LIBRARY_PATH=$arm_root/usr/lib/x86_64-linux-gnu:$arm_root/lib/x86_64-linux-gnu \
        "$arm_root/usr/bin/qemu-aarch64" -U LD_LIBRARY_PATH -L "$arm_root" "$@"
}
arm_tarball() {
    local compiler=("$tools/bin/zig-cc" -target aarch64-linux-gnu.2.17 -I"$arm_tree/include" examples/example.c)
    "${compiler[@]}" "$arm_tree/lib/libpicollo.so" -o arm-shared && arm -E LD_LIBRARY_PATH="$arm_tree/lib" ./arm-shared | grep '1,000 values' &&
        "${compiler[@]}" "$arm_tree/lib/libpicollo.a" -lunwind -o arm-static && arm ./arm-static | grep '1,000 values'
}
arm_command() { [ "$(arm "$1" --version)" = "picollo $version" ] && arm "$1" list; }
arm_wheel() {
    mkdir -p arm-wheel && python3 -m zipfile -e "$out"/picollo-*manylinux*_aarch64.whl arm-wheel &&
        arm -E PYTHONHOME="$arm_root/usr" -E PYTHONPATH="$work/arm-wheel" "$arm_root/usr/bin/python3.11" -c '
import picollo
assert picollo.extension_path and picollo.library_path, picollo.extension_path
exec(open("examples/example.py").read())' | grep '1,000 values'
}

# Musl.
is_static() { [ -f "$1" ] || return 1; readelf -lW "$1" | grep -q 'INTERP' && return 1; ! readelf -dW "$1" | grep -q NEEDED; }
alone() {
    is_static "$1" && mkdir -p empty && install -m 755 "$1" empty/picollo || return 1
    if [ "$(id -u)" -eq 0 ]; then chroot empty /picollo --version && chroot empty /picollo list; else empty/picollo list; fi
}
musl_library() {
    local loader=$musl_root/lib/x86_64-linux-musl/libc.so
    mkdir -p musl-wheel && python3 -m zipfile -e "$out"/picollo-*musllinux*.whl musl-wheel &&
        cmp musl-wheel/picollo/libpicollo.so "$out/nuget/runtimes/linux-musl-x64/native/libpicollo.so" &&
        ln -s libpicollo.so "musl-wheel/picollo/libpicollo.so.$abi" &&
        "$tools/bin/zig-cc" -target x86_64-linux-musl -dynamic -I"$root/include" examples/example.c musl-wheel/picollo/libpicollo.so -o musl-shared &&
        "$loader" --library-path musl-wheel/picollo ./musl-shared | grep '1,000 values' || return 1
    # Each symbol that the extension module needs is Python's or musl's.
    nm -D --undefined-only musl-wheel/picollo/_speed.abi3.so | awk '$1 != "w" { print $2 }' | grep -vE '^_?Py' | sort -u >wanted
    nm -D --defined-only "$loader" | awk '{ print $3 }' | sort -u | comm -23 wanted - | grep . && return 1
    is_static musl-wheel/picollo/bin/picollo
}

# The image of the Containerfile, which has the command alone.
image() {
    local there
    there=$("$root/ci/tools/debian.sh" buildah) || return 1
    buildah() { "$there/run/buildah" --root "$work/images" --runroot "$work/images-run" --storage-driver vfs "$@"; }
    local options=(--isolation chroot --signature-policy "$there/etc/containers/policy.json")
    mkdir image && cp "$out"/{Containerfile,"$name-static","picollo-$version-third-party-licenses.txt"} image/ &&
        buildah build "${options[@]}" --tag picollo image && buildah from "${options[@]}" --name trial picollo &&
        there=$(buildah mount trial) && [ -s "$there/picollo-$version-third-party-licenses.txt" ] && chroot "$there" /picollo list
}

nuget_layout() {
    (cd "$out/nuget/runtimes" && find . -type f | sort | diff - <(printf './%s/native/libpicollo.so\n' linux-arm64 linux-musl-x64 linux-x64)) &&
        readelf -h "$out/nuget/runtimes/linux-arm64/native/libpicollo.so" | grep -q AArch64 &&
        ! readelf -dW "$out/nuget/runtimes/linux-musl-x64/native/libpicollo.so" | grep -E 'NEEDED.*(libc\.so\.6|gcc_s)' || return 1
    diff "$out/nuget/LICENSE-THIRD-PARTY.txt" "$out/picollo-$version-third-party-licenses.txt" || return
    python3 - "$root" <<'END'
import pathlib, sys, xml.etree.ElementTree as xml
dotnet = pathlib.Path(sys.argv[1], "dotnet")
props = xml.parse(dotnet / "Directory.Build.props").getroot()
for name in ("Version", "Authors", "PackageLicenseExpression", "PackageProjectUrl", "PackageIcon", "RepositoryUrl", "PublishRepositoryUrl"):
    assert props.findtext(f".//{name}"), name
project = xml.parse(dotnet / "src/Picollo/Picollo.csproj").getroot()
packed = {item.get("Include"): item.get("PackagePath") for item in project.iter("None") if item.get("Pack") == "true"}
assert packed["@(NativeLibrary)"] == "runtimes" and packed["README.md"] == packed["$(NativeRoot)../LICENSE-THIRD-PARTY.txt"] == "/", packed
assert (dotnet / "icon.png").read_bytes().startswith(b"\x89PNG")
END
}
assembly() {
    (cd "$root" && STAGE=$tree ci/dotnet.sh --compile) && mkdir -p examples/csharp &&
        cp "$root"/target/dotnet/core/{Picollo.dll,Readme.exe.dll,Readme.exe.runtimeconfig.json} examples/csharp/
}

twine_agrees() { "$("$root/ci/tools/venv.sh" twine twine==6.2.0)/bin/twine" check --strict "$out"/picollo-*.whl "$out/picollo-$version.tar.gz"; }
# auditwheel TAG WHEEL
# Not this machine's own C library, whose libc.so is no library.
auditwheel() { [[ $2 = *-$1.whl ]] && "$tools/bin/auditwheel" show --ldpaths /nowhere "$2" | tee /dev/stderr | tr '\n' ' ' | grep -q "consistent with *the following platform tag: \"$1\""; }

# What a release runs, without the upload. Crates that are not for users have `publish = false`.
build_from_packages() (
    # Cargo takes sources and builds of an earlier run for those of now, because the version is the same.
    cd "$root" && rm -rf "$target"/package/{picollo*,tmp-registry} "${CARGO_HOME:-$HOME/.cargo}"/registry/{cache,src}/-*/picollo-*
    for build in $(grep -lsF /registry/src/- "$target"/debug/deps/picollo*.d | sed 's/.*-//; s/\.d$//'); do rm -rf "$target"/debug/.fingerprint/*-"$build"; done
    cargo publish --workspace --dry-run --locked --allow-dirty --quiet
)
have_what_users_see() {
    (cd "$root" && python3 - "$target"/package/tmp-registry/picollo*.crate) <<'END'
import os
import sys
import tarfile
import tomllib

for path in sys.argv[1:]:
    with tarfile.open(path) as archive:
        names = {member.name.split("/", 1)[1]: member for member in archive if "/" in member.name}
        about = tomllib.load(archive.extractfile(names["Cargo.toml"]))["package"]
        text = archive.extractfile(names["README.md"]).read().decode()
        assert b"MIT License" in archive.extractfile(names["LICENSE"]).read(), path
    assert all(about.get(key) for key in ("description", "repository", "readme", "license", "rust-version", "categories")), path
    assert 0 < len(about["keywords"]) <= 5 and max(map(len, about["keywords"])) <= 20, path
    assert text.startswith(f"# ") and "```" in text, path
    assert not [name for name in names if name.startswith(("tests/", "examples/"))], path
    if about["name"] == "picollo-ffi":
        assert {f"include/{name}" for name in os.listdir("include")} <= set(names), path
print(f"{len(sys.argv) - 1} packages")
assert len(sys.argv) == 17
END
}
# A registry in a directory: the packages of others as cargo has them, and for the crates also ours.
vendor() { (cd "$root" && rm -rf "$registry" && cargo vendor --quiet --locked --versioned-dirs "$registry" >/dev/null); }
has_registry() { [ -e "$registry" ] || vendor; }
make_registry() {
    vendor || return
    for package in "$target"/package/tmp-registry/picollo*.crate; do
        tar -xzf "$package" -C "$registry" && echo '{"files":{},"package":null}' >"$registry/$(basename "$package" .crate)/.cargo-checksum.json" || return
    done
}

for part in "$@"; do
    case $part in
    gnu | nuget | instructions)
        # Moved after it was unpacked.
        tree="$work/moved here"
        [ -e "$tree" ] || { tar -xzf "$out/$name.tar.gz" && mv "$name" "$tree"; }
        ;;&
    gnu)
        mkdir unzipped && python3 -m zipfile -e "$out"/picollo-*manylinux*_x86_64.whl unzipped
        check "glibc 2.17 and nothing besides is wanted" wants "$tree/lib/libpicollo.so" "$tree/bin/picollo" unzipped/picollo/*.so \
            unzipped/picollo/bin/picollo "$out"/nuget/runtimes/linux-{x64,arm64}/native/*
        if [ -e "$root/target/stage/lib/libpicollo.so" ]; then
            check "a library for this machine alone is told apart" is_told_apart
        fi
        check "checksums, of every file" checksums
        check "tarballs have all files, and no other" tarballs
        check "versions agree" versions_agree "$tree"
        check "wheels and source distribution have all files" for_python
        check "SONAME, NODELETE, thread-local storage, exports" loads_as_it_should
        check "the static library is of objects for any linker" objects
        check "the static library by clang (zig's)" by_clang
        check "the tarball by CMake" cmake_project "$tree" cmake
        check "the installer refuses what was changed" installer_refuses
        trial C "$name.tar.gz" here install.sh in_clean here "$tarball"
        trial Python "picollo-$version-manylinux_2_17_x86_64.whl" here "pip in a venv" in_clean here "WHEEL=\$DIST/picollo-*manylinux*_x86_64.whl; $wheel"
        check "the wheel passes its tests" wheel_passes "$python"
        ;;
    clean)
        for each in bullseye bookworm forky; do
            trial C "$name.tar.gz" "Debian $each" install.sh in_clean $each "$tarball"
            trial command "$name-static" "Debian $each" "install.sh --static" in_clean $each "$static"
            trial Python "picollo-$version-manylinux_2_17_x86_64.whl" "Debian $each" "pip in a venv" in_clean $each "WHEEL=\$DIST/picollo-*manylinux*_x86_64.whl; $wheel"
            if [ $each = bullseye ]; then
                skip Debian "libpicollo$abi, libpicollo-dev, picollo" "Debian $each" "built for the machine's own glibc, which is newer"
            elif compgen -G "$root/target/deb/*.deb" >/dev/null; then
                trial Debian "libpicollo$abi, libpicollo-dev, picollo" "Debian $each" dpkg in_clean $each "$debian"
            else
                skip Debian "libpicollo$abi, libpicollo-dev, picollo" "Debian $each" "not built: make deb"
            fi
        done
        trial image Containerfile "an image from scratch" "buildah build" image
        ;;
    aarch64)
        arm_root=$("$root/ci/tools/debian.sh" arm64-python)
        tar -xzf "$out/picollo-$version-linux-aarch64.tar.gz" && arm_tree=$work/picollo-$version-linux-aarch64
        trial C "picollo-$version-linux-aarch64.tar.gz" "arm64, QEMU" "unpacked; shared and static" arm_tarball
        trial command "picollo-$version-linux-aarch64.tar.gz" "arm64, QEMU" "unpacked" arm_command "$arm_tree/bin/picollo"
        trial command "picollo-$version-linux-aarch64-static" "arm64, QEMU" "copied" arm_command "$out/picollo-$version-linux-aarch64-static"
        trial Python "picollo-$version-manylinux_2_17_aarch64.whl" "arm64, QEMU" "unpacked" arm_wheel
        ;;
    musl)
        musl_root=$("$root/ci/tools/debian.sh" musl)
        trial command "$name-static" "an empty folder" "copied; chroot" alone "$out/$name-static"
        check "the static command for arm64 needs nothing" is_static "$out/picollo-$version-linux-aarch64-static"
        trial C "picollo-$version-musllinux_1_2_x86_64.whl" "musl 1.2.3" "unpacked" musl_library
        skip Python "picollo-$version-musllinux_1_2_x86_64.whl" "musl 1.2.3" "there is no Python for musl to fetch here"
        ;;
    nuget)
        check "NuGet: layout and metadata" nuget_layout
        check "NuGet: the assembly compiles" assembly
        trial "C#" "nuget/runtimes/linux-x64" "$system, CoreCLR 8" "one folder, as if published" in_clean $system "$csharp"
        skip "C#" "Picollo.Native.$version.nupkg" "no system" "no SDK packs it here"
        ;;
    pypi)
        check "twine" twine_agrees
        check "auditwheel: manylinux_2_17, x86-64" auditwheel manylinux_2_17_x86_64 "$out"/picollo-*manylinux*_x86_64.whl
        check "auditwheel: manylinux_2_17, arm64" auditwheel manylinux_2_17_aarch64 "$out"/picollo-*manylinux*_aarch64.whl
        check "auditwheel: musllinux_1_2" auditwheel musllinux_1_2_x86_64 "$out"/picollo-*musllinux*_x86_64.whl
        check "what builds the source distribution" "$tools/bin/pip" --disable-pip-version-check download -q --no-deps -d examples setuptools==80.9.0
        check "a registry of packages" has_registry
        trial Python "picollo-$version.tar.gz" $system "pip wheel with Rust; pip in a venv" in_clean $system "$sdist"
        ;;
    crates)
        check "every crate builds from its package" build_from_packages
        check "packages have metadata, README and license" have_what_users_see
        check "a registry of packages" make_registry
        trial Rust "16 crates" $system "cargo install; cargo run" in_clean $system "$crates"
        ;;
    pythons)
        for minor in 9 10 11 12 13 14; do
            for each in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python3; do
                if "$each" -V >/dev/null 2>&1; then check "the wheel passes its tests in $("$each" -V)" wheel_passes "$each" && continue 2; fi
            done
            echo "SKIPPED Python 3.$minor: it is not on this machine"
        done
        if [ "$system" != here ]; then
            check "what its tests need in Python 3.14" wheels_for 3.14
            check "the wheel passes its tests in Python 3.14 of Debian forky" in_clean forky "$passing"
        fi
        ;;
    instructions) check "the instructions of the hot paths" instructions ;;
    twice) same_twice ;;
    *) echo "unknown part: $part" >&2; exit 2 ;;
    esac
done
if [ ${#rows[@]} -gt 0 ]; then
    printf '\n| channel | file                                         | system                | installed by                       | example | seconds |\n'
    printf '| :------ | :------------------------------------------- | :-------------------- | :--------------------------------- | :------ | ------: |\n'
    printf '%s\n' "${rows[@]}"
fi
echo "the whole: $SECONDS s"
finish
