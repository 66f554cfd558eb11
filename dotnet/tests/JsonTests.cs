using System.Text.Json;

namespace Picollo.Tests;

/// <summary>Summaries through System.Text.Json.</summary>
public static class JsonTests
{
    [Test]
    public static void ASummaryIsTheLibrarysText()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        histogram.Record(Example.First);
        foreach (HdrHistogramSummary summary in new[] { histogram.GetSummary(), new HdrHistogramSummary() })
        {
            Check.Equal(summary.Format(null, TextFormat.Json), JsonSerializer.Serialize(summary));
            string inside = JsonSerializer.Serialize(new { latency = new[] { summary, null } });
            using JsonDocument document = JsonDocument.Parse(inside);
            JsonElement first = document.RootElement.GetProperty("latency")[0];
            Check.Equal(summary.TotalCount, first.GetProperty("total_count").GetUInt64(), inside);
            Check.Equal(double.IsNaN(summary.Mean), first.GetProperty("mean").ValueKind == JsonValueKind.Null, "NaN is null");
        }
        Check.Throws<NotSupportedException>(() => JsonSerializer.Deserialize<HdrHistogramSummary>("{}"));
    }
}
