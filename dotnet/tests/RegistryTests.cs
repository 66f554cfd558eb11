using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using Picollo.Metrics;

namespace Picollo.Tests
{
    internal static class RegistryTests
    {
        private const string Trace = "0af7651916cd43dd8448eb211c80319c";
        private const string Span = "B7AD6B7169203331";

        [Test]
        public static void Exemplars()
        {
            using (var registry = new MetricRegistry())
            {
                HdrHistogram latency = HdrHistogram.Create();
                var options = new MetricOptions { Name = "x", Divisor = 10, WritesCreated = false };
                ulong id = registry.Add(latency, options, 10, 100);
                MetricCounter hits = registry.AddCounter(new MetricOptions { Name = "hits", WritesCreated = false });
                MetricGauge depth = registry.AddGauge(new MetricOptions { Name = "depth" });
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
                    new MetricExemplar { Value = double.NaN }, new MetricExemplar { Value = double.PositiveInfinity },
                    new MetricExemplar { Labels = new Dictionary<string, string> { { "a b", "" } } },
                    new MetricExemplar { TraceId = Trace, Labels = new Dictionary<string, string> { { "trace_id", "" } } },
                    new MetricExemplar { TraceId = Trace, Labels = new Dictionary<string, string> { { "w", new string('x', 88) } } }
                })
                    Check.Fails(PicolloStatus.InvalidArgument, () => registry.SetExemplars(id, slow, wrong));
                foreach (MetricExemplar wrong in new[]
                {
                    new MetricExemplar { TraceId = Span }, new MetricExemplar { SpanId = "b7ad6b716920333g" },
                    new MetricExemplar { SpanId = "b7ad6b716920333\0" },
                    new MetricExemplar { Labels = new Dictionary<string, string> { { "a", "\0" } } }
                })
                    Check.Throws<ArgumentException>(() => registry.SetExemplars(id, slow, wrong), "argument");
                Check.Throws<ArgumentNullException>(() => registry.SetExemplars(id, null));
                Check.Throws<ArgumentNullException>(() => registry.SetExemplars(id, slow, null));
                Check.Fails(PicolloStatus.InvalidArgument, () => registry.SetExemplars(ulong.MaxValue, slow));
                Check.Fails(PicolloStatus.Unsupported, () => registry.SetExemplars(depth.Id, slow));
                Check.True(registry.Format() == before, "what is refused changes nothing");
                registry.SetExemplars(id);
                registry.SetExemplars(hits.Id);
                Check.True(!registry.Format().Contains(" # {"), "none");
            }
        }

        [Test]
        public static void Summaries()
        {
            using (var registry = new MetricRegistry())
            {
                HdrHistogram histogram = HdrHistogram.Create();
                registry.Add(histogram, new MetricOptions { Name = "x", Summary = true });
                for (ulong value = 1; value <= 100; value++)
                    histogram.Record(value);
                registry.Update();
                Check.True(registry.Format().Contains("x{quantile=\"0.99\"} 99.0\n"), registry.Format());
            }
        }

        [Test]
        public static void DifferencesAddUp()
        {
            var registry = new MetricRegistry();
            MetricCounter hits = registry.AddCounter(new MetricOptions { Name = "hits" });
            var delta = new OtlpExport(Temporality.Delta, new Dictionary<string, string> { { "service.name", "shop" } });
            var all = new OtlpExport();
            Check.True(delta.Request().Length == 0, "nothing yet");
            Check.Fails(PicolloStatus.Empty, delta.Accept);
            ulong arrived = 0, end = 0;
            for (ulong round = 1; round < 20; round++)
            {
                hits.Add(round);
                delta.Update(registry);
                byte[] request = delta.Request();
                Check.True(Has(request, Encoding.UTF8.GetBytes("service.name")) && Has(request, Encoding.UTF8.GetBytes("shop")), "resource");
                Check.Equal(1ul, Dig(request, 1, 2, 2, 7, 2), "delta");
                Check.Equal(hits.Value - arrived, Dig(request, 1, 2, 2, 7, 1, 6), "count");
                if (end != 0)
                    Check.Equal(end, Dig(request, 1, 2, 2, 7, 1, 2), "start");
                all.Update(registry);
                Check.Equal(2ul, Dig(all.Request(), 1, 2, 2, 7, 2), "cumulative");
                Check.Equal(hits.Value, Dig(all.Request(), 1, 2, 2, 7, 1, 6), "all");
                if (round % 3 != 0)
                    continue;
                arrived = hits.Value;
                end = Dig(request, 1, 2, 2, 7, 1, 3);
                // Not in the request any more.
                hits.Add(5);
                delta.Accept();
                Check.Fails(PicolloStatus.Empty, delta.Accept);
                Check.True(delta.Request().Length == 0, "accepted");
            }
            Check.Throws<ArgumentNullException>(() => delta.Update(null));
            Check.Throws<ArgumentOutOfRangeException>(() => new OtlpExport((Temporality)7), "temporality");
            Check.Throws<ArgumentException>(
                () => new OtlpExport(resource: new Dictionary<string, string> { { "a", "\0" } }), "NUL");
            registry.Dispose();
            Check.Throws<ObjectDisposedException>(() => delta.Update(registry));
            Check.True(delta.Request().Length > 0, "the last one is still there");
            delta.Dispose();
            delta.Dispose();
            all.Dispose();
            foreach (Action use in new Action[] { delta.Accept, () => delta.Request(), () => delta.Update(new MetricRegistry()) })
                Check.Throws<ObjectDisposedException>(use);
        }

        [Test]
        public static void HostileTexts()
        {
            using (var registry = new MetricRegistry())
            {
                const string Any = "\u0001\r\n\t\u001b\"\\}\u007f\ufeff\U0010ffff # {";
                foreach (string bad in new[] { "a\u0001", "a\n", "a\"b", "a\\b", "a{b", "a=b", "é", "a\u007f", " ", "" })
                {
                    Check.Fails(PicolloStatus.InvalidArgument, () => registry.AddCounter(new MetricOptions { Name = bad }), bad);
                    Check.Fails(PicolloStatus.InvalidArgument, () => registry.AddGauge(Labelled("x", bad, "b")), bad);
                }
                // Half a character is what .NET makes of it, which is no name.
                foreach (string half in new[] { "\ud800", "a\udc00", "\udbffb" })
                {
                    Check.Fails(PicolloStatus.InvalidArgument, () => registry.AddCounter(new MetricOptions { Name = half }), "name");
                    Check.Fails(PicolloStatus.InvalidArgument, () => registry.AddCounter(Labelled("x", half, "b")), "label");
                    MetricCounter halved = registry.AddCounter(Labelled("x", "b", half));
                    Check.True(registry.Format().Contains($"x_total{{b=\"{half.Replace(half.First(char.IsSurrogate), '\ufffd')}\"}} 0\n"), "value");
                    registry.Remove(halved.Id);
                }
                MetricOptions metric = Labelled("x", "a", Any);
                metric.Help = Any;
                metric.WritesCreated = false;
                registry.AddCounter(metric);
                string escaped = Any.Replace("\\", "\\\\").Replace("\n", "\\n").Replace("\"", "\\\"");
                Check.True(
                    registry.Format() == $"# TYPE x counter\n# HELP x {escaped}\nx_total{{a=\"{escaped}\"}} 0\n# EOF\n", registry.Format());
                byte[] plain = Encoding.UTF8.GetBytes(Any);
                Check.True(Has(registry.Encode(ExpositionFormat.Otlp), plain), "OTLP");
                Check.True(Has(registry.Encode(ExpositionFormat.PrometheusProtobuf), plain), "Protocol Buffers");
            }
        }

        [Test]
        public static void AThousandLabelSets()
        {
            using (var registry = new MetricRegistry())
            {
                HdrHistogram histogram = HdrHistogram.Create();
                histogram.Record(5, 3);
                var ids = new List<ulong>();
                for (int number = 0; number < 1000; number++)
                {
                    MetricOptions metric = Labelled("x", "b", (number % 7).ToString());
                    metric.Labels["a"] = number.ToString();
                    ids.Add(registry.Add(histogram, metric, 7));
                    if (number == 999)
                        Check.Fails(PicolloStatus.InvalidArgument, () => registry.Add(histogram, metric, 7));
                }
                registry.Update();
                string[] lines = registry.Format().Split('\n'), counts = lines.Where(line => line.StartsWith("x_count")).ToArray();
                Check.True(
                    counts.SequenceEqual(Enumerable.Range(0, 1000).Select(a => $"x_count{{a=\"{a}\",b=\"{a % 7}\"}} 3")), "in their order");
                Check.True(lines.Count(line => line.StartsWith("# TYPE")) == 1, "one family");
                foreach (ulong id in ids)
                    registry.Remove(id);
                Check.True(registry.Format() == "# EOF\n", "all are gone");
            }
        }

        private static MetricOptions Labelled(string name, string label, string value) =>
            new MetricOptions { Name = name, Labels = new Dictionary<string, string> { { label, value } } };

        private static bool Has(byte[] bytes, byte[] part) =>
            Enumerable.Range(0, Math.Max(0, bytes.Length - part.Length + 1)).Any(at => !part.Where((one, i) => bytes[at + i] != one).Any());

        /// <summary>The number at a path of field numbers of a message: a varint, or eight bytes.</summary>
        private static ulong Dig(byte[] bytes, params int[] path)
        {
            ulong? found = Dig(bytes, 0, bytes.Length, path, 0);
            Check.True(found.HasValue, "there is no such field");
            return found.Value;
        }

        private static ulong? Dig(byte[] bytes, int at, int end, int[] path, int depth)
        {
            ulong? found = null;
            while (at < end)
            {
                ulong key = Varint(bytes, ref at), word;
                if ((key & 7) == 1)
                {
                    word = BitConverter.ToUInt64(bytes, at);
                    at += 8;
                }
                else
                {
                    word = Varint(bytes, ref at);
                }
                if ((int)(key >> 3) == path[depth])
                    found = depth + 1 == path.Length ? word : Dig(bytes, at, at + (int)word, path, depth + 1) ?? found;
                if ((key & 7) == 2)
                    at += (int)word;
            }
            return found;
        }

        private static ulong Varint(byte[] bytes, ref int at)
        {
            ulong value = 0;
            for (int shift = 0; ; shift += 7)
            {
                byte next = bytes[at++];
                value |= (ulong)(next & 127) << shift;
                if (next < 128)
                    return value;
            }
        }
    }
}
