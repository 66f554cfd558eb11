using System;
using System.Linq;
using Picollo.Metrics;

namespace Picollo.Tests
{
    /// <summary>Recording, percentiles, buckets and ranges, against numbers that are known.</summary>
    public static class HistogramTests
    {
        internal static HdrHistogram Worked() =>
            HdrHistogram.Factory.WithRelativeError(0.01).WithMinTrackableValue(2000).WithMaxTrackableValue(12000).Create();

        [Test]
        public static void Defaults()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            Check.Equal(0.5 / 512, histogram.RelativeError);
            Check.Equal(0ul, histogram.MinTrackableValue);
            Check.Equal(ulong.MaxValue, histogram.MaxTrackableValue);
            Check.Equal(0ul, histogram.TotalCount);
            Check.True(histogram.FootprintInBytes >= 28672 * 8, "28,672 counters of eight bytes");
            Check.True(histogram.FootprintInBytes < 28672 * 40, "and not much more");
        }

        [Test]
        public static void Footprints()
        {
            HdrHistogram wide = HdrHistogram.Factory.WithUInt64Storage().Create();
            HdrHistogram narrow = HdrHistogram.Factory.WithUInt32Storage().Create();
            Check.True(narrow.FootprintInBytes < wide.FootprintInBytes, "32-bit counters take less");
            int sameAgain = HdrHistogram.Factory.WithUInt32Storage().WithUInt64Storage().Create().FootprintInBytes;
            Check.Equal(wide.FootprintInBytes, sameAgain, "the last width wins");
        }

        /// <summary>The table of layouts in the documentation: first and last logical index.</summary>
        [Test]
        public static void Layouts()
        {
            Ends(0.01, 10000, 30000, 526, 629);
            Ends(0.001, 0, ulong.MaxValue, 0, 28671);
            Ends(0.0001, 100, 200, 100, 200);
            Ends(0.01, 50, 100, 50, 100);
        }

        private static void Ends(double error, ulong min, ulong max, int first, int last)
        {
            HdrHistogram histogram = HdrHistogram.Factory
                .WithRelativeError(error).WithMinTrackableValue(min).WithMaxTrackableValue(max).Create();
            Bucket[] buckets = histogram.Buckets.ToArray();
            Check.Equal(last - first + 1, buckets.Length, "number of buckets");
            Check.Equal(first, buckets[0].LogicalIndex);
            Check.Equal(last, buckets[buckets.Length - 1].LogicalIndex);
            Check.Equal(0, buckets[0].StorageIndex);
            for (int i = 1; i < buckets.Length; i++)
            {
                Check.Equal(buckets[i - 1].Upper + 1, buckets[i].Lower, "neighbours touch");
                Check.Equal(i, buckets[i].StorageIndex);
            }
        }

        /// <summary>The managed rule of recording and the library's, for every power of two and its neighbours.</summary>
        [Test]
        public static void InlineRecordingFindsTheSameBucketsAsTheLibrary()
        {
            foreach (bool narrow in new[] { false, true })
                foreach (double error in new[] { 0.1, 0.01, 0.001, 0.0001 })
                {
                    HdrHistogram inlined = HdrHistogram.Factory.WithRelativeError(error).WithUInt32Storage(narrow).Create();
                    HdrHistogram called = HdrHistogram.Factory.WithRelativeError(error).WithInterlocked().Create();
                    for (int bit = 0; bit < 64; bit++)
                        for (int offset = -2; offset <= 2; offset++)
                        {
                            ulong value = unchecked((1ul << bit) + (ulong)offset);
                            inlined.Record(value);
                            called.Record(value);
                        }
                    Check.True(inlined.BucketsWithValues.SequenceEqual(called.BucketsWithValues), $"error {error}, narrow {narrow}");
                    Check.Equal(320ul, inlined.TotalCount);
                }
        }

        [Test]
        public static void OutOfRangeIsCountedApart()
        {
            foreach (bool narrow in new[] { false, true })
            {
                HdrHistogram histogram = HdrHistogram.Factory.WithRelativeError(0.01).WithUInt32Storage(narrow)
                    .WithMinTrackableValue(10000).WithMaxTrackableValue(30000).Create();
                histogram.Record(20000);
                histogram.Record(9000);
                histogram.Record(40000);
                histogram.Record(ulong.MaxValue);
                Check.Equal(1ul, histogram.TotalCount);
                Check.Equal(1ul, histogram.UnderflowCount);
                Check.Equal(3ul, histogram.OverflowCount);
                Check.Equal(0ul, histogram.LostCount);
                HdrHistogramSummary summary = histogram.GetSummary();
                Check.Equal(3ul, summary.OverflowCount);
                Check.Equal(1ul, summary.UnderflowCount);
                Check.Equal(10000ul, summary.MinTrackableValue);
                Check.Equal(30000ul, summary.MaxTrackableValue);
            }
        }

