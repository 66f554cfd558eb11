namespace Picollo.Tests;

/// <summary>The modes of recording.</summary>
public static class ModeTests
{
    /// <summary>Code that only records can use a histogram or its recorder.</summary>
    [Test]
    public static void HistogramsAndRecordersRecord()
    {
        foreach (HdrHistogram histogram in new[]
        {
            HdrHistogram.Create(), HdrHistogram.Factory.WithSingleWriter().Create(), HdrHistogram.Factory.WithThreadLocal().Create()
        })
            using (HdrRecorder own = histogram.GetRecorder())
            {
                foreach (IRecorder recorder in new IRecorder[] { histogram, own })
                {
                    recorder.Record(5);
                    recorder.Record(6, 1ul << 40);
                    recorder.RecordCorrected(1000, 100);
                }
                Check.Equal((1ul << 41) + 22, histogram.TotalCount);
                own.Dispose();
                Check.Throws<ObjectDisposedException>(() => own.Record(5, 2));
                Check.Throws<ObjectDisposedException>(() => own.RecordCorrected(5, 2));
            }
    }

    private static readonly Dictionary<string, Func<HdrHistogram>> s_exact = new Dictionary<string, Func<HdrHistogram>>
    {
        { "default", () => HdrHistogram.Create() },
        { "default, 32 bits", () => HdrHistogram.Factory.WithUInt32Storage().Create() },
        { "default, sparse", () => HdrHistogram.Factory.WithSparseStorage().Create() },
        { "single writer", () => HdrHistogram.Factory.WithSingleWriter().Create() },
        { "single writer, 32 bits", () => HdrHistogram.Factory.WithSingleWriter().WithUInt32Storage().Create() },
        { "interlocked", () => HdrHistogram.Factory.WithInterlocked().Create() },
        { "interlocked, 32 bits", () => HdrHistogram.Factory.WithInterlocked().WithUInt32Storage().Create() },
        { "thread-local", () => HdrHistogram.Factory.WithThreadLocal().Create() },
        { "thread-local, 32 bits", () => HdrHistogram.Factory.WithThreadLocal().WithUInt32Storage().Create() },
        { "per CPU", () => HdrHistogram.Factory.WithPerCpu().Create() },
        { "digits", () => HdrHistogram.Factory.WithSignificantDigits(3).Create() },
        { "sparse", () => HdrHistogram.Factory.WithSingleWriter().WithSparseStorage().Create() },
        { "sparse, interlocked", () => HdrHistogram.Factory.WithSparseStorage().WithInterlocked().Create() }
    };

    [Test]
    public static void AllCountTheSame()
    {
        ulong[] values = Example.First;
        foreach (KeyValuePair<string, Func<HdrHistogram>> mode in s_exact)
            using (HdrHistogram histogram = mode.Value())
            {
                foreach (ulong value in values)
                    histogram.Record(value);
                histogram.Record(values);
                histogram.Record(5, 7);
                histogram.RecordCorrected(450, 100);
                histogram.RecordInRange(3, 1, 5);
                Check.Equal((ulong)values.Length * 2 + 7 + 4 + 1, histogram.TotalCount, mode.Key);
                HdrHistogramSummary summary = histogram.GetSummary();
                Check.Near(values.OrderBy(v => v).ElementAt(values.Length / 2), summary.P50.Value, 0.001, mode.Key);
                histogram.Reset();
                Check.Equal(0ul, histogram.TotalCount, mode.Key);
                histogram.Record(1);
                Check.Equal(1ul, histogram.TotalCount, mode.Key);
                Check.True(histogram.FootprintInBytes > 0, mode.Key);
            }
    }

    [Test]
    public static void ManyWriters()
    {
        foreach (string mode in new[] { "default", "default, sparse", "interlocked, 32 bits", "thread-local", "thread-local, 32 bits" })
            using (HdrHistogram histogram = s_exact[mode]())
            {
                const int Threads = 8, Records = 50000;
                Run(Threads, thread =>
                {
                    for (int i = 0; i < Records; i++)
                        histogram.Record((ulong)(i * Threads + thread));
                });
                Check.Equal((ulong)Threads * Records, histogram.TotalCount, mode);
            }
    }

    [Test]
    public static void Recorders()
    {
        foreach (string mode in new[]
            { "default", "interlocked", "single writer", "single writer, 32 bits", "thread-local", "thread-local, 32 bits" })
            using (HdrHistogram histogram = s_exact[mode]())
            {
                int threads = mode.StartsWith("single") ? 1 : 4;
                Run(threads, thread =>
                {
                    using (HdrRecorder recorder = histogram.GetRecorder())
                        for (ulong i = 0; i < 10000; i++)
                            recorder.Record(i);
                });
                histogram.Record(1);
                Check.Equal((ulong)threads * 10000 + 1, histogram.TotalCount, mode);
            }
        foreach (string mode in new[] { "default, sparse", "default, 32 bits", "interlocked, 32 bits", "sparse", "per CPU" })
        {
            string message = Check.Fails(PicolloStatus.Unsupported, () => s_exact[mode]().GetRecorder(), mode).Message;
            Check.True(message.Contains("thread-local") && message.Contains("interlocked"), message);
        }
    }

    [Test]
    public static void OneModeAtATime()
    {
        Check.Throws<InvalidOperationException>(() => HdrHistogram.Factory.WithInterlocked().WithThreadLocal().Create());
        Check.Throws<InvalidOperationException>(() => HdrHistogram.Factory.WithSingleWriter().WithInterlocked().Create());
        Check.Throws<InvalidOperationException>(
            () => HdrHistogram.Factory.WithInterlocked().WithThreadLocal().WithThreadLocal().Create());
        HdrHistogram.Factory.WithInterlocked().WithInterlocked(false).WithThreadLocal().Create().Dispose();
        HdrHistogram.Factory.WithSingleWriter().WithSingleWriter(false).WithThreadLocal().Create().Dispose();
        HdrHistogram.Factory.WithThreadLocal(true, TimeSpan.FromSeconds(1)).Create().Dispose();
        HdrHistogram.Factory.WithInterlocked().WithInterlocked().Create().Dispose();
    }

    internal static void Run(int threads, Action<int> body)
    {
        Exception failure = null;
        Thread[] all = Enumerable.Range(0, threads).Select(thread => new Thread(() =>
        {
            try
            {
                body(thread);
            }
            catch (Exception exception)
            {
                Volatile.Write(ref failure, exception);
            }
        })).ToArray();
        foreach (Thread thread in all)
            thread.Start();
        foreach (Thread thread in all)
            thread.Join();
        if (failure != null)
            throw new Exception("a thread failed", failure);
    }
}
