namespace Picollo.Metrics;

/// <summary>
/// Histograms, counters and gauges with names and labels, written for Prometheus, OpenTelemetry and similar systems.
/// </summary>
/// <remarks>
/// The registry keeps the counts of its histograms, not their objects: it still writes disposed ones. Any thread may
/// call any member at any time.
/// </remarks>
public sealed unsafe class MetricRegistry : IDisposable
{
    /// <summary>The media type of the text.</summary>
    public const string MediaType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    private delegate int AddMetric(RegistryHandle registry, PicolloMetricOptions* options, ulong* id, PicolloError* error);

    private readonly object _gate = new object();
    private readonly RegistryHandle _handle;

    /// <summary>An empty registry.</summary>
    public MetricRegistry()
    {
        Loader.Ensure();
        Outcome.Check(NativeMethods.picollo_registry_create(out _handle));
    }

    /// <summary>Adds a histogram. Until the next update it is written as empty.</summary>
    /// <param name="histogram">The histogram to write.</param>
    /// <param name="metric">Its description.</param>
    /// <param name="bounds">
    /// The largest values of the written buckets, as recorded, ascending. By default: one below each power of four in
    /// range, which are exact.
    /// </param>
    /// <returns>The argument for <see cref="Remove"/>.</returns>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: names, labels, unit, divisor or bounds are invalid, or this name
    /// with these labels is already taken.
    /// </exception>
    public ulong Add(HdrHistogram histogram, MetricOptions metric, params ulong[]? bounds)
    {
        ArgumentNullException.ThrowIfNull(histogram);
        return Add(metric, (registry, options, id, error) =>
        {
            fixed (ulong* start = bounds)
                return NativeMethods.picollo_registry_add(
                    registry, histogram.Handle, options, start, (UIntPtr)(bounds?.Length ?? 0), id, error);
        });
    }

    /// <summary>
    /// Adds a histogram of doubles. Updates read its counts since the last collection, so any other collection restarts
    /// the metric. By default the bounds are the powers of ten from 1e-6 to 1e6.
    /// </summary>
    /// <remarks>Otherwise like <see cref="Add(HdrHistogram, MetricOptions, ulong[])"/>.</remarks>
    public ulong Add(DoubleHistogram histogram, MetricOptions metric, params double[]? bounds)
    {
        ArgumentNullException.ThrowIfNull(histogram);
        return Add(metric, (registry, options, id, error) =>
        {
            fixed (double* start = bounds)
                return NativeMethods.picollo_registry_add_double(
                    registry, histogram.Handle, options, start, (UIntPtr)(bounds?.Length ?? 0), id, error);
        });
    }

    /// <summary>Adds a new counter, at zero. Its name may end with <c>_total</c>.</summary>
    /// <remarks>Otherwise like <see cref="Add(HdrHistogram, MetricOptions, ulong[])"/>.</remarks>
    public MetricCounter AddCounter(MetricOptions metric)
    {
        MetricCounterHandle? counter = null;
        ulong number = Add(metric, (registry, options, id, error) =>
            NativeMethods.picollo_registry_add_counter(registry, options, out counter, id, error));
        return new MetricCounter(counter!, number);
    }

    /// <summary>Adds a new gauge, at zero.</summary>
    /// <remarks>Otherwise like <see cref="Add(HdrHistogram, MetricOptions, ulong[])"/>.</remarks>
    public MetricGauge AddGauge(MetricOptions metric)
    {
        MetricGaugeHandle? gauge = null;
        ulong number = Add(metric, (registry, options, id, error) =>
            NativeMethods.picollo_registry_add_gauge(registry, options, out gauge, id, error));
        return new MetricGauge(gauge!, number);
    }

