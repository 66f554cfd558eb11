using System.Text.Json;
using System.Text.Json.Serialization;

namespace Picollo.Metrics;

[JsonConverter(typeof(HdrHistogramSummaryConverter))]
public sealed partial class HdrHistogramSummary
{
}

/// <summary>Writes a summary as <see cref="TextFormat.Json"/>: see <see cref="HdrHistogramSummary.Format"/>.</summary>
internal sealed class HdrHistogramSummaryConverter : JsonConverter<HdrHistogramSummary>
{
    public override HdrHistogramSummary Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        throw new NotSupportedException("A summary is not read from JSON. Keep the counts: HdrHistogramSnapshot.Encode and Decode.");

    public override void Write(Utf8JsonWriter writer, HdrHistogramSummary value, JsonSerializerOptions options) =>
        writer.WriteRawValue(value.Format(null, TextFormat.Json));
}
