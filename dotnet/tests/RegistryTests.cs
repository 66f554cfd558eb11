using System.Text;

namespace Picollo.Tests;

internal static class RegistryTests
{
    private const string Trace = "0af7651916cd43dd8448eb211c80319c";
    private const string Span = "B7AD6B7169203331";

    [Test]
    public static void Exemplars()
    {
        using var registry = new MetricRegistry();
        HdrHistogram latency = HdrHistogram.Create();
        var options = new MetricOptions { Name = "x", Divisor = 10, WritesCreated = false };
        ulong id = registry.Add(latency, options, 10, 100);
        MetricCounter hits = registry.AddCounter(new MetricOptions { Name = "hits", WritesCreated = false });
        MetricGauge depth = registry.AddGauge(new MetricOptions { Name = "depth", Divisor = 0 });
        var slow = new MetricExemplar
        {
            Value = 7, TraceId = Trace, SpanId = Span, TimeUtc = new DateTime(2017, 7, 14, 2, 40, 0, 250, DateTimeKind.Utc),
            Labels = new Dictionary<string, string> { { "who", "a\"é" } }
        };
        registry.SetExemplars(id, slow, new MetricExemplar { Value = 8 }, new MetricExemplar { Value = 1e6, Labels = null });
        registry.SetExemplars(hits.Id, new MetricExemplar { Value = 1, TraceId = Trace });
        string shown = $" # {{span_id=\"{Span.ToLowerInvariant()}\",trace_id=\"{Trace}\",who=\"a\\\"é\"}} 0.7 1500000000.250";
        string[] lines = registry.Format().Split('\n');
        foreach (string line in new[]
        {
            "x_bucket{le=\"1.0\"} 0" + shown, "x_bucket{le=\"10.0\"} 0", "x_bucket{le=\"+Inf\"} 0 # {} 100000.0",
            $"hits_total 0 # {{trace_id=\"{Trace}\"}} 1.0"
        })
            Check.True(lines.Contains(line), $"{line} in\n{registry.Format()}");
        byte[] trace = Enumerable.Range(0, 16).Select(at => Convert.ToByte(Trace.Substring(2 * at, 2), 16)).ToArray();
        Check.True(Has(registry.Encode(ExpositionFormat.Otlp), trace), "bytes of OTLP");
        Check.True(Has(registry.Encode(ExpositionFormat.PrometheusProtobuf), Encoding.UTF8.GetBytes(Trace)), "text of Prometheus");

        string before = registry.Format();
        foreach (MetricExemplar wrong in new[]
        {
            new MetricExemplar { TraceId = Span }, new MetricExemplar { SpanId = "b7ad6b716920333g" },
            new MetricExemplar { SpanId = "b7ad6b716920333\0" },
            new MetricExemplar { Labels = new Dictionary<string, string> { { "a", "\0" } } }
        })
            Check.Throws<ArgumentException>(() => registry.SetExemplars(id, slow, wrong), "argument");
        Check.Throws<ArgumentNullException>(() => registry.SetExemplars(id, slow, null));
        Check.Fails(PicolloStatus.InvalidArgument, () => registry.SetExemplars(ulong.MaxValue, slow));
        Check.Fails(PicolloStatus.Unsupported, () => registry.SetExemplars(depth.Id, slow));
        Check.True(registry.Format() == before, "what is refused changes nothing");
        registry.SetExemplars(id);
        registry.SetExemplars(hits.Id);
        Check.True(!registry.Format().Contains(" # {"), "none");
    }

    [Test]
    public static void Summaries()
    {
        using var registry = new MetricRegistry();
        HdrHistogram histogram = HdrHistogram.Create();
        registry.Add(histogram, new MetricOptions { Name = "x", Summary = true });
        for (ulong value = 1; value <= 100; value++)
            histogram.Record(value);
        registry.Update();
        Check.True(registry.Format().Contains("x{quantile=\"0.99\"} 99.0\n"), registry.Format());
    }

    [Test]
    public static void Servers()
    {
        using var client = new System.Net.Http.HttpClient();
        MetricCounter hits;
        MetricsServer server;
        using (var registry = new MetricRegistry())
        {
            hits = registry.AddCounter(new MetricOptions { Name = "hits" });
            server = registry.Serve("127.0.0.1:0", new MetricsServerOptions { Path = "/here", Hosts = "a.example", Connections = 2, TimeoutSeconds = 3 });
            Check.Fails(PicolloStatus.Os, () => registry.Serve(server.Address));
            Check.Fails(PicolloStatus.InvalidArgument, () => registry.Serve("nonsense"));
            Check.Fails(PicolloStatus.InvalidArgument, () => registry.Serve("0", new MetricsServerOptions { Path = "here" }));
            Check.Throws<ArgumentOutOfRangeException>(() => registry.Serve("0", new MetricsServerOptions { Connections = -1 }));
            registry.Serve("0").Dispose();
        }
        // It keeps the registry, which is disposed, and reads the counter at each scrape.
        hits.Add(3);
        string url = $"http://{server.Address}/here";
        Check.True(client.GetStringAsync(url).Result.Contains("\nhits_total 3"), "the counter");
        server.Dispose();
        server.Dispose();
        Check.Throws<AggregateException>(() => client.GetStringAsync(url).Wait());
    }

    private static bool Has(byte[] bytes, byte[] part) =>
        Enumerable.Range(0, Math.Max(0, bytes.Length - part.Length + 1)).Any(at => !part.Where((one, i) => bytes[at + i] != one).Any());
}
