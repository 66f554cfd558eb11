"""Generates C#'s constants, structs and P/Invoke declarations, all internal to the binding."""

from __future__ import annotations

import html
import re
import textwrap

from description import ROOT, Description, Field, Function, Parameter, Struct, camel

NUMBERS = {
    "int32_t": "int",
    "uint32_t": "uint",
    "int64_t": "long",
    "uint64_t": "ulong",
    "double": "double",
    "size_t": "UIntPtr",
    "char": "byte",
    "uint8_t": "byte",
    "void": "void",
}

# Functions whose callers keep the handle alive, which costs nothing: they take bare pointers. All others take
# SafeHandles, which the runtime keeps alive for the call.
BARE = re.compile(
    r"picollo_(\w+_free|\w*histogram_record(_\w+)?|histogram_(atomic_)?recorder|metric_(counter_add|gauge_set|gauge_add)|exemplars_(begin|end|annotate|offer)|session_(?!create)\w+)"
)
# Calls that neither allocate nor wait, at least with dense histograms: they omit the garbage collector's transition (5
# ns of 8). The same function with the transition has a second name.
QUICK = {
    "picollo_histogram_record": "For all others: the first touch of a chunk or a shard allocates.",
}
# Structs that users get unchanged, with properties whose documentation is that of the fields.
RESULTS = {
    "picollo_quantile_interval": "Metrics.QuantileInterval",
    "picollo_block_comparison": "Metrics.BlockComparison",
    "picollo_run_comparison": "Metrics.RunComparison",
    "picollo_figure_estimate": "Metrics.Figure",
    "picollo_footprint": "Metrics.HdrFootprint",
    "picollo_merged": "Metrics.MergeReport",
    "picollo_double_statistics": "Metrics.DoubleStatistics",
    "picollo_double_bucket": "Metrics.DoubleBucket",
    "picollo_double_percentile": "Metrics.DoublePercentile",
    "picollo_benchmark_disturbance": "Metrics.BenchmarkNoise",
    "picollo_reading": "PerfEvent.PerfEventCounterValue",
}
# Classes that hold a struct in a field called _native, and expose its members among others.
HOLDERS = {
    "picollo_comparison": "Metrics.HdrComparison",
    "picollo_benchmark_outcome": "Metrics.Benchmark",
}
# Groups of constants that are enumerations: their place and their documentation.
GROUPS = {
    "STATUS": ("Picollo.PicolloStatus", "Why a call of the library did not succeed."),
    "PLACEMENT": ("Picollo.Metrics.MergePlacement", "Where a bucket's count goes when it is merged into finer ones. Into coarser ones each way is exact."),
    "TEXT": ("Picollo.Metrics.TextFormat", "How a summary is written."),
    "ENCODING": ("Picollo.Metrics.SnapshotEncoding", "How a snapshot is written as bytes."),
    "VERDICT": ("Picollo.Metrics.Verdict", "What a comparison amounts to."),
    "COMPARISON": ("Picollo.Metrics.ComparisonNotes", "What to know about a comparison."),
    "PICTURE": ("Picollo.Metrics.Picture", "What a picture shows."),
    "THEME": ("Picollo.Metrics.PictureTheme", "Whether a picture is light or dark."),
    "EXPOSITION": ("Picollo.Metrics.ExpositionFormat", "The formats that a registry is written in."),
    "CAUSE": ("Picollo.Metrics.Cause", "Where the time went that a slow observation took more than is usual."),
    "MISSING": ("Picollo.Metrics.MissingEvidence", "Why nothing is known of where the time of an observation went."),
    "READING": ("Picollo.PerfEvent.PerfReadingFlags", "What is known of a reading."),
}
# Groups with unsigned numbers.
UNSIGNED = {"EXPOSITION", "CAUSE", "MISSING", "READING"}
# Members without a C# equivalent: FormatSparkline draws one, and ExemplarInterval.ToHtml writes the other.
NO_MEMBERS = {"PICOLLO_PICTURE_SPARKLINE", "PICOLLO_TEXT_HTML"}
MEMBERS = {"PICOLLO_EXPOSITION_OPENMETRICS": "OpenMetrics"}
# C words and their C# equivalents.
WORDS = {
    r"PICOLLO_EXEMPLARS_COUNTERS": "ExemplarOptions.UsesCounters", r"PICOLLO_METRIC_NATIVE": "MetricOptions.Native",
    r": see smallest_detectable": "", r"; out_length[^.]*": "", r"the errno": "OsErrno", r" See \"Text for people\".": "",
    r" \(in JSON, [^)]*\)": "",
    r" Without an allocator, or [^.]*\.": "", r" The format is described[^.]*\.md\.": "", r", or a pointer is not aligned for what it points to": "",
    r"; picollo_\w+": "",
}  # fmt: skip
# Fields with other names in C#.
RENAMED = {
    "a": "Before",
    "b": "After",
    "median_a": "MedianBefore",
    "median_b": "MedianAfter",
    "repetitions_a": "RepetitionsBefore",
    "repetitions_b": "RepetitionsAfter",
    "overhead_a": "OverheadBefore",
    "overhead_b": "OverheadAfter",
    "overhead_error_a": "OverheadErrorBefore",
    "overhead_error_b": "OverheadErrorAfter",
    "flags": "Notes",
    "stddev": "StDev",
    "picollo_footprint.counters": "CounterCount",
    "picollo_double_statistics.not_finite": "NotFiniteCount",
    "picollo_double_statistics.lost": "LostCount",
    "picollo_reading.raw": "RawValue",
    "picollo_reading.flags": "Flags",
}
# Fields whose type is an enumeration.
ENUMS = {
    "verdict": "Verdict",
    "flags": "ComparisonNotes",
    "picollo_reading.flags": "PerfReadingFlags",
    "picollo_reading.status": "PicolloStatus",
}
# Fields that the class exposes in another form.
HIDDEN = {
    "reserved",
    "picollo_figure_estimate.flags",
    "picollo_benchmark_outcome.flags",
    "picollo_benchmark_outcome.elapsed",
    "picollo_benchmark_disturbance.cpu_count",
}
KEYWORDS = {"base", "event", "in", "object", "out", "params", "ref", "string"}
HEAD = "// <auto-generated>Generated by ci/describe.sh from the C interface, do not edit.</auto-generated>\n"


