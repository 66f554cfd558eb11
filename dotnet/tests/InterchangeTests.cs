namespace Picollo.Tests;

/// <summary>Snapshots as bytes and text, logs, merging with a report, layouts and steps.</summary>
public static class InterchangeTests
{
    /// <summary>HdrHistogram's buckets, with three values.</summary>
    private static HdrHistogram Digits()
    {
        HdrHistogram histogram = HdrHistogram.Factory.WithSignificantDigits(3).WithMaxTrackableValue(3600000000).Create();
        histogram.Record(7);
        histogram.Record(1000, 5);
        histogram.Record(123456789);
        return histogram;
    }

    private static void Same(ReadOnlyHdrHistogram expected, ReadOnlyHdrHistogram actual, string what)
    {
        Check.True(
            expected.BucketsWithValues.Select(b => (b.Lower, b.Count)).SequenceEqual(
                actual.BucketsWithValues.Select(b => (b.Lower, b.Count))), what);
    }

    [Test]
    public static void EncodedAndDecoded()
    {
        HdrHistogramSnapshot histogram = Digits().GetSnapshot();
        foreach (SnapshotEncoding encoding in Enum.GetValues(typeof(SnapshotEncoding)))
        {
            byte[] bytes = histogram.Encode(encoding);
            HdrHistogramSnapshot back = HdrHistogramSnapshot.Decode(bytes);
            Same(histogram, back, encoding.ToString());
            Check.True(back.TotalCount == 7 && back.ValueRatio == 1, "as many");
            string text = histogram.EncodeBase64(encoding);
            Check.Equal(Convert.ToBase64String(bytes), text, encoding.ToString());
            Same(histogram, HdrHistogramSnapshot.DecodeBase64("  " + text + "\n"), encoding + ", base64");
            Check.Fails(PicolloStatus.Unsupported, () => back.Update(true));
        }
        Check.True(histogram.EncodeBase64().StartsWith("HISTFAAA"), "what logs hold");
        Check.Fails(PicolloStatus.Corrupt, () => HdrHistogramSnapshot.DecodeBase64("nonsense"));
        Check.Fails(PicolloStatus.OutOfMemory, () => HdrHistogramSnapshot.Decode(histogram.Encode(), 10));
    }

    [Test]
    public static void EncodedIntoABuffer()
    {
        HdrHistogram histogram = Digits();
        byte[] expected = histogram.Encode();
        var buffer = new byte[expected.Length];
        Check.True(!histogram.TryEncode(new Span<byte>(buffer, 0, buffer.Length - 1), out int length), "too small");
        Check.Equal(expected.Length, length);
        Check.True(buffer.All(b => b == 0), "not written to");
        Check.True(histogram.TryEncode(buffer, out length) && length == expected.Length, "room");
        Same(histogram, HdrHistogramSnapshot.Decode(buffer), "the buffer");
        Check.True(!histogram.TryEncode(default, out length) && length == expected.Length, "no buffer");
    }

    /// <summary>Consecutive encodings of all kinds in a buffer.</summary>
    [Test]
    public static void OneAfterAnother()
    {
        HdrHistogram histogram = Digits();
        byte[] text = System.Text.Encoding.ASCII.GetBytes(" " + histogram.EncodeBase64() + "\r\n");
        byte[][] parts =
        {
            histogram.Encode(SnapshotEncoding.HdrV2), text, histogram.Encode(SnapshotEncoding.HdrV2Compressed), histogram.Encode()
        };
        byte[] all = parts.SelectMany(part => part).ToArray();
        int at = 0, consumed;
        foreach (byte[] part in parts)
        {
            Same(histogram, HdrHistogramSnapshot.Decode(all.AsSpan(at), out consumed), "one of them");
            Check.Equal(part.Length, consumed);
            at += consumed;
        }
        Check.Equal(all.Length, at);
        Check.Fails(PicolloStatus.Corrupt, () => HdrHistogramSnapshot.Decode(default, out int none));
        Check.Fails(PicolloStatus.OutOfMemory, () => HdrHistogramSnapshot.Decode(all, out int none, 10));
    }

