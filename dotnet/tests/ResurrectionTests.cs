using System.Runtime.CompilerServices;

namespace Picollo.Tests;

/// <summary>
/// Pools bring objects back from their own finalizers. A resurrected object has ended: it causes an exception at most,
/// and never uses freed memory.
/// </summary>
public static class ResurrectionTests
{
    private static readonly List<Action> s_brought = new List<Action>();
    private static Action s_running;

    private sealed class Pool
    {
        private readonly Action _use;

        internal Pool(Action use)
        {
            _use = use;
        }

        ~Pool()
        {
            // Finalizers run in any order: the contained object may or may not have ended.
            Try(_use);
            Volatile.Write(ref s_running, _use);
            lock (s_brought)
                s_brought.Add(_use);
            Try(_use);
        }
    }

    private static void Try(Action use)
    {
        try
        {
            use();
        }
        catch (ObjectDisposedException)
        {
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Leave(Func<Action> make)
    {
        for (int i = 0; i < 8; i++)
        {
            Action use = make();
            use();
            GC.KeepAlive(new Pool(use));
        }
    }

    private static Func<Action> Recording(Func<HdrHistogram> make) => () =>
    {
        HdrHistogram histogram = make();
        return () => histogram.Record(5);
    };

    private static Func<Action> Recorder(Func<HdrHistogram> make) => () =>
    {
        HdrRecorder recorder = make().GetRecorder();
        return () => recorder.Record(5);
    };

    private static readonly Dictionary<string, Func<Action>> s_kinds = new Dictionary<string, Func<Action>>
    {
        { "single writer", Recording(() => HdrHistogram.Factory.WithSingleWriter().Create()) },
        { "interlocked", Recording(() => HdrHistogram.Create()) },
        { "interlocked, 32 bits", Recording(() => HdrHistogram.Factory.WithUInt32Storage().Create()) },
        { "thread-local", Recording(() => HdrHistogram.Factory.WithThreadLocal().Create()) },
        { "per CPU", Recording(() => HdrHistogram.Factory.WithPerCpu().Create()) },
        { "sparse", Recording(() => HdrHistogram.Factory.WithSparseStorage().Create()) },
        { "recorder, single writer", Recorder(() => HdrHistogram.Factory.WithSingleWriter().Create()) },
        { "recorder, interlocked", Recorder(() => HdrHistogram.Create()) },
        { "recorder, thread-local", Recorder(() => HdrHistogram.Factory.WithThreadLocal().Create()) },
        {
            "doubles", () =>
            {
                DoubleHistogram histogram = DoubleHistogram.Create();
                return () => histogram.Record(5);
            }
        },
        {
            "counter of a registry", () =>
            {
                MetricCounter counter = new MetricRegistry().AddCounter(new MetricOptions { Name = "requests_total" });
                return () => counter.Add();
            }
        },
        {
            "gauge of a registry", () =>
            {
                MetricGauge gauge = new MetricRegistry().AddGauge(new MetricOptions { Name = "temperature" });
                return () => gauge.Set(5);
            }
        }
    };

    [Test]
    public static void ResurrectedObjectsHaveEnded()
    {
        // A thread uses the resurrected object at that very moment.
        bool done = false;
        var other = new Thread(() =>
        {
            while (!Volatile.Read(ref done))
            {
                Action use = Volatile.Read(ref s_running);
                if (use != null)
                    for (int i = 0; i < 1000; i++)
                        Try(use);
            }
        });
        other.Start();
        foreach (KeyValuePair<string, Func<Action>> kind in s_kinds)
        {
            int all = 0, ended = 0;
            for (int round = 0; round < 5; round++)
            {
                // On a separate thread, whose stack does not keep a reference.
                ModeTests.Run(1, thread => Leave(kind.Value));
                for (int i = 0; i < 3; i++)
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                }
                Action[] brought;
                lock (s_brought)
                    brought = s_brought.ToArray();
                // Another object would have the memory by now.
                for (int i = 0; i < 4; i++)
                    Recording(() => HdrHistogram.Create())()();
                foreach (Action use in brought)
                {
                    all++;
                    try
                    {
                        use();
                    }
                    catch (ObjectDisposedException)
                    {
                        ended++;
                    }
                }
                Volatile.Write(ref s_running, null);
                lock (s_brought)
                    s_brought.Clear();
            }
            Check.True(all > 0, kind.Key + ": nothing was brought back");
            Check.True(ended * 2 > all, kind.Key + ": " + ended + " of " + all + " had ended");
        }
        Volatile.Write(ref done, true);
        other.Join();
    }
}
