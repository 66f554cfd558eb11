using System.Diagnostics.Tracing;
using System.Globalization;

namespace Picollo.Tests;

/// <summary>Compares with the runtime's own aggregator, which dotnet-counters and dotnet-monitor use.</summary>
public static class RuntimeTests
{
    /// <summary>Listens to the runtime aggregator's output for a meter, each second.</summary>
    private sealed class Aggregated : EventListener
    {
        internal readonly Dictionary<string, (ulong Count, double[] Quantiles)> Last = new Dictionary<string, (ulong, double[])>();
        internal readonly Semaphore Ended = new Semaphore(0, int.MaxValue);
        internal string Fault;

        internal Aggregated(string meter)
        {
            EventSource source = EventSource.GetSources().Single(one => one.Name == "System.Diagnostics.Metrics");
            EnableEvents(source, EventLevel.Informational, (EventKeywords)2, new Dictionary<string, string>
            {
                { "SessionId", "test" }, { "Metrics", meter }, { "RefreshInterval", "1" }, { "MaxTimeSeries", "1000" }, { "MaxHistograms", "1000" }
            });
        }

        protected override void OnEventWritten(EventWrittenEventArgs data)
        {
            if (data.EventName == "CollectionStop")
                Ended.Release();
            else if (data.EventName == "Error")
                Fault = string.Join(", ", data.Payload);
            else if (data.EventName == "HistogramValuePublished")
            {
                object Field(string name) => data.Payload[data.PayloadNames.IndexOf(name)];
                double[] quantiles = ((string)Field("quantiles")).Split(';', StringSplitOptions.RemoveEmptyEntries)
                    .Select(one => double.Parse(one.Split('=')[1], CultureInfo.InvariantCulture)).ToArray();
                lock (Last)
                    Last[(string)Field("tags")] = (Convert.ToUInt64(Field("count"), CultureInfo.InvariantCulture), quantiles);
            }
        }
    }

    [Test]
    public static void TheSameNumbersAsTheRuntimesAggregator()
    {
        using var listened = new Listened();
        Histogram<double> histogram = listened.Meter.CreateHistogram<double>("x", "s");
        using var aggregated = new Aggregated(listened.Meter.Name);
        const int Values = 30_000;
        var random = new Random(1);
        double[] values = Enumerable.Range(0, Values).Select(_ => 1e-5 * Math.Pow(10, 3 * random.NextDouble())).ToArray();
        // All values must be in one of its intervals of a second: if not, tries again.
        for (int attempt = 1; ; attempt++)
        {
            Check.True(attempt <= 30, $"no interval has had all values. {aggregated.Fault}");
            Check.True(aggregated.Ended.WaitOne(30_000), "the runtime collects");
            lock (aggregated.Last)
                aggregated.Last.Clear();
            for (int i = 0; i < Values; i++)
                histogram.Record(values[i], Listened.Tag("half", i % 2), Listened.Tag("route", "/"));
            while (true)
            {
                Check.True(aggregated.Ended.WaitOne(30_000), "the runtime collects");
                lock (aggregated.Last)
                    if (aggregated.Last.Count == 2)
                        break;
            }
            lock (aggregated.Last)
            {
                if (aggregated.Last.Values.Any(one => one.Count != Values / 2))
                    continue;
                foreach (MeteredHistogram ours in listened.Listener.Histograms)
                {
                    string half = ours.Tags[0].Value.ToString();
                    (ulong count, double[] quantiles) = aggregated.Last.Single(one => one.Key.Contains("half=" + half)).Value;
                    Check.Equal((ulong)(attempt * Values / 2), ours.Count, "counts");
                    Check.Equal(count, ours.Count / (ulong)attempt, "counts of one interval");
                    double[] sorted = values.Where((_, i) => i % 2 == ours.Tags[0].Value as int?).OrderBy(value => value).ToArray();
                    double[] ranks = { 50, 95, 99 };
                    for (int i = 0; i < ranks.Length; i++)
                    {
                        double value = ours.GetPercentileValue(ranks[i]), truth = sorted[(int)(ranks[i] / 100 * sorted.Length) - 1];
                        Check.Near(truth, value, 0.01, $"P{ranks[i]}, the truth");
                        // It may itself be wrong by 0.1 %, and takes the next of 15,000 values.
                        Check.Near(quantiles[i], value, 0.013, $"P{ranks[i]}, the runtime's");
                    }
                }
                return;
            }
        }
    }
}
