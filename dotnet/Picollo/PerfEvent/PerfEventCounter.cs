using System.Diagnostics;
using Picollo.Metrics;

namespace Picollo.PerfEvent;

/// <summary>One counter of a session, with the histogram of what was recorded.</summary>
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

    /// <summary>What <see cref="PerfEventCounterSession.Record"/> recorded. It outlives the session.</summary>
    /// <exception cref="InvalidOperationException">The session is not open yet.</exception>
    public HdrHistogram Histogram =>
        _histogram ?? throw new InvalidOperationException("The session is not open: call Create first.");

    /// <summary>Ok, or why the counter is not open although the session is.</summary>
    public PicolloStatus Status => (PicolloStatus)Info().Status;

    /// <summary>What is to be known about how it was opened: what is missing and why, "" when all is well.</summary>
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

    /// <summary>Whether its times come from user space too: as of the last reading, which was not by system call.</summary>
    public bool HasUserTime => HasUserRdpmc && (Current.Flags & PerfReadingFlags.TimesStale) == 0;

    /// <summary>Records skipped because the counter was never scheduled in the interval.</summary>
    public ulong NotCountedCount => Info().NotCountedCount;

    /// <summary>
    /// What two readings in a row count, by system call; after <see cref="PerfEventCounterSession.Calibrate"/>.
    /// </summary>
    public ulong PairReadOverhead => Info().OverheadSyscall;

    /// <summary>What two readings in a row count, in user space; after <see cref="PerfEventCounterSession.Calibrate"/>.</summary>
    public ulong PairFastReadOverhead => Info().OverheadFast;

    /// <summary>The count since the session's base, at the last reading.</summary>
    /// <remarks>
    /// Every look copies the readings of all counters of the session and takes this one's: keep what it gives, or take all at once by
    /// <see cref="PerfEventCounterSession.Readings"/>. Two looks may be of two readings, where another thread reads in between.
    /// </remarks>
    public PerfEventCounterValue Current => Session.Reading(_index, false);

    /// <summary>The count between the last two readings.</summary>
    /// <remarks>One copy of all readings for each look, as with <see cref="Current"/>.</remarks>
    public PerfEventCounterValue Delta => Session.Reading(_index, true);

    /// <summary>The count between the last two readings as read, not scaled.</summary>
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
