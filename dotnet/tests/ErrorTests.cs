namespace Picollo.Tests;

/// <summary>Bad input causes an exception that explains the error.</summary>
public static class ErrorTests
{
    [Test]
    public static void NothingRecorded()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        Check.Fails(PicolloStatus.Empty, () => histogram.GetPercentileValue(50));
        Check.Fails(PicolloStatus.Empty, () => histogram.GetPercentile(50));
        Check.Fails(PicolloStatus.Empty, () => histogram.GetPercentiles(new double[] { 1 }, new Percentile[1]));
        Check.Fails(PicolloStatus.Empty, () => histogram.GetPercentileValues(new double[] { 1 }, new ulong[1]));
        histogram.GetPercentiles(new double[0], new Percentile[0]);
        histogram.GetPercentileValues(new double[0], new ulong[0]);
        InvalidOperationException general = Check.Fails(PicolloStatus.Empty, () => histogram.GetPercentileValue(50));
        Check.True(general is PicolloException, "also caught as InvalidOperationException");
    }

    [Test]
    public static void Selections()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        histogram.Record(5000);
        ulong middle = histogram.GetPercentileValue(50);
        Percentile.DefaultEquivalentValueSelection = EquivalentValueSelection.UpperBound;
        try
        {
            Check.Equal(histogram.GetBucket(5000).Upper, histogram.GetPercentileValue(50));
            Check.Equal(histogram.GetBucket(5000).Upper, histogram.GetSummary().P50.Value);
            Check.Equal(middle, histogram.GetPercentileValue(50, EquivalentValueSelection.Midpoint));
            Check.Equal(histogram.GetBucket(5000).Lower, histogram.GetPercentile(50).GetValue(EquivalentValueSelection.LowerBound));
        }
        finally
        {
            Percentile.DefaultEquivalentValueSelection = EquivalentValueSelection.Default;
        }
        Check.Equal(middle, histogram.GetPercentileValue(50));
    }

    /// <summary>For any wrong argument, the exception names it, and explains what it may be.</summary>
    [Test]
    public static void ArgumentsAreNamed()
    {
        HdrHistogram histogram = HdrHistogram.Factory.WithSignificantDigits(3).Create();
        histogram.Record(5);
        HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
        var writer = new HdrLogWriter(new System.IO.StringWriter());
        // The argument, a word of the explanation, and the call.
        var table = new (string Name, string Limits, Action Call)[]
        {
            ("minTrackableValue", "10", () => HdrHistogram.Factory.WithMinTrackableValue(10).WithMaxTrackableValue(5).Create()),
            ("minTrackableValue", "5", () => HdrHistogram.Factory.WithMinTrackableValue(10).WithMaxTrackableValue(5).EstimateFootprint()),
            ("unit", "5", () => HdrHistogram.Factory.WithUnit(64).WithMaxTrackableValue(5).Create()),
            ("value", "1", () => HdrHistogram.Factory.WithUnit(0)),
            ("value", "zero", () => HdrHistogram.Factory.WithMaxTrackableValue(0)),
            ("value", "proportion", () => HdrHistogram.Factory.WithRelativeError(double.NaN)),
            ("value", "below 1", () => HdrHistogram.Factory.WithRelativeError(2)),
            ("value", "0.000001", () => HdrHistogram.Factory.WithRelativeError(0)),
            ("value", "0.000001", () => HdrHistogram.Factory.WithRelativeError(9e-7)),
            ("value", "0.0001", () => DoubleHistogram.Factory.WithRelativeError(9e-5)),
            ("value", "below 1", () => PerfEventCounterSession.Factory.WithRelativeError(1)),
            ("RelativeThreshold", "finite", () => histogram.Compare(snapshot, new CompareOptions { RelativeThreshold = double.NaN })),
            ("AbsoluteThreshold", "0 or more", () => histogram.Compare(snapshot, new CompareOptions { AbsoluteThreshold = -1 })),
            ("Resolution", "0 or more", () => histogram.Compare(snapshot, new CompareOptions { Resolution = -5 })),
            ("digits", "0 to 5", () => HdrHistogram.Factory.WithSignificantDigits(6)),
            ("rank", "0 to 100", () => histogram.GetPercentileValue(101)),
            ("rank", "0 to 100", () => histogram.GetPercentile(double.NaN)),
            // A wrong argument is reported before an error about the histogram's contents.
            ("rank", "0 to 100", () => HdrHistogram.Create().GetPercentile(-1)),
            ("ranks", "0 to 100", () => histogram.GetPercentiles(new[] { -1.0 }, new Percentile[1])),
            ("ranks", "0 to 100", () => histogram.GetPercentileValues(new[] { 101.0 }, new ulong[1])),
            ("ranks", "0 to 100", () => histogram.GetInterpolatedPercentileValues(new[] { 101.0 }, new ulong[1])),
            ("percentiles", "room", () => histogram.GetPercentiles(new[] { 1.0 }, new Percentile[0])),
            ("valueSelection", "selection", () => histogram.GetPercentile(1, (EquivalentValueSelection)5)),
            ("selection", "percentile", () => histogram.GetBucket(5).GetValue(EquivalentValueSelection.Interpolated)),
            ("min", "9", () => histogram.RecordInRange(5, 9, 2)),
            ("value", "10 to 20", () => histogram.RecordInRange(5, 10, 20, true)),
            ("width", "width", () => histogram.GetLinearSteps(0)),
            ("first", "width", () => histogram.GetLogarithmicSteps(0, 2)),
            ("factor", "above 1", () => histogram.GetLogarithmicSteps(1, 1)),
            ("ticksPerHalfDistance", "one", () => histogram.FormatHgrm(0)),
            ("valueScale", "above 0", () => histogram.FormatHgrm(5, double.NaN)),
            ("quantile", "between 0 and 1", () => histogram.GetQuantileInterval(1)),
            ("confidence", "between 0 and 1", () => histogram.GetQuantileInterval(0.5, 0)),
            ("other", "itself", () => snapshot.Subtract(snapshot)),
            ("tag", "commas", () => writer.Write(histogram, 0, 1, "a,b")),
            ("tag", "white space", () => writer.Write(histogram, 0, 1, "a b")),
            ("thresholdBits", "1 to 31", () => { ulong word = 0; SharedCounter.AddScalable(ref word, 1, 32); }),
            ("names", "null", () => PerfEvent.PerfEventCounterSession.Factory.WithCounters("cycles", null)),
            ("counters", "at least one", () => new PerfEvent.PerfEventProcess(0)),
            ("processId", "0", () => new PerfEvent.PerfEventProcess(-1, "task-clock")),
            ("TraceId", "32", () => new MetricRegistry().SetExemplars(1, new MetricExemplar { TraceId = "12" })),
            ("SpanId", "hexadecimal", () => new MetricRegistry().SetExemplars(1, new MetricExemplar { SpanId = "b7ad6b716920333g" })),
            ("minTrackableValue", "5", () => Segment.Estimate(HdrHistogram.Factory.WithMinTrackableValue(10).WithMaxTrackableValue(5))),
            ("value", "empty list", () => new BenchmarkOptions().Counters = null)
        };
        foreach (var row in table)
            try
            {
                row.Call();
                throw new Exception($"{row.Name}, {row.Limits}: nothing was thrown");
            }
            catch (ArgumentException thrown)
            {
                Check.Equal(row.Name, thrown.ParamName, thrown.Message);
                Check.True(thrown.Message.Contains(row.Limits), $"{row.Name}: {thrown.Message}");
            }
    }

    [Test]
    public static void CombinationsThatAreRefused()
    {
        foreach (Action call in new Action[]
        {
            () => HdrHistogram.Factory.WithRelativeError(0.05).WithSignificantDigits(3).Create(),
            () => HdrHistogram.Factory.WithSignificantDigits(3).WithRelativeError(0.05).EstimateFootprint()
        })
            Check.True(Check.Throws<InvalidOperationException>(call).Message.Contains("digits and a relative error"), "both are named");
        string why = Check.Fails(PicolloStatus.Unsupported, () => HdrHistogram.Factory.WithPerCpu().WithSparseStorage().Create()).Message;
        Check.True(why.StartsWith("mode is") || why.StartsWith("storage is"), why);
    }

    /// <summary>The library's explanations reach the exceptions; its own tests have a row for each rule.</summary>
    [Test]
    public static void PartsOfMetricsAreNamed()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        DoubleHistogram doubles = DoubleHistogram.Create();
        var registry = new MetricRegistry();
        ulong id = registry.Add(histogram, new MetricOptions { Name = "x" });
        var both = new MetricExemplar
        {
            TraceId = "0af7651916cd43dd8448eb211c80319c", Labels = new Dictionary<string, string> { { "trace_id", "" } }
        };
        // The part, a word of the explanation, and the call.
        var table = new (string Name, string Limits, Action Call)[]
        {
            ("name", "letters", () => registry.AddCounter(new MetricOptions())),
            ("name", "\"9a\"", () => registry.Add(doubles, new MetricOptions { Name = "9a" })),
            ("unit", "end with it", () => registry.Add(histogram, new MetricOptions { Name = "a", Unit = "seconds" })),
            ("divisor", "got -1.0", () => registry.AddGauge(new MetricOptions { Name = "a", Divisor = -1 })),
            ("label", "\"le\"", () => registry.AddCounter(new MetricOptions { Name = "a", Labels = { { "le", "" } } })),
            ("bounds", "ascend", () => registry.Add(histogram, new MetricOptions { Name = "a" }, 5, 4)),
            ("bounds", "NaN", () => registry.Add(doubles, new MetricOptions { Name = "a" }, 1, double.NaN)),
            ("labels", "got x twice", () => registry.Add(histogram, new MetricOptions { Name = "x" })),
            ("\"x\"", "kind", () => registry.AddGauge(new MetricOptions { Name = "x" })),
            ("number 99", "No metric", () => registry.Remove(99)),
            ("id", "99", () => registry.SetExemplars(99)),
            ("value", "finite", () => registry.SetExemplars(id, new MetricExemplar(), new MetricExemplar { Value = double.NaN })),
            ("labels", "\"trace_id\"", () => registry.SetExemplars(id, both))
        };
        foreach (var row in table)
        {
            string message = Check.Fails(PicolloStatus.InvalidArgument, row.Call, row.Name + ", " + row.Limits).Message;
            Check.True(message.Contains(row.Name) && message.Contains(row.Limits), $"{row.Name}, {row.Limits}: {message}");
        }
    }

    /// <summary>The default buckets are not HdrHistogram's: the error has the remedy, and nothing is written.</summary>
    [Test]
    public static void EncodingsThatNeedDigits()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        histogram.Record(5);
        var output = new System.IO.StringWriter();
        var writer = new HdrLogWriter(output);
        int length;
        foreach (Action call in new Action[]
        {
            () => histogram.EncodeBase64(), () => histogram.Encode(SnapshotEncoding.HdrV2),
            () => histogram.TryEncode(new byte[100], out length, SnapshotEncoding.HdrV2), () => writer.Write(histogram, 0, 1)
        })
        {
            string message = Check.Fails(PicolloStatus.Incompatible, call).Message;
            Check.True(message.Contains("WithSignificantDigits(3)") && message.Contains("HdrHistogram"), message);
        }
        Check.Equal("", output.ToString());
    }
}
