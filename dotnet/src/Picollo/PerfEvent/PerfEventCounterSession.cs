using Picollo.Metrics;

namespace Picollo.PerfEvent;

/// <summary>Performance counters that are read together, each with a histogram.</summary>
/// <remarks>
/// Call <see cref="Read(PerfReadMode)"/> on the thread that opened the session unless it is by
/// <see cref="PerfReadMode.SystemCall"/>. Any thread may call the other members; calls are serialized. A missing count
/// is never reported as zero: an event that cannot be counted is an exception that explains what to do.
/// </remarks>
public sealed unsafe partial class PerfEventCounterSession : IDisposable
{
    private const int Usual = 32;

    private SessionHandle? _handle;
    private IntPtr _pointer;
    private PicolloError _error;
    private int _busy;
    private bool _disposed;

    private PerfEventCounterSession()
    {
        Counters = new PerfEventKnownCounters(this);
    }

    /// <summary>The counters, in the requested order.</summary>
    public PerfEventKnownCounters Counters { get; }

    /// <summary>The counted thread, 0 for the one that opened the session, -1 for all of <see cref="Cpu"/>.</summary>
    public int Pid => _thread;

    /// <summary>The counted processor; -1 for any.</summary>
    public int Cpu => _cpu;

    /// <summary>Whether all counters can be read in user space, without a system call.</summary>
    public bool HasUserRdpmc => Counters.All(counter => counter.HasUserRdpmc);

    /// <summary>Whether the times of all counters come from user space too, as of the last reading.</summary>
    public bool HasUserTime => Counters.All(counter => counter.HasUserTime);

    /// <summary>Takes a reading of all counters. Deltas are between the last two readings.</summary>
    /// <param name="mode">In user space if that is correct, or by system call, which works on any thread.</param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.WrongThread"/>: another thread opened the session.
    /// </exception>
    public void Read(PerfReadMode mode = PerfReadMode.Automatic)
    {
        Arguments.Member((int)mode, (int)PerfReadMode.SystemCall, nameof(mode));
        Enter();
        int status;
        fixed (PicolloError* error = &_error)
            status = NativeMethods.picollo_session_read(_pointer, (uint)mode, error);
        Leave(status, true);
    }

    /// <summary>Takes a reading of all counters, like <see cref="Read(PerfReadMode)"/>.</summary>
    /// <param name="forceSyscallRead">Whether to read by system call.</param>
    public void Read(bool forceSyscallRead) => Read(forceSyscallRead ? PerfReadMode.SystemCall : PerfReadMode.Automatic);

    /// <summary>
    /// The last reading of all counters, in the order of <see cref="Counters"/>, in one copy: the values are
    /// consistent, and cost less than <see cref="PerfEventCounter.Delta"/> of each.
    /// </summary>
    /// <param name="values">Receives one value for each counter. Additional elements stay unchanged.</param>
    /// <param name="deltas">True: the counts between the last two readings. False: since the base.</param>
    /// <remarks>Allocates nothing.</remarks>
    /// <exception cref="ArgumentException">There are more counters than values.</exception>
    /// <exception cref="PicolloException">Nothing was read since the base.</exception>
    public void Readings(Span<PerfEventCounterValue> values, bool deltas)
    {
        if (values.Length < Counters.Count)
            throw new ArgumentException($"There is room for fewer values than the {Counters.Count} counters.", nameof(values));
        UIntPtr there;
        fixed (PerfEventCounterValue* start = &MemoryMarshal.GetReference(values))
        {
            Enter();
            Leave(NativeMethods.picollo_session_readings(
                _pointer, deltas ? 1u : 0u, start, (UIntPtr)values.Length, &there), false);
        }
    }

    /// <summary>
    /// Takes a reading of all counters, and returns the counts since the previous reading, in one call.
    /// </summary>
    /// <param name="deltas">The scaled counts, in the order of <see cref="Counters"/>. Others stay unchanged.</param>
    /// <param name="mode">As for <see cref="Read(PerfReadMode)"/>.</param>
    /// <remarks>Allocates nothing. The first reading begins with the base.</remarks>
    /// <exception cref="ArgumentException">There are more counters than elements; nothing was read.</exception>
    /// <exception cref="PicolloException">
    /// As for <see cref="Read(PerfReadMode)"/>; or a counter did not count, or is not open.
    /// <see cref="Readings"/> has the others.
    /// </exception>
    public void ReadDeltas(Span<ulong> deltas, PerfReadMode mode = PerfReadMode.Automatic)
    {
        int length = Counters.Count;
        if (deltas.Length < length)
            throw new ArgumentException($"There is room for fewer values than the {length} counters.", nameof(deltas));
        Read(mode);
        Span<PerfEventCounterValue> values = length <= Usual
            ? stackalloc PerfEventCounterValue[Usual] : new PerfEventCounterValue[length];
        Readings(values, true);
        // All or nothing: a missing count is never a zero.
        for (int i = 0; i < length; i++)
            if (values[i].Status != PicolloStatus.Ok)
            {
                string why = Counters[i].Message;
                throw new PicolloException(
                    values[i].Status, why.Length != 0 ? why : $"{Counters[i].Name} was not counted between the readings.", 0, i);
            }
        for (int i = 0; i < length; i++)
            deltas[i] = values[i].Value;
    }

