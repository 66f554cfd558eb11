namespace Picollo.Tests;

/// <summary>Registries, and counters that threads share.</summary>
public static class FamilyTests
{
    [Test]
    public static void NothingIsAllocated()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        var counters = new Counters();
        var buffer = new byte[1 << 20];
        HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
        AllocationTests.Nothing("AddScalable", () => SharedCounter.AddScalable(ref counters.Scalable));
        AllocationTests.Nothing("TryEncode", () => snapshot.TryEncode(buffer, out _));
    }

    [Test]
    public static void OpenMetrics()
    {
        HdrHistogram latency = HdrHistogram.Create(), other = HdrHistogram.Create();
        DoubleHistogram skew = DoubleHistogram.Create();
        using var registry = new MetricRegistry();
        var get = new MetricOptions
        {
            Name = "request_seconds", Unit = "seconds", Help = "How long \"it\" took.\nIn all.", Divisor = 1e9,
            Labels = new Dictionary<string, string> { { "method", "GET" }, { "path", "/é\"\\" } },
            CreatedUtc = new DateTime(2024, 1, 1, 0, 0, 0, DateTimeKind.Utc)
        };
        ulong id = registry.Add(latency, get, 999999, 1000000000);
        get.Labels = new Dictionary<string, string> { { "method", "POST" } };
        get.WritesCreated = false;
        registry.Add(other, get);
        registry.Add(skew, new MetricOptions { Name = "skew" }, 0.5, 1);
        latency.Record(500000, 3);
        latency.Record(50000000);
        skew.Record(0.25);
        registry.Update();
        string text = registry.Format();
        foreach (string line in new[]
        {
            "# TYPE request_seconds histogram", "# UNIT request_seconds seconds",
            "request_seconds_bucket{method=\"GET\",path=\"/é\\\"\\\\\",le=\"1.0\"} 4",
            "request_seconds_count{method=\"GET\",path=\"/é\\\"\\\\\"} 4", "request_seconds_count{method=\"POST\"} 0",
            "skew_bucket{le=\"0.5\"} 1", "skew_count 1", "# EOF"
        })
            Check.True(text.Split('\n').Contains(line), $"{line} in\n{text}");
        Check.True(text.Contains("_created{method=\"GET\""), "since when");
        Check.True(!text.Contains("_created{method=\"POST\""), "not since when");
        registry.Remove(id);
        Check.Fails(PicolloStatus.InvalidArgument, () => registry.Remove(id));
        var output = new StringWriter();
        registry.Scrape(output);
        Check.True(!output.ToString().Contains("GET") && output.ToString().EndsWith("# EOF\n"), "removed");
        // The counts stay after the object is gone.
        other.Record(1);
        other.Dispose();
        registry.Update();
        Check.True(registry.Format().Contains("request_seconds_count{method=\"POST\"} 1"), "disposed");
    }

    [Test]
    public static void CountersGaugesAndFormats()
    {
        MetricCounter hits;
        using (var registry = new MetricRegistry())
        {
            HdrHistogram latency = HdrHistogram.Create();
            registry.Add(latency, new MetricOptions { Name = "all", Native = true, MaxBuckets = 10, WritesCreated = false }, 7);
            registry.Add(latency, new MetricOptions { Name = "some", SinceReset = true, WritesCreated = false }, 7);
            hits = registry.AddCounter(new MetricOptions { Name = "hits_total", WritesCreated = false });
            MetricGauge depth = registry.AddGauge(new MetricOptions { Name = "queue.depth" });
            Check.Fails(PicolloStatus.InvalidArgument, () => registry.AddCounter(new MetricOptions { Name = "hits" }));
            Check.Fails(PicolloStatus.InvalidArgument, () => registry.AddGauge(new MetricOptions { Name = "queue_depth" }));
            latency.Record(5, 3);
            latency.Reset();
            latency.Record(5);
            hits.Add();
            hits.Add(4);
            depth.Set(2);
            depth.Add(-3.5);
            Check.True(hits.Value == 5 && depth.Value == -1.5, "values");
            registry.Update();
            string text = System.Text.Encoding.UTF8.GetString(registry.Encode(ExpositionFormat.PrometheusText));
            foreach (string line in new[] { "all_count 4", "some_count 1", "hits_total 5", "queue_depth -1.5" })
                Check.True(text.Split('\n').Contains(line), $"{line} in\n{text}");
            Check.True(registry.Format() == System.Text.Encoding.UTF8.GetString(registry.Encode(ExpositionFormat.OpenMetrics)), "text");
            byte[] messages = registry.Encode(ExpositionFormat.PrometheusProtobuf), request = registry.Encode(ExpositionFormat.Otlp);
            Check.True(messages.Length > 50 && request[0] == 10, "protocol buffers");
            registry.Remove(hits.Id);
            registry.Remove(depth.Id);
        }
        hits.Add();
        Check.True(hits.Value == 6, "it outlives its registry");
        Check.True(MetricRegistry.Negotiate(null, out string type) == ExpositionFormat.PrometheusText, type);
        Check.True(type == "text/plain; version=0.0.4; charset=utf-8", type);
        const string Accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
        Check.True(MetricRegistry.Negotiate(Accept, out type) == ExpositionFormat.OpenMetrics, type);
        Check.True(type == MetricRegistry.MediaType, type);
    }

    [Test]
    public static void RegistriesAreChecked()
    {
        var registry = new MetricRegistry();
        HdrHistogram histogram = HdrHistogram.Create();
        registry.Add(histogram, new MetricOptions { Name = "x" });
        Check.Throws<ArgumentException>(() => registry.Add(histogram, new MetricOptions { Name = "y\0" }), "NUL");
        registry.Add(histogram, new MetricOptions { Name = "z", Labels = null });
        registry.Dispose();
        histogram.Record(1);
        Check.Equal(1ul, histogram.TotalCount, "the histogram lives on");
    }

    private sealed class Counters
    {
        internal ulong Scalable;
        internal ulong Capped;
        internal ulong Sensing;
        internal uint Scalable32;
        internal uint Capped32;
        internal uint Sensing32;
    }

    [Test]
    public static void ExactBelowTheThreshold()
    {
        var counters = new Counters();
        for (int i = 0; i < 4000; i++)
            All(counters, 2);
        Check.Equal(8000ul, counters.Scalable);
        Check.Equal(8000ul, counters.Capped);
        Check.Equal(8000ul, counters.Sensing);
        Check.Equal(8000u, counters.Scalable32);
        Check.Equal(8000u, counters.Capped32);
        Check.Equal(8000u, counters.Sensing32);
        Check.Equal(8000ul, SharedCounter.Read(ref counters.Scalable));
        Check.Equal(8000u, SharedCounter.Read(ref counters.Scalable32));
        foreach (int bits in new[] { 0, 32, -1 })
            Check.Throws<ArgumentOutOfRangeException>(() => SharedCounter.AddScalable(ref counters.Scalable, 1, bits));
        Check.Throws<ArgumentOutOfRangeException>(() => SharedCounter.AddCapped(ref counters.Capped, 1, 32));
    }

    private static void All(Counters counters, ulong count)
    {
        SharedCounter.AddScalable(ref counters.Scalable, count);
        SharedCounter.AddCapped(ref counters.Capped, count);
        SharedCounter.AddSensing(ref counters.Sensing, count);
        SharedCounter.AddScalable(ref counters.Scalable32, count);
        SharedCounter.AddCapped(ref counters.Capped32, count);
        SharedCounter.AddSensing(ref counters.Sensing32, count);
    }

    /// <summary>Counts in fields that the collector moves, on colliding threads.</summary>
    [Test]
    public static void ManyThreads()
    {
        const int Threads = 4, Records = 50000;
        var counters = new Counters();
        var registry = new MetricRegistry();
        MetricCounter striped = registry.AddCounter(new MetricOptions { Name = "striped", Striped = true });
        ModeTests.Run(Threads, thread =>
        {
            for (int i = 0; i < Records; i++)
            {
                All(counters, 1);
                striped.Add();
                if (i % 10000 == 0)
                    GC.Collect(0);
            }
        });
        Check.Equal((ulong)Threads * Records, striped.Value, "striped");
        // Seven standard deviations of 0.9 %.
        Check.Near(Threads * Records, counters.Scalable, 0.065);
        Check.Near(Threads * Records, counters.Capped, 0.065);
        Check.Near(Threads * Records, counters.Sensing, 0.065);
        Check.Near(Threads * Records, counters.Scalable32, 0.065);
        Check.Near(Threads * Records, counters.Capped32, 0.065);
        Check.Near(Threads * Records, counters.Sensing32, 0.065);
    }
}
