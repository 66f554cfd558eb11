using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

public sealed unsafe partial class HdrHistogram : IRecorder
{
    // The cells of a single writer, or of all threads. Empty in other modes and after disposal.
    private InlineCells _cells;
    // True in thread-local mode, until disposed.
    private bool _isLocal;
    private readonly IntPtr _pointer;
    private readonly bool _mayAllocate;

    /// <summary>Counts a value once.</summary>
    /// <remarks>
    /// The compiler inlines an addition, without leaving managed code. It is atomic in the default mode, interlocked,
    /// with counters of 64 bits, and plain in single-writer mode. Thread-local mode first looks up the thread's
    /// counters, then adds without atomics; see <see cref="GetRecorder"/> to look them up once.
    /// </remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Record(ulong value)
    {
        if (_isLocal)
            RecordInThread(_pointer, value);
        else if (!_cells.TryRecord(value))
            RecordSlowly(value);
        // This keeps the memory until here, even if another thread disposes this object.
        GC.KeepAlive(this);
    }

    /// <summary>Counts a value many times.</summary>
    public void Record(ulong value, ulong count)
    {
        ThrowIfDisposed();
        NativeMethods.picollo_histogram_record_n(_pointer, value, count);
        GC.KeepAlive(this);
    }

    /// <summary>Counts many values: the fastest way if you have them at hand.</summary>
    public void Record(ReadOnlySpan<ulong> values)
    {
        ThrowIfDisposed();
        fixed (ulong* start = &MemoryMarshal.GetReference(values))
            NativeMethods.picollo_histogram_record_batch(_pointer, start, (UIntPtr)values.Length);
        GC.KeepAlive(this);
    }

    /// <summary>
    /// Counts a value and, if it is longer than the interval at which values were expected, also those that a stalled
    /// caller did not send meanwhile (correction for coordinated omission).
    /// </summary>
    public void RecordCorrected(ulong value, ulong expectedInterval)
    {
        ThrowIfDisposed();
        NativeMethods.picollo_histogram_record_corrected(_pointer, value, expectedInterval);
        GC.KeepAlive(this);
    }

    /// <summary>
    /// Counts a value only if it lies between exact bounds, which may be narrower than the buckets at the ends of the
    /// range. A value outside is counted as underflow or overflow.
    /// </summary>
    /// <returns>Whether it was in range.</returns>
    /// <exception cref="ArgumentException">The bounds are in the wrong order; nothing was counted.</exception>
    /// <exception cref="ArgumentOutOfRangeException">
    /// It was out of range, and you requested an exception. It is still counted as underflow or overflow.
    /// </exception>
    public bool RecordInRange(ulong value, ulong min = 0, ulong max = ulong.MaxValue, bool throwOnOutOfRange = false)
    {
        ThrowIfDisposed();
        if (min > max)
            throw new ArgumentException($"The smallest value, {min}, is above the largest, {max}.", nameof(min));
        int status = NativeMethods.picollo_histogram_record_in_range(_pointer, value, min, max);
        GC.KeepAlive(this);
        if (status == 0)
            return true;
        if (status != (int)PicolloStatus.InvalidArgument)
            Outcome.Check(status);
        if (throwOnOutOfRange)
            throw new ArgumentOutOfRangeException(nameof(value), value, $"The value is not within {min} to {max}.");
        return false;
    }

    /// <summary>
    /// Returns a recorder. In thread-local mode it is for one thread, and saves the look-up of the thread's counters.
    /// In the default mode it adds atomically, like <see cref="Record(ulong)"/>, for any number of threads.
    /// </summary>
    /// <exception cref="PicolloException">
    /// The histogram is per-CPU, sparse, or interlocked with 32-bit counters: these have no recorders.
    /// </exception>
    public HdrRecorder GetRecorder()
    {
        ThrowIfDisposed();
        if (_mayAllocate || _mode == RecordMode.PerCpu)
            throw new PicolloException(PicolloStatus.Unsupported, HdrRecorder.NoRecorder, 0, -1);
        var recorder = new HdrRecorder(_handle, _mode);
        GC.KeepAlive(this);
        return recorder;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RecordSlowly(ulong value)
    {
        ThrowIfDisposed();
        if (_mayAllocate)
            RecordWithTransition(_pointer, value);
        else
            NativeMethods.picollo_histogram_record(_pointer, value);
    }

    // A method with a native transition prepares it at its beginning, even on paths that do not need it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RecordWithTransition(IntPtr histogram, ulong value) =>
        NativeMethods.picollo_histogram_record_may_allocate(histogram, value);

    /// <summary>
    /// Records in the library, which finds the thread's counters with two instructions. This short call without a
    /// transition takes less than the runtime's look-up of a thread static. The thread's first value allocates its
    /// counters, once, in some microseconds. A collection would wait for it; the library never waits for managed code.
    /// </summary>
    /// <remarks>
    /// Not inlined. Around a library call, the JIT keeps references on the stack. If it inlined the call into a loop,
    /// it could reload them in each iteration, in all modes; after an atomic addition the next value would wait.
    /// </remarks>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RecordInThread(IntPtr histogram, ulong value) => NativeMethods.picollo_histogram_record(histogram, value);
}
