namespace Picollo.Metrics;

/// <summary>How a histogram records; the numbers are the library's.</summary>
internal enum RecordMode : uint
{
    Interlocked = Constants.ModeInterlocked,
    SingleWriter = Constants.ModeSingleWriter,
    ThreadLocal = Constants.ModeThreadLocal,
    PerCpu = Constants.ModePerCpu
}

/// <summary>
/// Counts 64-bit values in buckets whose width grows with the value, so that every value is known with a bounded relative error.
/// </summary>
/// <remarks>
/// Recording never fails and never loses anything silently: values out of range are counted separately. Any number of
/// threads may record, read and reset at the same time. With <see cref="HdrHistogramFactory.WithSingleWriter"/> one
/// thread at a time records, in about a nanosecond; if several do, counts get lost, and nothing worse happens.
/// </remarks>
public sealed unsafe partial class HdrHistogram : ReadOnlyHdrHistogram
{
    private readonly HistogramHandle _handle;
    private readonly RecordMode _mode;
    private readonly long _pressure;
    private SnapshotHandle? _scratch;
    private volatile bool _disposed;

    /// <param name="handle">A reference to the native histogram.</param>
    /// <param name="mode">The mode that it was made with.</param>
    /// <param name="sparse">Whether it was made sparse.</param>
    /// <param name="ownsMemory">False if an array owns its memory, and reports it to the collector.</param>
    internal HdrHistogram(HistogramHandle handle, RecordMode mode, bool sparse, bool ownsMemory = true)
    {
        _handle = handle;
        _mode = mode;
        _pointer = handle.Pointer;
        _mayAllocate = sparse;
        if (mode == RecordMode.ThreadLocal)
        {
            _isLocal = true;
        }
        else if (mode == RecordMode.SingleWriter && !sparse)
            TakeCells();
        else if (mode == RecordMode.Interlocked && !sparse)
            HdrRecorder.TryLend(_pointer, out _cells);
        _pressure = ownsMemory ? FootprintInBytes : 0;
        if (_pressure != 0)
            GC.AddMemoryPressure(_pressure);
    }

    /// <summary>Ends the use if it was not disposed; another finalizer may have resurrected it before.</summary>
    ~HdrHistogram()
    {
        if (_handle == null)
            return;
        End();
        if (_pressure != 0)
            GC.RemoveMemoryPressure(_pressure);
    }

    /// <summary>The histogram's current size, in bytes of native memory.</summary>
    public int FootprintInBytes
    {
        get
        {
            ThrowIfDisposed();
            UIntPtr bytes;
            Outcome.Check(NativeMethods.picollo_histogram_footprint(_handle, &bytes));
            return (int)Math.Min((ulong)bytes, int.MaxValue);
        }
    }

    /// <summary>
    /// Resets all counts, at any time, from any thread: every record falls before or after. Snapshots are unaffected.
    /// </summary>
    public void Reset()
    {
        ThrowIfDisposed();
        Outcome.Check(NativeMethods.picollo_histogram_reset(_handle));
    }

    /// <summary>Takes a snapshot: a copy of the counts, to read at leisure and to update.</summary>
    public HdrHistogramSnapshot GetSnapshot()
    {
        ThrowIfDisposed();
        return new HdrHistogramSnapshot(HdrHistogramSnapshot.Take(_handle));
    }

    /// <summary>Adds all counts of a snapshot, of any layout. This records: the same threads may call it.</summary>
    /// <param name="snapshot">The snapshot to add.</param>
    /// <param name="spread">As in <see cref="HdrHistogramSnapshot.Merge(HdrHistogramSnapshot, bool)"/>.</param>
    public MergeReport Add(HdrHistogramSnapshot snapshot, bool spread = false) =>
        Add(snapshot, spread ? MergePlacement.Spread : MergePlacement.Midpoint);

    /// <summary>Adds all counts of a snapshot, of any layout, with a placement. This records, too.</summary>
    public MergeReport Add(HdrHistogramSnapshot snapshot, MergePlacement placement)
    {
        Arguments.Member((int)placement, (int)MergePlacement.LowEnds, nameof(placement));
        ArgumentNullException.ThrowIfNull(snapshot);
        ThrowIfDisposed();
        MergeReport merged;
        lock (snapshot.Gate)
            Outcome.Check(NativeMethods.picollo_histogram_add(
                _handle, snapshot.Current(), (uint)placement, &merged));
        return merged;
    }

    /// <summary>
    /// Ends the use: later calls throw <see cref="ObjectDisposedException"/>, on every thread. Snapshots stay valid.
    /// </summary>
    /// <remarks>
    /// The garbage collector frees the memory when no thread is in the middle of recording into it.
    /// </remarks>
    public override void Dispose()
    {
        lock (Gate)
        {
            if (_disposed)
                return;
            End();
            _scratch?.Dispose();
        }
    }

    private void End()
    {
        _disposed = true;
        _cells.Stop();
        Volatile.Write(ref _isLocal, false);
    }

    // The histogram's own reference keeps the cells alive, and the recorder has nothing else to return.
    private void TakeCells()
    {
        PicolloRecorder native;
        int status = NativeMethods.picollo_histogram_recorder(_pointer, Constants.InlineVersion, &native);
        if (status == (int)PicolloStatus.Unsupported)
            return;
        Outcome.Check(status);
        _cells = new InlineCells(in native);
        NativeMethods.picollo_recorder_release(&native);
    }

    internal HistogramHandle Handle
    {
        get
        {
            ThrowIfDisposed();
            return _handle;
        }
    }

    internal override SnapshotHandle Current()
    {
        ThrowIfDisposed();
        if (_scratch == null)
            _scratch = HdrHistogramSnapshot.Take(_handle);
        else
            HdrHistogramSnapshot.Update(_scratch, false);
        return _scratch;
    }

    internal override void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(_disposed, this);
}
