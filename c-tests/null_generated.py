#!/usr/bin/env python3
"""Writes a C program that calls every exported function with bad pointers: NULL for each in turn, NULL for all, and
each of them misaligned. It also passes options of sizes that do not exist.

    null_generated.py > null_generated.c

The expected results follow the manual, through the description made from it (ffi/picollo.abi.json). A pointer that is
named behind PICOLLO_ERR_NULL_POINTER gets that status, and nothing is written. Another one gets anything except that
and PICOLLO_ERR_PANIC. Functions without a result do nothing. Only functions that say "this is not checked" are left
out. Misaligned pointers and such options are invalid arguments.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "ffi" / "describe"))
sys.dont_write_bytecode = True
from description import Description  # noqa: E402

description = Description()
# How to make the handles that no _create with defaults makes.
MAKERS = {
    "picollo_snapshot": "picollo_snapshot_create(the_picollo_histogram, &the_picollo_snapshot)",
    "picollo_session": "make_session(&the_picollo_session)",
    "picollo_log_reader": "picollo_log_reader_create(\"#[x]\\n\", 5, &the_picollo_log_reader)",
    "picollo_metric_counter": "make_metrics(&the_picollo_metric_counter, NULL)",
    "picollo_metric_gauge": "make_metrics(NULL, &the_picollo_metric_gauge)",
    "picollo_segment": "make_segment(&the_picollo_segment)",
    "picollo_exemplars": "picollo_exemplars_create(the_picollo_histogram, NULL, &the_picollo_exemplars, NULL)",
    "picollo_server": "picollo_server_start(the_picollo_registry, \"0\", NULL, &the_picollo_server, NULL)",
    "picollo_benchmark": "picollo_benchmark_create(NULL, NULL, 0, &the_picollo_benchmark, NULL)",
}
SCALARS = {"size": "sizeof room[0]", "capacity": "64", "inline_version": "PICOLLO_INLINE_VERSION", "length": "1", "scopes": "1"}


functions = description.functions
# What frees a handle, if it is not _free.
ENDS = {"picollo_server": "picollo_server_stop"}
names = {one.name: one for one in functions}
opaque = description.handles


def ends(handle):
    return ENDS.get(handle, f"{handle}_free")


def is_output(one):
    return one.pointers > 0 and not one.is_const and (one.name.startswith("out") or one.name == "buffer")


def is_array(one):
    """Whether the callee only reads the array."""
    return one.pointers == 2 and one.is_const


def is_checked(one):
    return one.null == "refused"


def valid(one, index):
    """A valid argument."""
    if not one.pointers:
        return SCALARS.get(one.name, "0")
    if one.base in opaque and one.pointers == 1:
        return f"the_{one.base}"
    if one.base == "char" and one.is_const and one.pointers == 1:
        return '"x"'
    return f"({one.type})room[{index}]"


def is_aligned(one):
    """Whether a pointer must be aligned, and the function documents it."""
    return one.pointers > 1 or (one.pointers == 1 and one.base not in ("char", "void", "uint8_t", "picollo_error") and one.base not in opaque)


def call(function, null, odd=None, size=None):
    """The C code of one call. null: indices of the parameters that are NULL; odd: the index of one that is misaligned,
    or, with a size, of options with that struct_size."""
    lines = ["memset(room, 0, sizeof room);"]
    for index, one in enumerate(function.parameters):
        if is_output(one) and not (one.pointers == 2):
            lines.append(f"memset(room[{index}], 0x5a, sizeof room[{index}]);")
        if is_array(one):
            element = f"the_{one.base}" if one.base in opaque else '"x"'
            lines.append(f"*(const {one.base} **)(void *)room[{index}] = {element};")
        if one.base.endswith("_options") and one.pointers == 1:
            lines.append(f"*(uint32_t *)(void *)room[{index}] = {size if index == odd and size else f'(uint32_t)sizeof({one.base})'};")
        if one.base == "picollo_layout" and one.is_const:
            lines.append(f"(void)picollo_layout_of_options(NULL, (picollo_layout *)(void *)room[{index}]);")
    arguments = ", ".join(
        "NULL" if index in null else f"({one.type})(void *)(room[{index}] + 1)" if index == odd and not size else valid(one, index)
        for index, one in enumerate(function.parameters)
    )
    which = ", ".join(function.parameters[index].name for index in null) or "nothing"
    lines.append(f'now = "{function.name} ' + (f'with a wrong {function.parameters[odd].name}";' if odd is not None else f'without {which}";'))
    lines.append("calls++;")
    is_status = function.returns == "picollo_status"
    lines.append(("status = " if is_status else "(void)" if function.returns != "void" else "") + f"{function.name}({arguments});")
    if is_status and null:
        if len(null) == 1:
            pointer = function.parameters[null[0]]
            if is_checked(pointer):
                # Or there is nothing to report anyway.
                lines.append("expect(status == PICOLLO_ERR_NULL_POINTER || status == PICOLLO_ERR_EMPTY, status);")
            else:
                lines.append("expect(status != PICOLLO_ERR_NULL_POINTER, status);")
        lines.append("expect(status != PICOLLO_ERR_PANIC, status);")
        if len(null) > 1 or is_checked(function.parameters[null[0]]):
            for index, one in enumerate(function.parameters):
                if is_output(one) and one.pointers == 1 and index not in null:
                    lines.append(f'if (status == PICOLLO_ERR_NULL_POINTER) expect(untouched(room[{index}]), status);')
    elif is_status and odd is not None:
        lines.append("expect(status == PICOLLO_ERR_INVALID_ARGUMENT || status == PICOLLO_ERR_EMPTY, status);")
        for index, one in enumerate(function.parameters):
            if is_output(one) and one.pointers == 1:
                lines.append(f"expect(untouched(room[{index}]), status);")
    elif is_status:
        lines.append("if (status == PICOLLO_OK) succeeded++;")
        lines.append("expect(status != PICOLLO_ERR_NULL_POINTER && status != PICOLLO_ERR_PANIC, status);")
    if function.name.endswith("_retain") and not null:
        # The reference that was made.
        base = function.parameters[0].base
        lines.append(f"{ends(base)}(the_{base});")
    for index, one in enumerate(function.parameters):
        if one.pointers == 2 and not is_array(one) and one.base in opaque:
            lines.append(f"if (*(void **)(void *)room[{index}] != NULL) {ends(one.base)}(*({one.base} **)(void *)room[{index}]);")
        # References that a call may have filled in.
        if one.base == "picollo_recorder" and is_output(one):
            lines.append(f"if (status == PICOLLO_OK) picollo_recorder_release((picollo_recorder *)(void *)room[{index}]);")
    return "    " + "\n    ".join(lines)


print(f"/* Generated from ffi/picollo.abi.json by {sys.argv[0].split('/')[-1]}. */")
print('''#include "test.h"

#include <signal.h>
#include <unistd.h>

#include <picollo_inline.h>

static const char *now = "nothing";
static int calls, succeeded;
static _Alignas(64) unsigned char room[12][65536];

static int untouched(const unsigned char *output)
{
    for (size_t i = 0; i < sizeof room[0]; i++) {
        if (output[i] != 0x5a) return 0;
    }
    return 1;
}

static void expect_(int as_expected, const char *what, picollo_status status)
{
    if (as_expected) return;
    fprintf(stderr, "%s: %d (%s), expected %s\\n", now, (int)status, picollo_status_str(status), what);
    test_failures++;
}
#define expect(condition, status) expect_(condition, #condition, status)

static void on_fault(int number)
{
    fprintf(stderr, "%s: crashed\\n", now);
    _exit(128 + number);
}

static picollo_status make_session(picollo_session **out)
{
    picollo_event event;
    picollo_session_options options = PICOLLO_SESSION_OPTIONS_INIT;
    options.flags = PICOLLO_SESSION_SKIP_UNAVAILABLE;
    if (picollo_event_parse("page-faults", &event, NULL) != PICOLLO_OK) return PICOLLO_ERR_UNSUPPORTED;
    return picollo_session_create(&options, &event, 1, out, NULL);
}

static picollo_status make_metrics(picollo_metric_counter **counter, picollo_metric_gauge **gauge)
{
    picollo_registry *registry;
    picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
    metric.name = "x";
    picollo_status status = picollo_registry_create(&registry);
    if (status != PICOLLO_OK) return status;
    if (counter != NULL) status = picollo_registry_add_counter(registry, &metric, counter, NULL, NULL);
    if (gauge != NULL) status = picollo_registry_add_gauge(registry, &metric, gauge, NULL, NULL);
    /* They outlive it. */
    picollo_registry_free(registry);
    return status;
}

static char place[] = "/dev/shm/picollo-null-XXXXXX";

/* After the library has removed what was made there. */
static void remove_place(void)
{
    (void)rmdir(place);
}

static picollo_status make_segment(picollo_segment **out)
{
    if (mkdtemp(place) == NULL || setenv("PICOLLO_DIR", place, 1) != 0 || atexit(remove_place) != 0) return PICOLLO_ERR_OS;
    picollo_segment_options options = PICOLLO_SEGMENT_OPTIONS_INIT;
    options.name = "null";
    return picollo_segment_create(&options, out, NULL);
}
''')
for handle in opaque:
    print(f"static {handle} *the_{handle};")
    if handle not in MAKERS and f"{handle}_create" in names:
        create = names[f"{handle}_create"]
        arguments = ", ".join(
            f"&the_{handle}" if one.pointers == 2 else "NULL" if one.pointers else "0" for one in create.parameters
        )
        MAKERS[handle] = f"{handle}_create({arguments})"
tests = []
for function in functions:
    if function.is_hot or not any(one.pointers for one in function.parameters):
        continue
    print(f"\nstatic void {function.name[8:]}_(void)\n{{")
    print("    picollo_status status = PICOLLO_OK;")
    for handle in sorted({one.base for one in function.parameters if one.base in opaque and one.pointers == 1}):
        # The code that makes it reports why it failed.
        print(f"    if (the_{handle} == NULL) return;")
    pointers = [index for index, one in enumerate(function.parameters) if one.pointers]
    for index in pointers:
        print(call(function, [index]))
    if len(pointers) > 1:
        print(call(function, pointers))
    if function.returns == "picollo_status":
        for index in pointers:
            if is_aligned(function.parameters[index]):
                print(call(function, [], index))
            if function.parameters[index].base.endswith("_options"):
                print(call(function, [], index, 3))
                print(call(function, [], index, 4097))
    # Last, with everything that it needs: the arguments above were valid.
    if not function.name.endswith(("_free", "_release", "_stop")):
        print(call(function, []))
    print("    (void)status;\n}")
    tests.append(f"{function.name[8:]}_")
print("\nint main(void)\n{")
for number in ("SIGSEGV", "SIGBUS", "SIGABRT"):
    print(f"    signal({number}, on_fault);")
for handle in sorted(opaque, key=lambda one: one != "picollo_histogram"):  # others need it
    if handle in MAKERS:
        print(f'    if ({MAKERS[handle]} != PICOLLO_OK) printf("SKIPPED: no {handle} to call with\\n");')
    else:
        sys.exit(f"c-tests/null_generated.py does not know how to make a {handle}: add it to MAKERS")
for name in tests:
    print(f"    RUN({name});")
hot = [one.name for one in functions if one.is_hot]
print(f'    printf("%d calls with NULL and misaligned for every pointer of {len(tests)} functions in turn, %d of them good ones; '
      f'{len(hot)} do not check and say so; {len(functions) - len(tests) - len(hot)} have no pointer\\n", calls, succeeded);')
for handle in reversed(opaque):
    print(f"    {ends(handle)}(the_{handle});")
print("    return report();\n}")
