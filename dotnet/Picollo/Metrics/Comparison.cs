namespace Picollo.Metrics;

/// <summary>What to compare and what counts.</summary>
public sealed class CompareOptions
{
    /// <summary>Which quantile to compare, between 0 and 1: the median unless changed.</summary>
    public double Quantile { get; set; } = 0.5;

    /// <summary>The confidence of the intervals, between 0 and 1.</summary>
    public double Confidence { get; set; } = 0.95;

    /// <summary>Differences up to this share of the older quantile do not matter; negative: no such threshold.</summary>
    public double RelativeThreshold { get; set; } = 0.01;

    /// <summary>Differences up to this do not matter, in units of the values.</summary>
    public double AbsoluteThreshold { get; set; }

    /// <summary>How often <see cref="HdrComparison.SmallestDetectable"/> would be seen, between 0 and 1.</summary>
    public double Power { get; set; } = 0.8;

    /// <summary>Differences up to this cannot be told apart, in units of the values.</summary>
    public double Resolution { get; set; }

    internal static unsafe PicolloCompareOptions ToNative(CompareOptions? options)
    {
        CompareOptions chosen = options ?? new CompareOptions();
        // Zero is the library's word for the default: what was set to zero is no quantile, confidence or power, and is told so.
        Arguments.BetweenZeroAndOne(chosen.Quantile, nameof(Quantile));
        Arguments.BetweenZeroAndOne(chosen.Confidence, nameof(Confidence));
        Arguments.BetweenZeroAndOne(chosen.Power, nameof(Power));
        Arguments.NotNegative(Math.Abs(chosen.RelativeThreshold), nameof(RelativeThreshold));
        Arguments.NotNegative(chosen.AbsoluteThreshold, nameof(AbsoluteThreshold));
        Arguments.NotNegative(chosen.Resolution, nameof(Resolution));
        return new PicolloCompareOptions
        {
            StructSize = (uint)sizeof(PicolloCompareOptions),
            Quantile = chosen.Quantile,
            Confidence = chosen.Confidence,
            RelativeThreshold = chosen.RelativeThreshold == 0 ? -1 : chosen.RelativeThreshold,
            AbsoluteThreshold = chosen.AbsoluteThreshold,
            Power = chosen.Power,
            Resolution = chosen.Resolution
        };
    }
}

/// <summary>A quantile of a snapshot, and the interval that holds the true one: exact, whatever the distribution.</summary>
public readonly partial struct QuantileInterval
{
    /// <inheritdoc/>
    public override string ToString() => FormattableString.Invariant($"{Value} in {Lower} to {Upper} ({Coverage * 100:0.#} %)");
}

/// <summary>
/// How one snapshot, B, differs from an older one, A: an interval of the difference, tests, effects, and a verdict.
/// </summary>
public sealed unsafe partial class HdrComparison
{
    private readonly PicolloComparison _native;

    internal HdrComparison(in PicolloComparison native, HdrHistogramSummary before, HdrHistogramSummary after)
    {
        _native = native;
        SummaryBefore = before;
        SummaryAfter = after;
    }

    /// <summary>The older one's summary.</summary>
    public HdrHistogramSummary SummaryBefore { get; }

    /// <summary>The newer one's summary.</summary>
    public HdrHistogramSummary SummaryAfter { get; }

    /// <summary>The comparison as text: what changed from summary to summary, the intervals, the effects and the verdict.</summary>
    public string Format(
        string? title = null, string? nameBefore = "Before", string? nameAfter = "After", TextFormat format = TextFormat.Markdown)
    {
        Arguments.Member((int)format, (int)TextFormat.Human, nameof(format));
        byte[] nativeTitle = Utf8.ToNative(title ?? "", nameof(title));
        byte[] nativeBefore = Utf8.ToNative(nameBefore ?? "", nameof(nameBefore));
        byte[] nativeAfter = Utf8.ToNative(nameAfter ?? "", nameof(nameAfter));
        return NativeText.Read((buffer, capacity, length) =>
        {
            PicolloComparison comparison = _native;
            PicolloSummary a = SummaryBefore.Native, b = SummaryAfter.Native;
            fixed (byte* text = nativeTitle, before = nativeBefore, after = nativeAfter)
                return NativeMethods.picollo_comparison_format(
                    &comparison, &a, &b, text, before, after, (uint)format, buffer, capacity, length);
        });
    }

