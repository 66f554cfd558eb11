namespace Picollo.Tests;

/// <summary>Comparing: quantile intervals, verdicts, blocks.</summary>
public static class CompareTests
{
    private static HdrHistogram Of(ulong[] values, Func<ulong, ulong> change = null)
    {
        HdrHistogram histogram = HdrHistogram.Create();
        foreach (ulong value in values)
            histogram.Record(change == null ? value : change(value));
        return histogram;
    }

    [Test]
    public static void FasterSlowerAndTheSame()
    {
        HdrHistogram before = Of(Example.First), slower = Of(Example.First, v => v + v / 5);
        HdrComparison comparison = before.Compare(slower);
        Check.Equal(Verdict.Slower, comparison.Verdict);
        Check.Equal((double)comparison.After.Value - comparison.Before.Value, comparison.Difference);
        Check.Near(2 * comparison.CommonLanguage - 1, comparison.CliffsDelta, 1e-9);
        Check.Equal(Verdict.Faster, slower.Compare(before).Verdict);
        QuantileInterval interval = before.GetQuantileInterval(0.99);
        Check.True(interval.Lower <= interval.Value && interval.Value <= interval.Upper && interval.Value == before.GetPercentileValue(99), interval.ToString());
        HdrComparison none = before.Compare(before);
        Check.Equal(Verdict.NoEvidence, none.Verdict, "with itself");
        Check.True((none.Notes & ComparisonNotes.WithinMargin) != 0 && none.Difference == 0, none.Notes.ToString());
    }

    [Test]
    public static void AsText()
    {
        HdrHistogram before = Of(Example.First), after = Of(Example.Second);
        HdrComparison comparison = before.GetSnapshot().Compare(after.GetSnapshot());
        string table = comparison.Format("Release", "1.0", "1.1");
        string changes = before.GetSummary().FormatDiff(after.GetSummary(), "Release", "1.0", "1.1");
        Check.True(table.StartsWith(changes.TrimEnd('\n').Split('\n')[0]), "as a difference, and more");
        Check.True(table.Length > changes.Length && table.Contains("1.1"), table);
        Check.True(comparison.Format(format: TextFormat.Line).IndexOf('\n') < 0, "one line");
        Check.True(comparison.ToString().StartsWith("After against Before: slower by "), comparison.ToString());
        Check.True(comparison.Format("x", format: TextFormat.Json).StartsWith("{"), "JSON");
        Check.Equal(before.TotalCount, comparison.SummaryBefore.TotalCount);
        Check.Equal(after.TotalCount, comparison.SummaryAfter.TotalCount);
        Check.Throws<ArgumentException>(() => comparison.Format("a\0b"));
    }

    [Test]
    public static void Options()
    {
        HdrHistogram before = Of(Example.First), slower = Of(Example.First, v => v + v / 50);
        Check.Equal(Verdict.Slower, before.Compare(slower).Verdict);
        Check.Equal(Verdict.NoEvidence, before.Compare(slower, new CompareOptions { RelativeThreshold = 0.1 }).Verdict);
        Check.Equal(Verdict.NoEvidence, before.Compare(slower, new CompareOptions { AbsoluteThreshold = 100000 }).Verdict);
        Check.Equal(0.9, before.Compare(slower, new CompareOptions { Quantile = 0.9 }).Before.Quantile);
        HdrComparison none = before.Compare(slower, new CompareOptions { RelativeThreshold = 0 });
        Check.Equal(none.BucketWidth, none.Margin, "no threshold but the width of a bucket");
        foreach (CompareOptions wrong in new[]
        {
            new CompareOptions { Quantile = 0 }, new CompareOptions { Confidence = 1 }, new CompareOptions { Power = double.NaN }
        })
            Check.Throws<ArgumentOutOfRangeException>(() => before.Compare(slower, wrong));
        Check.Fails(PicolloStatus.Empty, () => before.Compare(HdrHistogram.Create()));
        Check.Fails(PicolloStatus.Empty, () => HdrHistogram.Create().GetQuantileInterval(0.5));
    }