        /// <summary>A 32-bit counter that is full takes the library's path, which tells of what is missing.</summary>
        [Test]
        public static void AWrapIsToldOf()
        {
            HdrHistogram histogram = HdrHistogram.Factory.WithUInt32Storage().Create();
            histogram.Record(5, uint.MaxValue);
            Check.Equal(0ul, histogram.LostCount);
            histogram.Record(5);
            histogram.Record(5);
            Check.Equal((1ul << 32) + 1, histogram.TotalCount + histogram.LostCount);
            Check.True(histogram.LostCount > 0, "lost, and not silently");
        }

        /// <summary>The bucket of a million at an error of 1 %, worked out in the documentation.</summary>
        [Test]
        public static void AMillion()
        {
            HdrHistogram histogram = HdrHistogram.Factory.WithRelativeError(0.01).Create();
            histogram.Record(1000000, 3);
            Bucket bucket = histogram.GetBucket(1000000);
            Check.Equal(954, bucket.LogicalIndex);
            Check.Equal(999424ul, bucket.Lower);
            Check.Equal(1007615ul, bucket.Upper);
            Check.Equal(8192ul, bucket.Step);
            Check.Equal(1003520ul, bucket.MidPoint);
            Check.Equal(3ul, bucket.Count);
            Check.Equal(1003520ul, histogram.GetPercentileValue(50));
            Check.Equal(999424ul, histogram.GetPercentileValue(50, EquivalentValueSelection.LowerBound));
            Check.Equal(1007615ul, histogram.GetPercentileValue(50, EquivalentValueSelection.UpperBound));
            Check.Equal(999424ul, histogram.GetPercentile(50).GetValue(EquivalentValueSelection.LowerBound));
            Check.Equal(100.0, histogram.GetRank(1000000));
            Check.Equal(0.0, histogram.GetRank(900000));
        }

        [Test]
        public static void PercentilesAreThoseOfTheSortedValues()
        {
            var random = new Random(1);
            HdrHistogram histogram = HdrHistogram.Create();
            // Below the block size every value has a bucket of its own, so that the answer is exact.
            ulong[] values = Enumerable.Range(0, 1000).Select(i => (ulong)random.Next(1024)).ToArray();
            foreach (ulong value in values)
                histogram.Record(value);
            Array.Sort(values);
            double[] ranks = { 100, 0, 50, 99.9, 0.1, 33.3, 99.99, 25, 1e-9 };
            var found = new ulong[ranks.Length];
            var percentiles = new Percentile[ranks.Length];
            histogram.GetPercentileValues(ranks, found);
            histogram.GetPercentiles(ranks, percentiles);
            for (int i = 0; i < ranks.Length; i++)
            {
                int target = Math.Max(1, (int)Math.Ceiling((decimal)ranks[i] * 1000 / 100));
                Check.Equal(values[target - 1], found[i], $"rank {ranks[i]}");
                Check.Equal(values[target - 1], percentiles[i].Value, $"rank {ranks[i]}");
                Check.Equal((ulong)target, percentiles[i].TargetCount, $"rank {ranks[i]}");
                Check.Equal(ranks[i], percentiles[i].Rank);
                Check.Equal(found[i], histogram.GetPercentileValue(ranks[i]));
                Check.Equal(percentiles[i], histogram.GetPercentile(ranks[i]));
            }
        }

