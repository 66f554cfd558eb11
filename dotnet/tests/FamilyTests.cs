using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Picollo.Metrics;

namespace Picollo.Tests
{
    /// <summary>Arrays of histograms, registries, and counters that threads share.</summary>
    public static class FamilyTests
    {
        [Test]
        public static void Arrays()
        {
            foreach (string mode in new[] { "default", "single", "interlocked", "thread-local", "sparse", "32 bits" })
            {
                HdrHistogram.HdrHistogramFactory factory = HdrHistogram.Factory.WithRelativeError(0.01);
                factory = mode == "single" ? factory.WithSingleWriter() : mode == "interlocked" ? factory.WithInterlocked() : mode == "thread-local" ? factory.WithThreadLocal()
                    : mode == "sparse" ? factory.WithSparseStorage() : mode == "32 bits" ? factory.WithUInt32Storage() : factory;
                HdrHistogramArray array;
                try
                {
                    array = factory.CreateArray(5);
                }
                catch (PicolloException exception) when (exception.Status == PicolloStatus.Unsupported)
                {
                    Console.WriteLine($"SKIPPED array, {mode}: this library does not offer it");
                    continue;
                }
                Check.Equal(5, array.Count);
                for (int i = 0; i < 5; i++)
                    for (int n = 0; n <= i; n++)
                        array.Record(i, 1000);
                array[2].Record(7);
                Check.True(array.Select(h => h.TotalCount).SequenceEqual(new ulong[] { 1, 2, 4, 4, 5 }), mode);
                Check.True(ReferenceEquals(array[2], array[2]), "the same object");
                Check.True(array.FootprintInBytes > 5 * 1000, "their memory");
                HdrHistogram kept = array[4];
                array[3].Dispose();
                Check.Equal(4ul, array[3].TotalCount, "disposed, and taken again");
                array.Dispose();
                Check.Throws<ObjectDisposedException>(() => array.Record(0, 1));
                Check.Throws<ObjectDisposedException>(() => Ignore(array[0]));
                array = null;
                GC.Collect();
                GC.WaitForPendingFinalizers();
                kept.Record(1);
                Check.Equal(6ul, kept.TotalCount, "outlives the array");
            }
        }

        private static void Ignore(object value)
        {
        }

        [Test]
        public static void ArraysAreChecked()
        {
            HdrHistogramArray array = HdrHistogram.Factory.CreateArray(2);
            foreach (int outside in new[] { -1, 2, int.MinValue, int.MaxValue })
            {
                Check.Throws<ArgumentOutOfRangeException>(() => array.Record(outside, 1));
                Check.Throws<ArgumentOutOfRangeException>(() => Ignore(array[outside]));
            }
            Check.Throws<ArgumentOutOfRangeException>(() => HdrHistogram.Factory.CreateArray(0));
            Check.Throws<ArgumentOutOfRangeException>(() => HdrHistogram.Factory.WithMinTrackableValue(9).WithMaxTrackableValue(2).CreateArray(2));
        }

        [Test]
        public static void NothingIsAllocated()
        {
            HdrHistogramArray array = HdrHistogram.Factory.CreateArray(2);
            var counters = new Counters();
            var buffer = new byte[1 << 20];
            HdrHistogramSnapshot snapshot = array[0].GetSnapshot();
            AllocationTests.Nothing("Record", () => array.Record(1, 5));
            AllocationTests.Nothing("AddScalable", () => SharedCounter.AddScalable(ref counters.Scalable));
            AllocationTests.Nothing("TryEncode", () => snapshot.TryEncode(buffer, out _));
        }