def _number(description: Description, name: str) -> str:
    return NUMBERS[description.aliases.get(name, name)]


def type_of(name: str) -> str:
    """The C# name of a struct."""
    return RESULTS[name].split(".")[1] if name in RESULTS else camel(name)


def _own(table: dict[str, str], struct: Struct, field: Field) -> str | None:
    return table.get(f"{struct.name}.{field.name}") or table.get(field.name)


def _is_hidden(struct: Struct, field: Field) -> bool:
    return field.name in HIDDEN or f"{struct.name}.{field.name}" in HIDDEN


def _property(struct: Struct, field: Field) -> str:
    return _own(RENAMED, struct, field) or camel(field.name)


def _hidden_name(field: Field) -> str:
    return "_" + camel(field.name)[0].lower() + camel(field.name)[1:]


def field_of(struct: Struct, field: Field) -> str:
    """The C# name of a field."""
    if struct.name not in RESULTS:
        return camel(field.name)
    return _hidden_name(field) if _is_hidden(struct, field) else f"<{_property(struct, field)}>k__BackingField"


def _parameter_name(name: str) -> str:
    pascal = camel(name)
    lower = pascal[:1].lower() + pascal[1:]
    return "@" + lower if lower in KEYWORDS else lower


def _used(pattern: str) -> set[str]:
    """The names that the binding's own sources use: nothing else is declared."""
    paths = [path for path in (ROOT / "dotnet" / "src" / "Picollo").rglob("*.cs") if not path.name.endswith(".g.cs")]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return {name for text in texts for name in re.findall(pattern, text)}


def called() -> set[str]:
    """The functions that the binding calls, by their own names."""
    return {name.removesuffix("_may_allocate") for name in _used(r"NativeMethods\.(picollo_\w+)")}


