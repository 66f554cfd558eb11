namespace Picollo.Metrics;

/// <summary>Maps an instrument's unit, in UCUM or as people write it, to the integers that are counted.</summary>
internal static class Units
{
    /// <summary>This scaled value, and all above, exceed the range of every histogram: 2⁶³.</summary>
    internal const double Highest = 9223372036854775808;

    /// <summary>The scale of fractional numbers with an unknown unit.</summary>
    internal const double OtherScale = 1e6;

    // Spellings of units, their factors, and the suffixes of OpenTelemetry's exporters for Prometheus.
    private static readonly (string[] Names, double Scale, string Exposed)[] s_units =
    {
        (["d", "day", "days"], 86400e9, "days"),
        (["h", "hour", "hours"], 3600e9, "hours"),
        (["min", "minute", "minutes"], 60e9, "minutes"),
        (["s", "sec", "second", "seconds"], 1e9, "seconds"),
        (["ms", "millisecond", "milliseconds"], 1e6, "milliseconds"),
        (["us", "µs", "μs", "microsecond", "microseconds"], 1e3, "microseconds"),
        (["ns", "nanosecond", "nanoseconds"], 1, "nanoseconds"),
        (["By", "B", "byte", "bytes"], 1, "bytes"),
        (["bit", "bits"], 1, "bits"),
        (["kBy"], 1e3, "kilobytes"),
        (["MBy"], 1e6, "megabytes"),
        (["GBy"], 1e9, "gigabytes"),
        (["TBy"], 1e12, "terabytes"),
        (["KiBy"], 1024, "kibibytes"),
        (["MiBy"], 1024.0 * 1024, "mebibytes"),
        (["GiBy"], 1024.0 * 1024 * 1024, "gibibytes"),
        (["TiBy"], 1024.0 * 1024 * 1024 * 1024, "tebibytes"),
        (["%"], OtherScale, "percent")
    };

    /// <summary>The factor for fractional values: to nanoseconds, bytes or bits, and otherwise millionths.</summary>
    internal static double ScaleOf(string? unit) => Find(unit).Scale;

    /// <summary>The suffix that exporters append to names; empty for none.</summary>
    internal static string Exposed(string? unit) => Find(unit).Exposed;

    private static (string[] Names, double Scale, string Exposed) Find(string? unit)
    {
        int index = Array.FindIndex(s_units, one => Array.IndexOf(one.Names, unit) >= 0);
        return index < 0 ? ([], OtherScale, "") : s_units[index];
    }
}
