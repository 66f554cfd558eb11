using System;
using Picollo.Metrics;

namespace Picollo.Native
{
    /// <summary>The options in native memory, for the time of a call: the library copies them.</summary>
    internal sealed unsafe class NativeMetric : IDisposable
    {
        private const uint NoCreated = Constants.MetricNoCreated;
        private const uint Native = Constants.MetricNative;
        private const uint SinceReset = Constants.MetricSinceReset;
        private const uint Summary = Constants.MetricSummary;

        private readonly NativeBlocks _blocks = new NativeBlocks();

        internal NativeMetric(MetricOptions metric)
        {
            if (metric == null)
                throw new ArgumentNullException(nameof(metric));
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
                Flags = (metric.WritesCreated ? 0 : NoCreated) | (metric.Native ? Native : 0) |
                    (metric.SinceReset ? SinceReset : 0) | (metric.Summary ? Summary : 0),
                MaxBuckets = metric.MaxBuckets,
                // Zero is the library's word for one, and no divisor.
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
}
