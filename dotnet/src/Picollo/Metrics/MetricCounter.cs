namespace Picollo.Metrics;

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
