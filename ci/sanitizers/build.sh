# For ci/sanitizers.sh, which sources it. It sets
#
#   sanitizer   thread or address
#   runtime     its name among the compiler's runtimes: tsan or asan
#   cfg         additional flags of the Rust code, for threads
#
# Everything built with one sanitizer shares one target directory.
#
# Rust's runtime serves the C programs as well: gcc only instruments them. (gcc's runtime lacks some functions that
# Rust's code calls, and a program can have only one.)

# Panics can be planted, for c-tests/panic.c.
if [ "$sanitizer" = address ]; then cfg="--cfg picollo_plant_panic"; fi
host=$(rustc -vV | sed -n 's/^host: //p')

# Sanitizers are a feature of stable compilers, with their runtimes, that this setting enables.
export RUSTC_BOOTSTRAP=1

# The flags of both languages, a separate target directory, and the library in a separate tree.
build_library() {
    export RUSTFLAGS="$cfg -Zsanitizer=$sanitizer -Cunsafe-allow-abi-mismatch=sanitizer"
    # For the examples in the documentation.
    export RUSTDOCFLAGS="$RUSTFLAGS"
    export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/$runtime"
    built=$CARGO_TARGET_DIR/$host/debug
    programs=$CARGO_TARGET_DIR/c-tests
    archive=$(echo "$(rustc --print target-libdir)"/librustc-*_rt."$runtime".a)
    [ -e "$archive" ] || { echo "SKIPPED: this toolchain has no sanitizers ($archive)"; exit 0; }
    cargo build --quiet --package picollo-ffi --target "$host"
    mkdir -p "$programs"
    cp "$built/libpicollo.so" "$programs/libpicollo.so.$(ci/tools/abi-version.sh)"
    ln -sf "libpicollo.so.$(ci/tools/abi-version.sh)" "$programs/libpicollo.so"
    export LD_LIBRARY_PATH="$programs"
}

# build_program NAME SOURCE [LIBRARY...]: compiles with instrumentation, and links with the single runtime, whose
# symbols the shared library finds in the program.
build_program() {
    local name=$1 source=$2 compiler=(gcc -std=c11 -D_DEFAULT_SOURCE)
    shift 2
    case $source in *.cpp) compiler=(g++ -std=c++17) ;; esac
    "${compiler[@]}" -Wall -Wextra -O1 -g -fno-omit-frame-pointer "-fsanitize=$sanitizer" -Iinclude -Ic-tests \
        -c "$source" -o "$programs/$name.o"
    g++ -no-pie "$programs/$name.o" "$@" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -rdynamic \
        -lpthread -lm -ldl -lrt -o "$programs/$name"
}

# plant FAULT MESSAGE: a checker that misses a planted fault proves nothing.
plant() {
    local output
    if output=$("$programs/planted" "$1" 2>&1) || ! grep -q "$2" <<<"$output"; then
        echo "FAILED: a planted fault ($1) was not found"
        tail -n 20 <<<"$output"
        exit 1
    fi
    planted=$((${planted:-0} + 1))
}

# The names of the C tests, except those in the arguments.
c_tests() {
    local name
    for name in $(make --no-print-directory -s -C c-tests list); do
        case " $* " in *" $name "*) ;; *) echo "$name" ;; esac
    done
}

# start COMMAND...: runs in the background when fewer than two commands run; a failing one ends the script.
started_jobs=()
start() {
    if [ ${#started_jobs[@]} -ge 2 ]; then
        wait "${started_jobs[0]}"
        started_jobs=("${started_jobs[@]:1}")
    fi
    "$@" &
    started_jobs+=($!)
}
finish() {
    local job
    for job in "${started_jobs[@]}"; do wait "$job"; done
    started_jobs=()
}

# Builds and runs the C and C++ programs with the static library, or without any for those that load it.
run_c_tests() {
    local name list=()
    for name in "$@"; do
        if [ "$name" = loading ]; then
            start build_program "$name" "c-tests/$name.c"
        else
            start build_program "$name" "c-tests/$name.c" "$built/libpicollo.a"
        fi
        list+=("$programs/$name")
    done
    for name in null_generated layout_generated; do
        python3 "c-tests/$name.py" >"$programs/$name.c"
        start build_program "$name" "$programs/$name.c" "$built/libpicollo.a"
        list+=("$programs/$name")
    done
    for name in cpp_histogram cpp_perf; do
        start build_program "$name" "c-tests/$name.cpp" "$built/libpicollo.a"
        list+=("$programs/$name")
    done
    finish
    c-tests/run.sh "${list[@]}"
}

# The number of passed tests in cargo's output.
rust_passed() {
    sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' "$1" | awk '{ sum += $1 } END { print sum + 0 }'
}
