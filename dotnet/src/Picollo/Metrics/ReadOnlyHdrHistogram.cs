namespace Picollo.Metrics;

/// <summary>The readable members of a histogram and of its snapshots.</summary>
/// <remarks>Any thread may call any member at any time; calls on one object are serialized.</remarks>
public abstract unsafe partial class ReadOnlyHdrHistogram : IDisposable
{
    private const int Chunk = 32;

    private HdrHistogramSummary? _layout;

    internal ReadOnlyHdrHistogram()
    {
    }

    /// <summary>Held while the native snapshot is read or updated.</summary>
    internal object Gate { get; } = new object();

    /// <summary>Observations in range.</summary>
    public ulong TotalCount => Counts().Total;

    /// <summary>Observations below the trackable range.</summary>
    public ulong UnderflowCount => Counts().Underflow;

    /// <summary>Observations outside the trackable range, below and above it; <see cref="UnderflowCount"/> is the part below.</summary>
    public ulong OverflowCount
    {
        get
        {
            PicolloCounts counts = Counts();
            return counts.Underflow + counts.Overflow;
        }
    }

    /// <summary>Observations that were recorded but are missing from the buckets.</summary>
    public ulong LostCount => Counts().Lost;

    /// <summary>The smallest value, by <see cref="Percentile.DefaultEquivalentValueSelection"/>.</summary>
    /// <exception cref="PicolloException">Nothing was recorded.</exception>
    public ulong Min => GetPercentileValue(0);

    /// <summary>The largest value, by <see cref="Percentile.DefaultEquivalentValueSelection"/>.</summary>
    /// <exception cref="PicolloException">Nothing was recorded.</exception>
    public ulong Max => GetPercentileValue(100);

    /// <summary>Mean of the buckets' midpoints; NaN when empty.</summary>
    /// <remarks>Costs a summary: for several figures of one moment, call <see cref="GetSummary"/>.</remarks>
    public double Mean() => GetSummary().Mean;

    /// <summary>Population standard deviation of the buckets' midpoints; NaN when empty.</summary>
    /// <remarks>Costs a summary, like <see cref="Mean"/>.</remarks>
    public double StDev() => GetSummary().StDev;

    /// <summary>The stated error: 0.5 / block size, which is at most the requested error.</summary>
    public double RelativeError => Layout.RelativeError;

    /// <summary>The number of buckets in a block, which have equal width.</summary>
    public int BlockSize => checked((int)GetLayout().BlockSize);

    /// <summary>Smallest value of the guaranteed range.</summary>
    public ulong MinTrackableValue => Layout.MinTrackableValue;

    /// <summary>Largest value of the guaranteed range.</summary>
    public ulong MaxTrackableValue => Layout.MaxTrackableValue;

    /// <summary>All buckets in ascending order, also empty ones, at the moment the enumeration begins.</summary>
    public Buckets Buckets => new Buckets(this, false);

    /// <summary>The non-empty buckets.</summary>
    public Buckets BucketsWithValues => new Buckets(this, true);

    /// <summary>All buckets, each with the percentile rank at its middle.</summary>
    public BucketPercentiles BucketPercentiles => new BucketPercentiles(this, false);

    /// <summary>The non-empty buckets, each with the percentile rank at its middle.</summary>
    public BucketPercentiles BucketPercentilesWithValues => new BucketPercentiles(this, true);

    /// <summary>Totals, mean, deviation and the usual percentiles.</summary>
    /// <param name="reuse">A summary to fill; null allocates one. Filling one allocates nothing.</param>
    /// <param name="valueSelection">Which value of its bucket each percentile reports.</param>
    public HdrHistogramSummary GetSummary(HdrHistogramSummary? reuse = null, EquivalentValueSelection valueSelection = default)
    {
        HdrHistogramSummary summary = reuse ?? new HdrHistogramSummary();
        lock (Gate)
            summary.Fill(Current(), valueSelection);
        return summary;
    }

    /// <summary>The value at a rank from 0 to 100, for example 99.9.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The rank is not within 0 to 100.</exception>
    /// <exception cref="PicolloException">Nothing was recorded.</exception>
    public ulong GetPercentileValue(double rank, EquivalentValueSelection valueSelection = default)
    {
        if (Percentile.IsInterpolated(valueSelection))
            return GetPercentile(rank, valueSelection).Value;
        Arguments.Rank(rank, nameof(rank));
        ulong value;
        lock (Gate)
            Outcome.Check(NativeMethods.picollo_snapshot_percentile_values(
                Current(), &rank, (UIntPtr)1, Percentile.ToNative(valueSelection), &value));
        return value;
    }

    /// <summary>The values at many ranks, in any order, for little more than the cost of one.</summary>
    public void GetPercentileValues(
        ReadOnlySpan<double> ranks, Span<ulong> values, EquivalentValueSelection valueSelection = default)
    {
        Arguments.Ranks(ranks, values.Length, nameof(ranks), nameof(values));
        if (Percentile.IsInterpolated(valueSelection))
        {
            var percentiles = new Percentile[ranks.Length];
            GetPercentiles(ranks, percentiles, valueSelection);
            for (int i = 0; i < percentiles.Length; i++)
                values[i] = percentiles[i].Value;
            return;
        }
        fixed (double* from = &MemoryMarshal.GetReference(ranks))
        fixed (ulong* to = &MemoryMarshal.GetReference(values))
            lock (Gate)
                if (ranks.Length != 0)
                    Outcome.Check(NativeMethods.picollo_snapshot_percentile_values(
                        Current(), from, (UIntPtr)ranks.Length, Percentile.ToNative(valueSelection), to));
    }

