namespace Picollo.Metrics;

/// <summary>The formats that a registry is written in.</summary>
public enum ExpositionFormat : uint
{
    /// <summary>OpenMetrics text, 1.0.</summary>
    OpenMetrics = Constants.ExpositionOpenmetrics,

    /// <summary>Prometheus' text, 0.0.4.</summary>
    PrometheusText = Constants.ExpositionPrometheusText,

    /// <summary>Prometheus' Protocol Buffers, which alone have native histograms.</summary>
    PrometheusProtobuf = Constants.ExpositionPrometheusProtobuf,

    /// <summary>OpenTelemetry's protocol, with exponential histograms.</summary>
    Otlp = Constants.ExpositionOtlp
}