    /// <summary>
    /// Replaces the exemplars that are written with a histogram or counter. OpenMetrics has the latest in each
    /// bucket, Prometheus' Protocol Buffers these and for native histograms all with a time, OTLP all.
    /// </summary>
    /// <param name="id">From <see cref="Add(HdrHistogram, MetricOptions, ulong[])"/>, or the Id of a counter.</param>
    /// <param name="exemplars">In any order; an empty list removes the earlier ones.</param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: the id is unknown, a value is not finite, or labels are invalid or
    /// too long. <see cref="PicolloStatus.Unsupported"/>: gauges have no exemplars.
    /// </exception>
    public void SetExemplars(ulong id, params MetricExemplar[] exemplars)
    {
        ArgumentNullException.ThrowIfNull(exemplars);
        using var blocks = new NativeBlocks();
        var list = (PicolloMetricExemplar*)blocks.Allocate(checked(exemplars.Length * sizeof(PicolloMetricExemplar)));
        for (int at = 0; at < exemplars.Length; at++)
            list[at] = (exemplars[at] ?? throw new ArgumentNullException(nameof(exemplars))).ToNative(blocks);
        PicolloError error;
        lock (_gate)
            Outcome.Check(NativeMethods.picollo_registry_set_exemplars(Live(), id, list, (UIntPtr)exemplars.Length, &error), &error);
    }

    /// <summary>The format for a request's <c>Accept</c> header, and the answer's <c>Content-Type</c>.</summary>
    /// <param name="accept">The header; null or empty without one.</param>
    /// <param name="contentType">The value of the <c>Content-Type</c> header.</param>
    public static ExpositionFormat Negotiate(string? accept, out string contentType)
    {
        Loader.Ensure();
        // The library reads only up to a NUL.
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

    /// <summary>Removes a histogram, counter or gauge.</summary>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: the id is unknown.
    /// </exception>
    public void Remove(ulong id)
    {
        int status;
        lock (_gate)
            status = NativeMethods.picollo_registry_remove(Live(), id);
        if (status == (int)PicolloStatus.InvalidArgument)
            throw new PicolloException(PicolloStatus.InvalidArgument, $"No metric of the registry has the number {id}.", 0, -1);
        Outcome.Check(status);
    }

    /// <summary>Takes all counts, those of histograms since their creation, while others record and reset.</summary>
    public void Update()
    {
        lock (_gate)
            Outcome.Check(NativeMethods.picollo_registry_update(Live()));
    }

    /// <summary>The counts of the last update, as OpenMetrics text.</summary>
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

    /// <summary>The counts of the last update, in a format.</summary>
    public byte[] Encode(ExpositionFormat format)
    {
        Arguments.Member((int)format, (int)ExpositionFormat.Otlp, nameof(format));
        lock (_gate)
        {
            RegistryHandle registry = Live();
            return NativeText.ReadBytes((buffer, capacity, length) =>
                NativeMethods.picollo_registry_encode(registry, (uint)format, buffer, capacity, length));
        }
    }

    /// <summary>Updates, and writes OpenMetrics text: the answer to a scrape.</summary>
    public void Scrape(TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(output);
        string text;
        lock (_gate)
        {
            Update();
            text = Format();
        }
        output.Write(text);
    }

    /// <summary>Serves the metrics over HTTP to scrapers until the server is disposed. Each scrape updates.</summary>
    /// <param name="address">
    /// <c>127.0.0.1:9464</c>, which is the default, or another with a port; a port, which is then one of 127.0.0.1; or
    /// <c>unix:PATH</c>. Port 0 is one that is free: see <see cref="MetricsServer.Address"/>.
    /// </param>
    /// <param name="options">Null: the defaults.</param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: the address or an option is invalid. <see cref="PicolloStatus.Os"/>:
    /// the address is in use.
    /// </exception>
    public MetricsServer Serve(string? address = null, MetricsServerOptions? options = null)
    {
        lock (_gate)
            return new MetricsServer(Live(), address, options);
    }

    /// <summary>Closes the registry. The histograms stay valid.</summary>
    public void Dispose()
    {
        lock (_gate)
            _handle.Dispose();
    }

    /// <summary>Takes the exemplars of an interval: see <see cref="ExemplarCollector.Publish"/>.</summary>
    internal void Publish(ExemplarsHandle exemplars, ulong id)
    {
        PicolloError error;
        lock (_gate)
            Outcome.Check(NativeMethods.picollo_exemplars_publish(exemplars, Live(), id, &error), &error);
    }

    private ulong Add(MetricOptions metric, AddMetric add)
    {
        ArgumentNullException.ThrowIfNull(metric);
        using var blocks = new NativeBlocks();
        PicolloMetricOptions options = metric.ToNative(blocks);
        ulong id;
        PicolloError error;
        lock (_gate)
            Outcome.Check(add(Live(), &options, &id, &error), &error);
        return id;
    }

    private RegistryHandle Live() => NativeHandle.Live(_handle, this);
}
