using Picollo.Metrics;

namespace Picollo.Native;

/// <summary>The options in native memory, for the duration of a call: the library copies them.</summary>
internal sealed unsafe class NativeMetric : IDisposable
{
    private readonly NativeBlocks _blocks = new NativeBlocks();

    internal NativeMetric(MetricOptions metric)
    {
        ArgumentNullException.ThrowIfNull(metric);
        try
        {
            Options = Build(metric);
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    internal PicolloMetricOptions Options { get; }

    public void Dispose() => _blocks.Dispose();

    private PicolloMetricOptions Build(MetricOptions metric)
    {
        PicolloLabel* labels = _blocks.Labels(metric.Labels, "Labels", out int length);
        return new PicolloMetricOptions
        {
            StructSize = (uint)sizeof(PicolloMetricOptions),
            Flags = (uint)((metric.WritesCreated ? 0 : Constants.MetricNoCreated) | (metric.Native ? Constants.MetricNative : 0)
                | (metric.SinceReset ? Constants.MetricSinceReset : 0) | (metric.Summary ? Constants.MetricSummary : 0)
                | (metric.Striped ? Constants.MetricStriped : 0)),
            MaxBuckets = metric.MaxBuckets,
            // Zero selects the library's default, one, and is no divisor.
            Divisor = metric.Divisor == 0 ? double.NaN : metric.Divisor,
            LabelsLength = (ulong)length,
            CreatedUnixNanos = UnixTime.Nanos(metric.CreatedUtc),
            Name = _blocks.Text(metric.Name, "Name"),
            Help = _blocks.Text(metric.Help, "Help"),
            Unit = _blocks.Text(metric.Unit, "Unit"),
            Labels = labels
        };
    }
}