        [Test]
        public static void ManyRanksAtOnce()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            for (ulong value = 1; value <= 1000; value++)
                histogram.Record(value);
            double[] ranks = Enumerable.Range(0, 1001).Select(i => i / 10.0).ToArray();
            var percentiles = new Percentile[ranks.Length];
            histogram.GetPercentiles(ranks, percentiles);
            for (int i = 1; i < ranks.Length; i++)
                Check.Equal((ulong)i, percentiles[i].Value, $"rank {ranks[i]}");
        }

        [Test]
        public static void MeanAndDeviation()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            foreach (ulong value in new ulong[] { 2, 4, 4, 4, 5, 5, 7, 9 })
                histogram.Record(value);
            HdrHistogramSummary summary = histogram.GetSummary();
            Check.Near(5, summary.Mean, 1e-15);
            Check.Near(2, summary.StDev, 1e-15);
            Check.Equal(8ul, summary.TotalCount);
            Check.Equal(2ul, summary.P0.Value);
            Check.Equal(4ul, summary.P50.Value);
            Check.Equal(9ul, summary.P100.Value);
        }

        [Test]
        public static void SummaryOfNothing()
        {
            HdrHistogramSummary summary = HdrHistogram.Create().GetSummary();
            Check.Equal(0ul, summary.TotalCount);
            Check.True(double.IsNaN(summary.Mean) && double.IsNaN(summary.StDev), "no mean of nothing");
            Check.Equal(0ul, summary.P99.TargetCount);
            Check.Equal("P99=n/a", summary.P99.ToString());
            Check.True(double.IsNaN(new HdrHistogramSummary().Mean), "nor of a summary never filled");
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

        [Test]
        public static void SummaryRanks()
        {
            double[] expected = { 0, 1, 5, 10, 25, 50, 75, 90, 92.5, 95, 97.5, 99, 99.9, 99.99, 99.999, 100 };
            HdrHistogramSummary summary = HdrHistogram.Create().GetSummary();
            Check.True(summary.GetPercentiles().Select(percentile => percentile.Rank).SequenceEqual(expected), "ranks");
        }

        [Test]
        public static void BatchesAndRepetitions()
        {
            ulong[] values = Example.First;
            HdrHistogram one = Worked(), batch = Worked(), repeated = Worked();
            foreach (ulong value in values)
                one.Record(value);
            batch.Record(values);
            batch.Record(new ReadOnlySpan<ulong>());
            foreach (ulong value in values)
                repeated.Record(value, 2);
            Check.True(one.BucketsWithValues.SequenceEqual(batch.BucketsWithValues), "batch");
            Check.Equal(one.UnderflowCount, batch.UnderflowCount);
            Check.Equal(one.TotalCount * 2, repeated.TotalCount);
            Check.Equal(one.UnderflowCount * 2, repeated.UnderflowCount);
        }

        [Test]
        public static void CorrectedRecording()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            histogram.RecordCorrected(450, 100);
            ulong[] expected = { 150, 250, 350, 450 };
            Check.True(histogram.BucketsWithValues.Select(bucket => bucket.Lower).SequenceEqual(expected), "450 350 250 150");
            histogram.RecordCorrected(ulong.MaxValue, 1);
            Check.True(histogram.TotalCount > 1ul << 62, "in bounded time");
        }

        [Test]
        public static void ExactRanges()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            Check.True(histogram.RecordInRange(10, 10, 20), "the bounds belong to the range");
            Check.True(histogram.RecordInRange(20, 10, 20, true), "both");
            Check.True(!histogram.RecordInRange(9, 10, 20), "below");
            Check.True(!histogram.RecordInRange(21, 10, 20, throwOnOutOfRange: false), "above");
            var thrown = Check.Throws<ArgumentOutOfRangeException>(() => histogram.RecordInRange(5, 10, 20, true));
            Check.True(thrown.Message.Contains("10 to 20"), thrown.Message);
            Check.Equal(2ul, histogram.TotalCount);
            Check.Equal(2ul, histogram.UnderflowCount);
            Check.Equal(3ul, histogram.OverflowCount);
        }

        [Test]
        public static void ResetStartsOver()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            histogram.Record(5);
            histogram.Record(7);
            histogram.Reset();
            Check.Equal(0ul, histogram.TotalCount);
            histogram.Record(9);
            Check.Equal(1ul, histogram.TotalCount);
            Check.Equal(9ul, histogram.GetPercentileValue(0));
            histogram.Reset();
            histogram.Reset();
            histogram.Record(1);
            Check.Equal(1ul, histogram.GetSummary().TotalCount);
        }

        [Test]
        public static void Listed()
        {
            HdrHistogram histogram = Worked();
            histogram.Record(Example.First);
            ulong before = 0;
            int nonEmpty = 0;
            foreach (Percentile percentile in histogram.BucketPercentilesWithValues)
            {
                ulong count = percentile.Bucket.Count;
                Check.True(count > 0, "only those with values");
                Check.Equal(before + (count + 1) / 2, percentile.TargetCount);
                Check.Equal(percentile.TargetCount * 100.0 / histogram.TotalCount, percentile.Rank);
                Check.Equal(percentile.Bucket.MidPoint, percentile.Value);
                before += count;
                nonEmpty++;
            }
            Check.Equal(histogram.TotalCount, before);
            Check.Equal(nonEmpty, histogram.BucketsWithValues.Count());
            Check.Equal(histogram.Buckets.Count(), histogram.BucketPercentiles.Count());
            Check.True(histogram.Buckets.Count() > nonEmpty, "and there are empty ones");
        }
    }
}
