using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Picollo.Metrics;

namespace Picollo.Tests
{
    /// <summary>Use after the end, ends in any order, finalisers on their own thread: exceptions at most, never a crash.</summary>
    public static class LifetimeTests
    {
        [Test]
        public static void UseAfterDispose()
        {
            foreach (HdrHistogram histogram in new[]
            {
                HdrHistogram.Factory.WithSingleWriter().Create(), HdrHistogram.Factory.WithInterlocked().Create(),
                HdrHistogram.Factory.WithThreadLocal().Create()
            })
            {
                histogram.Record(1);
                HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
                histogram.GetSummary();
                histogram.Dispose();
                histogram.Dispose();
                Action[] uses =
                {
                    () => histogram.Record(1), () => histogram.Record(1, 2), () => histogram.Record(new ulong[] { 1 }),
                    () => histogram.RecordCorrected(1, 1), () => histogram.RecordInRange(1, 0, 2), () => histogram.Reset(),
                    () => histogram.GetSummary(), () => histogram.GetSnapshot(), () => histogram.GetPercentile(1),
                    () => histogram.GetPercentileValue(1), () => histogram.GetBucket(1), () => histogram.GetRank(1),
                    () => histogram.GetPercentiles(new double[1], new Percentile[1]), () => histogram.Buckets.Count(),
                    () => histogram.BucketPercentilesWithValues.Count(), () => Ignore(histogram.TotalCount),
                    () => Ignore(histogram.OverflowCount), () => Ignore((ulong)histogram.FootprintInBytes),
                    () => Ignore((ulong)histogram.RelativeError), () => histogram.GetRecorder(), () => histogram.Add(snapshot),
                    () => Scope(histogram)
                };
                foreach (Action use in uses)
                    Check.Throws<ObjectDisposedException>(use);
                snapshot.Update(false);
                Check.Equal(1ul, snapshot.TotalCount);
                snapshot.Dispose();
                snapshot.Dispose();
                Action[] reads =
                {
                    () => snapshot.Update(true), () => snapshot.GetSummary(), () => Ignore(snapshot.TotalCount),
                    () => snapshot.GetPercentileValue(1), () => snapshot.Buckets.Count(), () => Ignore((ulong)snapshot.RelativeError),
                    () => HdrHistogram.Create().Add(snapshot), () => HdrHistogram.Create().GetSnapshot().Merge(snapshot)
                };
                foreach (Action read in reads)
                    Check.Throws<ObjectDisposedException>(read);
            }
        }

        private static void Ignore(ulong value)
        {
        }

        private static void Scope(HdrHistogram histogram)
        {
            using (histogram.GetNanoScope())
            {
            }
        }

        [Test]
        public static void RecordersAfterDispose()
        {
            HdrHistogram histogram = HdrHistogram.Factory.WithSingleWriter().Create();
            HdrRecorder recorder = histogram.GetRecorder();
            recorder.Record(1);
            histogram.Dispose();
            // It keeps what it needs.
            recorder.Record(2);
            recorder.Dispose();
            recorder.Dispose();
            Check.Throws<ObjectDisposedException>(() => recorder.Record(3));
        }

        /// <summary>Writers in all modes go on while another thread disposes: each ends with an exception of its own.</summary>
        [Test]
        public static void DisposedByAnotherThread()
        {
            for (int round = 0; round < 30; round++)
            {
                HdrHistogram.HdrHistogramFactory factory = HdrHistogram.Factory.WithRelativeError(0.01);
                HdrHistogram histogram = round % 3 == 0 ? factory.WithSingleWriter().Create()
                    : round % 3 == 1 ? factory.WithInterlocked().Create() : factory.WithThreadLocal().Create();
                int ready = 0;
                var watch = System.Diagnostics.Stopwatch.StartNew();
                ModeTests.Run(3, thread =>
                {
                    try
                    {
                        if (thread == 0)
                        {
                            while (Volatile.Read(ref ready) < 2)
                                Thread.Yield();
                            histogram.Dispose();
                            GC.Collect();
                            GC.WaitForPendingFinalizers();
                            return;
                        }
                        for (ulong i = 0; ; i++)
                        {
                            if (i % 1024 == 0 && watch.Elapsed > TimeSpan.FromSeconds(20))
                                throw new Exception("nobody said that it was disposed");
                            histogram.Record(i);
                            if (i % 64 == 0 && thread == 2)
                                histogram.GetSummary();
                            if (i == 1000)
                                Interlocked.Increment(ref ready);
                        }
                    }
                    catch (ObjectDisposedException)
                    {
                    }
                });
            }
        }

        /// <summary>Histograms, snapshots and recorders are made, dropped and disposed in random order while finalisers run.</summary>
        [Test]
        public static void AnyOrder()
        {
            ModeTests.Run(2, thread =>
            {
                var random = new Random(thread);
                var histograms = new List<HdrHistogram>();
                var snapshots = new List<HdrHistogramSnapshot>();
                var recorders = new List<HdrRecorder>();
                for (int step = 0; step < 3000; step++)
                {
                    switch (random.Next(9))
                    {
                        case 0:
                            HdrHistogram.HdrHistogramFactory factory = HdrHistogram.Factory.WithRelativeError(0.1);
                            histograms.Add(random.Next(2) == 0 ? factory.WithSingleWriter().Create() : factory.WithThreadLocal().Create());
                            break;
                        case 1:
                            Use(histograms, random, histogram => snapshots.Add(histogram.GetSnapshot()));
                            break;
                        case 2:
                            Use(histograms, random, histogram => recorders.Add(histogram.GetRecorder()));
                            break;
                        case 3:
                            Use(histograms, random, histogram => histogram.Record((ulong)step));
                            break;
                        case 4:
                            Use(recorders, random, recorder => recorder.Record((ulong)step));
                            break;
                        case 5:
                            Use(snapshots, random, snapshot => snapshot.Update(random.Next(2) == 0));
                            break;
                        case 6:
                            Drop(histograms, random, random.Next(2) == 0);
                            break;
                        case 7:
                            Drop(snapshots, random, random.Next(2) == 0);
                            break;
                        default:
                            Drop(recorders, random, random.Next(2) == 0);
                            break;
                    }
                    if (step % 250 == 0)
                        GC.Collect();
                }
            });
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        private static void Use<T>(List<T> things, Random random, Action<T> use)
        {
            if (things.Count != 0)
                use(things[random.Next(things.Count)]);
        }

        private static void Drop<T>(List<T> things, Random random, bool dispose) where T : IDisposable
        {
            if (things.Count == 0)
                return;
            int which = random.Next(things.Count);
            if (dispose)
                things[which].Dispose();
            things.RemoveAt(which);
        }

        /// <summary>Memory does not grow with histograms that were dropped or disposed.</summary>
        [Test]
        public static void MemoryComesBack()
        {
            long early = 0;
            for (int round = 0; round < 40; round++)
            {
                for (int i = 0; i < 25; i++)
                {
                    HdrHistogram histogram = HdrHistogram.Create();
                    histogram.Record((ulong)i);
                    histogram.GetSummary();
                    if (i % 2 == 0)
                        histogram.Dispose();
                }
                GC.Collect();
                GC.WaitForPendingFinalizers();
                if (round == 10)
                    early = ResidentBytes();
            }
            long grown = ResidentBytes() - early;
            // Each round makes some 15 MB.
            Check.True(grown < 100000000, $"grew by {grown} bytes");
        }

        internal static long ResidentBytes()
        {
            string[] fields = System.IO.File.ReadAllText("/proc/self/statm").Split(' ');
            return long.Parse(fields[1]) * Environment.SystemPageSize;
        }
    }
}
