namespace Picollo.Metrics;

/// <summary>Shared base of counters and gauges. Any thread may use them, even after the registry is gone.</summary>
public abstract class MetricNumber
{
    private IntPtr _pointer;

    internal MetricNumber(LastingHandle handle, ulong id)
    {
        _pointer = handle.Pointer;
        Id = id;
    }

    /// <summary>Another finalizer may have resurrected it: it no longer has anything to count in.</summary>
    ~MetricNumber()
    {
        Volatile.Write(ref _pointer, IntPtr.Zero);
    }

    /// <summary>For <see cref="MetricRegistry.Remove"/> and <see cref="MetricRegistry.SetExemplars"/>.</summary>
    public ulong Id { get; }

    /// <summary>For calls without a handle, which would cost more than the calls do.</summary>
    internal IntPtr Pointer
    {
        get
        {
            IntPtr pointer = Volatile.Read(ref _pointer);
            return pointer != IntPtr.Zero ? pointer : throw new ObjectDisposedException(GetType().Name);
        }
    }
}

/// <summary>A number that only grows, made by <see cref="MetricRegistry.AddCounter"/> or
/// <see cref="Segment.GetCounter"/>. Any thread may count, even after the registry is gone.</summary>
public sealed unsafe class MetricCounter : MetricNumber
{
    private readonly MetricCounterHandle _handle;

    internal MetricCounter(MetricCounterHandle handle, ulong id) : base(handle, id)
    {
        _handle = handle;
    }

    /// <summary>The sum so far, modulo 2⁶⁴.</summary>
    public ulong Value
    {
        get
        {
            ulong count;
            Outcome.Check(NativeMethods.picollo_metric_counter_read(_handle, &count));
            return count;
        }
    }

    /// <summary>Adds a count, with one atomic addition and the library call.</summary>
    public void Add(ulong count = 1)
    {
        NativeMethods.picollo_metric_counter_add(Pointer, count);
        GC.KeepAlive(this);
    }
}

/// <summary>A number that goes up and down, made by <see cref="MetricRegistry.AddGauge"/>. Any thread may set it, even
/// after the registry is gone.</summary>
public sealed unsafe class MetricGauge : MetricNumber
{
    private readonly MetricGaugeHandle _handle;

    internal MetricGauge(MetricGaugeHandle handle, ulong id) : base(handle, id)
    {
        _handle = handle;
    }

    /// <summary>The current value.</summary>
    public double Value
    {
        get
        {
            double value;
            Outcome.Check(NativeMethods.picollo_metric_gauge_read(_handle, &value));
            return value;
        }
    }

    /// <summary>Sets the value.</summary>
    public void Set(double value)
    {
        NativeMethods.picollo_metric_gauge_set(Pointer, value);
        GC.KeepAlive(this);
    }

    /// <summary>Adds a value, which may be negative. If several threads add at once, no addition is lost.</summary>
    public void Add(double value)
    {
        NativeMethods.picollo_metric_gauge_add(Pointer, value);
        GC.KeepAlive(this);
    }
}
