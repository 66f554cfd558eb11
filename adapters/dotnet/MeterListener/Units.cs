namespace Picollo.Metrics
{
    /// <summary>From the unit of an instrument, as UCUM and people write it, to the integers that are counted.</summary>
    internal static class Units
    {
        /// <summary>What is this after scaling, and all above, is above the range of every histogram: 2⁶³.</summary>
        internal const double Highest = 9223372036854775808;

        /// <summary>Of numbers with fractions that have no unit known here.</summary>
        internal const double OtherScale = 1e6;

        /// <summary>
        /// What values with fractions are multiplied by: times become nanoseconds, sizes bytes or bits, and all else millionths.
        /// </summary>
        internal static double ScaleOf(string? unit) => unit switch
        {
            "d" or "day" or "days" => 86400e9,
            "h" or "hour" or "hours" => 3600e9,
            "min" or "minute" or "minutes" => 60e9,
            "s" or "sec" or "second" or "seconds" => 1e9,
            "ms" or "millisecond" or "milliseconds" => 1e6,
            "us" or "µs" or "μs" or "microsecond" or "microseconds" => 1e3,
            "ns" or "nanosecond" or "nanoseconds" => 1,
            "By" or "B" or "byte" or "bytes" or "bit" or "bits" => 1,
            "kBy" => 1e3,
            "MBy" => 1e6,
            "GBy" => 1e9,
            "TBy" => 1e12,
            "KiBy" => 1024,
            "MiBy" => 1024.0 * 1024,
            "GiBy" => 1024.0 * 1024 * 1024,
            "TiBy" => 1024.0 * 1024 * 1024 * 1024,
            _ => OtherScale
        };

        /// <summary>What OpenTelemetry's exporters for Prometheus call a unit, and append to names; empty for none.</summary>
        internal static string Exposed(string? unit) => unit switch
        {
            "d" or "day" or "days" => "days",
            "h" or "hour" or "hours" => "hours",
            "min" or "minute" or "minutes" => "minutes",
            "s" or "sec" or "second" or "seconds" => "seconds",
            "ms" or "millisecond" or "milliseconds" => "milliseconds",
            "us" or "µs" or "μs" or "microsecond" or "microseconds" => "microseconds",
            "ns" or "nanosecond" or "nanoseconds" => "nanoseconds",
            "By" or "B" or "byte" or "bytes" => "bytes",
            "bit" or "bits" => "bits",
            "kBy" => "kilobytes",
            "MBy" => "megabytes",
            "GBy" => "gigabytes",
            "TBy" => "terabytes",
            "KiBy" => "kibibytes",
            "MiBy" => "mebibytes",
            "GiBy" => "gibibytes",
            "TiBy" => "tebibytes",
            "%" => "percent",
            _ => ""
        };
    }
}
