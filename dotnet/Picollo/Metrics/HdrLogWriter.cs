using System.Text;

namespace Picollo.Metrics;

/// <summary>Writes logs of histograms (.hlog), the format of HdrHistogram's log tools.</summary>
/// <remarks>
/// The histograms need the buckets of HdrHistogram: <c>HdrHistogram.Factory.WithSignificantDigits(3)</c>. For one thread at a
/// time.
/// </remarks>
public sealed unsafe class HdrLogWriter : IDisposable
{
    /// <summary>Without a mark, at which readers stumble.</summary>
    private static readonly Encoding s_plain = new UTF8Encoding(false);

    private readonly TextWriter _output;
    private readonly bool _leaveOpen;

    /// <summary>Writes to a file of this name, which is made or emptied.</summary>
    public HdrLogWriter(string path) : this(new StreamWriter(path), false)
    {
    }

    /// <summary>Writes to a writer, and disposes it in the end unless it is to be left open.</summary>
    public HdrLogWriter(TextWriter output, bool leaveOpen = false)
    {
        _output = output ?? throw new ArgumentNullException(nameof(output));
        _leaveOpen = leaveOpen;
        Loader.Ensure();
    }

    /// <summary>Writes UTF-8 to a stream, and disposes it in the end unless it is to be left open.</summary>
    public HdrLogWriter(Stream output, bool leaveOpen = false)
        : this(new StreamWriter(output ?? throw new ArgumentNullException(nameof(output)), s_plain, 4096, leaveOpen), false)
    {
    }

    /// <summary>Writes the lines that a log begins with: comment, version, start, names of the fields.</summary>
    /// <param name="startUtc">When the log starts; null leaves it out.</param>
    /// <param name="comment">Any number of lines.</param>
    public void WriteHeader(DateTime? startUtc = null, string? comment = null) =>
        WriteHeader(startUtc.HasValue ? Seconds(startUtc.Value) : double.NaN, comment);

    /// <summary>Writes the lines that a log begins with; the start in seconds since 1970, or NaN.</summary>
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
    /// <param name="counts">What was recorded in it.</param>
    /// <param name="startUtc">When it began.</param>
    /// <param name="duration">How long it was.</param>
    /// <param name="tag">What tells histograms of the same time apart: without commas, white space and control characters.</param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.Incompatible"/>: the histogram has not the buckets of HdrHistogram.
    /// </exception>
    /// <exception cref="ArgumentException">The tag is not as it has to be.</exception>
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

    /// <summary>Writes the line of an interval, with the times and the tag of the snapshot: as it was read from another log.</summary>
    /// <exception cref="ArgumentException">The snapshot has no times.</exception>
    /// <remarks>Fails otherwise as the other forms do.</remarks>
    public void Write(HdrHistogramSnapshot counts)
    {
        ArgumentNullException.ThrowIfNull(counts);
        if (double.IsNaN(counts.StartSeconds) || double.IsNaN(counts.EndSeconds))
            throw new ArgumentException("The snapshot has no times: give them, or set them.", nameof(counts));
        Write(counts, counts.StartSeconds, counts.EndSeconds - counts.StartSeconds, counts.Tag);
    }

    /// <summary>Hands on what was written so far, for those who read along.</summary>
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
