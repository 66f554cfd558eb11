namespace Picollo.Metrics;

/// <summary>What to compare, and which differences matter.</summary>
public sealed class CompareOptions
{
    /// <summary>The quantile to compare, between 0 and 1: the median by default.</summary>
    public double Quantile { get; set; } = 0.5;

    /// <summary>The confidence of the intervals, between 0 and 1.</summary>
    public double Confidence { get; set; } = 0.95;

    /// <summary>Differences up to this share of the older quantile do not matter; negative: no such threshold.</summary>
    public double RelativeThreshold { get; set; } = 0.01;

    /// <summary>Differences up to this do not matter, in units of the values.</summary>
    public double AbsoluteThreshold { get; set; }

    /// <summary>How often <see cref="HdrComparison.SmallestDetectable"/> would be detected, between 0 and 1.</summary>
    public double Power { get; set; } = 0.8;

    /// <summary>Differences up to this cannot be distinguished, in units of the values.</summary>
    public double Resolution { get; set; }

    internal static unsafe PicolloCompareOptions ToNative(CompareOptions? options)
    {
        CompareOptions chosen = options ?? new CompareOptions();
        // Zero selects the library's default, so a quantile, confidence or power of zero is an error.
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

/// <summary>A quantile of a snapshot, and the interval of the true one: exact for any distribution.</summary>
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

    /// <summary>The comparison as text: changes between the summaries, intervals, effects and verdict.</summary>
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
            fixed (PicolloPercentile* foundBefore = SummaryBefore.Found, foundAfter = SummaryAfter.Found)
            fixed (byte* text = nativeTitle, before = nativeBefore, after = nativeAfter)
            {
                PicolloSummary a = SummaryBefore.Native(foundBefore), b = SummaryAfter.Native(foundAfter);
                return NativeMethods.picollo_comparison_format(
                    &comparison, &a, &b, text, before, after, (uint)format, buffer, capacity, length);
            }
        });
    }

    /// <summary>Writes the comparison to the console, as tables.</summary>
    public void PrettyPrint(string? title = null, string? nameBefore = "Before", string? nameAfter = "After") =>
        Console.WriteLine(Format(title, nameBefore, nameAfter));

    /// <summary>For people: the answer in a sentence, and the figures behind it.</summary>
    public override string ToString() => Format(format: TextFormat.Human);

    /// <summary>Writes the comparison to the console for people, in a unit such as <c>ns</c>.</summary>
    public void Print(
        string? title = null, string? nameBefore = "Before", string? nameAfter = "After", string? unit = null) =>
        Console.WriteLine(Format(
            HdrHistogramSummary.Titled(title, unit), nameBefore, nameAfter, TextFormat.Human));
}

/// <summary>
/// The difference between older code, A, and newer code, B, from a series of pairs of adjacent blocks.
/// </summary>
public readonly partial struct BlockComparison
{
    /// <summary>
    /// Compares two series, <c>before[i]</c> measured next to <c>after[i]</c>, by the differences within pairs: slow
    /// changes affect both. It compares the median, even if the options name another quantile.
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
/// The verdict on a run from earlier ones of the same thing: whether it exceeds their usual spread. Runs on different
/// days differ even if the code does not, and observations within one run cannot show by how much.
/// </summary>
public readonly partial struct RunComparison
{
    /// <summary>
    /// Compares <paramref name="value"/>, one number of a run such as its median, with those of
    /// <paramref name="earlier"/> runs, oldest first. Without options the confidence is 0.99: of normally distributed
    /// runs of unchanged code, one in a hundred stands out, and of others at most <see cref="AlarmBound"/>. Options
    /// have their own confidence, 0.95 by default; their quantile is ignored. With fewer than 5 earlier runs there is
    /// no interval, and the notes contain <see cref="ComparisonNotes.TooFew"/>.
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
