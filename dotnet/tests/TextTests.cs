using System;
using System.IO;
using System.Linq;
using Picollo.Metrics;

namespace Picollo.Tests
{
    /// <summary>Text, byte for byte as in the documentation.</summary>
    public static class TextTests
    {
        private const string Table = @"##### Example
| Percentile |    Value | ±      |    Count |
| :--------- | -------: | :----- | -------: |
| 0          |    2,008 | ±8     |        1 |
| 1          |    2,064 | ±16    |    1,000 |
| 5          |    2,288 | ±16    |    4,997 |
| 10         |    2,448 | ±16    |    9,994 |
| 25         |    2,928 | ±16    |   24,985 |
| 50         |    3,600 | ±16    |   49,970 |
| 75         |    5,472 | ±32    |   74,955 |
| 90         |    7,456 | ±32    |   89,946 |
| 92.5       |    7,840 | ±32    |   92,445 |
| 95         |    8,256 | ±64    |   94,943 |
| 97.5       |    8,768 | ±64    |   97,442 |
| 99         |    9,152 | ±64    |   98,941 |
| 99.9       |    9,664 | ±64    |   99,841 |
| 99.99      |    9,792 | ±64    |   99,931 |
| 99.999     |    9,792 | ±64    |   99,940 |
| 100        |    9,792 | ±64    |   99,940 |
| Underflow  |          |        |       60 |
|            |          |        |          |
| Mean:      | 4,332.91 | StDev: | 1,870.75 |
| Precision: |  0.7813% | Total: |   99,940 |
| Range Min: |    2,000 | Max:   |   12,000 |
";

        private const string DifferenceBegins = @"##### Example diff
| Percentile |   Before |    After |     Δ% |
| :--------- | -------: | -------: | -----: |
| 0          |    2,008 |    2,008 |   0.0% |
";

        private const string DifferenceEnds = @"
| 100        |    9,792 |   10,432 |  +6.5% |
|            |          |          |        |
| Mean:      | 4,332.91 | 4,488.54 |  +3.6% |
| StDev:     | 1,870.75 | 2,055.85 |  +9.9% |
| Precision: |  0.7813% |  0.7813% |   0.0% |
| Total:     |   99,940 |  145,798 | +45.9% |
| D-value:   |          |          |   0.08 |
";

        private static HdrHistogram Recorded(ulong[] values)
        {
            HdrHistogram histogram = HistogramTests.Worked();
            foreach (ulong value in values)
                histogram.Record(value);
            return histogram;
        }

        [Test]
        public static void TheWorkedExample()
        {
            HdrHistogramSummary summary = Recorded(Example.First).GetSummary();
            Check.Equal(Table, summary.Format("Example"));
            Check.Equal(
                "Example: Total=99,940, Underflow=60, Overflow=0, Mean=4,332.9, P0=2,008, P25=2,928, P50=3,600, P90=7,456, "
                + "P95=8,256, P99=9,152, P999=9,664, P100=9,792",
                summary.ToString("Example"));
            Check.Equal("P99=9,152 [138 / 519]: [9,088, 9,216) 386", summary.P99.ToString());
        }

        [Test]
        public static void TheWorkedDifference()
        {
            HdrHistogramSummary before = Recorded(Example.First).GetSummary(), after = Recorded(Example.Second).GetSummary();
            string text = before.FormatDiff(after, "Example diff", "Before", "After");
            Check.True(text.StartsWith(DifferenceBegins, StringComparison.Ordinal), text);
            Check.True(text.EndsWith(DifferenceEnds, StringComparison.Ordinal), text);
            Check.True(text.Contains("\n| 99.9       |    9,664 |   10,304 |  +6.6% |\n"), text);
            Check.Equal(1 + 2 + 16 + 6, text.Count(c => c == '\n'), "lines");
        }

        [Test]
        public static void OnTheConsole()
        {
            HdrHistogramSummary summary = Recorded(Example.First).GetSummary();
            TextWriter console = Console.Out;
            var captured = new StringWriter();
            Console.SetOut(captured);
            try
            {
                summary.PrettyPrint("Example");
                summary.PrettyPrintDiff(summary, "Same", "Before", "After");
                summary.PrettyPrint();
            }
            finally
            {
                Console.SetOut(console);
            }
            string text = captured.ToString();
            Check.True(text.StartsWith(Table, StringComparison.Ordinal), text);
            Check.True(text.Contains("##### Same\n"), text);
            Check.True(text.Contains("| Percentile |   Before |    After |"), text);
        }

        [Test]
        public static void ListedBuckets()
        {
            Percentile first = Recorded(Example.First).BucketPercentilesWithValues.First();
            Check.Equal("P0.073=2,008 [0 / 381]: [2,000, 2,016) 146", first.ToString());
            Check.Equal("[0 / 381]: [2,000, 2,016) 146", first.Bucket.ToString());
        }

        [Test]
        public static void TheLastBucketOfAll()
        {
            HdrHistogram histogram = HdrHistogram.Factory.WithRelativeError(0.01).Create();
            histogram.Record(ulong.MaxValue);
            string text = histogram.GetPercentile(99.9999).ToString();
            Check.True(text.StartsWith("P99.9999=18,374,686,479,671,623,680 [3,775 / 3,775]: ["), text);
            Check.True(text.EndsWith(", 18,446,744,073,709,551,616) 1"), text);
        }

