using System.Text;

namespace Picollo.Metrics;

/// <summary>A line of a log, without its histogram.</summary>
public readonly struct HdrLogInterval
{
    /// <summary>When the interval begins, in seconds since 1970, or since the origin of the log's times.</summary>
    public double StartSeconds { get; internal init; }

    /// <summary>When it ends.</summary>
    public double EndSeconds { get; internal init; }

    /// <summary>The largest value in millions, as in the log; NaN if not a number. The counts are more exact.</summary>
    public double Max { get; internal init; }

    /// <summary>Distinguishes histograms of the same time; "" without one.</summary>
    public string Tag { get; internal init; }
}

/// <summary>An interval of a log with its histogram.</summary>
public readonly struct HdrLogEntry
{
    /// <summary>The times and the tag.</summary>
    public HdrLogInterval Interval { get; internal init; }

    /// <summary>The counts; the caller of the reader owns them from here on.</summary>
    public HdrHistogramSnapshot Snapshot { get; internal init; }
}

/// <summary>Reads logs of histograms (.hlog), in the format of HdrHistogram's log tools.</summary>
/// <remarks>
/// Each unreadable line is one exception: the next call continues after it. Any thread may call; calls are serialized.
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

    /// <summary>Reads a whole file at once.</summary>
    public static HdrLogReader Open(string path) => new HdrLogReader(File.ReadAllBytes(path));

    /// <summary>Reads a stream from its position to its end, all at once.</summary>
    /// <param name="input">The bytes: UTF-8, or UTF-16 with its mark.</param>
    /// <param name="leaveOpen">False to dispose it after reading.</param>
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

    /// <summary>Reads a copy of the bytes of a log.</summary>
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

    /// <summary>When the log starts, in seconds since 1970; NaN while unknown, before the first interval.</summary>
    public double StartSeconds => Reached.LogStartSeconds;

    /// <summary>The offset added to the log's timestamps, in seconds; NaN while unknown.</summary>
    public double BaseSeconds => Reached.LogBaseSeconds;

    /// <summary>Limits later snapshots; 0: as
    /// <see cref="HdrHistogramSnapshot.Decode(ReadOnlySpan{byte}, ulong)"/>.</summary>
    public void SetMaxCounters(ulong maxCounters)
    {
        lock (_gate)
        {
            Live();
            _maxCounters = maxCounters;
        }
    }

    /// <summary>Reads the next interval without its histogram (<see cref="GetSnapshot"/>), to select it.</summary>
    /// <returns>False at the end of the log.</returns>
    /// <exception cref="PicolloException">The line is no interval. Reading continues after it.</exception>
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

    /// <summary>Decodes the histogram of the interval that was read last. May be called again.</summary>
    /// <exception cref="PicolloException">It is corrupt, or no interval was read.</exception>
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
    /// <exception cref="PicolloException">A line cannot be read. A new enumeration continues after it.</exception>
    public IEnumerable<HdrLogEntry> ReadAll()
    {
        while (Read())
            yield return new HdrLogEntry { Interval = Interval, Snapshot = GetSnapshot() };
    }

    /// <summary>Closes the reader. Snapshots stay valid.</summary>
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
