namespace Picollo.Tests;

/// <summary>Texts as in the documentation.</summary>
public static class TextTests
{
    // The library's tests cover the whole text: these lines show every figure of a summary in its place.
    private static readonly string[] s_table =
    {
        "##### Example", "| 0          |    2,008 | ±8     |        1 |", "| 92.5       |    7,840 | ±32    |   92,445 |",
        "| 100        |    9,792 | ±64    |   99,940 |", "| Underflow  |          |        |       60 |",
        "| Mean:      | 4,332.91 | StDev: | 1,870.75 |", "| Precision: |  0.7813% | Total: |   99,940 |", "| Range Min: |    2,000 | Max:   |   12,000 |"
    };

    private static readonly string[] s_difference =
    {
        "##### Example diff", "| Percentile |   Before |    After |     Δ% |", "| 0          |    2,008 |    2,008 |   0.0% |",
        "| 99.9       |    9,664 |   10,304 |  +6.6% |", "| StDev:     | 1,870.75 | 2,055.85 |  +9.9% |", "| Total:     |   99,940 |  145,798 | +45.9% |",
        "| D-value:   |          |          |   0.08 |"
    };

    private static void HasLines(string text, string[] lines)
    {
        foreach (string line in lines)
            Check.True(text.Split('\n').Contains(line), $"{line} in\n{text}");
    }

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
        HasLines(summary.Format("Example"), s_table);
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
        HasLines(text, s_difference);
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
        HasLines(text, s_table);
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

    /// <summary>Ranks of listed buckets have four decimals: checked with decimals, which are exact for 2^-k.</summary>
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
        Check.Equal(summary.Format(null, TextFormat.Line), summary.ToString(null));
    }
}
