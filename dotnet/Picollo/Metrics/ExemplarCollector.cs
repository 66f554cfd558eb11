namespace Picollo.Metrics;

/// <summary>
/// Keeps the slowest observations of a histogram, with what leads to their requests, and tells why they were slow.
/// </summary>
/// <remarks>
/// <code>
/// var slow = new ExemplarCollector(latency);
/// using (slow.Scope())                     // records into the histogram
///     Handle(request);
/// Console.WriteLine(slow.Collect());       // why those above P99 were slow, and the slowest with their traces
/// </code>
/// Any thread may call anything, at any time. Linux only. It keeps the histogram's counts, not its object, which may be disposed before.
/// </remarks>
public sealed unsafe class ExemplarCollector : IDisposable
{
    private readonly object _gate = new object();
    private readonly ExemplarsHandle _handle;
    private readonly Func<ExemplarContext>? _context;
    private volatile bool _disposed;

    /// <summary>Begins the first interval.</summary>
    /// <param name="histogram">What scopes and <see cref="Offer(ulong)"/> record into.</param>
    /// <param name="options">How; null: as the library chooses.</param>
    /// <exception cref="PicolloException">
    /// The library does not offer these options, or there is no memory for them. <see cref="PicolloStatus.Unsupported"/>: elsewhere
    /// than on Linux.
    /// </exception>
    public ExemplarCollector(HdrHistogram histogram, ExemplarOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(histogram);
        options = options ?? new ExemplarOptions();
        var native = new PicolloExemplarsOptions
        {
            StructSize = (uint)sizeof(PicolloExemplarsOptions),
            Flags = (options.UsesRing ? 0 : (uint)Constants.ExemplarsNoRing)
                | (options.Slowest == 0 ? (uint)Constants.ExemplarsNoSlowest : 0)
                | (options.UsesCounters ? (uint)Constants.ExemplarsCounters : 0),
            Threshold = options.Threshold,
            Unit = (uint)options.Unit,
            Slowest = options.Slowest,
            Threads = options.Threads,
            Rate = options.Rate,
            Controls = options.Controls
        };
        PicolloError error;
        Outcome.Check(NativeMethods.picollo_exemplars_create(histogram.Handle, &native, out _handle, &error), &error);
        _context = options.Context;
    }

    /// <summary>Ends the use of a collector that was not disposed, and that another finaliser may have brought back.</summary>
    ~ExemplarCollector()
    {
        _disposed = true;
    }

    /// <summary>Measures a block on this thread: <c>using (slow.Scope()) { … }</c>. Allocates nothing.</summary>
    /// <param name="label">Tells kinds of observations apart, up to 16, as what is usual of one may not be of another.</param>
    public ExemplarScope Scope(uint label = 0) => new ExemplarScope(this, label);

    /// <summary>Measures a block of an async method, from which nothing is taken of the thread. Allocates nothing.</summary>
    /// <param name="label">As in <see cref="Scope"/>.</param>
    public AsyncExemplarScope AsyncScope(uint label = 0) => new AsyncExemplarScope(this, label);

    /// <summary>Records a value that was timed elsewhere. Nothing is known then of where its time went.</summary>
    /// <returns>Whether it is kept.</returns>
    public bool Offer(ulong value) => Offer(value, null);

    /// <summary>Records a value that was timed elsewhere, with what leads to its request.</summary>
    /// <returns>Whether it is kept.</returns>
    public bool Offer(ulong value, ExemplarContext context)
    {
        PicolloExemplarContext given = context.Native;
        return Offer(value, &given);
    }

    /// <summary>Opens the kernel's account of the calling thread now, rather than at its first slow observation.</summary>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.Unsupported"/>: there is none, or as many threads as wanted have theirs. The collector works all the
    /// same.
    /// </exception>
    public void PrepareThread()
    {
        ThrowIfDisposed();
        PicolloError error;
        Outcome.Check(NativeMethods.picollo_exemplars_prepare_thread(_handle, &error), &error);
    }

    /// <summary>Ends the interval, and begins the next one.</summary>
    /// <returns>What was slow in the one that ended, and why. It does not change any more.</returns>
    public ExemplarInterval Collect()
    {
        lock (_gate)
        {
            ThrowIfDisposed();
            PicolloError error;
            Outcome.Check(NativeMethods.picollo_exemplars_collect(_handle, &error), &error);
            return new ExemplarInterval(_handle);
        }
    }

    /// <summary>
    /// Has the exemplars of the interval that was collected last written with a histogram of a registry from now on, with their traces
    /// and their causes as labels.
    /// </summary>
    /// <param name="registry">Where the histogram is.</param>
    /// <param name="id">What <see cref="MetricRegistry.Add(HdrHistogram, MetricOptions, ulong[])"/> returned.</param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: there is none of this number. <see cref="PicolloStatus.Empty"/>: nothing was
    /// collected yet.
    /// </exception>
    public void Publish(MetricRegistry registry, ulong id)
    {
        ArgumentNullException.ThrowIfNull(registry);
        lock (_gate)
        {
            ThrowIfDisposed();
            MetricFault.CheckNumber(registry.Publish(_handle, id), id);
        }
    }

    /// <summary>Ends the use, on all threads; scopes that are under way record to their ends. What was collected stays.</summary>
    public void Dispose() => _disposed = true;

    /// <summary>For what begins now.</summary>
    internal IntPtr Pointer
    {
        get
        {
            ThrowIfDisposed();
            return _handle.Pointer;
        }
    }

    /// <summary>For what has begun before it was disposed: the memory is there as long as this object.</summary>
    internal IntPtr PointerToEnd => _handle.Pointer;

    /// <summary>The context of what has just ended.</summary>
    internal bool TryLookUp(out ExemplarContext context)
    {
        if (_context != null)
        {
            context = _context();
            return true;
        }
        return ExemplarContext.TryOfCurrentActivity(out context);
    }

    private bool Offer(ulong value, PicolloExemplarContext* context)
    {
        uint kept = NativeMethods.picollo_exemplars_offer(Pointer, value, context);
        GC.KeepAlive(this);
        return kept == Constants.ExemplarKept;
    }

    private void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(_disposed, this);
}
