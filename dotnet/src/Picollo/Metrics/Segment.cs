namespace Picollo.Metrics;

/// <summary>The configuration of a <see cref="Segment"/>.</summary>
public sealed class SegmentOptions
{
    /// <summary>1 to 64 letters, digits, <c>_</c> and <c>-</c>; null: the program's name.</summary>
    public string? Name { get; set; }

    /// <summary>The directory, created if missing. Null: <c>$PICOLLO_DIR</c>, or this user's, in memory.</summary>
    public string? Directory { get; set; }

    /// <summary>The maximum size of the file; 0: 128 MiB. New histograms take memory as they are made.</summary>
    public ulong MaxBytes { get; set; }

    /// <summary>Whether to keep the file when the process ends normally.</summary>
    public bool Keep { get; set; }

    /// <summary>Whether it may be in a directory that is not in memory: records may then wait for the disk.</summary>
    public bool OnDisk { get; set; }

    /// <summary>
    /// Whether histograms whose factory names no mode have one set of counters, which all add to atomically, instead of
    /// one for each CPU: less memory, and less to read.
    /// </summary>
    public bool Interlocked { get; set; }

    /// <summary>
    /// Whether histograms can be reset, unless they are made without it: three times the memory, and interlocked by
    /// default. Per-CPU ones cannot.
    /// </summary>
    public bool LiveReset { get; set; }
}

/// <summary>
/// A file in memory that contains histograms and counters. <c>picollo top</c>, <c>picollo show</c> and other viewers
/// read it while this program runs, and after it crashed. Other systems: <see cref="PicolloStatus.Unsupported"/>.
/// </summary>
/// <remarks>
/// One name with the same labels gives the same object, in all processes with the segment. Recording costs the same as
/// elsewhere. Any thread may call any member. Its objects live as long as the process, even
/// after disposal of the segment.
/// </remarks>
public sealed unsafe class Segment : IDisposable
{
    private readonly SegmentHandle _handle;

    /// <summary>Makes a segment of this process. Abandoned segments with the same name are removed.</summary>
    /// <param name="name">1 to 64 letters, digits, <c>_</c> and <c>-</c>; null: the program's name.</param>
    /// <exception cref="PicolloException">The message explains what to do.</exception>
    public Segment(string? name = null) : this(new SegmentOptions { Name = name })
    {
    }

    /// <summary>Makes a segment of this process. Abandoned segments with the same name are removed.</summary>
    /// <exception cref="PicolloException">The message explains what to do.</exception>
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

    /// <summary>Opens a segment that another process made, to write into it.</summary>
    /// <param name="path">Its path; null: the environment variable <c>PICOLLO_SEGMENT</c>.</param>
    /// <exception cref="PicolloException">It is no segment, not this user's, or unusable for this build.</exception>
    public static Segment Attach(string? path = null)
    {
        Loader.Ensure();
        PicolloError error;
        SegmentHandle handle;
        fixed (byte* start = Utf8.ToNativeOrNull(path, nameof(path)))
            Outcome.Check(NativeMethods.picollo_segment_attach(start, out handle, &error), &error);
        return new Segment(handle);
    }

    /// <summary>The path, for <see cref="Attach"/> in other processes.</summary>
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
    /// The histogram with this name and labels, the existing one or a new one, of 1 % from 1 to 3.6e12 (an hour in ns).
    /// </summary>
    /// <remarks>Otherwise like the other overload.</remarks>
    public HdrHistogram GetHistogram(MetricOptions metric) => GetHistogram(metric, default);

    /// <summary>The histogram with this name and labels. Resets need <see cref="SegmentOptions.LiveReset"/>.</summary>
    /// <param name="metric">
    /// Its description. <see cref="MetricOptions.Native"/>, <see cref="MetricOptions.MaxBuckets"/> and
    /// <see cref="MetricOptions.SinceReset"/> are ignored here.
    /// </param>
    /// <param name="factory">
    /// Its configuration: dense, with 64 bits. Without a mode there are counters for each CPU if the machine has few.
    /// With <see cref="HdrHistogram.HdrHistogramFactory.WithSingleWriter"/>, only the thread that made it may record. A
    /// task may continue on another thread, whose records then get lost.
    /// </param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.Incompatible"/>: there is one with another layout, mode or thread.
    /// <see cref="PicolloStatus.Unsupported"/>: segments cannot contain it. <see cref="PicolloStatus.OutOfMemory"/>:
    /// the segment or the file system is full.
    /// </exception>
    public HdrHistogram GetHistogram(MetricOptions metric, HdrHistogram.HdrHistogramFactory factory)
    {
        ArgumentNullException.ThrowIfNull(metric);
        PicolloHistogramOptions options = factory.Native();
        using var blocks = new NativeBlocks();
        PicolloMetricOptions known = metric.ToNative(blocks);
        PicolloError error;
        Outcome.Check(NativeMethods.picollo_segment_histogram(
            Live(), &known, &options, out HistogramHandle histogram, &error), &error);
        // Its memory belongs to the segment, and the collector cannot free it.
        return new HdrHistogram(histogram, (RecordMode)options.Mode, false, false);
    }

    /// <summary>The counter with this name and these labels: the existing one, or a new one at zero.</summary>
    /// <remarks>Otherwise like <see cref="GetHistogram(MetricOptions, HdrHistogram.HdrHistogramFactory)"/>.</remarks>
    public MetricCounter GetCounter(MetricOptions metric)
    {
        ArgumentNullException.ThrowIfNull(metric);
        using var blocks = new NativeBlocks();
        PicolloMetricOptions known = metric.ToNative(blocks);
        PicolloError error;
        Outcome.Check(NativeMethods.picollo_segment_counter(Live(), &known, out MetricCounterHandle counter, &error), &error);
        return new MetricCounter(counter, 0);
    }

    /// <summary>
    /// Removes the histogram or counter with this name and these labels. No reader sees it any more, except those that
    /// already did, and the next request for it gets a new one. Existing objects stay valid; the memory stays in use.
    /// </summary>
    /// <exception cref="PicolloException"><see cref="PicolloStatus.InvalidArgument"/>: unknown name.</exception>
    public void Retire(MetricOptions metric)
    {
        ArgumentNullException.ThrowIfNull(metric);
        using var blocks = new NativeBlocks();
        PicolloMetricOptions known = metric.ToNative(blocks);
        PicolloError error;
        Outcome.Check(NativeMethods.picollo_segment_retire(Live(), &known, &error), &error);
    }

    /// <summary>The size of a histogram in a segment, in bytes.</summary>
    /// <param name="factory">Its configuration.</param>
    /// <param name="interlocked">See <see cref="SegmentOptions.Interlocked"/>.</param>
    /// <param name="liveReset">See <see cref="SegmentOptions.LiveReset"/>.</param>
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

    /// <summary>Releases the object. The segment's contents, and its histograms and counters, stay valid.</summary>
    public void Dispose() => _handle.Dispose();

    private SegmentHandle Live() => NativeHandle.Live(_handle, this);
}
