namespace Picollo.Tests;

/// <summary>Histograms of doubles.</summary>
public static class DoubleTests
{
    [Test]
    public static void BothSignsAndAllMagnitudes()
    {
        DoubleHistogram histogram = DoubleHistogram.Create();
        histogram.Record(-0.25);
        histogram.Record(0, 2ul);
        histogram.Record(new[] { 1e-300, 1e300, double.NaN, double.PositiveInfinity });
        DoubleSnapshot snapshot = histogram.Collect();
        DoubleStatistics statistics = snapshot.Statistics;
        Check.Equal(5ul, statistics.Count);
        Check.Equal(2ul, statistics.NotFiniteCount);
        Check.Equal(0ul, statistics.LostCount);
        Check.Near(-0.25, statistics.Min, 0.001);
        Check.Near(1e300, statistics.Max, 0.001);
        Check.True(statistics.RelativeError <= 0.001 && statistics.RelativeError > 0, "the stated error");
        Check.Equal(0.0, snapshot.GetQuantile(0.5));
        DoubleBucket[] buckets = snapshot.GetBuckets();
        Check.Equal(4, buckets.Length);
        Check.Equal(2ul, buckets[1].Count);
        Check.True(buckets[0].Lower <= -0.25 && buckets[0].Upper >= -0.25, "the bucket");
        Check.True(buckets.Select(b => b.Midpoint).SequenceEqual(buckets.Select(b => b.Midpoint).OrderBy(m => m)), "ascending");
        Check.True(histogram.FootprintInBytes > 1000, "its memory");
    }

    /// <summary>The median of two values is the second in .NET, and the first elsewhere.</summary>
    [Test]
    public static void RanksAndExactSums()
    {
        DoubleHistogram dotnet = DoubleHistogram.Factory.WithDotNetRanks().Create();
        DoubleHistogram exact = DoubleHistogram.Factory.WithDotNetRanks().WithDotNetRanks(false).WithExactSum().Create();
        foreach (DoubleHistogram histogram in new[] { dotnet, exact })
            histogram.Record(new[] { 1.0, 2 });
        Check.Near(2, dotnet.Collect().GetQuantile(0.5), 0.001);
        DoubleSnapshot snapshot = exact.Collect();
        Check.Near(1, snapshot.GetQuantile(0.5), 0.001);
        Check.Equal(3.0, snapshot.Statistics.Sum);
    }

    [Test]
    public static void Intervals()
    {
        DoubleHistogram histogram = DoubleHistogram.Create();
        var snapshot = new DoubleSnapshot();
        histogram.Record(1);
        Check.Equal(1ul, histogram.Peek().Statistics.Count, "a look takes nothing");
        Check.True(ReferenceEquals(snapshot, histogram.Collect(snapshot)), "reuse");
        Check.Equal(1ul, snapshot.Statistics.Count);
        histogram.Collect(snapshot);
        Check.Equal(0ul, snapshot.Statistics.Count, "taken out");
        Check.True(double.IsNaN(snapshot.Statistics.Mean), "no mean");
        Check.Fails(PicolloStatus.Empty, () => snapshot.GetQuantile(0.5));
        var values = new double[1];
        DoubleStatistics nothing = histogram.Collect(new[] { 0.5 }, values);
        Check.True(nothing.Count == 0 && double.IsNaN(values[0]), "nothing has no median");
    }

    [Test]
    public static void Merging()
    {
        DoubleHistogram fine = DoubleHistogram.Create(), coarse = DoubleHistogram.Factory.WithRelativeError(0.05).Create();
        fine.Record(-7.5);
        coarse.Record(9);
        DoubleSnapshot a = fine.Collect(), b = coarse.Collect();
        a.Merge(b);
        Check.Equal(2ul, a.Statistics.Count);
        Check.Near(9, a.Statistics.Max, 0.05);
        coarse.Add(a);
        Check.Equal(2ul, coarse.Peek().Statistics.Count);
        Check.Throws<ArgumentException>(() => a.Merge(a));
    }

