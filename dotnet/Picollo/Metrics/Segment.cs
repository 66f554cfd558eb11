namespace Picollo.Metrics;

/// <summary>What a <see cref="Segment"/> is to be.</summary>
public sealed class SegmentOptions
{
    /// <summary>1 to 64 letters, digits, <c>_</c> and <c>-</c>; null: as the program.</summary>
    public string? Name { get; set; }

    /// <summary>Where it goes; made if it is not there. Null: <c>$PICOLLO_DIR</c>, or a directory of this user's in memory.</summary>
    public string? Directory { get; set; }

    /// <summary>The most that the file may come to take; 0: 128 MiB. Memory is taken as histograms are made.</summary>
    public ulong MaxBytes { get; set; }

    /// <summary>Whether to leave the file at an orderly end of the process.</summary>
    public bool Keep { get; set; }

    /// <summary>Whether it may be in a directory that is not in memory: records may then wait for the disk.</summary>
    public bool OnDisk { get; set; }

    /// <summary>
    /// Whether histograms whose factory names no mode have one set of counters, which all add to atomically, and not one for each CPU: less
    /// memory, and less to read.
    /// </summary>
    public bool Interlocked { get; set; }

    /// <summary>
    /// Whether histograms can be reset, unless they are made without: three times the memory, and interlocked where no mode is named.
    /// Per-CPU ones cannot.
    /// </summary>
    public bool LiveReset { get; set; }
}

/// <summary>
/// A file in memory that histograms and counters lie in, for <c>picollo top</c>, <c>picollo show</c> and other viewers to read while
/// this program runs, and after it crashed. On Linux; elsewhere <see cref="PicolloStatus.Unsupported"/>.
/// </summary>
/// <remarks>
/// What is asked for by the same name and labels is the same, in all processes that have the segment. Recording costs what it costs
/// elsewhere. Any thread may call anything. What a segment gave out is there as long as the process, also when the segment was disposed.
/// </remarks>
public sealed unsafe class Segment : IDisposable
{
    private readonly SegmentHandle _handle;

    /// <summary>Makes a segment of this process. Segments of the same name that nobody has any more are removed.</summary>
    /// <param name="name">1 to 64 letters, digits, <c>_</c> and <c>-</c>; null: as the program.</param>
    /// <exception cref="PicolloException">Says what to do.</exception>
    public Segment(string? name = null) : this(new SegmentOptions { Name = name })
    {
    }

    /// <summary>Makes a segment of this process. Segments of the same name that nobody has any more are removed.</summary>
    /// <exception cref="PicolloException">Says what to do.</exception>
    public Segment(SegmentOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Loader.Ensure();
        PicolloError error;
        using var blocks = new NativeBlocks();
        var native = new PicolloSegmentOptions
        {
            StructSize = (uint)sizeof(PicolloSegmentOptions),
            Flags = (uint)((options.Keep ? Constants.SegmentKeep : 0) | (options.OnDisk ? Constants.SegmentOnDisk : 0)
                | (options.Interlocked ? Constants.SegmentInterlocked : 0) | (options.LiveReset ? Constants.SegmentLiveReset : 0)),
            MaxBytes = options.MaxBytes,
            Name = blocks.Text(options.Name, nameof(SegmentOptions.Name)),
            Directory = blocks.Text(options.Directory, nameof(SegmentOptions.Directory))
        };
        Outcome.Check(NativeMethods.picollo_segment_create(&native, out _handle, &error), &error);
    }

    private Segment(SegmentHandle handle)
    {
        _handle = handle;
    }

    /// <summary>Opens a segment that another process has made, to write into.</summary>
    /// <param name="path">Where it is; null: what the environment variable <c>PICOLLO_SEGMENT</c> says.</param>
    /// <exception cref="PicolloException">It is no segment, not this user's, or none that this build can use.</exception>
    public static Segment Attach(string? path = null)
    {
        Loader.Ensure();
        PicolloError error;
        SegmentHandle handle;
        fixed (byte* start = Utf8.ToNativeOrNull(path, nameof(path)))
            Outcome.Check(NativeMethods.picollo_segment_attach(start, out handle, &error), &error);
        return new Segment(handle);
    }

    /// <summary>Where it is, for <see cref="Attach"/> in other processes.</summary>
    public string Path
    {
        get
        {
            SegmentHandle segment = Live();
            return NativeText.Read((buffer, capacity, length) =>
                NativeMethods.picollo_segment_path(segment, buffer, capacity, length));
        }
    }