    /// <summary>The percentile at a rank from 0 to 100, with its bucket.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The rank is not within 0 to 100.</exception>
    /// <exception cref="PicolloException">Nothing was recorded.</exception>
    public Percentile GetPercentile(double rank, EquivalentValueSelection valueSelection = default)
    {
        Arguments.Rank(rank, nameof(rank));
        PicolloPercentile percentile;
        ulong before;
        lock (Gate)
        {
            SnapshotHandle snapshot = Current();
            Outcome.Check(NativeMethods.picollo_snapshot_percentiles(
                snapshot, &rank, (UIntPtr)1, Percentile.ToNative(valueSelection), &percentile));
            before = CountBelow(snapshot, in percentile.Bucket, default, 0);
        }
        return new Percentile(in percentile, before, valueSelection);
    }

    /// <summary>The percentiles at many ranks, in any order, at one moment.</summary>
    public void GetPercentiles(
        ReadOnlySpan<double> ranks, Span<Percentile> percentiles, EquivalentValueSelection valueSelection = default)
    {
        Arguments.Ranks(ranks, percentiles.Length, nameof(ranks), nameof(percentiles));
        if (ranks.Length == 0)
            return;
        PicolloPercentile* native = stackalloc PicolloPercentile[Chunk];
        fixed (double* from = &MemoryMarshal.GetReference(ranks))
            lock (Gate)
            {
                SnapshotHandle snapshot = Current();
                ulong before = 0;
                PicolloBucket last = default;
                for (int done = 0; done < ranks.Length; done += Chunk)
                {
                    int length = Math.Min(Chunk, ranks.Length - done);
                    Outcome.Check(NativeMethods.picollo_snapshot_percentiles(
                        snapshot, from + done, (UIntPtr)length, Percentile.ToNative(valueSelection), native));
                    for (int i = 0; i < length; i++)
                    {
                        before = CountBelow(snapshot, in native[i].Bucket, in last, before);
                        last = native[i].Bucket;
                        percentiles[done + i] = new Percentile(in native[i], before, valueSelection);
                    }
                }
            }
    }

    /// <summary>
    /// The percentage of observations in buckets up to and including the value's own; with interpolation, as if the
    /// bucket's observations were evenly distributed in it.
    /// </summary>
    public double GetRank(ulong value, bool interpolate = false)
    {
        double rank;
        lock (Gate)
            Outcome.Check(NativeMethods.picollo_snapshot_rank_of_value(Current(), value, interpolate ? 1u : 0u, &rank));
        return rank;
    }

    /// <summary>
    /// The bucket that counts a value. Values out of range share one bucket, which is not valid: see
    /// <see cref="Bucket.IsOverflowBucket"/>.
    /// </summary>
    public Bucket GetBucket(ulong value)
    {
        PicolloBucket bucket;
        PicolloCounts counts;
        lock (Gate)
        {
            SnapshotHandle snapshot = Current();
            int status = NativeMethods.picollo_snapshot_bucket_of(snapshot, value, &bucket);
            if (status == 0)
                return new Bucket(in bucket);
            if (status != (int)PicolloStatus.InvalidArgument)
                Outcome.Check(status);
            Outcome.Check(NativeMethods.picollo_snapshot_counts(snapshot, &counts));
        }
        return Bucket.Overflow(counts.Underflow + counts.Overflow);
    }

    /// <summary>Ends the use of this object: later calls throw <see cref="ObjectDisposedException"/>.</summary>
    public abstract void Dispose();

    /// <summary>The native snapshot to read, up to date. Called with the gate held.</summary>
    internal abstract SnapshotHandle Current();

    /// <summary>
    /// How many values lie below a bucket, computed from how many lie below another. For ascending buckets, all calls
    /// together iterate over the counts once.
    /// </summary>
    internal static ulong CountBelow(SnapshotHandle snapshot, in PicolloBucket bucket, in PicolloBucket last, ulong belowLast)
    {
        bool follows = last.Step != 0 && last.Lower <= bucket.Lower;
        ulong from = follows ? last.Lower : 0;
        if (bucket.Step == 0 || bucket.Lower == from)
            return follows ? belowLast : 0;
        ulong between;
        Outcome.Check(NativeMethods.picollo_snapshot_count_between(snapshot, from, bucket.Lower - 1, &between));
        return (follows ? belowLast : 0) + between;
    }

    internal PicolloBucket[] CopyBuckets(bool nonEmptyOnly)
    {
        lock (Gate)
            return CopyBuckets(Current(), nonEmptyOnly);
    }

    private static PicolloBucket[] CopyBuckets(SnapshotHandle snapshot, bool nonEmptyOnly) =>
        NativeText.List<PicolloBucket>((buckets, capacity, length) =>
            NativeMethods.picollo_snapshot_buckets(snapshot, nonEmptyOnly ? 1u : 0u, buckets, capacity, length));

    /// <summary>Wraps a snapshot that was made from this.</summary>
    internal virtual HdrHistogramSnapshot Derived(SnapshotHandle handle) => new HdrHistogramSnapshot(handle);

    internal abstract void ThrowIfDisposed();

    /// <summary>Any summary: its layout never changes.</summary>
    private HdrHistogramSummary Layout
    {
        get
        {
            ThrowIfDisposed();
            return _layout ?? (_layout = GetSummary());
        }
    }

    private PicolloCounts Counts() => Ask<PicolloCounts>(&NativeMethods.picollo_snapshot_counts);

    /// <summary>The library's result for the counts of this moment.</summary>
    private protected T Ask<T>(delegate*<SnapshotHandle, T*, int> function) where T : unmanaged
    {
        T answer;
        lock (Gate)
            Outcome.Check(function(Current(), &answer));
        return answer;
    }
}
