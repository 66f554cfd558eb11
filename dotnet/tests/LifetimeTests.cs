namespace Picollo.Tests;

/// <summary>Use after disposal, in any order, finalizers on their own thread: exceptions, never a crash.</summary>
public static class LifetimeTests
{
    /// <summary>Each mode records in another way; SurfaceTests call everything else.</summary>
    [Test]
    public static void RecordingAfterDispose()
    {
        foreach (HdrHistogram histogram in new[]
        {
            HdrHistogram.Factory.WithSingleWriter().Create(), HdrHistogram.Factory.WithInterlocked().Create(),
            HdrHistogram.Factory.WithThreadLocal().Create()
        })
        {
            histogram.Record(1);
            HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
            histogram.Dispose();
            Check.Throws<ObjectDisposedException>(() => histogram.Record(1));
            Check.Throws<ObjectDisposedException>(() => histogram.Record(1, 2));
            Check.Throws<ObjectDisposedException>(() => histogram.GetNanoScope().Dispose());
            snapshot.Update(false);
            Check.Equal(1ul, snapshot.TotalCount);
            snapshot.Dispose();
            Check.Throws<ObjectDisposedException>(() => HdrHistogram.Create().Add(snapshot));
            Check.Throws<ObjectDisposedException>(() => HdrHistogram.Create().GetSnapshot().Merge(snapshot));
        }
    }

    [Test]
    public static void RecordersAfterDispose()
    {
        HdrHistogram histogram = HdrHistogram.Factory.WithSingleWriter().Create();
        HdrRecorder recorder = histogram.GetRecorder();
        recorder.Record(1);
        histogram.Dispose();
        // It keeps the necessary memory alive.
        recorder.Record(2);
        recorder.Dispose();
        recorder.Dispose();
        Check.Throws<ObjectDisposedException>(() => recorder.Record(3));
    }

    /// <summary>Writers in all modes continue while another thread disposes: each ends with an exception.</summary>
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

    /// <summary>Random making, using, dropping and disposing of objects while finalizers run; use after
    /// disposal.</summary>
    [Test]
    public static void AnyOrder()
    {
        ModeTests.Run(2, thread =>
        {
            var random = new Random(thread);
            var things = new List<IDisposable>();
            T Any<T>() where T : class, IDisposable
            {
                T[] some = things.OfType<T>().ToArray();
                return some.Length == 0 ? null : some[random.Next(some.Length)];
            }
            for (int step = 0; step < 5000; step++)
            {
                ulong value = (ulong)step;
                HdrHistogram.HdrHistogramFactory factory = HdrHistogram.Factory.WithRelativeError(0.1);
                HdrHistogram one = Any<HdrHistogram>();
                try
                {
                    IDisposable made = random.Next(14) switch
                    {
                        0 => step % 3 == 0 ? factory.Create() : step % 3 == 1 ? factory.WithSingleWriter().Create() : factory.WithThreadLocal().Create(),
                        1 => one?.GetSnapshot(),
                        2 => one?.GetRecorder(),
                        3 => DoubleHistogram.Create(),
                        4 => Any<DoubleHistogram>()?.Collect(),
                        5 => new MetricRegistry(),
                        _ => null
                    };
                    if (made != null)
                        things.Add(made);
                    // A single writer's histogram belongs to this thread, like everything in the list.
                    one?.Record(value);
                    Any<HdrRecorder>()?.Record(value);
                    Any<DoubleHistogram>()?.Record(step);
                    Any<HdrHistogramSnapshot>()?.Update(random.Next(2) == 0);
                    Any<DoubleSnapshot>()?.GetSummary();
                    MetricRegistry registry = Any<MetricRegistry>();
                    if (one != null)
                        registry?.Add(one, new MetricOptions { Name = "x" + step });
                    registry?.Scrape(TextWriter.Null);
                }
                catch (ObjectDisposedException)
                {
                }
                // Those that stay in the list after disposal are used later.
                IDisposable which = random.Next(4) == 0 ? Any<IDisposable>() : null;
                if (random.Next(2) == 0)
                    which?.Dispose();
                if (random.Next(4) != 0)
                    things.Remove(which);
                if (step % 250 == 0)
                    GC.Collect();
            }
        });
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    internal static long ResidentBytes()
    {
        string[] fields = System.IO.File.ReadAllText("/proc/self/statm").Split(' ');
        return long.Parse(fields[1]) * Environment.SystemPageSize;
    }
}
