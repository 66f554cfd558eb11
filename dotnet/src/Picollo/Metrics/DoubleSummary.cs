namespace Picollo.Metrics;

/// <summary>Totals and moments of doubles. Undefined values are NaN.</summary>
public readonly partial struct DoubleStatistics
{
    internal static DoubleStatistics Empty =>
        new DoubleStatistics { Min = double.NaN, Max = double.NaN, Mean = double.NaN, StDev = double.NaN };
}

/// <summary>A run of doubles that share one count.</summary>
public readonly partial struct DoubleBucket
{
    /// <inheritdoc/>
    public override string ToString() => FormattableString.Invariant($"[{Lower:R}, {Upper:R}] {Count}");
}

/// <summary>A percentile of doubles.</summary>
public readonly partial struct DoublePercentile
{
    /// <summary><c>P99=0.25</c>.</summary>
    public override string ToString() => FormattableString.Invariant($"P{Rank:0.######}={Value:R}");
}

/// <summary>Statistics and the usual percentiles of doubles.</summary>
/// <remarks>
/// Not synchronized: fill and read it on one thread at a time. P0 is the smallest value, P100 the largest; P925 is the
/// percentile at 92.5 %, P999 that at 99.9 %.
/// </remarks>
public sealed unsafe partial class DoubleSummary
{
    private readonly DoublePercentile[] _percentiles = new DoublePercentile[ConstantArrays.DefaultRanks.Length];
    private PicolloDoubleSummary _native;

    /// <summary>An empty summary, for <see cref="DoubleSnapshot.GetSummary"/> to fill.</summary>
    public DoubleSummary()
    {
        _native.Statistics = DoubleStatistics.Empty;
    }

    /// <summary>Totals, sum, extremes and moments.</summary>
    public DoubleStatistics Statistics => _native.Statistics;

    /// <summary>All of them, ascending.</summary>
    public DoublePercentile[] GetPercentiles() => (DoublePercentile[])_percentiles.Clone();

    /// <summary>Writes the summary to the console, as a table.</summary>
    public void PrettyPrint(string? title = null) => Console.WriteLine(Format(title));

    /// <summary>The summary as text from the library, by default a Markdown table.</summary>
    public string Format(string? title = null, TextFormat format = TextFormat.Markdown)
    {
        Loader.Ensure();
        Arguments.Member((int)format, (int)TextFormat.Human, nameof(format));
        byte[] native = Utf8.ToNative(title ?? "", nameof(title));
        return NativeText.Read((buffer, capacity, length) =>
        {
            PicolloDoubleSummary summary = _native;
            fixed (DoublePercentile* percentiles = _percentiles)
            fixed (byte* text = native)
            {
                summary.Percentiles = percentiles;
                summary.PercentilesLength = (UIntPtr)_percentiles.Length;
                return NativeMethods.picollo_double_summary_format(&summary, text, (uint)format, buffer, capacity, length);
            }
        });
    }

    /// <summary>A few lines for people, without a title and a unit.</summary>
    public override string ToString() => Format(null, TextFormat.Human);

    /// <summary>Writes the summary to the console for people, in a unit such as <c>s</c>: short, or with all percentiles.</summary>
    public void Print(string? title = null, string? unit = null) =>
        Console.WriteLine(Format(HdrHistogramSummary.Titled(title, unit), TextFormat.Human));

    internal void Fill(DoubleSnapshotHandle snapshot)
    {
        fixed (PicolloDoubleSummary* native = &_native)
        fixed (double* ranks = ConstantArrays.DefaultRanks)
        fixed (DoublePercentile* percentiles = _percentiles)
            Outcome.Check(NativeMethods.picollo_double_snapshot_summary(
                snapshot, ranks, (UIntPtr)_percentiles.Length, percentiles, native));
        // The array moves.
        _native.Percentiles = null;
        _native.PercentilesLength = UIntPtr.Zero;
    }
}
