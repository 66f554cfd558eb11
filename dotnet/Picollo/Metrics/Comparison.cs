using System;
using System.Runtime.InteropServices;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>What a comparison amounts to.</summary>
    public enum Verdict
    {
        /// <summary>Neither faster nor slower, as far as can be seen. Not the same as equal.</summary>
        NoEvidence = Constants.VerdictNoEvidence,

        /// <summary>The newer values are smaller, by more than the margin.</summary>
        Faster = Constants.VerdictFaster,

        /// <summary>The newer values are larger, by more than the margin.</summary>
        Slower = Constants.VerdictSlower
    }

    /// <summary>What to know about a comparison.</summary>
    [Flags]
    public enum ComparisonNotes
    {
        /// <summary>Nothing.</summary>
        None = 0,

        /// <summary>There are too few observations for an end of an interval.</summary>
        TooFew = Constants.ComparisonTooFew,

        /// <summary>All of the interval lies inside the margin: the two are the same, as far as it matters.</summary>
        WithinMargin = Constants.ComparisonWithinMargin,

        /// <summary>Observations were out of range or lost: they are in none of the numbers.</summary>
        OutOfRange = Constants.ComparisonOutOfRange,

        /// <summary>Counts are estimates.</summary>
        Approximate = Constants.ComparisonApproximate,

        /// <summary>The precisions differ.</summary>
        LayoutsDiffer = Constants.ComparisonLayoutsDiffer,

        /// <summary>Blocks depend on those before them: the interval is wider for it, up to all of their range.</summary>
        Autocorrelated = Constants.ComparisonAutocorrelated,

        /// <summary>The margin is what can be told apart at all, and not what matters.</summary>
        MarginIsResolution = Constants.ComparisonMarginIsResolution,

        /// <summary>The whole interval lies inside such a margin: below what this measurement can tell, neither equal nor different.</summary>
        BelowResolution = Constants.ComparisonBelowResolution,

        /// <summary>Others disturbed too much of the measurement: nothing is proven, and the verdict is no evidence.</summary>
        Noisy = Constants.ComparisonNoisy
    }

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
    public readonly struct QuantileInterval
    {
        private readonly PicolloQuantileInterval _native;

        internal QuantileInterval(in PicolloQuantileInterval native)
        {
            _native = native;
        }

        /// <summary>The quantile asked for, between 0 and 1.</summary>
        public double Quantile => _native.Quantile;

        /// <summary>The confidence asked for.</summary>
        public double Confidence => _native.Confidence;

        /// <summary>The confidence that the interval has: a little more, as observations come in ones; less where there are too few.</summary>
        public double Coverage => _native.Coverage;

        /// <summary>Observations in range.</summary>
        public ulong TotalCount => _native.TotalCount;

        /// <summary>The number of the observation that is the quantile.</summary>
        public ulong TargetCount => _native.TargetCount;

        /// <summary>The midpoint of its bucket.</summary>
        public ulong Value => _native.Value;

        /// <summary>The lower end; 0 where there are too few observations for one.</summary>
        public ulong Lower => _native.Lower;

        /// <summary>The upper end; <see cref="ulong.MaxValue"/> where there are too few observations for one.</summary>
        public ulong Upper => _native.Upper;

        /// <summary>The number of the observation at the lower end, 0 where there are too few for one.</summary>
        public ulong LowerCount => _native.LowerCount;

        /// <summary>The number of the observation at the upper end, 0 where there are too few for one.</summary>
        public ulong UpperCount => _native.UpperCount;

        /// <summary>The midpoint of the bucket that <see cref="Lower"/> is the end of.</summary>
        public ulong LowerMidpoint => _native.LowerMidpoint;

        /// <summary>The midpoint of the bucket that <see cref="Upper"/> is the end of.</summary>
        public ulong UpperMidpoint => _native.UpperMidpoint;

        /// <summary>The width of the widest bucket that took part: what the snapshot does not tell apart.</summary>
        public ulong BucketWidth => _native.BucketWidth;

        /// <inheritdoc/>
        public override string ToString() => FormattableString.Invariant($"{Value} in {Lower} to {Upper} ({Coverage * 100:0.#} %)");
    }

    /// <summary>How one snapshot differs from an older one: an interval of the difference, tests, effects, and a verdict.</summary>
    public sealed unsafe class HdrComparison
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

        /// <summary>The older one's quantile and its interval.</summary>
        public QuantileInterval Before => new QuantileInterval(in _native.A);

        /// <summary>The newer one's quantile and its interval.</summary>
        public QuantileInterval After => new QuantileInterval(in _native.B);

        /// <summary>What it amounts to.</summary>
        public Verdict Verdict => (Verdict)_native.Verdict;

        /// <summary>What to know about it.</summary>
        public ComparisonNotes Notes => (ComparisonNotes)_native.Flags;

        /// <summary>The newer quantile less the older.</summary>
        public double Difference => _native.Difference;

        /// <summary>The lower end of its interval; minus infinity where there are too few observations.</summary>
        public double DifferenceLower => _native.DifferenceLower;

        /// <summary>The upper end of its interval; infinity where there are too few observations.</summary>
        public double DifferenceUpper => _native.DifferenceUpper;

        /// <summary>The width of the widest bucket that took part: the true difference may lie so much further out at either end.</summary>
        public double BucketWidth => _native.BucketWidth;

        /// <summary>What the interval has to lie beyond: the larger of the threshold and the bucket width.</summary>
        public double Margin => _native.Margin;

        /// <summary>The true difference that so many observations, so much spread, would have told from none as often as the power says.</summary>
        public double SmallestDetectable => _native.SmallestDetectable;

        /// <summary>Mann and Whitney's U.</summary>
        public double MannWhitneyU => _native.MannWhitneyU;

        /// <summary>How many standard deviations U is from its expectation; positive: the newer values are larger.</summary>
        public double MannWhitneyZ => _native.MannWhitneyZ;

        /// <summary>The probability of a U this far out, were there no difference.</summary>
        public double MannWhitneyP => _native.MannWhitneyP;

        /// <summary>The probability that a newer value is larger than an older one, ties counted half.</summary>
        public double CommonLanguage => _native.CommonLanguage;

        /// <summary>The probability that a newer value is larger than an older one less the probability that it is smaller.</summary>
        public double CliffsDelta => _native.CliffsDelta;

        /// <summary>The largest distance between the two cumulative distributions (Kolmogorov and Smirnov).</summary>
        public double KsDistance => _native.KsDistance;

        /// <summary>At most the probability of such a distance, were there no difference.</summary>
        public double KsP => _native.KsP;

        /// <summary>The difference of the means over the pooled standard deviation (Cohen's d); NaN where that is zero.</summary>
        public double CohensD => _native.CohensD;

        /// <summary>The comparison as text: what changed from summary to summary, the intervals, the effects and the verdict.</summary>
        public string Format(
            string? title = null, string? nameBefore = "Before", string? nameAfter = "After", TextFormat format = TextFormat.Markdown)
        {
            Arguments.Member((int)format, (int)TextFormat.Full, nameof(format));
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
            string? title = null, string? nameBefore = "Before", string? nameAfter = "After", string? unit = null, bool full = false) =>
            Console.WriteLine(Format(
                HdrHistogramSummary.Titled(title, unit), nameBefore, nameAfter, full ? TextFormat.Full : TextFormat.Human));
    }

    /// <summary>What a series of pairs of blocks, measured next to each other, says of the difference between two ways.</summary>
    public readonly struct BlockComparison
    {
        private readonly PicolloBlockComparison _native;

        internal BlockComparison(in PicolloBlockComparison native)
        {
            _native = native;
        }

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
            PicolloBlockComparison comparison;
            fixed (double* a = &MemoryMarshal.GetReference(before))
            fixed (double* b = &MemoryMarshal.GetReference(after))
                Outcome.Check(NativeMethods.picollo_compare_blocks(a, b, (UIntPtr)before.Length, &native, &comparison));
            return new BlockComparison(in comparison);
        }

        /// <summary>Pairs of blocks.</summary>
        public ulong BlockCount => _native.BlockCount;

        /// <summary>The confidence asked for.</summary>
        public double Confidence => _native.Confidence;

        /// <summary>The confidence that the interval has.</summary>
        public double Coverage => _native.Coverage;

        /// <summary>The median of the older blocks.</summary>
        public double MedianBefore => _native.MedianA;

        /// <summary>The median of the newer blocks.</summary>
        public double MedianAfter => _native.MedianB;

        /// <summary>The median of the differences within pairs, newer less older.</summary>
        public double Difference => _native.Difference;

        /// <summary>The lower end of its interval; minus infinity where there are too few blocks.</summary>
        public double DifferenceLower => _native.DifferenceLower;

        /// <summary>The upper end of its interval; infinity where there are too few blocks.</summary>
        public double DifferenceUpper => _native.DifferenceUpper;

        /// <summary>What a difference has to exceed to count.</summary>
        public double Margin => _native.Margin;

        /// <summary>The true difference that would be told from none as often as the power says.</summary>
        public double SmallestDetectable => _native.SmallestDetectable;

        /// <summary>What can be told apart at all: of what is smaller only that is known.</summary>
        public double Resolution => _native.Resolution;

        /// <summary>The correlation of each difference with the next.</summary>
        public double Lag1 => _native.Lag1;

        /// <summary>How many times larger the variance of the mean is than that of as many independent differences.</summary>
        public double Inflation => _native.Inflation;

        /// <summary>What it amounts to.</summary>
        public Verdict Verdict => (Verdict)_native.Verdict;

        /// <summary>What to know about it.</summary>
        public ComparisonNotes Notes => (ComparisonNotes)_native.Flags;
    }

    /// <summary>
    /// What a run says next to earlier ones of the same thing: whether it is beyond what the spread between those predicts. Runs on
    /// different days differ though the code does not, and no number of observations within a run says by how much.
    /// </summary>
    public readonly struct RunComparison
    {
        private readonly PicolloRunComparison _native;

        internal RunComparison(in PicolloRunComparison native)
        {
            _native = native;
        }

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
            PicolloRunComparison comparison;
            fixed (double* runs = &MemoryMarshal.GetReference(earlier))
                Outcome.Check(NativeMethods.picollo_compare_runs(
                    runs, (UIntPtr)earlier.Length, value, options is null ? null : &native, &comparison));
            return new RunComparison(in comparison);
        }

        /// <summary>Earlier runs.</summary>
        public ulong RunCount => _native.RunCount;

        /// <summary>The confidence asked for.</summary>
        public double Confidence => _native.Confidence;

        /// <summary>At most the probability that a run of unchanged code stands out, however runs are distributed.</summary>
        public double AlarmBound => _native.AlarmBound;

        /// <summary>The mean of the earlier runs.</summary>
        public double Mean => _native.Mean;

        /// <summary>Their standard deviation, n - 1 in the divisor.</summary>
        public double Deviation => _native.Deviation;

        /// <summary>The smallest of them.</summary>
        public double Lowest => _native.Lowest;

        /// <summary>The largest of them.</summary>
        public double Highest => _native.Highest;

        /// <summary>The run's own value.</summary>
        public double Value => _native.Value;

        /// <summary>The run's value less the mean of the earlier ones.</summary>
        public double Difference => _native.Difference;

        /// <summary>The lower end of its interval; minus infinity where there are too few runs.</summary>
        public double DifferenceLower => _native.DifferenceLower;

        /// <summary>The upper end of its interval; infinity where there are too few runs.</summary>
        public double DifferenceUpper => _native.DifferenceUpper;

        /// <summary>What a difference has to exceed to count.</summary>
        public double Margin => _native.Margin;

        /// <summary>The true difference that would be told from none as often as the power says.</summary>
        public double SmallestDetectable => _native.SmallestDetectable;

        /// <summary>What can be told apart at all: of what is smaller only that is known.</summary>
        public double Resolution => _native.Resolution;

        /// <summary>The correlation of each run with the next.</summary>
        public double Lag1 => _native.Lag1;

        /// <summary>How many times larger the variance of the mean is than that of as many independent runs.</summary>
        public double Inflation => _native.Inflation;

        /// <summary>What it amounts to.</summary>
        public Verdict Verdict => (Verdict)_native.Verdict;

        /// <summary>What to know about it.</summary>
        public ComparisonNotes Notes => (ComparisonNotes)_native.Flags;
    }
}
