#!/usr/bin/env bash
# Is there a memory error, a leak, an uninitialized read or a race? Runs the tests under a checker:
#
#   ci/sanitizers.sh asan [c] [rust] [python] [all]     AddressSanitizer and LeakSanitizer, both sides instrumented (for
#                                                       Python library and extension module); default: c rust python
#   ci/sanitizers.sh tsan [c] [rust] [all]              ThreadSanitizer, both sides instrumented; default: c rust
#   ci/sanitizers.sh valgrind                           memcheck, on the shipped library
#
# asan    c: all C and C++ tests; rust: the core's tests that allocate, decode and record on threads; python: the tests
#         of objects with memory
# tsan    c: all C and C++ tests; rust: the core's tests with threads. (Python's threads call the same functions as the
#         C tests, and an interpreter cannot load the runtime: it must be linked into the program.)
# all     every part, with all Rust and Python tests
#
# PROPTEST_CASES sets the cases of each property (default: 32), PICOLLO_STRESS_RECORDS the records of the stress tests
# for each mode (default: 300,000; 10,000,000 in the long form). Under memcheck one round in fifty of each test runs. A
# checker must first find planted faults.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
kind=${1:-}
case $kind in
asan) sanitizer=address runtime=asan parts="c rust python" ;;
tsan) sanitizer=thread runtime=tsan parts="c rust" cfg="--cfg picollo_plain_loads" ;;
valgrind) parts="" ;;
*) sed -n 's/^# \{0,1\}//p' "$0" | sed -n 2,8p >&2; exit 2 ;;
esac
shift
all=0 chosen=""
for part in "$@"; do
    case $kind:$part in
    asan:all | tsan:all) all=1 ;;
    asan:c | asan:rust | asan:python | tsan:c | tsan:rust) chosen+=" $part" ;;
    *) echo "no such part of $kind: $part" >&2; exit 2 ;;
    esac
done
[ $all = 1 ] || [ -z "$chosen" ] || parts=$chosen
wants() { case " $parts " in *" $1 "*) ;; *) return 1 ;; esac; }
export PICOLLO_STRESS_RECORDS="${PICOLLO_STRESS_RECORDS:-300000}" PROPTEST_CASES="${PROPTEST_CASES:-32}"
planted=0 said=""

# The C and C++ tests. The allocator is the program's own, which the sanitizer would mistake for its own. For TSan their
# threads alternate.
c_part() {
    local tests
    mapfile -t tests < <(c_tests allocator)
    run_c_tests "${tests[@]}" | tee "$programs/summary"
    said+="C $(tail -n 1 "$programs/summary"); "
}

# rust_part PACKAGES...: the tests in Rust, or those of some modules.
modules=
rust_part() {
    [ $all = 0 ] || set -- --package=picollo-{core,codec,stats,text,export,native,perf,bench,segment,why,ffi}
    echo "SKIPPED ten_thousand_of_them_take_under_a_hundred_megabytes: the sanitizer's shadows take memory too"
    cargo test --quiet --target "$host" "$@" -- --skip ten_thousand_of_them $modules | tee "$programs/rust"
    said+="Rust $(rust_passed "$programs/rust") passed; "
}

asan() {
    . ci/sanitizers/build.sh
    build_library
    # Freed memory stays poisoned for a while; 64 MB of it are enough here.
    export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1:quarantine_size_mb=64:allocator_may_return_null=1"
    build_program planted c-tests/planted.c "$built/libpicollo.a"
    "$programs/planted" none >/dev/null
    plant overflow "heap-buffer-overflow"
    plant use-after-free "heap-use-after-free"
    plant leak "LeakSanitizer: detected memory leaks"
    if wants c; then
        # Panics at the boundary become a status, and leak nothing on their way.
        build_program panic c-tests/panic.c "$built/libpicollo.a"
        if ! "$programs/panic" >"$programs/panic.log" 2>&1; then
            cat "$programs/panic.log"
            exit 1
        fi
        echo "panics planted at the boundary became a status"
        c_part
    fi
    if wants rust; then
        rust_part --package=picollo-{core,codec,stats,text,export} --lib --test threads --test allocator --test models
    fi
    if wants python; then python_part; fi
    echo "AddressSanitizer: $said$planted planted faults found; no error, no leak; $((SECONDS - started)) s"
}

# The interpreter itself leaks. Only leaks of the library count: the report then contains one of its functions.
ours=' in <\?picollo'
run_python() {
    rm -f "$programs"/report.*
    env -u RUSTFLAGS -u CARGO_TARGET_DIR LD_PRELOAD="$preload" PYTHONMALLOC=malloc PICOLLO_LIBRARY="$programs/libpicollo.so.$(ci/tools/abi-version.sh)" \
        PICOLLO_EXTENSION="$extension" ASAN_OPTIONS="$ASAN_OPTIONS:log_path=$programs/report" LSAN_OPTIONS=exitcode=0 "$@"
}
reported() { grep -q "$1" "$programs"/report.* 2>/dev/null; }
plant_in_python() {
    run_python python3 ci/sanitizers/planted.py "$1" || true
    if ! reported "$2"; then
        echo "FAILED: a fault planted in Python ($1) was not found"
        exit 1
    fi
    planted=$((planted + 1))
}

