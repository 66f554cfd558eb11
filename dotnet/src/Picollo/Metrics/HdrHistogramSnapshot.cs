namespace Picollo.Metrics;

/// <summary>The counts of one moment, or of the interval between two.</summary>
/// <remarks>Keeps the necessary parts of its histogram alive. Snapshots of one histogram are independent.</remarks>
public sealed unsafe partial class HdrHistogramSnapshot : ReadOnlyHdrHistogram
{
    private readonly SnapshotHandle _handle;

    internal HdrHistogramSnapshot(SnapshotHandle handle)
    {
        _handle = handle;
    }

    /// <summary>When the counts were taken.</summary>
    public DateTime TimestampUtc => GetSummary().TimestampUtc;

    /// <summary>
    /// When the interval began, in seconds since 1970 or the origin of its log's times; NaN unless it was read from a
    /// log, or set. Copies keep it, and no count depends on it. So with <see cref="EndSeconds"/> and <see cref="Tag"/>.
    /// </summary>
    public double StartSeconds { get; set; } = double.NaN;

    /// <summary>When the interval ended; NaN unless it was read from a log, or set.</summary>
    public double EndSeconds { get; set; } = double.NaN;

    /// <summary>Distinguishes histograms of the same time; "" unless it was read from a log, or set.</summary>
    public string? Tag { get; set; } = "";

    /// <summary>Takes the current counts.</summary>
    /// <param name="deltas">
    /// True: the counts since the previous update, even across resets. False: all counts since the last reset. Every
    /// update is the base of the next delta; taking the snapshot was the first.
    /// </param>
    /// <exception cref="PicolloException">A decoded, copied or corrected snapshot has no histogram.</exception>
    public void Update(bool deltas)
    {
        lock (Gate)
            Update(Current(), deltas);
    }

    /// <inheritdoc/>
    public override void Dispose()
    {
        lock (Gate)
            _handle.Dispose();
    }

    /// <summary>A snapshot of a native histogram, up to date.</summary>
    internal static SnapshotHandle Take(HistogramHandle histogram)
    {
        Outcome.Check(NativeMethods.picollo_snapshot_create(histogram, out SnapshotHandle handle));
        return handle;
    }

    internal static void Update(SnapshotHandle handle, bool deltas) =>
        Outcome.Check(NativeMethods.picollo_snapshot_update(handle, deltas ? 1u : 0u));

    /// <summary>Copies the times and the tag too.</summary>
    internal override HdrHistogramSnapshot Derived(SnapshotHandle handle) =>
        new HdrHistogramSnapshot(handle) { StartSeconds = StartSeconds, EndSeconds = EndSeconds, Tag = Tag };

    internal override SnapshotHandle Current()
    {
        ThrowIfDisposed();
        return _handle;
    }

    internal override void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(_handle.IsClosed, this);
}
