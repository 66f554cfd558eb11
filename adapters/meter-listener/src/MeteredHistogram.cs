using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

/// <summary>The measurements of one instrument with one set of tags.</summary>
/// <remarks>Any thread may read it at any time, even after its listener was disposed.</remarks>
public sealed class MeteredHistogram
{
    // Nobody else has a reference, so nobody can dispose it during a measurement.
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

    /// <summary>The tags, sorted by key. Values are numbers, texts and times as given, and other types as
    /// texts.</summary>
    public IReadOnlyList<KeyValuePair<string, object?>> Tags => Array.AsReadOnly(TagArray);

    /// <summary>The factor for values in the instrument's unit: counts are for integers of 1 / Scale of it.</summary>
    public double Scale { get; }

    /// <summary>Whether this set counts all measurements beyond the maximum number of tag sets.</summary>
    public bool IsOverflow { get; }

    /// <summary>The number of values, including those above the range.</summary>
    public ulong Count => _histogram.TotalCount + _histogram.OverflowCount;

    /// <summary>The value at a percentile rank, in the instrument's unit.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The rank is not within 0 to 100.</exception>
    /// <exception cref="PicolloException"><see cref="PicolloStatus.Empty"/>: no value is in range.</exception>
    public double GetPercentileValue(double rank) => _histogram.GetPercentileValue(rank) / Scale;

    /// <summary>A copy of the counts, of scaled values. An update with deltas has the new ones.</summary>
    public HdrHistogramSnapshot GetSnapshot() => _histogram.GetSnapshot();

    /// <inheritdoc/>
    public override string ToString() =>
        TagArray.Length == 0 ? InstrumentName
        : $"{InstrumentName}{{{string.Join(",", TagArray.Select(tag => $"{tag.Key}={TagText.Of(tag.Value)}"))}}}";

    internal HdrHistogram Histogram => _histogram;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Record(ulong scaled) => _histogram.Record(scaled);
}
