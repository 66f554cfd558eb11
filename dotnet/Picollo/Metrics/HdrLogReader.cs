using System.Text;

namespace Picollo.Metrics;

/// <summary>A line of a log, but for its histogram.</summary>
public readonly struct HdrLogInterval
{
    /// <summary>When the interval begins, in seconds since 1970, or since whatever the times of the log count from.</summary>
    public double StartSeconds { get; internal init; }

    /// <summary>When it ends.</summary>
    public double EndSeconds { get; internal init; }

    /// <summary>The largest value in millions, as the log has it; NaN where it is no number. The histogram knows better.</summary>
    public double Max { get; internal init; }

    /// <summary>What tells histograms of the same time apart; "" without one.</summary>
    public string Tag { get; internal init; }
}

/// <summary>An interval of a log with its histogram.</summary>
public readonly struct HdrLogEntry
{
    /// <summary>The times and the tag.</summary>
    public HdrLogInterval Interval { get; internal init; }

    /// <summary>The counts; the reader of the log owns them from here on.</summary>
    public HdrHistogramSnapshot Snapshot { get; internal init; }
}

/// <summary>Reads logs of histograms (.hlog), the format of HdrHistogram's log tools.</summary>
/// <remarks>
/// A line that cannot be read is an exception of its own: the next call goes on after it. Any thread may call; calls take turns.
/// </remarks>
public sealed unsafe class HdrLogReader : IDisposable
{
    private readonly object _gate = new object();
    private readonly LogReaderHandle _handle;
    private HdrLogInterval _interval;
    private PicolloLogInterval _reached = new PicolloLogInterval { LogStartSeconds = double.NaN, LogBaseSeconds = double.NaN };
    private ulong _maxCounters;

    private HdrLogReader(byte[] text)
    {
        Loader.Ensure();
        _handle = LogReaderHandle.Create(text);
    }

    /// <summary>Reads a file, all of it at once.</summary>
    public static HdrLogReader Open(string path) => new HdrLogReader(File.ReadAllBytes(path));

    /// <summary>Reads a stream from where it stands to its end, all of it at once.</summary>
    /// <param name="input">Of bytes: UTF-8, or UTF-16 with its mark.</param>
    /// <param name="leaveOpen">False to dispose it now that it was read.</param>
    public static HdrLogReader Open(Stream input, bool leaveOpen = false)
    {
        ArgumentNullException.ThrowIfNull(input);
        try
        {
            using var all = new MemoryStream();
            input.CopyTo(all);
            return new HdrLogReader(all.ToArray());
        }
        finally
        {
            if (!leaveOpen)
                input.Dispose();
        }
    }

    /// <summary>Reads text.</summary>
    public static HdrLogReader Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return new HdrLogReader(Encoding.UTF8.GetBytes(text));
    }

    /// <summary>Reads the bytes of a log, of which it makes a copy.</summary>
    public static HdrLogReader Parse(ReadOnlySpan<byte> text) => new HdrLogReader(text.ToArray());

    /// <summary>The interval that was read last.</summary>
    public HdrLogInterval Interval
    {
        get
        {
            lock (_gate)
                return _interval;
        }
    }

    /// <summary>The number of the line that was read last, from 1 on.</summary>
    public long LineNumber => (long)Reached.Line;

    /// <summary>When the log starts, in seconds since 1970; NaN while it is not known. After the first interval it is.</summary>
    public double StartSeconds => Reached.LogStartSeconds;

    /// <summary>What is added to the timestamps of the log, in seconds; NaN while it is not known.</summary>
    public double BaseSeconds => Reached.LogBaseSeconds;

    /// <summary>The most counters that snapshots may have from here on; 0: as <see cref="HdrHistogramSnapshot.Decode(ReadOnlySpan{byte}, ulong)"/>.</summary>
    public void SetMaxCounters(ulong maxCounters)
    {
        lock (_gate)
        {
            Live();
            _maxCounters = maxCounters;
        }
    }

    /// <summary>Reads the next interval, without its histogram: to pick by tag and time. See <see cref="GetSnapshot"/>.</summary>
    /// <returns>False at the end of the log.</returns>
    /// <exception cref="PicolloException">The line is no interval. Reading goes on after it.</exception>
    public bool Read()
    {
        PicolloLogInterval interval;
        lock (_gate)
        {
            int status = NativeMethods.picollo_log_reader_next(Live(), &interval);
            _reached = interval;
            if (status == (int)PicolloStatus.End)
                return false;
            Outcome.Check(status);
            string tag = Encoding.UTF8.GetString(interval.Tag, (int)interval.TagLength);
            _interval = new HdrLogInterval
            {
                StartSeconds = interval.StartSeconds, EndSeconds = interval.EndSeconds, Max = interval.Max, Tag = tag
            };
            return true;
        }
    }

    /// <summary>Decodes the histogram of the interval that was read last. May be done again.</summary>
    /// <exception cref="PicolloException">It is broken, or no interval was read.</exception>
    public HdrHistogramSnapshot GetSnapshot()
    {
        lock (_gate)
        {
            Outcome.Check(NativeMethods.picollo_log_reader_decode(Live(), _maxCounters, out SnapshotHandle snapshot));
            return new HdrHistogramSnapshot(snapshot)
            {
                StartSeconds = _interval.StartSeconds,
                EndSeconds = _interval.EndSeconds,
                Tag = _interval.Tag
            };
        }
    }

    /// <summary>All intervals from here to the end, with their histograms.</summary>
    /// <exception cref="PicolloException">A line cannot be read. A new enumeration goes on after it.</exception>
    public IEnumerable<HdrLogEntry> ReadAll()
    {
        while (Read())
            yield return new HdrLogEntry { Interval = Interval, Snapshot = GetSnapshot() };
    }

    /// <summary>Ends the reading. Snapshots stay.</summary>
    public void Dispose()
    {
        lock (_gate)
            _handle.Dispose();
    }

    private PicolloLogInterval Reached
    {
        get
        {
            lock (_gate)
            {
                Live();
                return _reached;
            }
        }
    }

    private LogReaderHandle Live() => NativeHandle.Live(_handle, this);
}
