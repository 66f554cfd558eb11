using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

/// <summary>Records into a histogram without leaving managed code.</summary>
/// <remarks>
/// For one thread at a time, unless the histogram is interlocked: then it adds atomically, for any number of threads.
/// Keeps the necessary parts of the histogram alive. Dispose it when the thread is done, not earlier: in thread-local
/// mode its counters go to the next thread at once.
/// </remarks>
public sealed unsafe class HdrRecorder : IRecorder, IDisposable
{
    // Keeps the memory alive that the cells point into, and records the values that have no cell.
    private readonly HistogramHandle _histogram;
    // In thread-local mode it owns the counters. Empty in interlocked mode, and after they were returned.
    private PicolloRecorder _native;
    private InlineCells _cells;
    private volatile bool _disposed;
    private bool _wasUnreachable;

    internal HdrRecorder(HistogramHandle histogram, RecordMode mode)
    {
        // If this fails, there is nothing yet for the finalizer to return.
        _histogram = histogram;
        if (mode == RecordMode.Interlocked)
        {
            if (!TryLend(histogram.Pointer, out _cells))
                throw new PicolloException(PicolloStatus.Unsupported, NoRecorder, 0, -1);
            return;
        }
        PicolloRecorder native;
        int status = NativeMethods.picollo_histogram_recorder(histogram.Pointer, Constants.InlineVersion, &native);
        if (status == (int)PicolloStatus.Unsupported)
            throw new PicolloException(PicolloStatus.Unsupported, NoRecorder, 0, -1);
        Outcome.Check(status);
        _native = native;
        _cells = new InlineCells(in native);
    }

    /// <summary>Returns the counters, like <see cref="Dispose"/>.</summary>
    /// <remarks>
    /// It runs when the object is unreachable for the second time: another finalizer may have revived it before.
    /// </remarks>
    ~HdrRecorder()
    {
        End();
        if (_wasUnreachable)
        {
            Release();
            return;
        }
        _wasUnreachable = true;
        GC.ReRegisterForFinalize(this);
    }

    /// <summary>The cells of an interlocked histogram; false if it has none.</summary>
    internal static bool TryLend(IntPtr histogram, out InlineCells cells)
    {
        PicolloAtomicRecorder native;
        int status = NativeMethods.picollo_histogram_atomic_recorder(histogram, Constants.InlineVersion, &native);
        cells = status == 0 ? new InlineCells(in native) : default;
        if (status != (int)PicolloStatus.Unsupported)
            Outcome.Check(status);
        return status == 0;
    }

    internal const string NoRecorder =
        "Dense histograms that are interlocked with 64-bit counters (the default), thread-local or single-writer have recorders, and no others.";

    /// <summary>Counts a value once.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Record(ulong value)
    {
        if (!_cells.TryRecord(value))
            RecordSlowly(value);
        GC.KeepAlive(this);
    }

    /// <summary>Counts a value many times: a library call.</summary>
    public void Record(ulong value, ulong count)
    {
        ThrowIfDisposed();
        NativeMethods.picollo_histogram_record_n(_histogram.Pointer, value, count);
        GC.KeepAlive(this);
    }

    /// <summary>
    /// Counts a value and those that a stalled caller did not send meanwhile, like
    /// <see cref="HdrHistogram.RecordCorrected"/>: a library call.
    /// </summary>
    public void RecordCorrected(ulong value, ulong expectedInterval)
    {
        ThrowIfDisposed();
        NativeMethods.picollo_histogram_record_corrected(_histogram.Pointer, value, expectedInterval);
        GC.KeepAlive(this);
    }

    /// <summary>Ends the use: recording throws <see cref="ObjectDisposedException"/>. May be called again.</summary>
    public void Dispose()
    {
        End();
        Release();
        GC.SuppressFinalize(this);
    }

    private void End()
    {
        _disposed = true;
        _cells.Stop();
    }

    // Two threads may dispose at once; nobody else has a reason to lock this object.
    private void Release()
    {
        lock (this)
            fixed (PicolloRecorder* native = &_native)
                NativeMethods.picollo_recorder_release(native);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RecordSlowly(ulong value)
    {
        ThrowIfDisposed();
        NativeMethods.picollo_histogram_record_may_allocate(_histogram.Pointer, value);
    }

    private void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(_disposed, this);
}
