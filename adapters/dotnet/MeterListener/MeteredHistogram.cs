using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

/// <summary>What was measured by one instrument with one set of tags.</summary>
/// <remarks>Any thread may read it at any time, also when its listener was disposed.</remarks>
public sealed class MeteredHistogram
{
    // Nobody else has it, and so nobody disposes it under those who measure.
    private readonly HdrHistogram _histogram;

    internal MeteredHistogram(Instrument instrument, double scale, HdrHistogram histogram, KeyValuePair<string, object?>[] tags, bool isOverflow)
    {
        _histogram = histogram;
        MeterName = instrument.Meter.Name;
        InstrumentName = instrument.Name;
        Unit = instrument.Unit ?? "";
        Scale = scale;
        TagArray = tags;
        IsOverflow = isOverflow;
    }

    internal readonly KeyValuePair<string, object?>[] TagArray;

    /// <summary>The meter's name.</summary>
    public string MeterName { get; }

    /// <summary>The instrument's name.</summary>
    public string InstrumentName { get; }

    /// <summary>The instrument's unit; empty for none.</summary>
    public string Unit { get; }

    /// <summary>The tags, sorted by key. Values are as they were given, or texts of them where they are not numbers, texts or times.</summary>
    public IReadOnlyList<KeyValuePair<string, object?>> Tags => Array.AsReadOnly(TagArray);

    /// <summary>What values in the instrument's unit are multiplied by: counted are integers of 1 / Scale of it.</summary>
    public double Scale { get; }

    /// <summary>Whether this is where all is counted that came when there were as many sets of tags as there may be.</summary>
    public bool IsOverflow { get; }

    /// <summary>How many values there are, also those above the range.</summary>
    public ulong Count => _histogram.TotalCount + _histogram.OverflowCount;

    /// <summary>The value at a percentile rank, in the instrument's unit.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The rank is not within 0 to 100.</exception>
    /// <exception cref="PicolloException"><see cref="PicolloStatus.Empty"/>: there is none in range.</exception>
    public double GetPercentileValue(double rank) => _histogram.GetPercentileValue(rank) / Scale;

    /// <summary>A copy of the counts, of scaled values. Updated with deltas, it has what came since.</summary>
    public HdrHistogramSnapshot GetSnapshot() => _histogram.GetSnapshot();

    /// <inheritdoc/>
    public override string ToString() =>
        TagArray.Length == 0 ? InstrumentName
        : $"{InstrumentName}{{{string.Join(",", TagArray.Select(tag => $"{tag.Key}={TagText.Of(tag.Value)}"))}}}";

    internal HdrHistogram Histogram => _histogram;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Record(ulong scaled) => _histogram.Record(scaled);
}
