namespace Picollo.Tests;

/// <summary>Compares recording without a call with recording in the library.</summary>
public static class HistogramTests
{
    internal static HdrHistogram Worked() =>
        HdrHistogram.Factory.WithRelativeError(0.01).WithMinTrackableValue(2000).WithMaxTrackableValue(12000).Create();

    /// <summary>Compares the managed rule of recording with the library's, for both ends of every bucket.</summary>
    [Test]
    public static void InlineRecordingFindsTheSameBucketsAsTheLibrary()
    {
        foreach (double error in new[] { 0.1, 0.01, 0.001 })
            foreach (ulong least in new ulong[] { 0, 5000 })
            {
                HdrHistogram.HdrHistogramFactory factory = HdrHistogram.Factory.WithRelativeError(error).WithMinTrackableValue(least);
                // Plain additions to 64 bits and to 32 bits, and an atomic one.
                var inlined = new[]
                {
                    factory.WithSingleWriter().Create(), factory.WithSingleWriter().WithUInt32Storage().Create(), factory.Create()
                };
                HdrHistogram called = factory.Create();
                foreach (Bucket bucket in called.Buckets)
                    foreach (ulong value in new[] { bucket.Lower, bucket.Upper })
                    {
                        foreach (HdrHistogram histogram in inlined)
                            histogram.Record(value);
                        called.Record(value, 1);
                    }
                foreach (HdrHistogram histogram in inlined)
                    Check.True(histogram.Buckets.SequenceEqual(called.Buckets), $"error {error}, from {least}");
                Check.True(called.Buckets.All(bucket => bucket.Count == 2), "each bucket");
            }
    }

    /// <summary>A full 32-bit counter takes the library's path, which reports the loss.</summary>
    [Test]
    public static void WrapsAreReported()
    {
        HdrHistogram histogram = HdrHistogram.Factory.WithSingleWriter().WithUInt32Storage().Create();
        histogram.Record(5, uint.MaxValue);
        Check.Equal(0ul, histogram.LostCount);
        histogram.Record(5);
        histogram.Record(5);
        Check.Equal((1ul << 32) + 1, histogram.TotalCount + histogram.LostCount);
        Check.True(histogram.LostCount > 0, "lost, and not silently");
    }

    [Test]
    public static void SummaryKnowsWhen()
    {
        DateTime before = DateTime.UtcNow;
        HdrHistogramSummary summary = HdrHistogram.Create().GetSummary();
        DateTime after = DateTime.UtcNow;
        var slack = TimeSpan.FromMilliseconds(20);
        Check.Equal(DateTimeKind.Utc, summary.TimestampUtc.Kind);
        Check.True(summary.TimestampUtc >= before - slack && summary.TimestampUtc <= after + slack, $"{summary.TimestampUtc:O}");
    }

    /// <summary>More than one library call returns.</summary>
    [Test]
    public static void ManyRanksAtOnce()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        for (ulong value = 1; value <= 100; value++)
            histogram.Record(value);
        double[] ranks = Enumerable.Range(1, 100).Select(rank => (double)rank).ToArray();
        var percentiles = new Percentile[ranks.Length];
        histogram.GetPercentiles(ranks, percentiles);
        Check.True(percentiles.Select(percentile => percentile.Value).SequenceEqual(ranks.Select(rank => (ulong)rank)), "in order");
    }
}
