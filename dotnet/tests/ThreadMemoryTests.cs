namespace Picollo.Tests;

/// <summary>Memory of ended threads and recorders is reused, and none of their records is lost.</summary>
public static class ThreadMemoryTests
{
    private static HdrHistogram Local() =>
        HdrHistogram.Factory.WithThreadLocal().WithRelativeError(0.01).WithMaxTrackableValue(1 << 20).Create();

    /// <summary>The size of one more live recorder, in bytes.</summary>
    private static int ShardBytes()
    {
        HdrHistogram histogram = Local();
        using (histogram.GetRecorder())
        {
            int one = histogram.FootprintInBytes;
            var more = new List<HdrRecorder>();
            for (int i = 0; i < 64; i++)
                more.Add(histogram.GetRecorder());
            int shard = (histogram.FootprintInBytes - one) / 64;
            Check.True(shard > 4000, $"a shard of {shard} bytes");
            more.ForEach(recorder => recorder.Dispose());
            return shard;
        }
    }

    private const int Rounds = 500;

    // A thread can be joined before the system ends it, and only then are its shards free: on a busy machine many end
    // at once. If none were reused there would be one per thread: 2,000.
    private const int Ending = 250;

    private static void FewShards(HdrHistogram histogram, int most, string what)
    {
        int shards = histogram.FootprintInBytes / ShardBytes();
        Check.True(shards <= most, $"{what}: {shards} shards, and at most {most} were to be");
    }

    /// <summary>Each with a recorder, which some do not dispose.</summary>
    [Test]
    public static void ShortThreadsWithRecorders()
    {
        HdrHistogram histogram = Local();
        const int AtOnce = 4;
        for (int round = 0; round < Rounds; round++)
        {
            ModeTests.Run(AtOnce, thread =>
            {
                HdrRecorder recorder = histogram.GetRecorder();
                for (ulong value = 0; value < 100; value++)
                    recorder.Record(value);
                histogram.Record(1);
                // Values out of range, counts and batches go to the library's shard of the thread.
                histogram.Record(2, 3);
                histogram.Record(new ulong[] { 4, 5 });
                histogram.Record(ulong.MaxValue);
                if (thread != 0 || round % 100 != 0)
                    recorder.Dispose();
            });
        }
        Check.Equal((ulong)Rounds * AtOnce * 106, histogram.TotalCount);
        // Two per thread, and the forgotten ones.
        FewShards(histogram, 2 * AtOnce + Rounds / 100 + Ending, "short threads with recorders");
        GC.KeepAlive(histogram);
    }

    [Test]
    public static void RecordersComeBackAtOnce()
    {
        HdrHistogram histogram = Local();
        for (ulong i = 0; i < 2000; i++)
            using (HdrRecorder recorder = histogram.GetRecorder())
                recorder.Record(i);
        Check.Equal(2000ul, histogram.TotalCount);
        FewShards(histogram, 20, "two thousand recorders, one after the other");
        HdrRecorder disposed = histogram.GetRecorder();
        ModeTests.Run(4, thread => disposed.Dispose());
        Check.Throws<ObjectDisposedException>(() => disposed.Record(1));
    }

    /// <summary>One thread makes, records, disposes or forgets: memory does not grow.</summary>
    [Test]
    public static void RecordForgetCollect()
    {
        long early = 0;
        for (int round = 0; round < 60; round++)
        {
            for (int i = 0; i < 20; i++)
            {
                HdrHistogram.HdrHistogramFactory factory = HdrHistogram.Factory.WithRelativeError(0.01);
                HdrHistogram histogram = i % 3 == 0 ? factory.WithThreadLocal().Create()
                    : i % 3 == 1 ? factory.Create() : factory.WithSingleWriter().Create();
                histogram.Record((ulong)i);
                if (i % 3 != 1)
                    histogram.GetRecorder().Record(1);
                if (i % 2 == 0)
                    histogram.Dispose();
            }
            GC.Collect();
            GC.WaitForPendingFinalizers();
            if (round == 19)
                early = LifetimeTests.ResidentBytes();
        }
        long grown = LifetimeTests.ResidentBytes() - early;
        Check.True(grown < 60000000, $"grew by {grown} bytes");
    }
}
