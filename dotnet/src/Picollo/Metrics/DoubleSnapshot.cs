namespace Picollo.Metrics;

/// <summary>Counts of doubles in one interval. Holds no reference to its histogram.</summary>
/// <remarks>Any thread may call any member at any time; calls on one object are serialized.</remarks>
public sealed unsafe class DoubleSnapshot : IDisposable
{
    private static readonly object s_pairing = new object();

    private readonly DoubleSnapshotHandle _handle;

    /// <summary>An empty snapshot, for <see cref="DoubleHistogram.Collect(DoubleSnapshot)"/> to fill.</summary>
    public DoubleSnapshot()
    {
        Loader.Ensure();
        // NULL means: no histogram.
        using (var none = new DoubleHistogramHandle())
            Outcome.Check(NativeMethods.picollo_double_snapshot_create(none, out _handle));
    }

    /// <summary>Totals, sum, extremes and moments.</summary>
    public DoubleStatistics Statistics
    {
        get
        {
            DoubleStatistics statistics;
            lock (Gate)
                Outcome.Check(NativeMethods.picollo_double_snapshot_statistics(Live(), &statistics));
            return statistics;
        }
    }

    /// <summary>The value at a quantile from 0 to 1, by the histogram's rule.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The quantile is not within 0 to 1.</exception>
    /// <exception cref="PicolloException">Nothing was recorded.</exception>
    public double GetQuantile(double quantile)
    {
        Arguments.Quantile(quantile, nameof(quantile));
        double value;
        lock (Gate)
            Outcome.Check(NativeMethods.picollo_double_snapshot_quantiles(Live(), &quantile, (UIntPtr)1, &value));
        return value;
    }

    /// <summary>The values at many quantiles, in any order.</summary>
    /// <exception cref="PicolloException">Nothing was recorded.</exception>
    public void GetQuantiles(ReadOnlySpan<double> quantiles, Span<double> values)
    {
        Arguments.Quantiles(quantiles, values.Length, nameof(quantiles), nameof(values));
        if (quantiles.Length == 0)
            return;
        fixed (double* from = &MemoryMarshal.GetReference(quantiles))
        fixed (double* to = &MemoryMarshal.GetReference(values))
            lock (Gate)
                Outcome.Check(NativeMethods.picollo_double_snapshot_quantiles(
                    Live(), from, (UIntPtr)quantiles.Length, to));
    }

    /// <summary>Statistics and the usual percentiles.</summary>
    /// <param name="reuse">A summary to fill; null allocates one. Filling one allocates nothing.</param>
    public DoubleSummary GetSummary(DoubleSummary? reuse = null)
    {
        DoubleSummary summary = reuse ?? new DoubleSummary();
        lock (Gate)
            summary.Fill(Live());
        return summary;
    }

    /// <summary>The non-empty buckets, ascending.</summary>
    public DoubleBucket[] GetBuckets()
    {
        lock (Gate)
            return NativeText.List<DoubleBucket>((buckets, capacity, length) =>
                NativeMethods.picollo_double_snapshot_buckets(Live(), buckets, capacity, length));
    }

    /// <summary>Adds the counts of another snapshot, of any error. Sums and extremes stay exact if both are.</summary>
    public void Merge(DoubleSnapshot other)
    {
        ArgumentNullException.ThrowIfNull(other);
        if (ReferenceEquals(other, this))
            throw new ArgumentException("A snapshot cannot be merged into itself.", nameof(other));
        lock (s_pairing)
        lock (Gate)
        lock (other.Gate)
            Outcome.Check(NativeMethods.picollo_double_snapshot_merge(Live(), other.Live()));
    }

    /// <summary>Frees the counts: later calls throw <see cref="ObjectDisposedException"/>.</summary>
    public void Dispose()
    {
        lock (Gate)
            _handle.Dispose();
    }

    /// <summary>Held while the native snapshot is read or updated.</summary>
    internal object Gate { get; } = new object();

    internal void Update(DoubleHistogramHandle histogram, bool collect)
    {
        lock (Gate)
            Outcome.Check(NativeMethods.picollo_double_snapshot_update(Live(), histogram, collect ? 1u : 0u));
    }

    internal DoubleSnapshotHandle Live() => NativeHandle.Live(_handle, this);
}
