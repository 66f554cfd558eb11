#if NET8_0_OR_GREATER
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using Picollo.Metrics;

namespace Picollo.Tests
{
    /// <summary>Summaries through System.Text.Json.</summary>
    public static class JsonTests
    {
        private static HdrHistogram Recorded(HdrHistogram histogram, params ulong[] values)
        {
            histogram.Record(values);
            return histogram;
        }

        private static IEnumerable<HdrHistogramSummary> Summaries()
        {
            yield return HdrHistogram.Create().GetSummary();
            yield return new HdrHistogramSummary();
            yield return Recorded(HdrHistogram.Create(), Example.First).GetSummary();
            yield return Recorded(HdrHistogram.Create(), 0, ulong.MaxValue).GetSummary();
            yield return Recorded(HdrHistogram.Factory.WithScalable().Create(), Example.Second).GetSummary();
            yield return Recorded(
                HdrHistogram.Factory.WithMinTrackableValue(2000).WithMaxTrackableValue(5000).Create(), Example.First).GetSummary();
            HdrHistogram histogram = Recorded(HdrHistogram.Factory.WithSignificantDigits(1).Create(), Example.First);
            foreach (var selection in new[] { EquivalentValueSelection.LowerBound, EquivalentValueSelection.UpperBound, EquivalentValueSelection.Interpolated })
            {
                Percentile.DefaultEquivalentValueSelection = selection;
                try
                {
                    yield return histogram.GetSummary();
                }
                finally
                {
                    Percentile.DefaultEquivalentValueSelection = EquivalentValueSelection.Default;
                }
            }
        }

        [Test]
        public static void RoundTrip()
        {
            foreach (HdrHistogramSummary summary in Summaries())
            {
                string json = JsonSerializer.Serialize(summary);
                HdrHistogramSummary back = JsonSerializer.Deserialize<HdrHistogramSummary>(json);
                Check.True(summary == back, json);
                Check.Equal(summary.Format("t"), back.Format("t"), "the texts");
                Check.Equal(summary.IsApproximate, back.IsApproximate);
                for (int i = 0; i < 16; i++)
                {
                    Check.Equal(summary.Percentiles[i].RunningCount, back.Percentiles[i].RunningCount);
                    Check.Equal(summary.Percentiles[i].RunningCountBefore, back.Percentiles[i].RunningCountBefore);
                }
                Check.Equal(json, JsonSerializer.Serialize(back));
                // As a member of something else, and indented.
                var options = new JsonSerializerOptions { WriteIndented = true };
                var many = JsonSerializer.Deserialize<Dictionary<string, HdrHistogramSummary[]>>(
                    JsonSerializer.Serialize(new Dictionary<string, HdrHistogramSummary[]> { { "a", new[] { summary, null } } }, options));
                Check.True(many["a"][0] == summary && many["a"][1] == null, "inside");
            }
        }

        /// <summary>The library's own text has the same members, and is read as well.</summary>
        [Test]
        public static void TheLibrarysText()
        {
            foreach (HdrHistogramSummary summary in Summaries())
            {
                string text = summary.Format("a title", TextFormat.Json);
                Check.True(JsonSerializer.Deserialize<HdrHistogramSummary>(text) == summary, text);
                using (JsonDocument ours = JsonDocument.Parse(JsonSerializer.Serialize(summary)), native = JsonDocument.Parse(text))
                {
                    Check.Equal(Names(native.RootElement).Replace("title,", ""), Names(ours.RootElement));
                    JsonElement last = ours.RootElement.GetProperty("percentiles")[15];
                    Check.Equal(Names(native.RootElement.GetProperty("percentiles")[15]),
                        Names(last).Replace("running_count_before,", ""));
                    Check.Equal(double.IsNaN(summary.Mean), ours.RootElement.GetProperty("mean").ValueKind == JsonValueKind.Null, "NaN is null");
                }
            }
        }

        private static string Names(JsonElement json) => string.Join(",", json.EnumerateObject().Select(member => member.Name));

        [Test]
        public static void WhatIsNoSummary()
        {
            string good = JsonSerializer.Serialize(Recorded(HdrHistogram.Create(), 5).GetSummary());
            foreach (string bad in new[]
            {
                "{}", "[]", "5", "\"x\"", good.Replace("\"mean\":5", "\"mean\":\"5\""), good.Replace("\"total_count\":1", "\"total_count\":-1"),
                good.Replace("midpoint", "middle"), good.Replace("\"rank\":99,", ""), good.Replace("\"percentiles\":[", "\"percentiles\":[null,")
            })
            {
                Check.True(bad != good, "a change");
                Check.Throws<JsonException>(() => JsonSerializer.Deserialize<HdrHistogramSummary>(bad), bad);
            }
            Check.True(JsonSerializer.Deserialize<HdrHistogramSummary>("null") == null, "null");
        }
    }
}
#endif