    [Test]
    public static void Logs()
    {
        HdrHistogram histogram = Digits();
        HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
        var start = new DateTime(2024, 5, 6, 7, 8, 9, DateTimeKind.Utc);
        string longTag = new string('x', 300) + "é";
        var text = new StringWriter();
        using (var writer = new HdrLogWriter(text, leaveOpen: true))
        {
            writer.WriteHeader(start, "two lines\nof comment");
            writer.Write(snapshot, start, TimeSpan.FromSeconds(1), "A");
            writer.Write(histogram, start.AddSeconds(1), TimeSpan.FromSeconds(2));
            writer.Write(histogram, start.AddSeconds(3), TimeSpan.FromSeconds(1), longTag);
            Check.Throws<ArgumentException>(() => writer.Write(histogram, start, TimeSpan.Zero, "no, commas"));
            Check.Fails(PicolloStatus.Incompatible, () => writer.Write(HdrHistogram.Create(), start, TimeSpan.Zero));
        }
        double seconds = (start - new DateTime(1970, 1, 1)).TotalSeconds;
        using HdrLogReader reader = HdrLogReader.Parse(text.ToString());
        HdrLogEntry[] entries = reader.ReadAll().ToArray();
        Check.Equal(3, entries.Length);
        Check.True(entries.Select(e => e.Interval.Tag).SequenceEqual(new[] { "A", "", longTag }), "tags");
        Check.True(entries.Select(e => e.Interval.StartSeconds - seconds).SequenceEqual(new double[] { 0, 1, 3 }), "starts");
        Check.Equal(seconds + 3, entries[1].Interval.EndSeconds);
        Check.Near(123.456, entries[0].Interval.Max, 0.001);
        foreach (HdrLogEntry entry in entries)
            Same(histogram, entry.Snapshot, "an entry");
        Check.Equal(seconds, reader.StartSeconds);
        Check.True(!reader.Read(), "the end stays the end");
    }

    [Test]
    public static void BrokenLines()
    {
        string good = "0.1,1.0,0.0," + Digits().EncodeBase64() + "\n";
        using (HdrLogReader reader = HdrLogReader.Parse("#[comment]\n" + good + "no interval\n" + good + "2.0,1.0,0.0,HISTnonsense\n" + good))
        {
            Check.True(double.IsNaN(reader.StartSeconds), "not known yet");
            Check.Fails(PicolloStatus.Empty, () => reader.GetSnapshot());
            Check.True(reader.Read(), "the first");
            Check.Fails(PicolloStatus.Corrupt, () => reader.Read());
            Check.Equal(3L, reader.LineNumber);
            Check.True(reader.Read(), "the one after it");
            Check.True(reader.Read(), "the histogram is not looked at");
            Check.Fails(PicolloStatus.Corrupt, () => reader.GetSnapshot());
            Check.True(reader.Read(), "the last");
            reader.SetMaxCounters(10);
            Check.Fails(PicolloStatus.OutOfMemory, () => reader.GetSnapshot());
            reader.SetMaxCounters(0);
            HdrHistogramSnapshot last = reader.GetSnapshot();
            reader.Dispose();
            Check.Equal(7ul, last.TotalCount, "outlives the reader");
        }
        Check.True(!HdrLogReader.Parse("").Read(), "an empty log");
    }

