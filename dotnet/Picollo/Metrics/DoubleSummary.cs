using System;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>Totals and moments of doubles. What does not exist is NaN.</summary>
    public readonly struct DoubleStatistics
    {
        private readonly PicolloDoubleStatistics _native;

        internal DoubleStatistics(in PicolloDoubleStatistics native)
        {
            _native = native;
        }

        /// <summary>Observations with a finite value; saturates.</summary>
        public ulong Count => _native.Count;

        /// <summary>Observations that were NaN or infinite; part of nothing else here.</summary>
        public ulong NotFiniteCount => _native.NotFinite;

        /// <summary>Observations that found no memory for their bucket; part of nothing else here.</summary>
        public ulong LostCount => _native.Lost;

        /// <summary>The sum: of midpoints, or exact and rounded once where the histogram keeps it. 0 when empty.</summary>
        public double Sum => _native.Sum;

        /// <summary>The smallest value; NaN when empty.</summary>
        public double Min => _native.Min;

        /// <summary>The largest value; NaN when empty.</summary>
        public double Max => _native.Max;

        /// <summary>The sum divided by the count; NaN when empty.</summary>
        public double Mean => _native.Mean;

        /// <summary>Population standard deviation of the midpoints; NaN when empty.</summary>
        public double StDev => _native.Stddev;

        /// <summary>The stated error of the histogram.</summary>
        public double RelativeError => _native.RelativeError;
    }

    /// <summary>A run of doubles that share one count.</summary>
    public readonly struct DoubleBucket
    {
        private readonly PicolloDoubleBucket _native;

        internal DoubleBucket(in PicolloDoubleBucket native)
        {
            _native = native;
        }

        /// <summary>The smallest value.</summary>
        public double Lower => _native.Lower;

        /// <summary>The largest value; it belongs to the bucket.</summary>
        public double Upper => _native.Upper;

        /// <summary>What the bucket reports: within the error of every value in it.</summary>
        public double Midpoint => _native.Midpoint;

        /// <summary>How many observations fell into it.</summary>
        public ulong Count => _native.Count;

        /// <inheritdoc/>
        public override string ToString() => FormattableString.Invariant($"[{Lower:R}, {Upper:R}] {Count}");
    }

    /// <summary>A percentile of doubles.</summary>
    public readonly struct DoublePercentile
    {
        private readonly PicolloDoublePercentile _native;

        internal DoublePercentile(in PicolloDoublePercentile native)
        {
            _native = native;
        }

        /// <summary>0 to 100: a hundred times the quantile.</summary>
        public double Rank => _native.Rank;

        /// <summary>What the observation is reported as; NaN in the summary of nothing.</summary>
        public double Value => _native.Value;

        /// <summary>The number of the observation in ascending order, from 1; 0 in the summary of nothing.</summary>
        public ulong TargetCount => _native.TargetCount;

        /// <summary>Where the observation was counted.</summary>
        public DoubleBucket Bucket => new DoubleBucket(in _native.Bucket);

        /// <summary><c>P99=0.25</c>.</summary>
        public override string ToString() => FormattableString.Invariant($"P{Rank:0.######}={Value:R}");
    }

    /// <summary>Statistics and the usual percentiles of doubles.</summary>
    /// <remarks>Not synchronised: fill and read it from one thread at a time.</remarks>
    public sealed unsafe class DoubleSummary
    {
        private PicolloDoubleSummary _native;

        /// <summary>An empty summary, to be filled by <see cref="DoubleSnapshot.GetSummary"/>.</summary>
        public DoubleSummary()
        {
            _native.Statistics.Min = _native.Statistics.Max = double.NaN;
            _native.Statistics.Mean = _native.Statistics.Stddev = double.NaN;
        }

        /// <summary>Totals, sum, extremes and moments.</summary>
        public DoubleStatistics Statistics => new DoubleStatistics(in _native.Statistics);

        /// <summary>The smallest value.</summary>
        public DoublePercentile P0 => new DoublePercentile(in _native.Percentiles.P0);

        /// <summary>1 %.</summary>
        public DoublePercentile P1 => new DoublePercentile(in _native.Percentiles.P1);

        /// <summary>5 %.</summary>
        public DoublePercentile P5 => new DoublePercentile(in _native.Percentiles.P5);

        /// <summary>10 %.</summary>
        public DoublePercentile P10 => new DoublePercentile(in _native.Percentiles.P10);

        /// <summary>25 %, the first quartile.</summary>
        public DoublePercentile P25 => new DoublePercentile(in _native.Percentiles.P25);

        /// <summary>50 %, the median.</summary>
        public DoublePercentile P50 => new DoublePercentile(in _native.Percentiles.P50);

        /// <summary>75 %, the third quartile.</summary>
        public DoublePercentile P75 => new DoublePercentile(in _native.Percentiles.P75);

        /// <summary>90 %.</summary>
        public DoublePercentile P90 => new DoublePercentile(in _native.Percentiles.P90);

        /// <summary>92.5 %.</summary>
        public DoublePercentile P925 => new DoublePercentile(in _native.Percentiles.P925);

        /// <summary>95 %.</summary>
        public DoublePercentile P95 => new DoublePercentile(in _native.Percentiles.P95);

        /// <summary>97.5 %.</summary>
        public DoublePercentile P975 => new DoublePercentile(in _native.Percentiles.P975);

        /// <summary>99 %.</summary>
        public DoublePercentile P99 => new DoublePercentile(in _native.Percentiles.P99);

        /// <summary>99.9 %.</summary>
        public DoublePercentile P999 => new DoublePercentile(in _native.Percentiles.P999);

        /// <summary>99.99 %.</summary>
        public DoublePercentile P9999 => new DoublePercentile(in _native.Percentiles.P9999);

        /// <summary>99.999 %.</summary>
        public DoublePercentile P99999 => new DoublePercentile(in _native.Percentiles.P99999);

        /// <summary>The largest value.</summary>
        public DoublePercentile P100 => new DoublePercentile(in _native.Percentiles.P100);

        /// <summary>All of them, ascending.</summary>
        public DoublePercentile[] GetPercentiles() =>
            new[] { P0, P1, P5, P10, P25, P50, P75, P90, P925, P95, P975, P99, P999, P9999, P99999, P100 };

        /// <summary>Writes the summary to the console, as a table.</summary>
        public void PrettyPrint(string? title = null) => Console.WriteLine(Format(title));

        /// <summary>The summary as text, a Markdown table unless asked otherwise. The text is the library's own.</summary>
        public string Format(string? title = null, TextFormat format = TextFormat.Markdown)
        {
            Loader.Ensure();
            Arguments.Member((int)format, (int)TextFormat.Full, nameof(format));
            byte[] native = Utf8.ToNative(title ?? "", nameof(title));
            return NativeText.Read((buffer, capacity, length) =>
            {
                PicolloDoubleSummary summary = _native;
                fixed (byte* text = native)
                    return NativeMethods.picollo_double_summary_format(&summary, text, (uint)format, buffer, capacity, length);
            });
        }

        /// <summary>A few lines for people, without a title and a unit.</summary>
        public override string ToString() => Format(null, TextFormat.Human);

        /// <summary>Writes the summary to the console for people, in a unit such as <c>s</c>: short, or with all percentiles.</summary>
        public void Print(string? title = null, string? unit = null, bool full = false) =>
            Console.WriteLine(Format(HdrHistogramSummary.Titled(title, unit), full ? TextFormat.Full : TextFormat.Human));

        internal void Fill(DoubleSnapshotHandle snapshot)
        {
            fixed (PicolloDoubleSummary* native = &_native)
                Outcome.Check(NativeMethods.picollo_double_snapshot_summary(snapshot, native));
        }
    }
}
