using System.Diagnostics;

namespace Picollo.Metrics;

/// <summary>Which value stands for all values of a bucket.</summary>
public enum EquivalentValueSelection
{
    /// <summary><see cref="Percentile.DefaultEquivalentValueSelection"/>, the midpoint unless changed.</summary>
    Default = 0,

    /// <summary>The middle of the bucket: within the histogram's relative error of the recorded value.</summary>
    Midpoint = 1,

    /// <summary>The smallest value of the bucket.</summary>
    LowerBound = 2,

    /// <summary>The largest value of the bucket.</summary>
    UpperBound = 3,

    /// <summary>
    /// As if the recorded values were evenly distributed in the bucket: only for percentiles, whose position is known.
    /// </summary>
    Interpolated = 4
}

/// <summary>A run of values that share one count.</summary>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct Bucket : IEquatable<Bucket>
{
    private readonly PicolloBucket _native;

    internal Bucket(in PicolloBucket native)
    {
        _native = native;
    }

    /// <summary>The smallest value.</summary>
    public ulong Lower => _native.Lower;

    /// <summary>The largest value; it belongs to the bucket.</summary>
    public ulong Upper => _native.Upper;

    /// <summary>The same as <see cref="Lower"/>.</summary>
    public ulong Start => _native.Lower;

    /// <summary>The same as <see cref="Upper"/>: the last value of the bucket.</summary>
    public ulong End => _native.Upper;

    /// <summary>The first value after the bucket; 0 after the last of all.</summary>
    public ulong NextBucketStart => unchecked(_native.Upper + 1);

    /// <summary>
    /// Whether this stands for all values outside the range, as returned by
    /// <see cref="ReadOnlyHdrHistogram.GetBucket"/> for one of them: not valid, with their number as its count.
    /// </summary>
    public bool IsOverflowBucket => StorageIndex < 0;

    /// <summary>How many values share the bucket; 0 if this is no bucket.</summary>
    public ulong Step => _native.Step;

    /// <summary>How often values of the bucket were recorded.</summary>
    public ulong Count => _native.Count;

    /// <summary>Position among the histogram's counters.</summary>
    public int StorageIndex => (int)_native.StorageIndex;

    /// <summary>Position among the counters of the full range.</summary>
    public int LogicalIndex => (int)_native.LogicalIndex;

    /// <summary>The middle of the bucket.</summary>
    public ulong MidPoint => _native.Lower + _native.Step / 2;

    /// <summary>False for the default value, which is no bucket.</summary>
    public bool IsValid => _native.Step != 0;

    internal PicolloBucket Native => _native;

    /// <summary>The bucket of all values outside the range.</summary>
    internal static Bucket Overflow(ulong count) =>
        new Bucket(new PicolloBucket { StorageIndex = ulong.MaxValue, LogicalIndex = ulong.MaxValue, Count = count });

    /// <summary>The value that stands for all of the bucket.</summary>
    /// <exception cref="ArgumentOutOfRangeException">
    /// There is no such selection, or it is <see cref="EquivalentValueSelection.Interpolated"/>.
    /// </exception>
    public ulong GetValue(EquivalentValueSelection selection = default)
    {
        if (selection == EquivalentValueSelection.Interpolated)
            throw new ArgumentOutOfRangeException(
                nameof(selection), selection, "Between the values of a bucket only a percentile knows its place: Percentile.GetValue.");
        return Percentile.ToNative(selection, nameof(selection)) switch { 1 => Lower, 2 => Upper, _ => MidPoint };
    }

    /// <inheritdoc/>
    public bool Equals(Bucket other) =>
        Lower == other.Lower && Upper == other.Upper && Count == other.Count
        && StorageIndex == other.StorageIndex && LogicalIndex == other.LogicalIndex;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is Bucket && Equals((Bucket)obj);

    /// <summary>Whether two are equal.</summary>
    public static bool operator ==(Bucket left, Bucket right) => left.Equals(right);

    /// <summary>Whether two differ.</summary>
    public static bool operator !=(Bucket left, Bucket right) => !left.Equals(right);

    /// <inheritdoc/>
    public override int GetHashCode() => unchecked((Lower.GetHashCode() * 397) ^ Count.GetHashCode());

    /// <summary>Storage and logical index, half-open range and count: <c>[138 / 519]: [9,088, 9,216) 386</c>.</summary>
    public override string ToString()
    {
        string text = Percentile.Format(new PicolloPercentile { TargetCount = 1, Bucket = _native });
        return text.Substring(text.IndexOf(' ') + 1);
    }
}