def constants(description: Description) -> str:
    lines: list[str] = []
    last = None
    used = _used(r"Constants\.(\w+)")
    for constant in description.constants:
        if camel(constant.short) not in used:
            continue
        if lines and (constant.group != last or not constant.group):
            lines.append("\n")
        last = constant.group
        value = constant.expression
        kind = "int" if constant.value < 1 << 31 else "uint"
        lines.append(f"    internal const {kind} {camel(constant.short)} = {value};\n")
    arrays = [
        f"    internal static readonly double[] {camel(name.removeprefix('PICOLLO_'))} =\n        {{ {', '.join(f'{number:g}' for number in numbers)} }};\n"
        for name, numbers in description.arrays.items()
    ]
    return (
        f"{HEAD}namespace Picollo.Native;\n\n"
        "/// <summary>The numbers of include/picollo*.h: PICOLLO_TEXT_JSON is TextJson here.</summary>\n"
        "internal static class Constants\n{\n" + "".join(lines) + "}\n\n"
        "/// <summary>Constant arrays: PICOLLO_DEFAULT_RANKS is DefaultRanks here.</summary>\n"
        "internal static class ConstantArrays\n{\n" + "\n".join(arrays) + "}\n"
    )


def _elements(struct: Struct, field: Field) -> tuple[str, list[str]]:
    """The type of an array of structs, and the names of its elements."""
    assert field.length is not None
    names = [f"Item{at}" for at in range(field.length)]
    return camel(struct.name[len("picollo_") :]) + camel(field.name), names


def _field(description: Description, struct: Struct, field: Field) -> str:
    name = camel(field.name)
    if field.pointers:
        base = type_of(field.base) if field.base in description.struct_names else NUMBERS.get(field.base, "void")
        return f"public {base}{'*' * field.pointers} {name}"
    if field.length is None:
        known = field.base in description.struct_names
        return f"public {type_of(field.base) if known else _number(description, field.base)} {name}"
    if field.base in description.struct_names:
        return f"public {_elements(struct, field)[0]} {name}"
    return f"public fixed {_number(description, field.base)} {name}[{name}Length]"


def _declared_together(fields: list[str]) -> str:
    """Fields in order; adjacent fields of the same type share a declaration."""
    lines: list[str] = []
    for field in fields:
        kind, _, name = field.rpartition(" ")
        if lines and "[" not in field and lines[-1].startswith(f"{kind} ") and len(lines[-1]) + len(name) < 120:
            lines[-1] += f", {name}"
        else:
            lines.append(field)
    return "".join(f"    {line};\n" for line in lines)


def _struct(description: Description, struct: Struct) -> str:
    code = ""
    for field in struct.fields:
        if field.length is None or field.base not in description.struct_names:
            continue
        name, elements = _elements(struct, field)
        code += (
            f"/// <summary>The {field.name} of a {struct.name}: C# has no fixed buffer of structs.</summary>\n"
            f"internal struct {name}\n{{\n"
            f"    public const int Count = {field.length};\n\n"
            + _declared_together([f"public {type_of(field.base)} {one}" for one in elements])
            + "}\n\n"
        )
    lengths = [
        f"    public const int {camel(one.name)}Length = {one.length};\n"
        for one in struct.fields
        if one.length is not None and one.base not in description.struct_names
    ]
    unsafe = "unsafe " if lengths or any(one.pointers for one in struct.fields) else ""
    return (
        f"{code}internal {unsafe}struct {camel(struct.name)}\n{{\n"
        + ("".join(lengths) + "\n" if lengths else "")
        + _declared_together([_field(description, struct, one) for one in struct.fields])
        + "}\n"
    )


def _declared(description: Description) -> list[Struct]:
    """The structs used by the sources, by a function, or by a used struct."""
    names = _used(r"\b(Picollo[A-Z]\w+)\b")
    names |= {camel(one.base) for function in description.functions if function.name in called() for one in function.parameters}
    for struct in reversed(description.structs):
        if camel(struct.name) in names:
            names |= {camel(one.base) for one in struct.fields}
    return [one for one in description.structs if camel(one.name) in names and one.name not in RESULTS]


