namespace Picollo.Metrics;

/// <summary>A number that only grows, made by <see cref="MetricRegistry.AddCounter"/> or <see cref="Segment.GetCounter"/>. Any thread
/// may count, also when the registry is gone.</summary>
public sealed unsafe class MetricCounter : MetricNumber
{
    private readonly MetricCounterHandle _handle;

    internal MetricCounter(MetricCounterHandle handle, ulong id) : base(handle, id)
    {
        _handle = handle;
    }

    /// <summary>What was added so far, modulo 2⁶⁴.</summary>
    public ulong Value
    {
        get
        {
            ulong count;
            Outcome.Check(NativeMethods.picollo_metric_counter_read(_handle, &count));
            return count;
        }
    }

    /// <summary>Adds: one atomic addition, and the call of the library.</summary>
    public void Add(ulong count = 1)
    {
        NativeMethods.picollo_metric_counter_add(Pointer, count);
        GC.KeepAlive(this);
    }
}
