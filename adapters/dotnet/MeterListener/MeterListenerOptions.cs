namespace Picollo.Metrics;

/// <summary>What a <see cref="PicolloMeterListener"/> listens to, and how it counts.</summary>
public sealed class MeterListenerOptions
{
    private double _relativeError = 0.01;
    private int _tagSets = 2000, _instruments = 1000;

    /// <summary>
    /// Which histograms, and gauges where these are asked for, are listened to; null: all. What it throws means no.
    /// </summary>
    public Func<Instrument, bool>? Filter { get; set; }

    /// <summary>
    /// Whether gauges are listened to as well, as distributions of what they showed: each time that <see cref="PicolloMeterListener.Observe"/>
    /// asks observable ones, and each time that others are set. Counters never are: a sum has no distribution.
    /// </summary>
    public bool Gauges { get; set; }

    /// <summary>
    /// What values of an instrument are multiplied by before they are rounded and counted; null, or an answer of null: what follows from its
    /// unit and the type of its numbers. What it throws, and what is not finite and above 0, means null.
    /// </summary>
    public Func<Instrument, double?>? Scale { get; set; }

    /// <summary>The largest relative error of a value, 0.000001 to below 1, of which no more than 0.1 is used.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is not in that range.</exception>
    public double RelativeError
    {
        get => _relativeError;
        set => _relativeError = value >= 1e-6 && value < 1
            ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A relative error is from 0.000001 to below 1.");
    }

    /// <summary>
    /// Sets of tags that an instrument may have. What comes with others is counted in one set more, whose only tag is
    /// <c>otel.metric.overflow</c>, true.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">It is not 1 to 1,000,000.</exception>
    public int TagSets
    {
        get => _tagSets;
        set => _tagSets = Limit(value, nameof(value));
    }

    /// <summary>Instruments of different names, meters or units that are listened to; others are refused.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is not 1 to 1,000,000.</exception>
    public int Instruments
    {
        get => _instruments;
        set => _instruments = Limit(value, nameof(value));
    }

    /// <summary>Where the histograms are shown as well; null: in a registry of the listener's own.</summary>
    public MetricRegistry? Registry { get; set; }

    /// <summary>
    /// Whether names in the registry end with the unit, as those of OpenTelemetry's exporters for Prometheus do
    /// (<c>http_client_request_duration_seconds</c>); false for a registry that is only pushed by OTLP.
    /// </summary>
    public bool AppendsUnits { get; set; } = true;

    internal MeterListenerOptions Copy() => (MeterListenerOptions)MemberwiseClone();

    private static int Limit(int value, string name) =>
        value is >= 1 and <= 1_000_000 ? value : throw new ArgumentOutOfRangeException(name, value, "A limit is 1 to 1,000,000.");
}
