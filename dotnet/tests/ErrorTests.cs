using System;
using Picollo.Metrics;

namespace Picollo.Tests
{
    /// <summary>Bad input is an exception that says what is wrong.</summary>
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
            InvalidOperationException general = Check.Fails(PicolloStatus.Empty, () => histogram.GetPercentileValue(50));
            Check.True(general is PicolloException, "also caught as InvalidOperationException");
        }

        [Test]
        public static void RanksOutOfRange()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            histogram.Record(1);
            foreach (double rank in new[] { -1, 100.1, double.NaN, double.PositiveInfinity, double.NegativeInfinity })
            {
                Check.Throws<ArgumentOutOfRangeException>(() => histogram.GetPercentileValue(rank), rank.ToString());
                Check.Throws<ArgumentOutOfRangeException>(() => histogram.GetPercentile(rank), rank.ToString());
                double[] ranks = { 50, rank };
                Check.Throws<ArgumentOutOfRangeException>(() => histogram.GetPercentileValues(ranks, new ulong[2]));
                Check.Throws<ArgumentOutOfRangeException>(() => histogram.GetPercentiles(ranks, new Percentile[2]));
                Check.Throws<ArgumentOutOfRangeException>(() => histogram.GetInterpolatedPercentileValues(ranks, new ulong[2]));
                // An argument that is wrong is told before what the histogram holds.
                Check.Throws<ArgumentOutOfRangeException>(() => HdrHistogram.Create().GetPercentile(rank));
            }
        }

        [Test]
        public static void NoRoom()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            histogram.Record(1);
            Check.Throws<ArgumentException>(() => histogram.GetPercentiles(new double[] { 1, 2 }, new Percentile[1]));
            Check.Throws<ArgumentException>(() => histogram.GetPercentileValues(new double[] { 1, 2 }, new ulong[1]));
            histogram.GetPercentiles(new double[0], new Percentile[0]);
            histogram.GetPercentileValues(new double[0], new ulong[0]);
        }

        [Test]
        public static void Ranges()
        {
            Check.Throws<ArgumentException>(() => HdrHistogram.Factory.WithMinTrackableValue(5).WithMaxTrackableValue(5).Create());
            ArgumentException thrown = Check.Throws<ArgumentException>(
                () => HdrHistogram.Factory.WithMinTrackableValue(9).WithMaxTrackableValue(5).Create());
            Check.True(thrown.Message.Contains("9") && thrown.Message.Contains("5"), thrown.Message);
            Check.Throws<ArgumentException>(() => HdrHistogram.Factory.WithMinTrackableValue(9).WithMaxTrackableValue(5).GetLayout());
            Check.Throws<ArgumentException>(() => HdrHistogram.Create().RecordInRange(5, 9, 2));
            Check.Throws<ArgumentOutOfRangeException>(() => HdrHistogram.Factory.WithMaxTrackableValue(0));
            Check.Throws<ArgumentOutOfRangeException>(() => HdrHistogram.Factory.WithSignificantDigits(-1));
            Check.Throws<ArgumentOutOfRangeException>(() => HdrHistogram.Factory.WithSignificantDigits(6));
        }

        [Test]
        public static void RelativeErrorsAreClamped()
        {
            foreach (double error in new[] { 0.0, -1, double.NaN })
                Check.Equal(0.5 / 512, HdrHistogram.Factory.WithRelativeError(error).Create().RelativeError, $"{error}");
            Check.Equal(0.5 / 8, HdrHistogram.Factory.WithRelativeError(5).Create().RelativeError);
        }

        [Test]
        public static void Selections()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            histogram.Record(5000);
            Check.Throws<ArgumentOutOfRangeException>(() => histogram.GetPercentile(1, (EquivalentValueSelection)4));
            Check.Throws<ArgumentOutOfRangeException>(() => Percentile.DefaultEquivalentValueSelection = (EquivalentValueSelection)9);
            ulong middle = histogram.GetPercentileValue(50);
            Percentile.DefaultEquivalentValueSelection = EquivalentValueSelection.UpperBound;
            try
            {
                Check.Equal(histogram.GetBucket(5000).Upper, histogram.GetPercentileValue(50));
                Check.Equal(histogram.GetBucket(5000).Upper, histogram.GetSummary().P50.Value);
                Check.Equal(middle, histogram.GetPercentileValue(50, EquivalentValueSelection.Midpoint));
            }
            finally
            {
                Percentile.DefaultEquivalentValueSelection = EquivalentValueSelection.Default;
            }
            Check.Equal(middle, histogram.GetPercentileValue(50));
        }

        [Test]
        public static void BucketsOutOfRange()
        {
            HdrHistogram histogram = HistogramTests.Worked();
            Check.Fails(PicolloStatus.InvalidArgument, () => histogram.GetBucket(1));
            Check.Fails(PicolloStatus.InvalidArgument, () => histogram.GetBucket(1000000));
            Check.True(!default(Bucket).IsValid && histogram.GetBucket(2000).IsValid, "validity");
        }

        [Test]
        public static void NoSummary()
        {
            HdrHistogramSummary summary = HdrHistogram.Create().GetSummary();
            Check.Throws<ArgumentNullException>(() => summary.FormatDiff(null));
            Check.Throws<ArgumentNullException>(() => summary.PrettyPrintDiff(null));
        }
    }
}
