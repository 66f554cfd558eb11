namespace Picollo.Tests;

/// <summary>A registry shows the measurements, whatever their names are.</summary>
public static class RegistryTests
{
    private static KeyValuePair<string, object> Tag(string key, object value) => Listened.Tag(key, value);

    private static void HasLine(string text, string line) => Check.True(text.Split('\n').Contains(line), line + " in\n" + text);

    [Test]
    public static void NamesAreThoseOfOpenTelemetrysExporters()
    {
        using (var listened = new Listened())
        using (var versioned = new Meter(listened.Meter.Name, "1.2", new[] { Tag("region", "eu"), Tag("route", "the meter's") }))
        {
            Histogram<double> duration = versioned.CreateHistogram<double>(
                "http.client.request.duration", "s", "How long", new[] { Tag("pool", 3), Tag("route", "the instrument's") });
            duration.Record(0.25, Tag("http.request.method", "GET"), Tag("route", "/"));
            duration.Record(0.25);
            listened.Meter.CreateHistogram<long>("body_bytes", "By").Record(1000);
            listened.Meter.CreateHistogram<double>("ratio", "1").Record(0.5);
            string scope = $"otel_scope_name=\"{listened.Meter.Name}\"", text = listened.Scrape();
            HasLine(text, "# HELP http_client_request_duration_seconds How long");
            HasLine(text, "# UNIT http_client_request_duration_seconds seconds");
            HasLine(text, $"http_client_request_duration_seconds_count{{http_request_method=\"GET\",{scope},otel_scope_version=\"1.2\",pool=\"3\",region=\"eu\",route=\"/\"}} 1");
            HasLine(text, $"http_client_request_duration_seconds_count{{{scope},otel_scope_version=\"1.2\",pool=\"3\",region=\"eu\",route=\"the instrument's\"}} 1");
            HasLine(text, $"body_bytes_count{{{scope}}} 1");
            HasLine(text, $"ratio_count{{{scope}}} 1");
            Check.Equal(0ul, listened.Listener.Refused);
        }
        using (var listened = new Listened(options => options.AppendsUnits = false))
        {
            listened.Meter.CreateHistogram<double>("http.client.request.duration", "s").Record(0.25);
            HasLine(listened.Scrape(), $"http_client_request_duration_count{{otel_scope_name=\"{listened.Meter.Name}\"}} 1");
            byte[] otlp = listened.Listener.Registry.Encode(ExpositionFormat.Otlp);
            Check.True(System.Text.Encoding.Latin1.GetString(otlp).Contains("http.client.request.duration"), "dots stay for OTLP");
        }
    }

    /// <summary>For any names, all measurements are shown, and none twice under the same labels.</summary>
    [Test]
    public static void OddNames()
    {
        string[] names =
        {
            "", " ", "9", "é", "a.b", "a_b", "a-b", "a/b", "a b", "A.B", "le", "__x", "x{y}", "x\"y\"", "\n", "\ud800", "😀", "a_total", "a_created",
            "otel_scope_name", "quantile", "picollo_set", new string('n', 300), "#", "seconds", "_seconds", "a_seconds"
        };
        using var listened = new Listened();
        foreach (string name in names)
        {
            listened.Meter.CreateHistogram<double>("i" + name, "s").Record(1);
            Histogram<int> tagged = listened.Meter.CreateHistogram<int>("tagged");
            tagged.Record(1, Tag(name, "v"));
            tagged.Record(1, Tag("t", name));
        }
        listened.Meter.CreateHistogram<double>("9 lives.of é\n", "s").Record(1);
        // Different sets with equal texts: each is shown.
        Histogram<int> typed = listened.Meter.CreateHistogram<int>("typed");
        foreach (object value in new object[] { 1, "1", 1L, 1.0, null, "" })
            typed.Record(1, Tag("a", value));
        typed.Record(1, Tag("a.b", 1), Tag("a_b", 2), Tag("a-b", 3));
        string text = listened.Scrape();
        string[] counts = text.Split('\n').Where(line => line.Contains("_count{")).ToArray();
        Check.Equal(0ul, listened.Listener.Refused, text);
        Check.Equal(listened.Listener.Histograms.Count, counts.Length, text);
        Check.Equal(counts.Length, counts.Select(line => line.Substring(0, line.LastIndexOf(' '))).Distinct().Count(), "twice");
        Check.Equal(listened.Total, counts.Aggregate(0ul, (sum, line) => sum + ulong.Parse(line.Substring(line.LastIndexOf(' ') + 1))));
        string scope = $"otel_scope_name=\"{listened.Meter.Name}\"";
        HasLine(text, $"typed_count{{a=\"1\",{scope}}} 1");
        HasLine(text, $"typed_count{{a=\"1\",{scope},picollo_set=\"2\"}} 1");
        HasLine(text, $"typed_count{{a=\"1\",{scope},picollo_set=\"4\"}} 1");
        HasLine(text, $"typed_count{{a=\"\",{scope},picollo_set=\"2\"}} 1");
        // In the order of their keys; "-" is first.
        HasLine(text, $"typed_count{{a_b=\"3;1;2\",{scope}}} 1");
        HasLine(text, $"tagged_count{{le_=\"v\",{scope}}} 1");
        HasLine(text, $"tagged_count{{{scope},tag__x=\"v\"}} 1");
        HasLine(text, $"tagged_count{{{scope},picollo_set_=\"v\"}} 1");
        HasLine(text, $"tagged_count{{otel_scope_name=\"v\"}} 1");
        HasLine(text, $"_9_lives_of____seconds_count{{{scope}}} 1");
    }