def percentiles(description: Description) -> str:
    """The properties of summaries, by the default ranks: P999 is that at 99.9."""
    code = f"{HEAD}namespace Picollo.Metrics;\n\n#pragma warning disable CS1591 // the remarks on the types explain the names\n"
    for owner, kind in (("HdrHistogramSummary", "Percentile"), ("DoubleSummary", "DoublePercentile")):
        names = [f"P{rank:g}".replace(".", "") for rank in description.arrays["PICOLLO_DEFAULT_RANKS"]]
        lines = [f"    public {kind} {name} => _percentiles[{at}];\n" for at, name in enumerate(names)]
        code += f"\npublic sealed partial class {owner}\n{{\n{''.join(lines)}}}\n"
    return code


def structs(description: Description) -> str:
    return (
        f"{HEAD}using Picollo.Metrics;\n\nnamespace Picollo.Native;\n\n#pragma warning disable CS0649 // The library assigns the fields.\n\n"
        "// The structs of include/picollo*.h, field by field: a C name such as timestamp_unix_nanos is TimestampUnixNanos here.\n"
        "// The tests compare every size and offset with what a C compiler makes of the header.\n\n"
        + "\n".join(_struct(description, one) for one in _declared(description))
    )


def _summary(text: str) -> str:
    lines = textwrap.wrap(f"<summary>{text}</summary>", 130, break_long_words=False, break_on_hyphens=False)
    return "".join(f"    /// {line}\n" for line in lines)


def _documented(description: Description, struct: Struct, field: Field) -> str:
    """The header's text, with C# names."""
    text = description.documentation[struct.name, field.name]
    if _own(ENUMS, struct, field):
        # The type already lists the constants.
        text = re.sub(r"^PICOLLO_\w+\.\.\.[:.]*\s*", "", text) or {"Verdict": "what it amounts to."}.get(_property(struct, field), "what is to be known about it.")
        text = text[0].upper() + text[1:]
    text = re.sub(r"[,;][^,;]*\[[A-Z_a-z]+\]", "", text)
    text = html.escape(text, quote=False).replace("PICOLLO_OK", "Ok").replace("PICOLLO_ERR_NOT_COUNTED", "NotCounted")
    text = text.replace("UINT64_MAX", '<see cref="ulong.MaxValue"/>').replace("Anything but 0 means", "Anything but Ok means")
    for other in struct.fields:
        if "_" in other.name:
            text = re.sub(rf"\b{other.name}\b", f'<see cref="{_property(struct, other)}"/>', text)
    return text


def _result(description: Description, struct: Struct) -> str:
    name = RESULTS[struct.name].split(".")[1]
    members = ""
    for one in struct.fields:
        kind = type_of(one.base) if one.base in description.struct_names else _number(description, one.base)
        if _is_hidden(struct, one):
            members += f"    private readonly {kind} {_hidden_name(one)};\n"
        else:
            members += _summary(_documented(description, struct, one))
            members += f"    public {_own(ENUMS, struct, one) or kind} {_property(struct, one)} {{ get; private init; }}\n"
    return f"public readonly partial struct {name}\n{{\n{members}}}\n"


def _holder(description: Description, struct: Struct) -> str:
    members = ""
    for one in struct.fields:
        if not _is_hidden(struct, one):
            kind = type_of(one.base) if one.base in description.struct_names else _number(description, one.base)
            enum = _own(ENUMS, struct, one)
            cast = f"({enum})" if enum else ""
            members += _summary(_documented(description, struct, one))
            members += f"    public {enum or kind} {_property(struct, one)} => {cast}_native.{camel(one.name)};\n"
    return f"public sealed partial class {HOLDERS[struct.name].split('.')[1]}\n{{\n{members}}}\n"


def results(description: Description, space: str) -> str:
    parts = [
        _result(description, one) if one.name in RESULTS else _holder(description, one)
        for one in description.structs
        if (RESULTS.get(one.name) or HOLDERS.get(one.name, "")).startswith(space + ".")
    ]
    space = f"Picollo.{space}".rstrip(".")
    parts = [_enum(description, group) for group, (place, _) in GROUPS.items() if place.rpartition(".")[0] == space] + parts
    about = "// What a struct or class is stands where the rest of it is.\n\n"
    return f"{HEAD}namespace {space};\n\n{about}" + "\n".join(parts)


