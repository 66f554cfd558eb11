namespace Picollo.Metrics;

public sealed partial class HdrHistogramSummary : IEquatable<HdrHistogramSummary>
{
    /// <summary>Whether all their contents are equal; NaN equals NaN.</summary>
    public bool Equals(HdrHistogramSummary? other)
    {
        if (other is null)
            return false;
        ref readonly PicolloSummary a = ref _native;
        ref readonly PicolloSummary b = ref other._native;
        return a.TotalCount == b.TotalCount && a.UnderflowCount == b.UnderflowCount && a.OverflowCount == b.OverflowCount
            && a.LostCount == b.LostCount && a.Mean.Equals(b.Mean) && a.Stddev.Equals(b.Stddev)
            && a.RelativeError.Equals(b.RelativeError) && a.MinTrackable == b.MinTrackable && a.MaxTrackable == b.MaxTrackable
            && a.Flags == b.Flags && a.TimestampUnixNanos == b.TimestampUnixNanos
            && ((ReadOnlySpan<Percentile>)_percentiles).SequenceEqual(other._percentiles);
    }

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as HdrHistogramSummary);

    /// <summary>Changes with every filling: do not use it as the key of a dictionary if you fill it again.</summary>
    public override int GetHashCode() =>
        unchecked((((_native.TotalCount.GetHashCode() * 397) ^ _native.Mean.GetHashCode()) * 397)
            ^ _native.TimestampUnixNanos.GetHashCode());

    /// <summary>Whether all their contents are equal.</summary>
    public static bool operator ==(HdrHistogramSummary? left, HdrHistogramSummary? right) =>
        ReferenceEquals(left, right) || (left is not null && left.Equals(right));

    /// <summary>Whether any of their contents differ.</summary>
    public static bool operator !=(HdrHistogramSummary? left, HdrHistogramSummary? right) => !(left == right);
}
