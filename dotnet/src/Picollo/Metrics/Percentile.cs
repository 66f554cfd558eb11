using System.Diagnostics;

namespace Picollo.Metrics;

/// <summary>
/// The smallest recorded value that at least <see cref="Rank"/> percent of all recorded values do not exceed, within
/// the resolution of the buckets.
/// </summary>
[DebuggerDisplay("{ToString(),nq}")]
public readonly partial struct Percentile : IEquatable<Percentile>
{
    private static EquivalentValueSelection s_default = EquivalentValueSelection.Midpoint;

    private readonly PicolloPercentile _native;
    private readonly ulong _before;
    private readonly bool _listed;

    /// <param name="native">The library's result.</param>
    /// <param name="before">How many values lie below its bucket.</param>
    /// <param name="selection">The value to report; the library does not interpolate.</param>
    /// <param name="listed">Whether it is one of a list of buckets.</param>
    internal Percentile(
        in PicolloPercentile native, ulong before, EquivalentValueSelection selection = default, bool listed = false)
    {
        _native = native;
        _before = before;
        _listed = listed;
        if (IsInterpolated(selection))
            _native.Value = Interpolated();
    }

    /// <summary>The meaning of <see cref="EquivalentValueSelection.Default"/>, for the whole process.</summary>
    public static EquivalentValueSelection DefaultEquivalentValueSelection
    {
        get => s_default;
        set => s_default = value == EquivalentValueSelection.Default ? EquivalentValueSelection.Midpoint : Known(value, nameof(value));
    }

    /// <summary>The requested rank, 0 to 100; in a list of buckets, the rank at the middle of the bucket.</summary>
    public double Rank => _native.Rank;

    /// <summary>The value that stands for the bucket, by the requested selection.</summary>
    public ulong Value => _native.Value;

    /// <summary>How many recorded values the percentile must cover; 0 if nothing was recorded.</summary>
    public ulong TargetCount => _native.TargetCount;

    /// <summary>How many recorded values lie in the bucket or below it.</summary>
    public ulong RunningCount => _before + _native.Bucket.Count;

    /// <summary>How many recorded values lie below the bucket.</summary>
    public ulong RunningCountBefore => _before;

    /// <summary>The bucket of the percentile.</summary>
    public Bucket Bucket => new Bucket(in _native.Bucket);

    /// <summary>Another value that stands for the bucket.</summary>
    public ulong GetValue(EquivalentValueSelection selection) =>
        IsInterpolated(selection) ? Interpolated() : Bucket.GetValue(selection);

    /// <inheritdoc/>
    public bool Equals(Percentile other) =>
        Rank.Equals(other.Rank) && Value == other.Value && TargetCount == other.TargetCount && Bucket.Equals(other.Bucket);

    /// <summary>Whether two are equal.</summary>
    public static bool operator ==(Percentile left, Percentile right) => left.Equals(right);

    /// <summary>Whether two differ.</summary>
    public static bool operator !=(Percentile left, Percentile right) => !left.Equals(right);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is Percentile && Equals((Percentile)obj);

    /// <inheritdoc/>
    public override int GetHashCode() => unchecked((Rank.GetHashCode() * 397) ^ Value.GetHashCode());

    /// <summary>
    /// Rank, value and bucket: <c>P99=9,152 [138 / 519]: [9,088, 9,216) 386</c>. The rank has up to six decimals, in a
    /// list of buckets up to four. A percentile without observations is <c>P99=n/a</c>.
    /// </summary>
    public override string ToString()
    {
        PicolloPercentile shown = _native;
        if (_listed)
        {
            shown.Rank = RoundedToFour(shown.Rank);
            // Zero would mean that nothing was recorded, but an empty bucket exists.
            shown.TargetCount = 1;
        }
        return Format(shown);
    }

    internal static unsafe string Format(PicolloPercentile percentile)
    {
        // The library guarantees that this is enough.
        const int Enough = 192;
        Loader.Ensure();
        byte* buffer = stackalloc byte[Enough];
        UIntPtr length;
        Outcome.Check(NativeMethods.picollo_percentile_format(&percentile, buffer, (UIntPtr)Enough, &length));
        return Utf8.FromNative(buffer);
    }

    internal static bool IsInterpolated(EquivalentValueSelection selection) =>
        (selection == EquivalentValueSelection.Default ? s_default : selection) == EquivalentValueSelection.Interpolated;

    /// <summary>The library's code; that of the midpoint for selections that it does not know.</summary>
    internal static uint ToNative(EquivalentValueSelection selection, string name = "valueSelection") =>
        IsInterpolated(selection)
            ? (uint)EquivalentValueSelection.Midpoint - 1
            : (uint)(selection == EquivalentValueSelection.Default ? s_default : Known(selection, name)) - 1;

    /// <summary>As if the bucket's values were evenly distributed in it: the first at its start.</summary>
    private ulong Interpolated()
    {
        if (_native.Bucket.Count == 0 || _native.TargetCount <= _before)
            return _native.Bucket.Lower;
        double part = (_native.TargetCount - _before - 1) / (double)_native.Bucket.Count;
        return Math.Min(_native.Bucket.Lower + (ulong)(part * _native.Bucket.Step), _native.Bucket.Upper);
    }

    private static EquivalentValueSelection Known(EquivalentValueSelection selection, string name)
    {
        if (selection < EquivalentValueSelection.Midpoint || selection > EquivalentValueSelection.Interpolated)
            throw new ArgumentOutOfRangeException(name, selection, "There is no such selection.");
        return selection;
    }

    /// <summary>
    /// Rounds half away from zero on the exact value, like the library's lists. <see cref="Math.Round(double)"/> would
    /// multiply, and so round, first. Differences below 2^-63 of a rank do not matter.
    /// </summary>
    private static double RoundedToFour(double rank) =>
        rank >= 0 && rank <= 100
            ? (long)(((Int128)Math.ScaleB(rank, 63) * 10000 + ((Int128)1 << 62)) >> 63) / 10000.0
            : rank;
}