def _enum(description: Description, group: str) -> str:
    (place, about), members = GROUPS[group], ""
    constants = [one for one in description.constants if one.group == group and one.name not in NO_MEMBERS]
    is_flags = constants[0].kind == "flag"
    if is_flags:
        members = "    /// <summary>Nothing.</summary>\n    None = 0,\n"
    for one in constants:
        text = description.documentation["", one.name].removeprefix("Set when ")
        text = html.escape(text[0].upper() + text[1:], quote=False)
        for word, own in WORDS.items():
            text = re.sub(word, own, text)
        name = MEMBERS.get(one.name) or camel(re.sub(rf"^PICOLLO_(ERR_|{group}_)?", "", one.name))
        members += f"{_summary(text)}    {name} = {one.expression},\n"
    head = f"/// <summary>{about}</summary>\n" + "[Flags]\n" * is_flags
    return f"{head}public enum {place.rpartition('.')[2]}{' : uint' * (group in UNSIGNED)}\n{{\n{members}}}\n"


def _safe_handles() -> set[str]:
    text = (ROOT / "dotnet/src/Picollo/Native/Handles.cs").read_text(encoding="utf-8")
    return set(re.findall(r"class (\w+)(?:\(\))? : (?:Native|Lasting)Handle", text))


def _parameter(description: Description, function: Function, one: Parameter, safe: set[str]) -> str:
    name = "result" if one.name == "out" else _parameter_name(one.name)
    if one.base in description.handles:
        handle = camel(one.base[len("picollo_") :]) + "Handle"
        if one.pointers == 2 and not one.is_const:
            return f"out {handle if handle in safe else 'IntPtr'} {name}"
        if one.pointers == 2:
            return f"IntPtr* {name}"
        return f"{'IntPtr' if BARE.fullmatch(function.name) or handle not in safe else handle} {name}"
    known = one.base in description.struct_names
    base = type_of(one.base) if known else _number(description, one.base)
    return f"{base}{'*' * one.pointers} {name}"


def _declaration(description: Description, function: Function, safe: set[str], name: str) -> str:
    result = function.returns.replace("const ", "")
    if result.endswith("*"):
        base = result.split()[0]
        result = "IntPtr" if base in description.handles else f"{_number(description, base)}*"
    else:
        result = _number(description, result)
    parameters = [_parameter(description, function, one, safe) for one in function.parameters]
    line = f"    internal static extern {result} {name}({', '.join(parameters)});\n"
    if len(line) <= 130:
        return line
    lines = [f"    internal static extern {result} {name}(\n       "]
    for at, one in enumerate(parameters):
        more = f" {one}{',' if at + 1 < len(parameters) else ');'}"
        if len(lines[-1].rsplit("\n", 1)[-1]) + len(more) > 129:
            lines.append("\n       ")
        lines[-1] += more
    return "".join(lines) + "\n"


def methods(description: Description) -> str:
    safe = _safe_handles()
    code = []
    section = None
    bound = called()
    for function in description.functions:
        if function.name not in bound:
            continue
        if function.section != section:
            section = function.section
            code.append(f"\n    // {section.replace('_', ' ').capitalize()}.\n")
        declared = _declaration(description, function, safe, function.name)
        if function.name in QUICK:
            code.append(
                "    /// <summary>For dense histograms: neither allocates nor waits.</summary>\n"
                "    [DllImport(Library)]\n"
                f"    [SuppressGCTransition]\n{declared}"
                f"    /// <summary>{QUICK[function.name]}</summary>\n"
                f'    [DllImport(Library, EntryPoint = "{function.name}")]\n'
            )
            declared = _declaration(description, function, safe, function.name + "_may_allocate")
        else:
            code.append("    [DllImport(Library)]\n")
        code.append(declared)
    return (
        f"{HEAD}using Picollo.Metrics;\nusing Picollo.PerfEvent;\n\nnamespace Picollo.Native;\n\n"
        "internal static unsafe partial class NativeMethods\n{\n" + "".join(code).lstrip("\n") + "}\n"
    )