    /// <summary>The text stays in place while the collector moves objects.</summary>
    [Test]
    public static void ReadersAreDropped()
    {
        string log = "0.1,1.0,0.0," + Digits().EncodeBase64() + "\n";
        for (int round = 0; round < 200; round++)
        {
            HdrLogReader reader = HdrLogReader.Parse(log);
            var garbage = new byte[10000];
            if (round % 20 == 0)
                GC.Collect();
            Check.True(reader.Read() && garbage.Length > 0, "an interval");
            if (round % 2 == 0)
                reader.Dispose();
        }
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    [Test]
    public static void PercentileDistribution()
    {
        string text = Digits().FormatHgrm(5, 1000);
        Check.True(text.Contains("Percentile") && text.Contains("#[Mean"), text);
        var written = new StringWriter();
        Digits().WriteHgrm(written, 5, 1000);
        Check.Equal(text, written.ToString());
        Check.True(Digits().FormatHgrm(csv: true).StartsWith("\"Value\",\"Percentile\""), "CSV");
        foreach (double scale in new[] { -1, 0, double.NaN, double.PositiveInfinity })
            Check.Throws<ArgumentOutOfRangeException>(() => Digits().FormatHgrm(5, scale));
    }

    [Test]
    public static void Corrections()
    {
        HdrHistogram plain = HdrHistogram.Create();
        plain.Record(1000);
        Check.Equal(10ul, plain.Corrected(100).TotalCount);
        Check.Equal(10ul, plain.GetSnapshot().Corrected(100).TotalCount);
    }

    [Test]
    public static void MergeReports()
    {
        HdrHistogram fine = HdrHistogram.Create(), coarse = HdrHistogram.Factory.WithRelativeError(0.1).Create();
        HdrHistogram narrow = HdrHistogram.Factory.WithMinTrackableValue(1024).WithMaxTrackableValue(2047).Create();
        fine.Record(100000, 3);
        coarse.Record(100000, 1000);
        HdrHistogramSnapshot a = fine.GetSnapshot(), b = coarse.GetSnapshot(), copy = a.Copy();
        Check.True(b.Copy().Merge(a).IsExact, "into coarser buckets");
        Check.Equal(1000ul, copy.Merge(b).Refined);
        Check.True(!copy.Subtract(b).IsExact, "as it was merged");
        Same(a, copy, "a merge undone");
        Check.Fails(PicolloStatus.InvalidArgument, () => copy.Subtract(b), "there is less");
        copy.Merge(b, spread: true);
        Check.True(copy.TotalCount == 1003 && copy.BucketsWithValues.Count() > 10, "spread");
        Check.Equal(3ul, narrow.Add(a).Overflow);
        Check.Equal(3ul, narrow.OverflowCount);
        Check.Equal(0ul, fine.Add(b, spread: true).Lost);
        Check.Equal(1003ul, fine.TotalCount);
        // The sum of a log: the layout of the first, over the widest range.
        HdrHistogramSnapshot sum = HdrHistogramSnapshot.Create(narrow.GetLayout().WithRange(0, ulong.MaxValue));
        Check.True(sum.Merge(a, MergePlacement.LowEnds).IsExact && sum.TotalCount == 3, "of a log");
    }

    [Test]
    public static void Layouts()
    {
        HdrLayout layout = HdrHistogram.Factory.WithRelativeError(0.01).WithMinTrackableValue(10000).WithMaxTrackableValue(30000).GetLayout();
        Check.Equal(104ul, layout.CounterCount);
        Check.Equal(10000ul, layout.MinTrackableValue);
        Check.Equal(30000ul, layout.MaxTrackableValue);
        Check.Equal(64ul, layout.BlockSize);
        Check.Equal(0.5 / 64, layout.RelativeError);
        HdrHistogram histogram = HdrHistogram.Create();
        Check.Equal(histogram.GetBucket(123456).Lower, histogram.GetLayout().GetBucket(123456).Lower);
        Check.True(layout.AreEquivalent(20000, 20001) && !layout.AreEquivalent(20000, 30000), "equivalence");
        Check.Equal(3, Digits().GetLayout().SignificantDigits);
        HdrLayout coarse = HdrHistogram.Factory.WithSignificantDigits(0).WithMaxTrackableValue(5000).WithUnit(20).GetLayout();
        Check.True(coarse.Unit == 16 && coarse.GetBucket(100).Lower == 64, "no digits, and a unit");
    }

    [Test]
    public static void Footprints()
    {
        HdrFootprint footprint = HdrHistogram.Factory.EstimateFootprint();
        Check.Equal(HdrHistogram.Factory.GetLayout().CounterCount, footprint.CounterCount);
        Check.Near(HdrHistogram.Create().FootprintInBytes, footprint.InitialBytes, 0.01);
        Check.Equal(0ul, footprint.StepBytes);
        Check.True(footprint.SnapshotBytes >= 8 * footprint.CounterCount, "a snapshot");
        Check.True(HdrHistogram.Factory.WithThreadLocal().EstimateFootprint().StepBytes > 0, "shards");
        ulong once = HdrHistogram.Factory.WithLiveReset(false).EstimateFootprint().InitialBytes;
        Check.True(once < footprint.InitialBytes * 6 / 10, "without reset");
        Check.Equal(footprint.InitialBytes, HdrHistogram.Factory.WithLiveReset(false).WithLiveReset().EstimateFootprint().InitialBytes);
        Check.Fails(PicolloStatus.Unsupported, () => HdrHistogram.Factory.WithLiveReset(false).Create().Reset());
        HdrHistogram.HdrHistogramFactory whole = HdrHistogram.Factory.WithSignificantDigits(3).WithMaxTrackableValue(5000);
        Check.Equal(5000ul, whole.GetLayout().MaxTrackableValue);
        Check.Equal(8191ul, whole.WithWholeArray().Create().GetLayout().MaxTrackableValue);
        Check.Throws<InvalidOperationException>(() => HdrHistogram.Factory.WithThreadLocal().WithInterlocked().EstimateFootprint());
        Check.Equal("", HdrHistogram.Factory.Explain());
        Check.True(HdrHistogram.Factory.WithPerCpu().WithSparseStorage().Explain().Length > 10, "why not");
    }

    [Test]
    public static void StepsAndRanges()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        for (ulong i = 1; i <= 100; i++)
            histogram.Record(i);
        HdrStep[] linear = histogram.GetLinearSteps(25);
        Check.True(linear.Select(s => s.AddedCount).SequenceEqual(new ulong[] { 24, 25, 25, 25, 1 }), "linear");
        Check.Equal(100.0, linear[4].Rank);
        HdrStep[] logarithmic = histogram.GetLogarithmicSteps(2, 2);
        Check.Equal(127ul, logarithmic[logarithmic.Length - 1].To);
        HdrStep[] percentiles = histogram.GetPercentileSteps(1);
        Check.Equal(100ul, percentiles[percentiles.Length - 1].CumulativeCount);
        Check.Equal(0, HdrHistogram.Create().GetLinearSteps(5).Length);
        Check.True(linear.Select(s => s.CumulativeSum).SequenceEqual(new double[] { 300, 1225, 2775, 4950, 5050 }), "sums");
        Check.True(linear.Select(s => s.BucketCount).SequenceEqual(new ulong[] { 1, 1, 1, 1, 0 }), "the buckets at the ends");
        Check.Equal(5050.0, percentiles[percentiles.Length - 1].CumulativeSum);
        Check.Equal(11ul, histogram.GetCountBetween(20, 30));
        Check.Equal(0ul, histogram.GetCountBetween(30, 20));
        Check.Throws<ArgumentOutOfRangeException>(() => histogram.GetLogarithmicSteps(1, double.NaN));
        Check.Throws<ArgumentOutOfRangeException>(() => histogram.GetPercentileSteps(0));
        var values = new ulong[2];
        histogram.GetInterpolatedPercentileValues(new double[] { 50, 100 }, values);
        Check.True(values.SequenceEqual(new ulong[] { 50, 100 }), "interpolated");
        Check.Throws<ArgumentException>(() => histogram.GetInterpolatedPercentileValues(new double[2], new ulong[1]));
    }
}
