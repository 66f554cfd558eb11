namespace Picollo.Metrics;

/// <summary>One observation that is written with a metric as an example, with links to its origin.</summary>
public sealed unsafe class MetricExemplar
{
    /// <summary>As recorded: it is divided like the metric's values.</summary>
    public double Value { get; set; }

    /// <summary>When it happened; null if unknown.</summary>
    public DateTime? TimeUtc { get; set; }

    /// <summary>
    /// Its trace: 32 hexadecimal digits, like <c>Activity.Current.TraceId.ToHexString()</c>; null for none.
    /// </summary>
    public string? TraceId { get; set; }

    /// <summary>Its span: 16 hexadecimal digits; null for none.</summary>
    public string? SpanId { get; set; }

    /// <summary>
    /// Other labels. Names and values are up to 128 characters in all, of which a trace takes 40 and a span 23.
    /// </summary>
    public IDictionary<string, string>? Labels { get; set; } = new Dictionary<string, string>();

    internal PicolloMetricExemplar ToNative(NativeBlocks blocks)
    {
        var native = new PicolloMetricExemplar { Value = Value, UnixNanos = UnixTime.Nanos(TimeUtc) };
        HexDigits.Read(TraceId, native.TraceId, PicolloMetricExemplar.TraceIdLength, nameof(TraceId));
        HexDigits.Read(SpanId, native.SpanId, PicolloMetricExemplar.SpanIdLength, nameof(SpanId));
        native.Labels = blocks.Labels(Labels, nameof(Labels), out int length);
        native.LabelsLength = (UIntPtr)length;
        return native;
    }
}
