using System;
using System.Collections.Generic;
using System.IO;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>What a histogram, counter or gauge is known as in a registry.</summary>
    public sealed class MetricOptions
    {
        /// <summary>Letters, digits, underscores and colons, and no digit first: <c>request_seconds</c>.</summary>
        public string Name { get; set; }

        /// <summary>What it means, for people; the same for all of one name.</summary>
        public string Help { get; set; }

        /// <summary>Such as <c>seconds</c>, which the name has to end with, after an underscore; the same for all of one name.</summary>
        public string Unit { get; set; }

        /// <summary>Values and bounds are divided by this before they are written: 1e9 for nanoseconds that are to be seconds.</summary>
        public double Divisor { get; set; } = 1;

        /// <summary>What tells histograms of one name apart, such as <c>method</c> and <c>GET</c>.</summary>
        public IDictionary<string, string> Labels { get; set; } = new Dictionary<string, string>();

        /// <summary>Since when there are counts; null: now.</summary>
        public DateTime? CreatedUtc { get; set; }

        /// <summary>Whether to tell since when there are counts.</summary>
        public bool WritesCreated { get; set; } = true;

        /// <summary>
        /// Whether Prometheus is to have a native histogram where its format has them. Servers then drop the buckets at bounds.
        /// </summary>
        public bool Native { get; set; }

        /// <summary>How many exponential buckets may have counts before they become coarser; 0: 320.</summary>
        public uint MaxBuckets { get; set; }

        /// <summary>Whether to write the counts since the last reset, a restart to collectors, rather than all.</summary>
        public bool SinceReset { get; set; }
    }

    /// <summary>
    /// Histograms, counters and gauges with names and labels, written for Prometheus, OpenTelemetry and their like.
    /// </summary>
    /// <remarks>
    /// The registry keeps the counts of its histograms, not their objects: those that were disposed are written on. Any thread may
    /// call anything, at any time.
    /// </remarks>
    public sealed unsafe class MetricRegistry : IDisposable
    {
        /// <summary>The media type of what is written.</summary>
        public const string MediaType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

        private readonly object _gate = new object();
        private readonly RegistryHandle _handle;

        /// <summary>A registry of nothing.</summary>
        public MetricRegistry()
        {
            Loader.Ensure();
            Outcome.Check(NativeMethods.picollo_registry_create(out _handle));
        }

        /// <summary>Adds a histogram. Until the next update it is written as empty.</summary>
        /// <param name="histogram">What to write.</param>
        /// <param name="metric">What it is known as.</param>
        /// <param name="bounds">
        /// The largest values of the buckets that are written, as recorded, ascending. None: one below each power of four in range,
        /// which are exact.
        /// </param>
        /// <returns>What <see cref="Remove"/> takes.</returns>
        /// <exception cref="PicolloException">
        /// <see cref="PicolloStatus.InvalidArgument"/>: names, labels, unit, divisor or bounds are not as they have to be, or there is
        /// one of this name and these labels already.
        /// </exception>
        public ulong Add(HdrHistogram histogram, MetricOptions metric, params ulong[] bounds)
        {
            if (histogram == null)
                throw new ArgumentNullException(nameof(histogram));
            ulong id;
            using (var native = new NativeMetric(metric))
            fixed (ulong* start = bounds)
            {
                PicolloMetricOptions options = native.Options;
                lock (_gate)
                    Outcome.Check(NativeMethods.picollo_registry_add(
                        Live(), histogram.Handle, &options, start, (UIntPtr)(bounds?.Length ?? 0), &id));
            }
            return id;
        }

        /// <summary>
        /// Adds a histogram of doubles, of which updates look at the counts since its last collection: to collect it otherwise starts
        /// the metric anew. Without bounds there are those of each power of ten from 1e-6 to 1e6.
        /// </summary>
        /// <remarks>Otherwise as <see cref="Add(HdrHistogram, MetricOptions, ulong[])"/>.</remarks>
        public ulong Add(DoubleHistogram histogram, MetricOptions metric, params double[] bounds)
        {
            if (histogram == null)
                throw new ArgumentNullException(nameof(histogram));
            ulong id;
            using (var native = new NativeMetric(metric))
            fixed (double* start = bounds)
            {
                PicolloMetricOptions options = native.Options;
                lock (_gate)
                    Outcome.Check(NativeMethods.picollo_registry_add_double(
                        Live(), histogram.Handle, &options, start, (UIntPtr)(bounds?.Length ?? 0), &id));
            }
            return id;
        }

        /// <summary>Adds a new counter, at zero. Its name may end with <c>_total</c>.</summary>
        /// <remarks>Otherwise as <see cref="Add(HdrHistogram, MetricOptions, ulong[])"/>.</remarks>
        public MetricCounter AddCounter(MetricOptions metric)
        {
            ulong id;
            MetricCounterHandle counter;
            using (var native = new NativeMetric(metric))
            {
                PicolloMetricOptions options = native.Options;
                lock (_gate)
                    Outcome.Check(NativeMethods.picollo_registry_add_counter(Live(), &options, out counter, &id));
            }
            return new MetricCounter(counter, id);
        }

        /// <summary>Adds a new gauge, at zero.</summary>
        /// <remarks>Otherwise as <see cref="Add(HdrHistogram, MetricOptions, ulong[])"/>.</remarks>
        public MetricGauge AddGauge(MetricOptions metric)
        {
            ulong id;
            MetricGaugeHandle gauge;
            using (var native = new NativeMetric(metric))
            {
                PicolloMetricOptions options = native.Options;
                lock (_gate)
                    Outcome.Check(NativeMethods.picollo_registry_add_gauge(Live(), &options, out gauge, &id));
            }
            return new MetricGauge(gauge, id);
        }

        /// <summary>The format for a request with this header <c>Accept</c>, and the <c>Content-Type</c> of the answer.</summary>
        /// <param name="accept">The header; null or empty: there is none.</param>
        /// <param name="contentType">What HTTP is to call the answer.</param>
        public static ExpositionFormat Negotiate(string accept, out string contentType)
        {
            Loader.Ensure();
            // The library sees no further than a NUL.
            byte[] header = System.Text.Encoding.UTF8.GetBytes((accept ?? string.Empty) + "\0");
            uint format = 0;
            contentType = NativeText.Read((buffer, capacity, length) =>
            {
                uint found;
                int status;
                fixed (byte* start = header)
                    status = NativeMethods.picollo_registry_negotiate(start, &found, buffer, capacity, length);
                format = found;
                return status;
            });
            return (ExpositionFormat)format;
        }

        /// <summary>Takes a histogram, counter or gauge out.</summary>
        /// <exception cref="PicolloException">
        /// <see cref="PicolloStatus.InvalidArgument"/>: there is none of this number.
        /// </exception>
        public void Remove(ulong id)
        {
            lock (_gate)
                Outcome.Check(NativeMethods.picollo_registry_remove(Live(), id));
        }

        /// <summary>Takes the counts of all, of histograms since they were made, while others record and reset.</summary>
        public void Update()
        {
            int status, tries = 0;
            lock (_gate)
                do
                    status = NativeMethods.picollo_registry_update(Live());
                while (Outcome.Again(status, ref tries));
            Outcome.Check(status);
        }

        /// <summary>What the last update has taken, as OpenMetrics text.</summary>
        public string Format()
        {
            lock (_gate)
            {
                RegistryHandle registry = Live();
                return NativeText.Read((buffer, capacity, length) =>
                    NativeMethods.picollo_registry_encode(
                        registry, Constants.ExpositionOpenmetrics, buffer, capacity, length));
            }
        }

        /// <summary>What the last update has taken, in a format.</summary>
        /// <exception cref="PicolloException"><see cref="PicolloStatus.InvalidArgument"/>: there is no such format.</exception>
        public byte[] Encode(ExpositionFormat format)
        {
            lock (_gate)
            {
                RegistryHandle registry = Live();
                return NativeText.ReadBytes((buffer, capacity, length) =>
                    NativeMethods.picollo_registry_encode(registry, (uint)format, buffer, capacity, length));
            }
        }

        /// <summary>Updates, and writes OpenMetrics text: what a scrape asks for.</summary>
        public void Scrape(TextWriter output)
        {
            if (output == null)
                throw new ArgumentNullException(nameof(output));
            string text;
            lock (_gate)
            {
                Update();
                text = Format();
            }
            output.Write(text);
        }

        /// <summary>Ends the registry. The histograms live on.</summary>
        public void Dispose()
        {
            lock (_gate)
                _handle.Dispose();
        }

        private RegistryHandle Live()
        {
            if (_handle.IsClosed)
                throw new ObjectDisposedException(nameof(MetricRegistry));
            return _handle;
        }

        /// <summary>The options in native memory, for the time of a call: the library copies them.</summary>
        internal sealed class NativeMetric : IDisposable
        {
            private const uint NoCreated = Constants.MetricNoCreated;
            private const uint Native = Constants.MetricNative;
            private const uint SinceReset = Constants.MetricSinceReset;

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
                int count = metric.Labels?.Count ?? 0;
                var labels = (PicolloLabel*)_blocks.Allocate(count * sizeof(PicolloLabel));
                int index = 0;
                if (count != 0)
                    foreach (KeyValuePair<string, string> label in metric.Labels)
                    {
                        if (index == count)
                            throw new InvalidOperationException("The labels were changed meanwhile.");
                        labels[index].Name = _blocks.Text(label.Key, "Labels");
                        labels[index++].Value = _blocks.Text(label.Value, "Labels");
                    }
                return new PicolloMetricOptions
                {
                    StructSize = (uint)sizeof(PicolloMetricOptions),
                    Flags = (metric.WritesCreated ? 0 : NoCreated) | (metric.Native ? Native : 0) |
                        (metric.SinceReset ? SinceReset : 0),
                    MaxBuckets = metric.MaxBuckets,
                    // Zero is the library's word for one, and no divisor.
                    Divisor = metric.Divisor == 0 ? double.NaN : metric.Divisor,
                    LabelsLength = (ulong)index,
                    CreatedUnixNanos = Nanos(metric.CreatedUtc),
                    Name = _blocks.Text(metric.Name, "Name"),
                    Help = _blocks.Text(metric.Help, "Help"),
                    Unit = _blocks.Text(metric.Unit, "Unit"),
                    Labels = labels
                };
            }

            private static ulong Nanos(DateTime? time)
            {
                if (!time.HasValue)
                    return 0;
                long ticks = (time.Value.ToUniversalTime() - new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc)).Ticks;
                return ticks < 0 ? 0 : (ulong)ticks * 100;
            }
        }
    }
}