        [Test]
        public static void OpenMetrics()
        {
            HdrHistogram latency = HdrHistogram.Create(), other = HdrHistogram.Create();
            DoubleHistogram skew = DoubleHistogram.Create();
            using (var registry = new MetricRegistry())
            {
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
                // The counts stay when the object goes.
                other.Record(1);
                other.Dispose();
                registry.Update();
                Check.True(registry.Format().Contains("request_seconds_count{method=\"POST\"} 1"), "disposed");
            }
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
                Check.Equal("format", Check.Throws<ArgumentOutOfRangeException>(() => registry.Encode((ExpositionFormat)99)).ParamName);
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
            foreach (MetricOptions wrong in new[]
            {
                new MetricOptions(), new MetricOptions { Name = "9" }, new MetricOptions { Name = "x" },
                new MetricOptions { Name = "x", Help = "another" }, new MetricOptions { Name = "y", Unit = "seconds" },
                new MetricOptions { Name = "y", Divisor = 0 }, new MetricOptions { Name = "y", Divisor = double.NaN },
                new MetricOptions { Name = "y", Labels = new Dictionary<string, string> { { "le", "1" } } },
                new MetricOptions { Name = "x_count" }
            })
                Check.Fails(PicolloStatus.InvalidArgument, () => registry.Add(histogram, wrong), wrong.Name);
            Check.Throws<ArgumentException>(() => registry.Add(histogram, new MetricOptions { Name = "y\0" }), "NUL");
            Check.Fails(PicolloStatus.InvalidArgument, () => registry.Add(histogram, new MetricOptions { Name = "z" }, 5, 3));
            Check.Throws<ArgumentNullException>(() => registry.Add(histogram, null));
            Check.Throws<ArgumentNullException>(() => registry.Add((HdrHistogram)null, new MetricOptions { Name = "z" }));
            registry.Add(histogram, new MetricOptions { Name = "z", Labels = null });
            registry.Dispose();
            registry.Dispose();
            Action[] uses =
            {
                () => registry.Update(), () => registry.Format(), () => registry.Remove(1), () => registry.Scrape(new StringWriter()),
                () => registry.Add(histogram, new MetricOptions { Name = "w" })
            };
            foreach (Action use in uses)
                Check.Throws<ObjectDisposedException>(use);
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

        /// <summary>Of fields that the collector moves about, by threads that meet.</summary>
        [Test]
        public static void ManyThreads()
        {
            const int Threads = 4, Records = 50000;
            var counters = new Counters();
            var striped = new StripedCounter();
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
            // Seven standard deviations, of 0.9 %.
            Check.Near(Threads * Records, counters.Scalable, 0.065);
            Check.Near(Threads * Records, counters.Capped, 0.065);
            Check.Near(Threads * Records, counters.Sensing, 0.065);
            Check.Near(Threads * Records, counters.Scalable32, 0.065);
            Check.Near(Threads * Records, counters.Capped32, 0.065);
            Check.Near(Threads * Records, counters.Sensing32, 0.065);
        }

        [Test]
        public static void StripedAfterDispose()
        {
            var counter = new StripedCounter();
            counter.Add(5);
            Check.Equal(5ul, counter.Value);
            counter.Dispose();
            counter.Dispose();
            Check.Throws<ObjectDisposedException>(() => counter.Add());
            Check.Throws<ObjectDisposedException>(() => Ignore(counter.Value));
        }

        /// <summary>Everything is made, dropped and disposed in random order while finalisers run.</summary>
        [Test]
        public static void AnyOrder()
        {
            ModeTests.Run(2, thread =>
            {
                var random = new Random(thread);
                var arrays = new List<HdrHistogramArray>();
                var doubles = new List<DoubleHistogram>();
                var snapshots = new List<DoubleSnapshot>();
                var registries = new List<MetricRegistry>();
                for (int step = 0; step < 2000; step++)
                {
                    try
                    {
                        switch (random.Next(8))
                        {
                            case 0:
                                arrays.Add(HdrHistogram.Factory.WithRelativeError(0.1).WithThreadLocal(step % 2 == 0).CreateArray(3));
                                break;
                            case 1:
                                doubles.Add(DoubleHistogram.Create());
                                break;
                            case 2:
                                registries.Add(new MetricRegistry());
                                break;
                            case 3:
                                Pick(arrays, random)?.Record(random.Next(3), (ulong)step);
                                break;
                            case 4:
                                Pick(doubles, random)?.Record(step);
                                DoubleHistogram taken = Pick(doubles, random);
                                if (taken != null)
                                    snapshots.Add(taken.Collect());
                                break;
                            case 5:
                                MetricRegistry registry = Pick(registries, random);
                                HdrHistogramArray array = Pick(arrays, random);
                                if (registry != null && array != null)
                                    registry.Add(array[1], new MetricOptions { Name = "x" + step });
                                registry?.Scrape(TextWriter.Null);
                                break;
                            case 6:
                                Pick(snapshots, random)?.GetSummary();
                                break;
                            default:
                                Drop(arrays, random);
                                Drop(doubles, random);
                                Drop(snapshots, random);
                                Drop(registries, random);
                                break;
                        }
                    }
                    catch (ObjectDisposedException)
                    {
                    }
                    if (step % 250 == 0)
                        GC.Collect();
                }
            });
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        private static T Pick<T>(List<T> things, Random random) where T : class =>
            things.Count == 0 ? null : things[random.Next(things.Count)];

        private static void Drop<T>(List<T> things, Random random) where T : class, IDisposable
        {
            T which = Pick(things, random);
            if (which == null)
                return;
            // Those that stay in the list after it are used after it.
            if (random.Next(2) == 0)
                which.Dispose();
            if (random.Next(4) != 0)
                things.Remove(which);
        }
    }
}