        /// <summary>Half away from zero on the exact value of the double.</summary>
        [Test]
        public static void Ranks()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            histogram.Record(1);
            var expected = new[]
            {
                Tuple.Create(0.0, "0"), Tuple.Create(100.0, "100"), Tuple.Create(92.5, "92.5"), Tuple.Create(99.999, "99.999"),
                Tuple.Create(0.1 + 0.2, "0.3"), Tuple.Create(33.3333333, "33.333333"), Tuple.Create(99.9999996, "100"),
                Tuple.Create(1e-6, "0.000001"), Tuple.Create(1e-30, "0"), Tuple.Create(double.Epsilon, "0"),
                // 2^-7 = 0.0078125 ends in a five at the seventh decimal: away from zero.
                Tuple.Create(0.0078125, "0.007813"), Tuple.Create(50.0078125, "50.007813"),
                // The double is below 0.0000005, the next one above.
                Tuple.Create(0.0000005, "0"), Tuple.Create(0.00000050000000000000011, "0.000001")
            };
            foreach (Tuple<double, string> pair in expected)
            {
                string text = histogram.GetPercentile(pair.Item1).ToString();
                Check.Equal($"P{pair.Item2}=1 [1 / 1]: [1, 2) 1", text);
            }
        }

        /// <summary>The ranks of listed buckets have four decimals, against decimals, which hold multiples of 2^-k exactly.</summary>
        [Test]
        public static void ListedRanksAreRoundedExactly()
        {
            for (int shift = 7; shift <= 20; shift++)
                foreach (ulong before in new ulong[] { 0, 1, 3, 77, (1ul << shift) - 3 })
                {
                    HdrHistogram histogram = HdrHistogram.Create();
                    histogram.Record(1, (uint)before);
                    histogram.Record(2);
                    histogram.Record(3, (uint)((1ul << shift) - before - 1));
                    decimal rank = (before + 1m) / (1ul << shift) * 100;
                    string expected = decimal.Round(rank, 4, MidpointRounding.AwayFromZero)
                        .ToString("0.####", System.Globalization.CultureInfo.InvariantCulture);
                    Percentile listed = histogram.BucketPercentiles.ElementAt(2);
                    Check.Equal($"P{expected}=2 [2 / 2]: [2, 3) 1", listed.ToString());
                }
        }

        [Test]
        public static void OneOutlierIsNotInASparkline()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            histogram.Record(Example.First);
            string before = histogram.FormatSparkline();
            Check.Equal(40, before.Length);
            histogram.Record(1ul << 60);
            Check.Equal(before, histogram.FormatSparkline());
        }

        [Test]
        public static void ListedEmptyBuckets()
        {
            HdrHistogram histogram = HdrHistogram.Create();
            Check.Equal("Pn/a=5 [5 / 5]: [5, 6) 0", histogram.BucketPercentiles.ElementAt(5).ToString(), "of nothing");
            histogram.Record(3);
            Check.Equal("P100=5 [5 / 5]: [5, 6) 0", histogram.BucketPercentiles.ElementAt(5).ToString(), "after all");
        }

        [Test]
        public static void TitlesAreAnyText()
        {
            HdrHistogramSummary summary = Recorded(Example.First).GetSummary();
            Check.True(summary.ToString("Zeit in µs · 時間").StartsWith("Zeit in µs · 時間: Total="), "UTF-8");
            Check.True(summary.ToString("a\ud800b").StartsWith("a\ufffdb: "), "a lone surrogate");
            Check.True(summary.Format("a|b").Contains(@"a\|b"), "escaped for a table");
            Check.True(summary.ToString(new string('x', 100000)).Length > 100000, "longer than any buffer");
            Check.Throws<ArgumentException>(() => summary.Format("a\0b"), "NUL");
            Check.True(summary.ToString().StartsWith("99,940 values, 60 below the range\n"), "none");
            Check.True(
                summary.Format("Latency (ns)", TextFormat.Human).EndsWith("\n3.60 µs  7.46 µs  9.15 µs  9.66 µs  9.79 µs  4.33 µs"),
                "in a unit");
            Check.True(summary.Format("(ns)", TextFormat.Full).Contains("\nP99.99 "), "all percentiles");
            Check.Equal(summary.Format(null, TextFormat.Line), summary.ToString(null));
        }

        [Test]
        public static void ForPrograms()
        {
            HdrHistogramSummary summary = Recorded(Example.First).GetSummary();
            string json = summary.Format("t", TextFormat.Json);
            Check.True(json.StartsWith("{") && json.EndsWith("}") && json.Contains("\"total_count\":99940"), json);
            string csv = summary.Format("t", TextFormat.Csv);
            Check.Equal(17, csv.Count(c => c == '\n'), "a header and sixteen rows");
            Check.Throws<ArgumentOutOfRangeException>(() => summary.Format("t", (TextFormat)9));
        }
    }
}