    [Test]
    public static void Summaries()
    {
        DoubleHistogram histogram = DoubleHistogram.Create();
        var summary = new DoubleSummary();
        Check.True(double.IsNaN(summary.Statistics.Mean), "a summary of nothing");
        for (int i = 1; i <= 1000; i++)
            histogram.Record(i / 1000.0);
        DoubleSnapshot snapshot = histogram.Collect();
        Check.True(ReferenceEquals(summary, snapshot.GetSummary(summary)), "reuse");
        Check.Near(0.5, summary.P50.Value, 0.001);
        Check.Near(0.999, summary.P999.Value, 0.001);
        Check.Equal(500ul, summary.P50.TargetCount);
        double[] ranks = { 0, 1, 5, 10, 25, 50, 75, 90, 92.5, 95, 97.5, 99, 99.9, 99.99, 99.999, 100 };
        Check.True(summary.GetPercentiles().Select(one => one.Rank).SequenceEqual(ranks), "each has its rank");
        Check.Equal(92.5, summary.P925.Rank);
        Check.True(summary.Format("Ratio é").StartsWith("##### Ratio é"), summary.Format("Ratio é"));
        Check.True(summary.Format("x", TextFormat.Line).IndexOf('\n') < 0, "one line");
        Check.True(summary.ToString().Contains(" values\n"), summary.ToString());
        Check.True(summary.Format("x", TextFormat.Json).StartsWith("{"), "JSON");
        Check.True(summary.P99.ToString().StartsWith("P99=0.9"), summary.P99.ToString());
    }

    [Test]
    public static void BadInput()
    {
        DoubleHistogram histogram = DoubleHistogram.Create();
        histogram.Record(1);
        DoubleSnapshot snapshot = histogram.Collect();
        foreach (double quantile in new[] { -0.1, 1.1, double.NaN })
        {
            Check.Throws<ArgumentOutOfRangeException>(() => snapshot.GetQuantile(quantile));
            Check.Throws<ArgumentOutOfRangeException>(() => snapshot.GetQuantiles(new[] { 0.5, quantile }, new double[2]));
            Check.Throws<ArgumentOutOfRangeException>(() => histogram.Collect(new[] { quantile }, new double[1]));
        }
        Check.Throws<ArgumentException>(() => snapshot.GetQuantiles(new double[2], new double[1]));
        Check.Throws<ArgumentException>(() => histogram.Collect(new double[2], new double[1]));
        Check.Fails(PicolloStatus.InvalidArgument, () => DoubleHistogram.Factory.WithMaxBytes(1).Create());
    }

    [Test]
    public static void SnapshotsOutliveTheirHistogram()
    {
        DoubleHistogram histogram = DoubleHistogram.Create();
        histogram.Record(3);
        DoubleSnapshot snapshot = histogram.Collect();
        histogram.Dispose();
        Check.Throws<ObjectDisposedException>(() => histogram.Collect(snapshot));
        Check.Equal(1ul, snapshot.Statistics.Count);
        snapshot.Dispose();
        Check.Throws<ObjectDisposedException>(() => new DoubleSnapshot().Merge(snapshot));
        Check.Throws<ObjectDisposedException>(() => DoubleHistogram.Create().Collect(snapshot));
        Check.Throws<ObjectDisposedException>(() => DoubleHistogram.Create().Add(snapshot));
    }

    [Test]
    public static void NothingIsAllocated()
    {
        DoubleHistogram histogram = DoubleHistogram.Create();
        var snapshot = new DoubleSnapshot();
        var summary = new DoubleSummary();
        var quantiles = new[] { 0.5, 0.99 };
        var values = new double[2];
        AllocationTests.Nothing("Record", () => histogram.Record(1.5));
        AllocationTests.Nothing("Collect", () => histogram.Collect(quantiles, values));
        AllocationTests.Nothing("Collect(reuse)", () => histogram.Collect(snapshot));
        AllocationTests.Nothing("GetSummary(reuse)", () => snapshot.GetSummary(summary));
    }
}