    [Test]
    public static void Blocks()
    {
        double[] a = Enumerable.Range(0, 60).Select(i => 100.0 + i + i % 7 / 10.0).ToArray();
        double[] b = a.Select((value, i) => value + 5 + i % 3 / 10.0).ToArray();
        BlockComparison comparison = BlockComparison.Compare(a, b);
        Check.Equal(60ul, comparison.BlockCount);
        Check.Equal(Verdict.Slower, comparison.Verdict);
        Check.Near(comparison.MedianBefore + 5, comparison.MedianAfter, 0.05);
        Check.Equal(Verdict.Faster, BlockComparison.Compare(b, a).Verdict);
        Check.Throws<ArgumentException>(() => BlockComparison.Compare(a, new double[1]));
        Check.Fails(PicolloStatus.InvalidArgument, () => BlockComparison.Compare(new[] { double.NaN }, new double[1]));
        Check.Fails(PicolloStatus.Empty, () => BlockComparison.Compare(new double[0], new double[0]));
    }

    [Test]
    public static void Runs()
    {
        double[] earlier = { 100, 103, 98, 101, 99, 102, 97, 100, 104, 96 };
        RunComparison slower = RunComparison.Compare(earlier, 150);
        Check.Equal((Verdict.Slower, 10ul, 0.99), (slower.Verdict, slower.RunCount, slower.Confidence));
        Check.Equal((96.0, 104.0, 150.0), (slower.Lowest, slower.Highest, slower.Value));
        RunComparison narrower = RunComparison.Compare(earlier, 150, new CompareOptions());
        Check.True(narrower.Confidence == 0.95 && narrower.DifferenceUpper < slower.DifferenceUpper, "less sure, narrower");
        Check.Fails(PicolloStatus.Empty, () => RunComparison.Compare(new double[0], 1));
    }

    [Test]
    public static void Figures()
    {
        var names = new[] { "instructions", "cycles" };
        Figure ipc = Figure.Estimate("ipc", names, new double[] { 3, 2, 5, 4, 100, double.NaN });
        Check.Near(8.0 / 6, ipc.Value, 1e-12);
        Check.True(ipc.Lower < ipc.Value && ipc.Value < ipc.Upper && ipc.IsPartial, "the interval");
        Check.Equal(2ul, ipc.Scopes);
        Check.Throws<ArgumentException>(() => Figure.Estimate("ipc", names, new double[] { 1 }));
        Check.Throws<ArgumentNullException>(() => Figure.Estimate(null, names, new double[] { 1, 2 }));
        Check.Throws<ArgumentOutOfRangeException>(() => Figure.Estimate("ipc", names, new double[] { 1, 2 }, 2));
        Check.Fails(PicolloStatus.InvalidArgument, () => Figure.Estimate("cycles +", names, new double[] { 1, 2 }));
        Check.Fails(PicolloStatus.NotCounted, () => Figure.Estimate("ipc", names, new double[] { 1, double.NaN }));
        Check.Fails(PicolloStatus.Empty, () => Figure.Estimate("ipc", names, new double[] { 1, 0 }));
    }

    [Test]
    public static void Benchmarks()
    {
        var options = new BenchmarkOptions
        {
            // It ends after its blocks; the budget is for busy machines.
            BudgetSeconds = 10, WarmUpSeconds = 0.05, SampleSeconds = 0.0001, MaxBlocks = 100,
            Counters = new[] { "task-clock", "branch-misses" }, KeepsDisturbed = true
        };
        Benchmark run = Benchmark.Run(() => CpuUtils.AddChain256(4), () => CpuUtils.AddChain256(12), options);
        Check.Equal(Verdict.Slower, run.Verdict, run.Format());
        Check.True(run.Blocks.MedianAfter > 2 * run.Blocks.MedianBefore, run.Format());
        // It may have ended early.
        Check.True(run.SampleCount == 2 * run.Blocks.BlockCount && run.SampleCount <= 200, run.Format());
        Check.Equal(run.SampleCount, run.HistogramBefore.TotalCount);
        Check.True(run.RepetitionsBefore > 0 && run.RepetitionsAfter > 0 && run.OverheadBefore > 0, "samples");
        Check.True(run.Elapsed > TimeSpan.Zero && run.Elapsed < TimeSpan.FromSeconds(30), run.Elapsed.ToString());
        Check.Equal(2, run.Counters.Count);
        Check.Equal("task-clock", run.Counters[0].Name);
        // The amount depends on other activity on the machine.
        Check.Equal(PicolloStatus.Ok, run.Counters[0].Status);
        Check.True(!double.IsNaN(run.Counters[0].Before) && !double.IsNaN(run.Counters[0].After), "time on a processor");
        Check.True(run.Counters[1].Status == PicolloStatus.Ok || double.IsNaN(run.Counters[1].Before), "never an invented zero");
        Check.True(run.EmptyCount >= 16 && run.OverheadErrorBefore >= 0 && run.Blocks.Resolution >= 500, "the overhead");
        Check.True(!run.IsBudgetSpent && !run.IsNothingBefore && !run.IsNothingAfter && !run.IsSimulated, run.Format());
        Check.True(run.Format("Chains", "4", "12").Contains("Chains"), "text");
        Check.True(!run.IsNoisy && run.Noise.LeftOutCount == 0 && run.Noise.BlockCount == run.Blocks.BlockCount, "all are kept");
    }

