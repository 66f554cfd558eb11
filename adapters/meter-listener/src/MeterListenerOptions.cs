namespace Picollo.Metrics;

/// <summary>Which instruments a <see cref="PicolloMeterListener"/> listens to, and how it counts.</summary>
public sealed class MeterListenerOptions
{
    private double _relativeError = 0.01;
    private int _tagSets = 2000, _instruments = 1000;

    /// <summary>
    /// Selects the histograms, and gauges if requested, to listen to; null: all. If it throws, the answer is no.
    /// </summary>
    public Func<Instrument, bool>? Filter { get; set; }

    /// <summary>
    /// Whether to listen to gauges as well, as distributions of their values: at each
    /// <see cref="PicolloMeterListener.Observe"/> for observable ones, and at each set for others. Counters never: a
    /// sum has no distribution.
    /// </summary>
    public bool Gauges { get; set; }

    /// <summary>
    /// The factor for an instrument's values before they are rounded and counted. Null, or an answer of null, selects
    /// it by the unit and the type of the numbers. So does an exception, or a factor that is not finite and above 0.
    /// </summary>
    public Func<Instrument, double?>? Scale { get; set; }

    /// <summary>The largest relative error of a value, 0.000001 to below 1; at most 0.1 is used.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is not in that range.</exception>
    public double RelativeError
    {
        get => _relativeError;
        set => _relativeError = value >= 1e-6 && value < 1
            ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A relative error is from 0.000001 to below 1.");
    }

    /// <summary>
    /// The maximum number of tag sets of an instrument. Measurements with other tags are counted in one additional set,
    /// whose only tag is <c>otel.metric.overflow</c>, true.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">It is not 1 to 1,000,000.</exception>
    public int TagSets
    {
        get => _tagSets;
        set => _tagSets = Limit(value, nameof(value));
    }

    /// <summary>The maximum number of instruments with different names, meters or units; others are refused.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is not 1 to 1,000,000.</exception>
    public int Instruments
    {
        get => _instruments;
        set => _instruments = Limit(value, nameof(value));
    }

    /// <summary>The registry that also shows the histograms; null: the listener makes one.</summary>
    public MetricRegistry? Registry { get; set; }

    /// <summary>
    /// Whether names in the registry end with the unit, as with OpenTelemetry's exporters for Prometheus
    /// (<c>http_client_request_duration_seconds</c>); false for a registry that is only pushed by OTLP.
    /// </summary>
    public bool AppendsUnits { get; set; } = true;

    internal MeterListenerOptions Copy() => (MeterListenerOptions)MemberwiseClone();

    private static int Limit(int value, string name) =>
        value is >= 1 and <= 1_000_000 ? value : throw new ArgumentOutOfRangeException(name, value, "A limit is 1 to 1,000,000.");
}
