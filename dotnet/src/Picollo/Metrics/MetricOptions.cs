using System.Diagnostics.CodeAnalysis;

namespace Picollo.Metrics;

/// <summary>The description of a histogram, counter or gauge in a registry.</summary>
public sealed class MetricOptions
{
    private IDictionary<string, string> _labels = new Dictionary<string, string>();

    /// <summary>Letters, digits, underscores and colons, not beginning with a digit: <c>request_seconds</c>.</summary>
    public string? Name { get; set; }

    /// <summary>Its meaning, for people; the same for all metrics with one name.</summary>
    public string? Help { get; set; }

    /// <summary>Such as <c>seconds</c>; the name ends with it after <c>_</c>. The same for all with one name.</summary>
    public string? Unit { get; set; }

    /// <summary>Written values and bounds are divided by this: 1e9 converts nanoseconds to seconds; 0: 1.</summary>
    public double Divisor { get; set; } = 1;

    /// <summary>Labels that distinguish metrics with the same name: <c>method</c> and <c>GET</c>; null: none.</summary>
    [AllowNull]
    public IDictionary<string, string> Labels
    {
        get => _labels;
        set => _labels = value ?? new Dictionary<string, string>();
    }

    /// <summary>The time since which there are counts; null: now.</summary>
    public DateTime? CreatedUtc { get; set; }

    /// <summary>Whether to write the time since which there are counts.</summary>
    public bool WritesCreated { get; set; } = true;

    /// <summary>
    /// Whether to write a native histogram in Prometheus' format. Servers then drop the buckets at bounds.
    /// </summary>
    public bool Native { get; set; }

    /// <summary>How many exponential buckets may have counts before they become coarser; 0: 320.</summary>
    public uint MaxBuckets { get; set; }

    /// <summary>Whether to write the counts since the last reset, which looks like a restart to collectors.</summary>
    public bool SinceReset { get; set; }

    /// <summary>Whether to write a summary for Prometheus, with quantiles instead of buckets.</summary>
    public bool Summary { get; set; }

    /// <summary>Whether a counter has sixteen words, so that threads seldom wait for each other: 1 KB.</summary>
    public bool Striped { get; set; }

    /// <summary>The options in native memory, for the duration of a call: the library copies them.</summary>
    internal unsafe PicolloMetricOptions ToNative(NativeBlocks blocks)
    {
        PicolloLabel* labels = blocks.Labels(Labels, "Labels", out int length);
        return new PicolloMetricOptions
        {
            StructSize = (uint)sizeof(PicolloMetricOptions),
            Flags = (uint)((WritesCreated ? 0 : Constants.MetricNoCreated) | (Native ? Constants.MetricNative : 0)
                | (SinceReset ? Constants.MetricSinceReset : 0) | (Summary ? Constants.MetricSummary : 0)
                | (Striped ? Constants.MetricStriped : 0)),
            MaxBuckets = MaxBuckets,
            Divisor = Divisor,
            LabelsLength = (ulong)length,
            CreatedUnixNanos = UnixTime.Nanos(CreatedUtc),
            Name = blocks.Text(Name, "Name"),
            Help = blocks.Text(Help, "Help"),
            Unit = blocks.Text(Unit, "Unit"),
            Labels = labels
        };
    }
}
