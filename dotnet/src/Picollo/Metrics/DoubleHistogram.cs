namespace Picollo.Metrics;

/// <summary>
/// Counts doubles of both signs and all magnitudes, each known within a relative error; zero is exact. For ratios, temperatures,
/// money, clock skew.
/// </summary>
/// <remarks>
/// Any number of threads record at the same time. Counts belong to an interval, from one collection to the next; each
/// record is in exactly one. NaN and infinities are counted separately.
/// </remarks>
public sealed unsafe class DoubleHistogram : IDisposable
{
    private readonly DoubleHistogramHandle _handle;
    private readonly IntPtr _pointer;
    private volatile bool _disposed;

    private DoubleHistogram(DoubleHistogramHandle handle)
    {
        _handle = handle;
        _pointer = handle.Pointer;
    }

    /// <summary>Ends the use if it was not disposed; another finalizer may have resurrected it before.</summary>
    ~DoubleHistogram()
    {
        _disposed = true;
    }

    /// <summary>A histogram with a relative error of 0.001.</summary>
    public static DoubleHistogram Create() => Factory.Create();

    /// <summary>Begins the configuration: <c>DoubleHistogram.Factory.WithRelativeError(0.01).Create()</c>.</summary>
    public static DoubleHistogramFactory Factory => default;

    /// <summary>The histogram's current size, in bytes of native memory.</summary>
    public ulong FootprintInBytes
    {
        get
        {
            UIntPtr bytes;
            Outcome.Check(NativeMethods.picollo_double_histogram_footprint(Handle, &bytes));
            return (ulong)bytes;
        }
    }

    /// <summary>Counts a value once: an atomic addition in the library.</summary>
    public void Record(double value)
    {
        ThrowIfDisposed();
        NativeMethods.picollo_double_histogram_record(_pointer, value);
        GC.KeepAlive(this);
    }

    /// <summary>Counts a value many times.</summary>
    public void Record(double value, ulong count)
    {
        ThrowIfDisposed();
        NativeMethods.picollo_double_histogram_record_n(_pointer, value, count);
        GC.KeepAlive(this);
    }

    /// <summary>Counts many values.</summary>
    public void Record(ReadOnlySpan<double> values)
    {
        ThrowIfDisposed();
        fixed (double* start = &MemoryMarshal.GetReference(values))
            NativeMethods.picollo_double_histogram_record_batch(_pointer, start, (UIntPtr)values.Length);
        GC.KeepAlive(this);
    }

    /// <summary>
    /// Takes out everything recorded since the last collection, and starts a new interval, while others record. Without
    /// records, values are NaN.
    /// </summary>
    /// <param name="quantiles">0 to 1, in any order.</param>
    /// <param name="values">Where the values at the quantiles go.</param>
    /// <remarks>Allocates nothing managed.</remarks>
    public DoubleStatistics Collect(ReadOnlySpan<double> quantiles, Span<double> values)
    {
        Arguments.Quantiles(quantiles, values.Length, nameof(quantiles), nameof(values));
        DoubleStatistics statistics;
        fixed (double* from = &MemoryMarshal.GetReference(quantiles))
        fixed (double* to = &MemoryMarshal.GetReference(values))
            Outcome.Check(NativeMethods.picollo_double_histogram_collect(
                Handle, from, (UIntPtr)quantiles.Length, to, &statistics));
        return statistics;
    }

    /// <summary>Takes out everything recorded since the last collection, and starts a new interval.</summary>
    /// <param name="reuse">A snapshot to fill; null makes one.</param>
    public DoubleSnapshot Collect(DoubleSnapshot? reuse = null) => Take(reuse, true);

    /// <summary>Reads the values recorded since the last collection, and leaves them there.</summary>
    /// <param name="reuse">A snapshot to fill; null makes one.</param>
    public DoubleSnapshot Peek(DoubleSnapshot? reuse = null) => Take(reuse, false);

    /// <summary>Adds all counts of a snapshot, of any relative error.</summary>
    public void Add(DoubleSnapshot snapshot)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        lock (snapshot.Gate)
            Outcome.Check(NativeMethods.picollo_double_histogram_add(Handle, snapshot.Live()));
    }

    /// <summary>Ends the use. The garbage collector frees the memory when no thread is recording into it.</summary>
    public void Dispose() => _disposed = true;

    internal DoubleHistogramHandle Handle
    {
        get
        {
            ThrowIfDisposed();
            return _handle;
        }
    }

    private DoubleSnapshot Take(DoubleSnapshot? reuse, bool collect)
    {
        ThrowIfDisposed();
        DoubleSnapshot snapshot = reuse ?? new DoubleSnapshot();
        snapshot.Update(Handle, collect);
        return snapshot;
    }

    private void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(_disposed, this);

    /// <summary>The configuration of a histogram of doubles. Each step returns a changed copy.</summary>
    public readonly ref struct DoubleHistogramFactory
    {
        private const uint DotNetRanks = Constants.DoubleDotnetRanks;
        private const uint ExactSum = Constants.DoubleExactSum;

        private readonly PicolloDoubleOptions _options;

        private DoubleHistogramFactory(PicolloDoubleOptions options)
        {
            _options = options;
        }

        /// <summary>Largest relative error of reported values: 1e-4 to below 1; at most 0.1 is used.</summary>
        public DoubleHistogramFactory WithRelativeError(double value) =>
            new DoubleHistogramFactory(_options with { RelativeError = Arguments.RelativeError(value, 1e-4, nameof(value)) });

        /// <summary>A limit on the memory; values that do not fit are counted as lost. 0: none.</summary>
        public DoubleHistogramFactory WithMaxBytes(ulong value) =>
            new DoubleHistogramFactory(_options with { MaxBytes = value });

        /// <summary>
        /// Quantiles as in .NET's metrics (System.Diagnostics.Metrics): of n values in ascending order, number
        /// min(max(0, ⌊q · n⌋), n − 1), from 0. Otherwise: number max(1, ⌈q · n⌉), from 1, as elsewhere in Picollo.
        /// </summary>
        public DoubleHistogramFactory WithDotNetRanks(bool enabled = true) => WithFlag(DotNetRanks, enabled);

        /// <summary>Sum, minimum and maximum are exact. A record then costs several atomic operations.</summary>
        public DoubleHistogramFactory WithExactSum(bool enabled = true) => WithFlag(ExactSum, enabled);

        /// <summary>Makes the histogram.</summary>
        /// <exception cref="PicolloException">
        /// <see cref="PicolloStatus.InvalidArgument"/>: the limit is below the size of an empty histogram.
        /// </exception>
        public DoubleHistogram Create()
        {
            Loader.Ensure();
            PicolloDoubleOptions options = _options;
            options.StructSize = (uint)sizeof(PicolloDoubleOptions);
            Outcome.Check(NativeMethods.picollo_double_histogram_create(&options, out DoubleHistogramHandle handle));
            return new DoubleHistogram(handle);
        }

        private DoubleHistogramFactory WithFlag(uint flag, bool enabled) =>
            new DoubleHistogramFactory(_options with { Flags = enabled ? _options.Flags | flag : _options.Flags & ~flag });
    }
}