# The interpreter is not instrumented: the runtime is loaded before it, with the C++ library, whose exceptions it
# intercepts. (The excluded part is only available to programs.)
python_part() {
    preload=$programs/runtime.so
    cp "$archive" "$programs/runtime.a"
    ar d "$programs/runtime.a" asan_preinit.cpp.o
    g++ -shared -o "$preload" -Wl,--whole-archive "$programs/runtime.a" -Wl,--no-whole-archive -Wl,--no-as-needed -lstdc++ -lpthread \
        -lm -ldl -lrt
    # Compiled with instrumentation, linked to no other runtime.
    extension=$programs/_speed.abi3.so
    CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address" python/build-extension.sh "$programs"
    [ -e "$extension" ] || extension=off
    plant_in_python use-after-free "heap-use-after-free"
    plant_in_python leak "$ours"

    python_tests=(tests/test_lifetime.py tests/test_errors.py tests/test_doubles.py tests/test_counter.py
        tests/test_recording.py tests/test_timing.py tests/test_extension.py tests/test_call_leaks.py)
    [ $all = 0 ] || python_tests=(tests)
    # These measure the process's memory, most of which the sanitizer takes.
    left_out=(
        tests/test_benchmark.py::test_memory_and_counters
        tests/test_extension.py::test_with_and_without_the_module
    )
    printf 'SKIPPED %s: the sanitizer takes memory too\n' "${left_out[@]}"
    if ! run_python python/run-tests.sh -q -ra "${python_tests[@]}" "${left_out[@]/#/--deselect=}" >"$programs/python" 2>&1; then
        cat "$programs/python"
        exit 1
    fi
    if reported "$ours" || reported "ERROR: AddressSanitizer"; then
        cat "$programs"/report.*
        echo "FAILED: Python's tests passed, but the sanitizer had something to say"
        exit 1
    fi
    said+="Python $(tail -n 1 "$programs/python"); "
}

tsan() {
    . ci/sanitizers/build.sh
    build_library
    # std passes tests, results and the contents of an Arc in ways that the sanitizer does not see. The library has no
    # Arc. (Its destructor has two names: the shorter one if there are only line tables.)
    printf '%s\n' 'race:test::event::CompletedTest' 'race:<alloc::sync::Arc<*as core::ops::drop::Drop>::drop' \
        'race:drop_in_place<alloc::sync::Arc<' >"$CARGO_TARGET_DIR/suppressions"
    export TSAN_OPTIONS="suppressions=$CARGO_TARGET_DIR/suppressions halt_on_error=1"
    build_program planted c-tests/planted.c "$built/libpicollo.a"
    "$programs/planted" none >/dev/null
    plant race "data race"
    if wants c; then c_part; fi
    # The other modules end threads in ways of std that the sanitizer does not see: scopes, channels.
    [ $all = 1 ] || modules="stress:: shards:: doubles:: sparse::"
    if wants rust; then rust_part --package picollo-core --test threads; fi
    echo "ThreadSanitizer: $said$planted planted fault found; no data race; $((SECONDS - started)) s"
}

# The library is built for its architecture's baseline and queries the processor for more; under valgrind, valgrind
# emulates the answer.
valgrind_kind() {
    [ "${PICOLLO_STAGED:-0}" = 1 ] || ci/stage.sh
    local stage=$PWD/target/stage
    local out=$PWD/target/valgrind memcheck fault output
    mkdir -p "$out"

    # A checker that misses planted faults proves nothing. The release build has no debug info, but its calls are
    # visible.
    export LD_LIBRARY_PATH=$stage/lib
    gcc -std=c11 -O1 -g -D_DEFAULT_SOURCE -I"$stage/include" -Ic-tests c-tests/planted.c -o "$out/planted" \
        -L"$stage/lib" -lpicollo -lpthread -lm
    memcheck="valgrind --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,possible --errors-for-leak-kinds=definite"
    $memcheck --quiet "$out/planted" none >/dev/null
    for fault in "overflow:Invalid write" "use-after-free:Invalid read" "leak:definitely lost"; do
        if output=$($memcheck "$out/planted" "${fault%%:*}" 2>&1) || ! grep -q "${fault#*:}" <<<"$output"; then
            echo "FAILED: a planted fault (${fault%%:*}) was not found"
            tail -n 30 <<<"$output"
            exit 1
        fi
        planted=$((planted + 1))
    done

    make --no-print-directory -C c-tests valgrind | tee "$out/c"
    ci/cpp.sh --valgrind | tee "$out/cpp"
    echo "memcheck: C $(tail -n 1 "$out/c"); C++ $(tail -n 1 "$out/cpp"); $planted planted faults found; no error, no leak;" \
        "$((SECONDS - started)) s"
}

if [ $kind = valgrind ]; then valgrind_kind; else $kind; fi
