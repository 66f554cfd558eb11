using System;
using System.Collections.Generic;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>Since when the counts are that a collector is sent.</summary>
    public enum Temporality : uint
    {
        /// <summary>Each request has the counts since their metrics were made, and replaces the one before.</summary>
        Cumulative = Constants.TemporalityCumulative,

        /// <summary>Each request has the counts since the last one that was accepted; the first all that there are.</summary>
        Delta = Constants.TemporalityDelta
    }

    /// <summary>Requests for one OpenTelemetry collector, of all that a registry has, and what it has accepted.</summary>
    /// <remarks>
    /// What is not accepted is in the next request too: a push that fails makes the next interval longer, without a queue and without a
    /// loss. Only where a time-out comes after the collector has accepted all, that interval is counted twice. Any thread may call
    /// anything, at any time.
    /// </remarks>
    public sealed unsafe class OtlpExport : IDisposable
    {
        /// <summary>The media type of a request.</summary>
        public const string MediaType = "application/x-protobuf";

        private readonly object _gate = new object();
        private readonly OtlpExportHandle _handle;

        /// <summary>An export that has no request yet.</summary>
        /// <param name="temporality">Since when its counts are.</param>
        /// <param name="resource">What is known of the program: <c>service.name</c> and others; null for nothing.</param>
        public OtlpExport(Temporality temporality = Temporality.Cumulative, IDictionary<string, string>? resource = null)
        {
            Arguments.Member((int)temporality, (int)Temporality.Delta, nameof(temporality));
            Loader.Ensure();
            using (var blocks = new NativeBlocks())
            {
                var options = new PicolloOtlpOptions
                {
                    StructSize = (uint)sizeof(PicolloOtlpOptions),
                    Temporality = (uint)temporality,
                    Resource = blocks.Labels(resource, nameof(resource), out int length),
                    ResourceLength = (UIntPtr)length
                };
                Outcome.Check(NativeMethods.picollo_otlp_export_create(&options, out _handle));
            }
        }

        /// <summary>
        /// Updates a registry, always the same, and makes a request of it. Where that fails, the request before is still there.
        /// </summary>
        public void Update(MetricRegistry registry)
        {
            if (registry == null)
                throw new ArgumentNullException(nameof(registry));
            lock (_gate)
                Outcome.Check(registry.UpdateExport(Live()));
        }

        /// <summary>
        /// The last request, an ExportMetricsServiceRequest, to be posted to <c>/v1/metrics</c>; empty once it was accepted, and before
        /// the first update.
        /// </summary>
        public byte[] Request()
        {
            lock (_gate)
            {
                OtlpExportHandle export = Live();
                return NativeText.ReadBytes((buffer, capacity, length) =>
                    NativeMethods.picollo_otlp_export_request(export, buffer, capacity, length));
            }
        }

        /// <summary>Notes that the collector has accepted the last request: the next difference counts from there.</summary>
        /// <exception cref="PicolloException">
        /// <see cref="PicolloStatus.Empty"/>: there is none that was not accepted yet.
        /// </exception>
        public void Accept()
        {
            lock (_gate)
                Outcome.Check(NativeMethods.picollo_otlp_export_accept(Live()));
        }

        /// <summary>Ends the export. The registry lives on.</summary>
        public void Dispose()
        {
            lock (_gate)
                _handle.Dispose();
        }

        private OtlpExportHandle Live()
        {
            if (_handle.IsClosed)
                throw new ObjectDisposedException(nameof(OtlpExport));
            return _handle;
        }
    }
}
