namespace Picollo.Metrics;

/// <summary>From the unit of an instrument, as UCUM and people write it, to the integers that are counted.</summary>
internal static class Units
{
    /// <summary>What is this after scaling, and all above, is above the range of every histogram: 2⁶³.</summary>
    internal const double Highest = 9223372036854775808;

    /// <summary>Of numbers with fractions that have no unit known here.</summary>
    internal const double OtherScale = 1e6;

    // How units are written; what values are multiplied by; what OpenTelemetry's exporters for Prometheus append to names.
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

    /// <summary>What values with fractions are multiplied by: times become nanoseconds, sizes bytes or bits, and all else millionths.</summary>
    internal static double ScaleOf(string? unit) => Find(unit).Scale;

    /// <summary>What exporters append to names; empty for none.</summary>
    internal static string Exposed(string? unit) => Find(unit).Exposed;

    private static (string[] Names, double Scale, string Exposed) Find(string? unit)
    {
        int index = Array.FindIndex(s_units, one => Array.IndexOf(one.Names, unit) >= 0);
        return index < 0 ? ([], OtherScale, "") : s_units[index];
    }
}
