using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

public sealed unsafe partial class HdrHistogram : IRecorder
{
    // The cells of a single writer, or of all threads. In other modes and once disposed there are none.
    private InlineCells _cells;
    // In thread-local mode, until disposed.
    private bool _isLocal;
    private readonly IntPtr _pointer;
    private readonly bool _mayAllocate;

    /// <summary>Counts a value once.</summary>
    /// <remarks>
    /// An addition that the compiler inlines, without leaving managed code: an atomic one in the default mode, interlocked, with
    /// counters of 64 bits, a plain one in single-writer mode. In thread-local mode a plain addition after a look-up of the thread's
    /// counters; see <see cref="GetRecorder"/> to look them up once.
    /// </remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Record(ulong value)
    {
        if (_isLocal)
            RecordInThread(_pointer, value);
        else if (!_cells.TryRecord(value))
            RecordSlowly(value);
        // Until here the memory cannot go, whoever disposes this object.
        GC.KeepAlive(this);
    }

    /// <summary>Counts a value many times.</summary>
    public void Record(ulong value, ulong count)
    {
        ThrowIfDisposed();
        NativeMethods.picollo_histogram_record_n(_pointer, value, count);
        GC.KeepAlive(this);
    }

    /// <summary>Counts many values: the fastest way for those that are at hand.</summary>
    public void Record(ReadOnlySpan<ulong> values)
    {
        ThrowIfDisposed();
        fixed (ulong* start = &MemoryMarshal.GetReference(values))
            NativeMethods.picollo_histogram_record_batch(_pointer, start, (UIntPtr)values.Length);
        GC.KeepAlive(this);
    }

    /// <summary>
    /// Counts a value and, when it is longer than the interval at which values were expected, also those that a stalled caller did
    /// not send meanwhile (correction for coordinated omission).
    /// </summary>
    public void RecordCorrected(ulong value, ulong expectedInterval)
    {
        ThrowIfDisposed();
        NativeMethods.picollo_histogram_record_corrected(_pointer, value, expectedInterval);
        GC.KeepAlive(this);
    }

    /// <summary>
    /// Counts a value only when it lies between exact bounds, which may be tighter than the buckets at the ends of the range. Outside
    /// it is counted as underflow or overflow.
    /// </summary>
    /// <returns>Whether it was in range.</returns>
    /// <exception cref="ArgumentException">The bounds are the wrong way round; nothing was counted.</exception>
    /// <exception cref="ArgumentOutOfRangeException">
    /// It was not, and that was to be an exception. It is counted as underflow or overflow all the same.
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
    /// A recorder. In thread-local mode it is for one thread, and saves the look-up of the thread's counters; in the default mode it
    /// adds atomically, as <see cref="Record(ulong)"/> does, for any number of threads.
    /// </summary>
    /// <exception cref="PicolloException">
    /// The histogram is per-CPU, sparse, or interlocked with counters of 32 bits: those have none.
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

    // A method with a call that has a transition prepares one at its beginning, also for who goes another way.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RecordWithTransition(IntPtr histogram, ulong value) =>
        NativeMethods.picollo_histogram_record_may_allocate(histogram, value);

    /// <summary>
    /// In the library, which finds the thread's counters by two instructions: a call of a few instructions without a transition takes less
    /// than the runtime's own look-up of a thread's static. The thread's first value allocates its counters, some microseconds once, for
    /// which a collection would wait; the library waits for nothing that managed code holds.
    /// </summary>
    /// <remarks>
    /// Not inlined: around a call of the library the JIT keeps references on the stack, and where it has inlined one into a loop, it may
    /// take them from there in each round, in all other modes too. After an atomic addition the next value then waits for that.
    /// </remarks>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RecordInThread(IntPtr histogram, ulong value) => NativeMethods.picollo_histogram_record(histogram, value);
}