    /// <summary>
    /// The histogram of this name and these labels: the one that there is, or a new one, of 1 % from 1 to 3.6e12, an hour in nanoseconds.
    /// </summary>
    /// <remarks>Otherwise as the other form.</remarks>
    public HdrHistogram GetHistogram(MetricOptions metric) => GetHistogram(metric, default);

    /// <summary>The histogram of this name and these labels: the one that there is, or a new one. Resets need <see cref="SegmentOptions.LiveReset"/>.</summary>
    /// <param name="metric">
    /// What it is known as. Of no meaning here are <see cref="MetricOptions.Native"/>, <see cref="MetricOptions.MaxBuckets"/> and
    /// <see cref="MetricOptions.SinceReset"/>.
    /// </param>
    /// <param name="factory">
    /// What it is made from: dense, with 64 bits. Without a mode there are counters for each CPU where the machine has few. One that is <see cref="HdrHistogram.HdrHistogramFactory.WithSingleWriter"/> is the
    /// thread's that made it; a task may go on on another thread, whose records then get lost.
    /// </param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.Incompatible"/>: there is one of that name with another layout or mode, or another thread's;
    /// <see cref="PicolloStatus.Unsupported"/>: it cannot lie in a segment; <see cref="PicolloStatus.OutOfMemory"/>: something is full.
    /// </exception>
    public HdrHistogram GetHistogram(MetricOptions metric, HdrHistogram.HdrHistogramFactory factory)
    {
        PicolloHistogramOptions options = factory.Native();
        PicolloError error;
        HistogramHandle histogram;
        using (var native = new NativeMetric(metric))
        {
            PicolloMetricOptions known = native.Options;
            Outcome.Check(
                NativeMethods.picollo_segment_histogram(Live(), &known, &options, out histogram, &error), &error);
        }
        // Its memory is the segment's, which the collector cannot give back.
        return new HdrHistogram(histogram, (RecordMode)options.Mode, false, false);
    }

    /// <summary>The counter of this name and these labels: the one that there is, or a new one at zero.</summary>
    /// <remarks>Otherwise as <see cref="GetHistogram(MetricOptions, HdrHistogram.HdrHistogramFactory)"/>.</remarks>
    public MetricCounter GetCounter(MetricOptions metric)
    {
        PicolloError error;
        MetricCounterHandle counter;
        using (var native = new NativeMetric(metric))
        {
            PicolloMetricOptions known = native.Options;
            Outcome.Check(NativeMethods.picollo_segment_counter(Live(), &known, out counter, &error), &error);
        }
        return new MetricCounter(counter, 0);
    }

    /// <summary>
    /// Takes the histogram or counter of this name and these labels out: no reader sees it any more, unless it did before, and who
    /// asks for it gets a new one. Objects of it stay what they are; its memory stays taken.
    /// </summary>
    /// <exception cref="PicolloException"><see cref="PicolloStatus.InvalidArgument"/>: there is nothing of that name.</exception>
    public void Retire(MetricOptions metric)
    {
        PicolloError error;
        using var native = new NativeMetric(metric);
        PicolloMetricOptions known = native.Options;
        Outcome.Check(NativeMethods.picollo_segment_retire(Live(), &known, &error), &error);
    }

    /// <summary>Bytes that a histogram takes in a segment.</summary>
    /// <param name="factory">What it is made from.</param>
    /// <param name="interlocked">As <see cref="SegmentOptions.Interlocked"/> of the segment.</param>
    /// <param name="liveReset">As <see cref="SegmentOptions.LiveReset"/> of the segment.</param>
    public static ulong Estimate(
        HdrHistogram.HdrHistogramFactory factory = default, bool interlocked = false, bool liveReset = false)
    {
        PicolloHistogramOptions options = factory.Native();
        ulong bytes;
        Outcome.Check(NativeMethods.picollo_segment_estimate(
            &options,
            (interlocked ? (uint)Constants.SegmentInterlocked : 0) | (liveReset ? (uint)Constants.SegmentLiveReset : 0),
            &bytes));
        return bytes;
    }

    /// <summary>Gives the object back. What is in the segment stays, and so do the histograms and counters that it gave out.</summary>
    public void Dispose() => _handle.Dispose();

    private SegmentHandle Live() => NativeHandle.Live(_handle, this);
}
