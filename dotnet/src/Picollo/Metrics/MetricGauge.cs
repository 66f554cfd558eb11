namespace Picollo.Metrics;

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