    [Test]
    public static void BenchmarksAreChecked()
    {
        Action nothing = () => { };
        Check.Throws<ArgumentOutOfRangeException>(() => Benchmark.Run(nothing, nothing, new BenchmarkOptions { MinBlocks = -1 }));
        Check.Throws<ArgumentOutOfRangeException>(() => Benchmark.Run(nothing, nothing, new BenchmarkOptions { Confidence = 2 }));
        Check.Fails(PicolloStatus.InvalidArgument, () => Benchmark.Run(nothing, nothing, new BenchmarkOptions { BudgetSeconds = double.NaN }));
        Check.Fails(PicolloStatus.NoSuchEvent, () => Benchmark.Run(nothing, nothing, new BenchmarkOptions { Counters = new[] { "nonsense" } }));
        Check.Throws<NotSupportedException>(() => Benchmark.Run(() => throw new NotSupportedException(), nothing));
    }

    [Test]
    public static void Pictures()
    {
        HdrHistogram before = Of(Example.First), after = Of(Example.Second);
        Check.Equal(30, before.FormatSparkline(30, ascii: true).Length);
        Check.True(before.FormatSparkline().IndexOf('\n') < 0, "one line");
        string chart = before.FormatChart(Picture.Percentiles, "Requests é", "us", rows: 5);
        Check.True(chart.Contains("Requests é") && chart.Split('\n').Length > 5, chart);
        ReadOnlyHdrHistogram[] both = { before, after.GetSnapshot() };
        string svg = HdrPictures.FormatSvg(both, Picture.Density, new[] { "before <1>", null }, "Both", "us", PictureTheme.Dark, 500, 300);
        Check.True(svg.StartsWith("<svg") && svg.TrimEnd().EndsWith("</svg>"), svg.Substring(0, 100));
        Check.True(svg.Contains("before &lt;1") && svg.Contains("Both") && svg.Contains("500"), "titles and size");
        string report = HdrPictures.FormatReport(new ReadOnlyHdrHistogram[] { before, after, before }, title: "Report");
        Check.True(report.Contains("<svg") && report.Contains("Report") && report.TrimEnd().EndsWith("</html>"), "one document");
        Check.True(HdrPictures.FormatSvg(new ReadOnlyHdrHistogram[0], Picture.Density).Contains("no observations"), "of nothing");
        Check.Throws<ArgumentException>(() => HdrPictures.FormatSvg(both, Picture.Density, new[] { "one" }));
        Check.Throws<ArgumentOutOfRangeException>(() => before.FormatChart(Picture.HeatMap));
        Check.Throws<ArgumentOutOfRangeException>(() => before.FormatSparkline(0));
        Check.Throws<ArgumentNullException>(() => HdrPictures.FormatReport(new ReadOnlyHdrHistogram[] { before, null }));
        Check.True(HdrPictures.FormatReport(new Growing(before)).EndsWith("</html>\n"), "those at the beginning");
        both[1].Dispose();
        Check.Throws<ObjectDisposedException>(() => HdrPictures.FormatReport(both));
        // The gates are open again, also from other threads.
        ModeTests.Run(2, thread => before.Compare(after));
    }

    /// <summary>A list that others extend while it is drawn.</summary>
    private sealed class Growing(ReadOnlyHdrHistogram one) : IReadOnlyList<ReadOnlyHdrHistogram>
    {
        private int _count;

        public int Count => _count += 100000;

        public ReadOnlyHdrHistogram this[int index] => one;

        public IEnumerator<ReadOnlyHdrHistogram> GetEnumerator()
        {
            yield return one;
        }

        System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
    }

    /// <summary>Two threads compare the same two histograms in opposite directions without a deadlock.</summary>
    [Test]
    public static void BothWaysAtOnce()
    {
        HdrHistogram a = Of(new ulong[] { 1, 2, 3 }), b = Of(new ulong[] { 4, 5, 6 });
        ModeTests.Run(2, thread =>
        {
            for (int i = 0; i < 300; i++)
                if (thread == 0)
                    a.Compare(b);
                else
                    b.Compare(a);
        });
    }
}
