namespace Picollo.Metrics;

/// <summary>
/// Keeps the slowest observations of a histogram with links to their requests, and explains why they were slow.
/// </summary>
/// <remarks>
/// <code>
/// var slow = new ExemplarCollector(latency);
/// using (slow.Scope())                     // records into the histogram
///     Handle(request);
/// Console.WriteLine(slow.Collect());       // why those above P99 were slow, and the slowest with their traces
/// </code>
/// Any thread may call any member at any time. Linux only. The histogram may be disposed earlier; its counts live on.
/// </remarks>
public sealed unsafe class ExemplarCollector : IDisposable
{
    private readonly object _gate = new object();
    private readonly ExemplarsHandle _handle;
    private readonly Func<ExemplarContext>? _context;
    private volatile bool _disposed;

    /// <summary>Begins the first interval.</summary>
    /// <param name="histogram">Scopes and <see cref="Offer(ulong)"/> record into it.</param>
    /// <param name="options">Null: the library's defaults.</param>
    /// <exception cref="PicolloException">
    /// The library does not offer these options, or there is no memory for them.
    /// <see cref="PicolloStatus.Unsupported"/>: the system is not Linux.
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

    /// <summary>Ends the use if it was not disposed; another finalizer may have resurrected it before.</summary>
    ~ExemplarCollector()
    {
        _disposed = true;
    }

    /// <summary>Measures a block on this thread: <c>using (slow.Scope()) { … }</c>. Allocates nothing.</summary>
    /// <param name="label">Distinguishes up to 16 kinds of observations; each may have another usual time.</param>
    public ExemplarScope Scope(uint label = 0) => new ExemplarScope(this, label);

    /// <summary>Measures a block of an async method, without evidence from the thread. Allocates nothing.</summary>
    /// <param name="label">As in <see cref="Scope"/>.</param>
    public AsyncExemplarScope AsyncScope(uint label = 0) => new AsyncExemplarScope(this, label);

    /// <summary>Records a value that was timed elsewhere. Its causes are unknown.</summary>
    /// <returns>Whether it is kept.</returns>
    public bool Offer(ulong value) => Offer(value, null);

    /// <summary>Records a value that was timed elsewhere, with a link to its request.</summary>
    /// <returns>Whether it is kept.</returns>
    public bool Offer(ulong value, ExemplarContext context)
    {
        PicolloExemplarContext given = context.Native;
        return Offer(value, &given);
    }

    /// <summary>Opens the kernel's account of the calling thread before its first slow observation.</summary>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.Unsupported"/>: it does not exist, or the maximum number of threads have theirs. The
    /// collector still works.
    /// </exception>
    public void PrepareThread()
    {
        ThrowIfDisposed();
        PicolloError error;
        Outcome.Check(NativeMethods.picollo_exemplars_prepare_thread(_handle, &error), &error);
    }

    /// <summary>Ends the interval, and begins the next one.</summary>
    /// <returns>The slow observations of the ended interval, and their causes. It is immutable.</returns>
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
    /// From now on, writes the exemplars of the last collected interval with a histogram of a registry. Their traces
    /// and causes become labels.
    /// </summary>
    /// <param name="registry">The registry that contains the histogram.</param>
    /// <param name="id">The result of <see cref="MetricRegistry.Add(HdrHistogram, MetricOptions, ulong[])"/>.</param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: the id is unknown. <see cref="PicolloStatus.Empty"/>: nothing was
    /// collected yet.
    /// </exception>
    public void Publish(MetricRegistry registry, ulong id)
    {
        ArgumentNullException.ThrowIfNull(registry);
        lock (_gate)
        {
            ThrowIfDisposed();
            registry.Publish(_handle, id);
        }
    }

    /// <summary>Ends the use, on all threads. Running scopes still record. Collected intervals stay valid.</summary>
    public void Dispose() => _disposed = true;

    /// <summary>For scopes that begin now.</summary>
    internal IntPtr Pointer
    {
        get
        {
            ThrowIfDisposed();
            return _handle.Pointer;
        }
    }

    /// <summary>For scopes that began before it was disposed: the memory lives as long as this object.</summary>
    internal IntPtr PointerToEnd => _handle.Pointer;

    /// <summary>The context of the observation that just ended.</summary>
    internal bool TryLookUp(out ExemplarContext context)
    {
        if (_context != null)
        {
            context = _context();
            return true;
        }
        return ExemplarContext.TryFromCurrentActivity(out context);
    }

    private bool Offer(ulong value, PicolloExemplarContext* context)
    {
        uint kept = NativeMethods.picollo_exemplars_offer(Pointer, value, context);
        GC.KeepAlive(this);
        return kept == Constants.ExemplarKept;
    }

    private void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(_disposed, this);
}
