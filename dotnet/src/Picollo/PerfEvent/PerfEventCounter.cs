using System.Diagnostics;
using Picollo.Metrics;

namespace Picollo.PerfEvent;

/// <summary>One counter of a session, with the histogram of its recorded values.</summary>
[DebuggerDisplay("{ToString(),nq}")]
public sealed unsafe class PerfEventCounter
{
    private readonly int _index;
    private PicolloEvent _event;
    private string? _name;
    private HdrHistogram? _histogram;

    internal PerfEventCounter(PerfEventCounterSession session, int index, in PicolloEvent description)
    {
        Session = session;
        _index = index;
        _event = description;
    }

    /// <summary>The session that it belongs to.</summary>
    public PerfEventCounterSession Session { get; }

    /// <summary>The kernel's event type.</summary>
    public PerfTypeId Type => (PerfTypeId)_event.Type;

    /// <summary>The event's number within its type.</summary>
    public ulong Config => _event.Config;

    /// <summary>Its name, such as <c>Hardware:CpuCycles</c>.</summary>
    public string Name
    {
        get
        {
            if (_name == null)
                fixed (byte* name = _event.Name)
                    _name = Utf8.FromField(name, PicolloEvent.NameLength);
            return _name;
        }
    }

    /// <summary>The values from <see cref="PerfEventCounterSession.Record"/>. It outlives the session.</summary>
    /// <exception cref="InvalidOperationException">The session is not open yet.</exception>
    public HdrHistogram Histogram =>
        _histogram ?? throw new InvalidOperationException("The session is not open: call Create first.");

    /// <summary>Ok, or the reason why the counter is not open although the session is.</summary>
    public PicolloStatus Status => (PicolloStatus)Info().Status;

    /// <summary>Notes on how it was opened: what is missing and why; "" if nothing is.</summary>
    public string Message
    {
        get
        {
            PicolloEventInfo info = Info();
            return Utf8.FromField(info.Message, PicolloEventInfo.MessageLength);
        }
    }

    /// <summary>Whether it can be read in user space, without a system call.</summary>
    public bool HasUserRdpmc => (Info().Flags & Constants.EventInfoFast) != 0;

    /// <summary>Whether its times come from user space too, as of the last fast reading.</summary>
    public bool HasUserTime => HasUserRdpmc && (Current.Flags & PerfReadingFlags.TimesStale) == 0;

    /// <summary>Records skipped because the counter was never scheduled in the interval.</summary>
    public ulong NotCountedCount => Info().NotCountedCount;

    /// <summary>
    /// The count of two consecutive readings by system call, from <see cref="PerfEventCounterSession.Calibrate"/>.
    /// </summary>
    public ulong PairReadOverhead => Info().OverheadSyscall;

    /// <summary>The same in user space, from <see cref="PerfEventCounterSession.Calibrate"/>.</summary>
    public ulong PairFastReadOverhead => Info().OverheadFast;

    /// <summary>The count since the session's base, at the last reading.</summary>
    /// <remarks>
    /// Each access copies the readings of all counters and takes this one's. Keep it, or take all at once with
    /// <see cref="PerfEventCounterSession.Readings"/>. Two accesses may differ if another thread reads in between.
    /// </remarks>
    public PerfEventCounterValue Current => Session.Reading(_index, false);

    /// <summary>The count between the last two readings.</summary>
    /// <remarks>Each access copies all readings, as with <see cref="Current"/>.</remarks>
    public PerfEventCounterValue Delta => Session.Reading(_index, true);

    /// <summary>The count between the last two readings, unscaled.</summary>
    public ulong RawDelta => Delta.RawValue;

    /// <inheritdoc/>
    public override string ToString() => Name;

    internal PicolloEvent Description => _event;

    internal void Opened(in PicolloEvent description, HdrHistogram histogram)
    {
        _event = description;
        _name = null;
        _histogram = histogram;
    }

    private PicolloEventInfo Info() => Session.Info(_index);
}
