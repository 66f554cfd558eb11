using System.Diagnostics.CodeAnalysis;

namespace Picollo.Metrics;

/// <summary>What a histogram, counter or gauge is known as in a registry.</summary>
public sealed class MetricOptions
{
    private IDictionary<string, string> _labels = new Dictionary<string, string>();

    /// <summary>Letters, digits, underscores and colons, and no digit first: <c>request_seconds</c>.</summary>
    public string? Name { get; set; }

    /// <summary>What it means, for people; the same for all of one name.</summary>
    public string? Help { get; set; }

    /// <summary>Such as <c>seconds</c>, which the name has to end with, after an underscore; the same for all of one name.</summary>
    public string? Unit { get; set; }

    /// <summary>Values and bounds are divided by this before they are written: 1e9 for nanoseconds that are to be seconds.</summary>
    public double Divisor { get; set; } = 1;

    /// <summary>What tells histograms of one name apart, such as <c>method</c> and <c>GET</c>; null: nothing.</summary>
    [AllowNull]
    public IDictionary<string, string> Labels
    {
        get => _labels;
        set => _labels = value ?? new Dictionary<string, string>();
    }

    /// <summary>Since when there are counts; null: now.</summary>
    public DateTime? CreatedUtc { get; set; }

    /// <summary>Whether to tell since when there are counts.</summary>
    public bool WritesCreated { get; set; } = true;

    /// <summary>
    /// Whether Prometheus is to have a native histogram where its format has them. Servers then drop the buckets at bounds.
    /// </summary>
    public bool Native { get; set; }

    /// <summary>How many exponential buckets may have counts before they become coarser; 0: 320.</summary>
    public uint MaxBuckets { get; set; }

    /// <summary>Whether to write the counts since the last reset, a restart to collectors, rather than all.</summary>
    public bool SinceReset { get; set; }

    /// <summary>Whether Prometheus is to have a summary, with quantiles instead of buckets.</summary>
    public bool Summary { get; set; }

    /// <summary>Whether a counter has sixteen words, so that threads seldom wait for each other: 1 KB.</summary>
    public bool Striped { get; set; }
}
