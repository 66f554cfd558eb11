using System.Text;

namespace Picollo.Metrics;

/// <summary>Writes logs of histograms (.hlog), in the format of HdrHistogram's log tools.</summary>
/// <remarks>
/// The histograms need HdrHistogram's buckets: <c>HdrHistogram.Factory.WithSignificantDigits(3)</c>. For one thread at
/// a time.
/// </remarks>
public sealed unsafe class HdrLogWriter : IDisposable
{
    /// <summary>UTF-8 without a byte order mark, which confuses readers.</summary>
    private static readonly Encoding s_plain = new UTF8Encoding(false);

    private readonly TextWriter _output;
    private readonly bool _leaveOpen;

    /// <summary>Writes to a file with this name, which is created or truncated.</summary>
    public HdrLogWriter(string path) : this(new StreamWriter(path), false)
    {
    }

    /// <summary>Writes to a writer, and disposes it at the end unless it is to stay open.</summary>
    public HdrLogWriter(TextWriter output, bool leaveOpen = false)
    {
        _output = output ?? throw new ArgumentNullException(nameof(output));
        _leaveOpen = leaveOpen;
        Loader.Ensure();
    }

    /// <summary>Writes UTF-8 to a stream, and disposes it at the end unless it is to stay open.</summary>
    public HdrLogWriter(Stream output, bool leaveOpen = false)
        : this(new StreamWriter(output ?? throw new ArgumentNullException(nameof(output)), s_plain, 4096, leaveOpen), false)
    {
    }

    /// <summary>Writes the header of a log: comment, version, start, names of the fields.</summary>
    /// <param name="startUtc">When the log starts; null leaves it out.</param>
    /// <param name="comment">Any number of lines.</param>
    public void WriteHeader(DateTime? startUtc = null, string? comment = null) =>
        WriteHeader(startUtc.HasValue ? Seconds(startUtc.Value) : double.NaN, comment);

    /// <summary>Writes the header of a log; the start in seconds since 1970, or NaN.</summary>
    public void WriteHeader(double startSeconds, string? comment = null)
    {
        byte[]? native = Utf8.ToNativeOrNull(comment, nameof(comment));
        _output.Write(NativeText.Read((buffer, capacity, length) =>
        {
            fixed (byte* text = native)
                return NativeMethods.picollo_log_format_header(startSeconds, text, buffer, capacity, length);
        }));
    }

    /// <summary>Writes the line of an interval.</summary>
    /// <param name="counts">The counts of the interval.</param>
    /// <param name="startUtc">When it began.</param>
    /// <param name="duration">Its length.</param>
    /// <param name="tag">Distinguishes histograms of one time: no commas, white space, control characters.</param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.Incompatible"/>: the histogram does not have HdrHistogram's buckets.
    /// </exception>
    /// <exception cref="ArgumentException">The tag is invalid.</exception>
    public void Write(ReadOnlyHdrHistogram counts, DateTime startUtc, TimeSpan duration, string? tag = null) =>
        Write(counts, Seconds(startUtc), duration.TotalSeconds, tag);

    /// <summary>Writes the line of an interval, with times in seconds: since 1970, or since the start of the log.</summary>
    public void Write(ReadOnlyHdrHistogram counts, double startSeconds, double lengthSeconds, string? tag = null)
    {
        ArgumentNullException.ThrowIfNull(counts);
        Arguments.Tag(tag, nameof(tag));
        byte[]? native = Utf8.ToNativeOrNull(tag, nameof(tag));
        _output.Write(counts.Write((snapshot, buffer, capacity, length) =>
        {
            fixed (byte* text = native)
                return NativeMethods.picollo_log_format_interval(
                    snapshot, startSeconds, lengthSeconds, text, buffer, capacity, length);
        }));
    }

    /// <summary>Writes the line of an interval, with the times and the tag of a snapshot from another log.</summary>
    /// <exception cref="ArgumentException">The snapshot has no times.</exception>
    /// <remarks>Otherwise fails like the other overloads.</remarks>
    public void Write(HdrHistogramSnapshot counts)
    {
        ArgumentNullException.ThrowIfNull(counts);
        if (double.IsNaN(counts.StartSeconds) || double.IsNaN(counts.EndSeconds))
            throw new ArgumentException("The snapshot has no times: give them, or set them.", nameof(counts));
        Write(counts, counts.StartSeconds, counts.EndSeconds - counts.StartSeconds, counts.Tag);
    }

    /// <summary>Flushes everything written so far, for concurrent readers.</summary>
    public void Flush() => _output.Flush();

    /// <summary>Ends the log.</summary>
    public void Dispose()
    {
        if (_leaveOpen)
            _output.Flush();
        else
            _output.Dispose();
    }

    private static double Seconds(DateTime time) => (time.ToUniversalTime() - DateTime.UnixEpoch).TotalSeconds;
}