    /// <summary>Records the last reading in the histograms; once per reading.</summary>
    /// <param name="deltas">True: the counts between the last two readings. False: since the base.</param>
    /// <exception cref="PicolloException">There is no reading that was not yet recorded.</exception>
    public void Record(bool deltas)
    {
        Enter();
        Leave(NativeMethods.picollo_session_record(_pointer, deltas ? 1u : 0u), false);
    }

    /// <summary>Takes the current counts as the new base, and resets the histograms.</summary>
    public void Reset() => Call(&NativeMethods.picollo_session_reset);

    /// <summary>Starts the counters, with a new base.</summary>
    public void Enable() => Call(&NativeMethods.picollo_session_enable);

    /// <summary>Stops the counters.</summary>
    public void Disable() => Call(&NativeMethods.picollo_session_disable);

    /// <summary>Measures the count between two readings, for <see cref="PerfEventCounter.PairReadOverhead"/>.</summary>
    public void Calibrate() => Call(&NativeMethods.picollo_session_calibrate);

    /// <summary>Closes the counters. The histograms stay valid.</summary>
    public void Dispose()
    {
        Acquire();
        _disposed = true;
        _pointer = IntPtr.Zero;
        _handle?.Dispose();
        Volatile.Write(ref _busy, 0);
    }

    /// <inheritdoc/>
    public override string ToString() => string.Join(", ", Counters);

    internal PerfEventCounterValue Reading(int index, bool deltas)
    {
        int length = Counters.Count;
        Span<PerfEventCounterValue> values = length <= Usual
            ? stackalloc PerfEventCounterValue[Usual] : new PerfEventCounterValue[length];
        Readings(values, deltas);
        return values[index];
    }

    internal PicolloEventInfo Info(int index)
    {
        PicolloEventInfo info;
        Enter();
        Leave(NativeMethods.picollo_session_event_info(_pointer, (UIntPtr)index, &info), false);
        return info;
    }

    /// <summary>
    /// Takes a lock during which the session stays open. A lock statement would cost as much again as a fast reading.
    /// Nothing in between can throw.
    /// </summary>
    private void Enter()
    {
        Acquire();
        if (_pointer != IntPtr.Zero)
            return;
        bool disposed = _disposed;
        Volatile.Write(ref _busy, 0);
        if (disposed)
            throw new ObjectDisposedException(nameof(PerfEventCounterSession));
        throw new InvalidOperationException("The session is not open: call Create first.");
    }

    private void Acquire()
    {
        if (Interlocked.CompareExchange(ref _busy, 1, 0) == 0)
            return;
        var wait = new SpinWait();
        while (Interlocked.CompareExchange(ref _busy, 1, 0) != 0)
            wait.SpinOnce();
    }

    private void Call(delegate*<IntPtr, PicolloError*, int> function)
    {
        Enter();
        int status;
        fixed (PicolloError* error = &_error)
            status = function(_pointer, error);
        Leave(status, true);
    }

    private void Leave(int status, bool detailed)
    {
        if (status != 0)
            Fail(status, detailed);
        Volatile.Write(ref _busy, 0);
    }

    // A separate method, because a method with a local of 512 bytes begins with clearing it.
    private void Fail(int status, bool detailed)
    {
        PicolloError error = _error;
        Volatile.Write(ref _busy, 0);
        if (detailed)
            Outcome.Check(status, &error);
        Outcome.Check(status);
    }

    private void Open(uint flags, int thread, int cpu, double relativeError, bool calibrate)
    {
        Loader.Ensure();
        if (_disposed || _handle != null)
            throw new InvalidOperationException("A factory makes one session.");
        var events = new PicolloEvent[Counters.Count];
        if (events.Length == 0)
            throw new InvalidOperationException("There is nothing to count: add a counter.");
        for (int i = 0; i < events.Length; i++)
            events[i] = Counters[i].Description;
        var options = new PicolloSessionOptions
        {
            StructSize = (uint)sizeof(PicolloSessionOptions),
            Flags = flags,
            RelativeError = relativeError,
            Thread = thread,
            Cpu = cpu
        };
        int status;
        fixed (PicolloEvent* start = events)
        fixed (PicolloError* error = &_error)
        {
            status = NativeMethods.picollo_session_create(
                &options, start, (UIntPtr)events.Length, out _handle, error);
            Outcome.Check(status, error);
        }
        _pointer = _handle.DangerousGetHandle();
        for (int i = 0; i < events.Length; i++)
        {
            PicolloEvent described;
            Outcome.Check(NativeMethods.picollo_session_event(_pointer, (UIntPtr)i, &described));
            status = NativeMethods.picollo_session_histogram_ref(_pointer, (UIntPtr)i, out HistogramHandle histogram);
            // The library has no histogram of a skipped counter. Here it is an empty one, as it always was.
            bool isSkipped = status != 0 && Info(i).Status == status;
            if (!isSkipped)
                Outcome.Check(status);
            Counters[i].Opened(in described,
                isSkipped ? HdrHistogram.Factory.WithSingleWriter().Create() : new HdrHistogram(histogram, RecordMode.SingleWriter, false));
        }
        if (calibrate)
            Calibrate();
    }
}
