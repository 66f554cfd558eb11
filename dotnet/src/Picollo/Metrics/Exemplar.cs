namespace Picollo.Metrics;

/// <summary>A kept observation, with what is known of where its time went. Unknown values are null.</summary>
public sealed unsafe class Exemplar
{
    private readonly PicolloExemplar _native;

    internal Exemplar(in PicolloExemplar native)
    {
        _native = native;
        PicolloExemplarContext context = native.Context;
        TraceId = HexDigits.Write(context.TraceId, PicolloExemplarContext.TraceIdLength);
        SpanId = HexDigits.Write(context.SpanId, PicolloExemplarContext.SpanIdLength);
    }

    /// <summary>As recorded.</summary>
    public ulong Value => _native.Value;

    /// <summary>Why it was slow, or where its time went.</summary>
    public Cause Cause => (Cause)_native.Cause;

    /// <summary>Whether it is above the threshold of its interval.</summary>
    public bool IsSlow => _native.IsSlow != 0;

    /// <summary>When it began.</summary>
    public DateTime BeganUtc => UnixTime.Utc(_native.UnixNanos);

    /// <summary>The kind of observation.</summary>
    public uint Label => _native.Label;

    /// <summary>Its trace, 32 hexadecimal digits.</summary>
    public string? TraceId { get; }

    /// <summary>The span in it, 16 hexadecimal digits.</summary>
    public string? SpanId { get; }

    /// <summary>The program's first number.</summary>
    public ulong Word0 => _native.Context.Words[0];

    /// <summary>The program's second number.</summary>
    public ulong Word1 => _native.Context.Words[1];

    /// <summary>The kernel's id of the thread that it ended on.</summary>
    public int ThreadId => _native.Thread;

    /// <summary>The processor that it ended on.</summary>
    public uint? Cpu => Known(_native.Cpu != Constants.CpuUnknown, _native.Cpu);

    /// <summary>How much of its time is in excess of the usual, because of its cause.</summary>
    public ulong? ExcessNanos => Known(Cause != Cause.Several && Cause != Cause.NotKnown, _native.ExcessNanos);

    /// <summary>Why its causes are unknown.</summary>
    public MissingEvidence Missing => (MissingEvidence)_native.Missing;

    /// <summary>
    /// The length of the window of the members below. It ends with the observation, and begins up to 300 µs earlier, or
    /// further if that holds many others.
    /// </summary>
    public ulong? WindowNanos => Known(Constants.KnownAccounts, _native.WindowNanos);

    /// <summary>How long the thread ran.</summary>
    public ulong? OnCpuNanos => Known(Constants.KnownAccounts, _native.CpuNanos);

    /// <summary>How long it was runnable but did not run.</summary>
    public ulong? RunDelayNanos => Known(Constants.KnownRunDelay, _native.RunDelayNanos);

    /// <summary>How long it was off the processor.</summary>
    public ulong? OffCpuNanos => Known(Constants.KnownRing, _native.OffNanos);

    /// <summary>How much of that time it was not waiting for anything.</summary>
    public ulong? PreemptedNanos => Known(Constants.KnownRing, _native.PreemptedNanos);

    /// <summary>How long handling page faults took.</summary>
    public ulong? FaultNanos => Known(Constants.KnownFaultTimes, _native.FaultNanos);

    /// <summary>Instructions that the thread executed, without the kernel's.</summary>
    public ulong? Instructions => Known(Constants.KnownCounters, _native.Instructions);

    /// <summary>The cycles that they took.</summary>
    public ulong? Cycles => Known(Constants.KnownCounters, _native.Cycles);

    /// <summary>The usual instructions per cycle for its kind.</summary>
    public double? UsualIpc => Known(_native.UsualIpc > 0, _native.UsualIpc);

    /// <summary>How often it gave up the processor to wait.</summary>
    public uint? VoluntarySwitches => Known(Constants.KnownAccounts, _native.Voluntary);

    /// <summary>How often it was preempted.</summary>
    public uint? InvoluntarySwitches => Known(Constants.KnownAccounts, _native.Involuntary);

    /// <summary>Page faults without reading from a disk.</summary>
    public uint? MinorFaults => Known(Constants.KnownAccounts, _native.MinorFaults);

    /// <summary>Page faults with reading from a disk.</summary>
    public uint? MajorFaults => Known(Constants.KnownAccounts, _native.MajorFaults);

    /// <summary>How often a quota held back its group of processes since the previous check.</summary>
    public uint? Throttled => Known(Constants.KnownQuota, _native.Throttled);

    private T? Known<T>(int what, T value) where T : struct => Known((_native.Known & (uint)what) != 0, value);

    private static T? Known<T>(bool isKnown, T value) where T : struct => isKnown ? value : (T?)null;
}