    /// <summary>Writes the comparison to the console, as tables.</summary>
    public void PrettyPrint(string? title = null, string? nameBefore = "Before", string? nameAfter = "After") =>
        Console.WriteLine(Format(title, nameBefore, nameAfter));

    /// <summary>For people: the answer in a sentence, and what it is made of.</summary>
    public override string ToString() => Format(format: TextFormat.Human);

    /// <summary>Writes the comparison to the console for people, in a unit such as <c>ns</c>: the answer first.</summary>
    public void Print(
        string? title = null, string? nameBefore = "Before", string? nameAfter = "After", string? unit = null) =>
        Console.WriteLine(Format(
            HdrHistogramSummary.Titled(title, unit), nameBefore, nameAfter, TextFormat.Human));
}

/// <summary>
/// What a series of pairs of blocks, measured next to each other, says of the difference between an older way, A, and a newer, B.
/// </summary>
public readonly partial struct BlockComparison
{
    /// <summary>
    /// Compares two series, <c>before[i]</c> measured next to <c>after[i]</c>, by the differences within pairs: what changes slowly
    /// changes both. The median is compared, whatever quantile the options name.
    /// </summary>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    /// <exception cref="PicolloException">There are no blocks, or an element is not finite.</exception>
    public static unsafe BlockComparison Compare(
        ReadOnlySpan<double> before, ReadOnlySpan<double> after, CompareOptions? options = null)
    {
        if (before.Length != after.Length)
            throw new ArgumentException("The two series have different lengths.", nameof(after));
        Loader.Ensure();
        PicolloCompareOptions native = CompareOptions.ToNative(options);
        BlockComparison comparison;
        fixed (double* a = &MemoryMarshal.GetReference(before))
        fixed (double* b = &MemoryMarshal.GetReference(after))
            Outcome.Check(NativeMethods.picollo_compare_blocks(a, b, (UIntPtr)before.Length, &native, &comparison));
        return comparison;
    }
}

/// <summary>
/// What a run says next to earlier ones of the same thing: whether it is beyond what the spread between those predicts. Runs on
/// different days differ though the code does not, and no number of observations within a run says by how much.
/// </summary>
public readonly partial struct RunComparison
{
    /// <summary>
    /// Compares <paramref name="value"/>, one number of a run such as the median of what it measured, with those of
    /// <paramref name="earlier"/> runs, the oldest first. Without options the confidence is 0.99: of runs of unchanged code that are
    /// distributed normally one in a hundred stands out, and of others at most <see cref="AlarmBound"/>. Options say their own,
    /// 0.95 unless changed; the quantile they name is not looked at. With fewer than 5 earlier runs there is no interval, and the
    /// notes say <see cref="ComparisonNotes.TooFew"/>.
    /// </summary>
    /// <exception cref="PicolloException">There are no earlier runs, or a value is not finite.</exception>
    public static unsafe RunComparison Compare(ReadOnlySpan<double> earlier, double value, CompareOptions? options = null)
    {
        Loader.Ensure();
        PicolloCompareOptions native = CompareOptions.ToNative(options);
        RunComparison comparison;
        fixed (double* runs = &MemoryMarshal.GetReference(earlier))
            Outcome.Check(NativeMethods.picollo_compare_runs(
                runs, (UIntPtr)earlier.Length, value, options is null ? null : &native, &comparison));
        return comparison;
    }
}
