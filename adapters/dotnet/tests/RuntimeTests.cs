using System;
using System.Collections.Generic;
using System.Diagnostics.Metrics;
using System.Diagnostics.Tracing;
using System.Globalization;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Picollo.Metrics;

namespace Picollo.Tests
{
    /// <summary>Beside what the runtime has itself: its meters, and its aggregator, which dotnet-counters and dotnet-monitor use.</summary>
    public static class RuntimeTests
    {
        /// <summary>Answers each request on a loopback port, until it is disposed.</summary>
        private sealed class Server : IDisposable
        {
            private readonly TcpListener _listener = new TcpListener(IPAddress.Loopback, 0);

            internal Server()
            {
                _listener.Start();
                Task.Run(async () =>
                {
                    try
                    {
                        while (true)
                            _ = Answer(await _listener.AcceptTcpClientAsync());
                    }
                    catch (Exception ended) when (ended is ObjectDisposedException or SocketException)
                    {
                    }
                });
            }

            internal Uri Uri => new Uri($"http://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}/");

            private static async Task Answer(TcpClient client)
            {
                using (client)
                using (var reader = new System.IO.StreamReader(client.GetStream(), Encoding.ASCII))
                    for (string line; (line = await reader.ReadLineAsync()) != null;)
                    {
                        string status = line.Contains("/missing") ? "404 Not Found" : "200 OK";
                        while (!string.IsNullOrEmpty(await reader.ReadLineAsync()))
                        {
                        }
                        await client.GetStream().WriteAsync(Encoding.ASCII.GetBytes($"HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok"));
                    }
            }

            public void Dispose() => _listener.Stop();
        }

        [Test]
        public static void TheMeterOfHttpClients()
        {
            using var listener = new PicolloMeterListener(new MeterListenerOptions
            {
                Filter = instrument => instrument.Meter.Name == "System.Net.Http"
            }).Start();
            using var server = new Server();
            using (var client = new HttpClient())
                for (int i = 0; i < 50; i++)
                    client.GetAsync(new Uri(server.Uri, i % 5 == 0 ? "missing" : "there")).GetAwaiter().GetResult().Dispose();
            MeteredHistogram[] requests = listener.Histograms.Where(one => one.InstrumentName == "http.client.request.duration").ToArray();
            Check.Equal("200 40, 404 10", string.Join(", ", requests.Select(one =>
                $"{one.Tags.Single(tag => tag.Key == "http.response.status_code").Value} {one.Count}").OrderBy(text => text)), string.Join(", ", listener.Histograms));
            foreach (MeteredHistogram one in requests)
            {
                Check.Equal("s", one.Unit);
                double median = one.GetPercentileValue(50);
                Check.True(median > 1e-6 && median < 100, $"{median} s");
            }
            var text = new System.IO.StringWriter();
            listener.Registry.Scrape(text);
            Check.True(text.ToString().Split('\n').Any(line =>
                line.StartsWith("http_client_request_duration_seconds_count{http_request_method=\"GET\",http_response_status_code=\"200\",")
                && line.EndsWith("} 40")), text.ToString());
            Check.Equal(0ul, listener.Refused);
        }

        /// <summary>Listens to what the runtime's aggregator publishes of a meter, each second.</summary>
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
            // All values are to be in one of its intervals, of a second: again where they were not.
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
                            // It may be wrong by 0.1 % itself, and takes the next of 15,000 values.
                            Check.Near(quantiles[i], value, 0.013, $"P{ranks[i]}, the runtime's");
                        }
                    }
                    return;
                }
            }
        }
    }
}
