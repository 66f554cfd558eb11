namespace Picollo.Tests;

/// <summary>Snapshots: totals, deltas, resets, merging.</summary>
public static class SnapshotTests
{
    [Test]
    public static void DirectFigures()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        Check.True(double.IsNaN(histogram.Mean()) && double.IsNaN(histogram.StDev()), "of nothing");
        Check.Fails(PicolloStatus.Empty, () => Ignore(histogram.Min));
        Check.Fails(PicolloStatus.Empty, () => Ignore(histogram.Max));
        histogram.Record(3);
        histogram.Record(7);
        foreach (ReadOnlyHdrHistogram one in new ReadOnlyHdrHistogram[] { histogram, histogram.GetSnapshot() })
        {
            Check.Equal(3ul, one.Min);
            Check.Equal(7ul, one.Max);
            Check.Equal(5.0, one.Mean());
            Check.Equal(2.0, one.StDev());
        }
        histogram.Record(1000000);
        Check.Equal(histogram.GetSummary().P100.Value, histogram.Max, "the same value of its bucket");
    }

    private static void Ignore(ulong value)
    {
    }

    [Test]
    public static void OutliveTheirHistogram()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        histogram.Record(6);
        HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
        histogram.Record(6);
        histogram.Dispose();
        histogram = null;
        GC.Collect();
        GC.WaitForPendingFinalizers();
        snapshot.Update(deltas: true);
        Check.Equal(1ul, snapshot.TotalCount);
        Check.True((DateTime.UtcNow - snapshot.TimestampUtc).Duration() < TimeSpan.FromMinutes(1), "its time");
    }
}