    /// <summary>The registry refuses a name that is another's with a suffix; its measurements still exist.</summary>
    [Test]
    public static void NamesOfOthers()
    {
        var registry = new MetricRegistry();
        registry.AddCounter(new MetricOptions { Name = "mine" });
        using var listened = new Listened(options => options.Registry = registry);
        listened.Meter.CreateHistogram<int>("mine").Record(1);
        listened.Meter.CreateHistogram<int>("x").Record(1);
        listened.Meter.CreateHistogram<int>("x_count").Record(1);
        Check.Equal(2ul, listened.Listener.Refused);
        Check.Equal(3ul, listened.Total);
        HasLine(listened.Scrape(), "picollo_meters_lost_total{reason=\"refused\"} 2");
        // The second description of a name is ignored.
        using (var twin = new Meter(listened.Meter.Name))
            twin.CreateHistogram<int>("x", null, "what it is").Record(1, Tag("a", 1));
        Check.Equal(2ul, listened.Listener.Refused);
        Check.Fails(PicolloStatus.InvalidArgument, () => new PicolloMeterListener(new MeterListenerOptions { Registry = registry }));
    }

    [Test]
    public static void ARegistryThatIsDisposedMeanwhile()
    {
        const int Threads = 4, Records = 20_000;
        var registry = new MetricRegistry();
        using var listened = new Listened(options => options.Registry = registry);
        Histogram<int> histogram = listened.Meter.CreateHistogram<int>("x");
        Thread[] threads = Listened.Start(Threads, thread =>
        {
            for (int i = 0; i < Records; i++)
                histogram.Record(1, Tag("set", i / 20));
        });
        while (listened.Listener.Histograms.Count < 100)
            Thread.Yield();
        registry.Dispose();
        Array.ForEach(threads, thread => thread.Join());
        Check.Equal((ulong)(Threads * Records), listened.Total);
        Check.Equal(Records / 20, listened.Listener.Histograms.Count);
        // Each thread may have been about to show one.
        Check.True(listened.Listener.Refused <= Records / 20 - 100 + Threads, $"{listened.Listener.Refused} refused");
        histogram.Record(1, Tag("set", "after"));
        Check.True(listened.Listener.Refused >= 1, "what is not shown is said");
        histogram.Record(-1);
        Check.Equal(1ul, listened.Listener.Negative, "counters outlive it");
    }

    [Test]
    public static void DisposedWhileOthersRecord()
    {
        var registry = new MetricRegistry();
        for (int round = 0; round < 20; round++)
        {
            using var meter = new Meter("disposed " + round);
            Histogram<int> histogram = meter.CreateHistogram<int>("x");
            bool stop = false;
            Exception thrown = null;
            Thread[] threads = Listened.Start(4, thread =>
            {
                try
                {
                    for (int i = 0; !Volatile.Read(ref stop); i++)
                        histogram.Record(1, Tag("set", i % 5000));
                }
                catch (Exception exception)
                {
                    thrown = exception;
                }
            });
            var listener = new PicolloMeterListener(new MeterListenerOptions
            {
                Registry = registry, Filter = instrument => instrument.Meter.Name == meter.Name
            }).Start();
            ulong Total() => listener.Histograms.Aggregate(0ul, (sum, one) => sum + one.Count);
            while (listener.Histograms.Count < 50)
                Thread.Yield();
            listener.Dispose();
            listener.Dispose();
            // Its records exist; the registry is free for the next listener.
            Check.True(Total() >= 50, "recorded");
            registry.Update();
            Check.Equal("# EOF\n", registry.Format());
            Volatile.Write(ref stop, true);
            Array.ForEach(threads, thread => thread.Join());
            Check.True(thrown == null, $"{thrown}");
            ulong before = Total();
            histogram.Record(1, Tag("set", 1));
            Check.Equal(before, Total(), $"round {round}: not heard any more");
        }
        PicolloMeterListener own;
        using (var listened = new Listened())
        {
            listened.Meter.CreateHistogram<int>("x").Record(1);
            own = listened.Listener;
        }
        own.Registry.Update();
        Check.True(own.Registry.Format().Contains("x_count{") && own.Histograms.Single().Count == 1, "its own registry stays");
    }
}
