using System;
using System.Globalization;
using System.Text;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>How a summary is written.</summary>
    public enum TextFormat
    {
        /// <summary>A heading and a table, for reports and terminals.</summary>
        Markdown = Constants.TextMarkdown,

        /// <summary>One line without a line break, for logs.</summary>
        Line = Constants.TextLine,

        /// <summary>One JSON object with exact numbers.</summary>
        Json = Constants.TextJson,

        /// <summary>A header and a row per percentile.</summary>
        Csv = Constants.TextCsv,

        /// <summary>A few lines for people, the answer first, in the unit that the title ends with: <c>Latency (ns)</c>.</summary>
        Human = Constants.TextHuman,

        /// <summary>The same with all percentiles, and what else there is.</summary>
        Full = Constants.TextFull
    }

    /// <summary>Totals, mean, deviation and the usual percentiles of one moment.</summary>
    /// <remarks>
    /// Hand one to <see cref="ReadOnlyHdrHistogram.GetSummary"/> to fill it again: that allocates nothing. Not synchronised: fill
    /// and read it from one thread at a time.
    /// </remarks>
    public sealed partial class HdrHistogramSummary
    {
        private readonly Percentile[] _percentiles = new Percentile[16];
        private PicolloSummary _native;

        /// <summary>An empty summary, to be filled by <see cref="ReadOnlyHdrHistogram.GetSummary"/>.</summary>
        public HdrHistogramSummary()
        {
            _native.Mean = double.NaN;
            _native.Stddev = double.NaN;
        }

        /// <summary>Observations in range; saturates.</summary>
        public ulong TotalCount => _native.TotalCount;

        /// <summary>Observations below the trackable range: part of <see cref="OverflowCount"/>, and of nothing else here.</summary>
        public ulong UnderflowCount => _native.UnderflowCount;

        /// <summary>Observations outside the trackable range, below and above it; <see cref="UnderflowCount"/> is the part below.</summary>
        public ulong OverflowCount => _native.UnderflowCount + _native.OverflowCount;

        /// <summary>Observations that were recorded but are missing from the buckets, such as those of a wrapped 32-bit counter.</summary>
        public ulong LostCount => _native.LostCount;

        /// <summary>Mean of the buckets' midpoints; NaN when empty.</summary>
        public double Mean => _native.Mean;

        /// <summary>Population standard deviation of the buckets' midpoints; NaN when empty.</summary>
        public double StDev => _native.Stddev;

        /// <summary>The stated error of the histogram: 0.5 / block size.</summary>
        public double RelativeError => _native.RelativeError;

        /// <summary>Smallest value of the guaranteed range.</summary>
        public ulong MinTrackableValue => _native.MinTrackable;

        /// <summary>Largest value of the guaranteed range.</summary>
        public ulong MaxTrackableValue => _native.MaxTrackable;

        /// <summary>Whether the counts are estimates, as those of scalable histograms are.</summary>
        public bool IsApproximate => (_native.Flags & Constants.SummaryApproximate) != 0;

        /// <summary>When the counts were taken.</summary>
        public DateTime TimestampUtc =>
            new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddTicks((long)(_native.TimestampUnixNanos / 100));

        /// <summary>The smallest recorded value.</summary>
        public Percentile P0 => _percentiles[0];

        /// <summary>1 %.</summary>
        public Percentile P1 => _percentiles[1];

        /// <summary>5 %.</summary>
        public Percentile P5 => _percentiles[2];

        /// <summary>10 %.</summary>
        public Percentile P10 => _percentiles[3];

        /// <summary>25 %, the first quartile.</summary>
        public Percentile P25 => _percentiles[4];

        /// <summary>50 %, the median.</summary>
        public Percentile P50 => _percentiles[5];

        /// <summary>75 %, the third quartile.</summary>
        public Percentile P75 => _percentiles[6];

        /// <summary>90 %.</summary>
        public Percentile P90 => _percentiles[7];

        /// <summary>92.5 %.</summary>
        public Percentile P925 => _percentiles[8];

        /// <summary>95 %.</summary>
        public Percentile P95 => _percentiles[9];

        /// <summary>97.5 %.</summary>
        public Percentile P975 => _percentiles[10];

        /// <summary>99 %.</summary>
        public Percentile P99 => _percentiles[11];

        /// <summary>99.9 %.</summary>
        public Percentile P999 => _percentiles[12];

        /// <summary>99.99 %.</summary>
        public Percentile P9999 => _percentiles[13];

        /// <summary>99.999 %.</summary>
        public Percentile P99999 => _percentiles[14];

        /// <summary>The largest recorded value.</summary>
        public Percentile P100 => _percentiles[15];

        /// <summary>All of them, ascending. No copy: it shows the next filling.</summary>
        public ReadOnlySpan<Percentile> Percentiles => _percentiles;

        /// <summary>All of them, ascending: a copy.</summary>
        public Percentile[] GetPercentiles() => (Percentile[])_percentiles.Clone();

        /// <summary>Writes the summary to the console, as a table.</summary>
        public void PrettyPrint(string? title = null) => Console.WriteLine(Format(title));

        /// <summary>Writes to the console, as a table, how another summary differs from this one.</summary>
        public void PrettyPrintDiff(
            HdrHistogramSummary other, string? title = null, string? thisName = "This", string? otherName = "Other") =>
            Console.WriteLine(FormatDiff(other, title, thisName, otherName));

        /// <summary>The summary as text, a Markdown table unless asked otherwise. The text is the library's own.</summary>
        public string Format(string? title = null, TextFormat format = TextFormat.Markdown) =>
            Write(ref _native, ref _native, false, title, null, null, format);

        /// <summary>How another summary differs from this one, as text.</summary>
        public string FormatDiff(
            HdrHistogramSummary other, string? title = null, string? thisName = "This", string? otherName = "Other",
            TextFormat format = TextFormat.Markdown)
        {
            if (other is null)
                throw new ArgumentNullException(nameof(other));
            return Write(ref _native, ref other._native, true, title, thisName, otherName, format);
        }

        /// <summary>A few lines for people, without a title and a unit.</summary>
        public override string ToString() => Format(null, TextFormat.Human);

        /// <summary>Writes the summary to the console for people, in a unit such as <c>ns</c>: short, or with all percentiles.</summary>
        public void Print(string? title = null, string? unit = null, bool full = false) =>
            Console.WriteLine(Format(Titled(title, unit), full ? TextFormat.Full : TextFormat.Human));

        internal static string? Titled(string? title, string? unit) => string.IsNullOrEmpty(unit) ? title : $"{title} ({unit})";

        /// <summary>One line: <c>Example: Total=99,940, Overflow=0, Mean=4,332.9, P0=2,008, …</c>.</summary>
        public string ToString(string? name) => Format(name, TextFormat.Line);

        internal ref readonly PicolloSummary Native => ref _native;

        internal unsafe void Fill(SnapshotHandle snapshot, EquivalentValueSelection selection)
        {
            fixed (PicolloSummary* native = &_native)
            {
                Outcome.Check(NativeMethods.picollo_snapshot_summary(snapshot, Percentile.ToNative(selection), native));
                var all = (PicolloPercentile*)&native->Percentiles;
                ulong before = 0;
                PicolloBucket last = default;
                for (int i = 0; i < _percentiles.Length; i++)
                {
                    before = ReadOnlyHdrHistogram.CountBelow(snapshot, in all[i].Bucket, in last, before);
                    last = all[i].Bucket;
                    _percentiles[i] = new Percentile(in all[i], before, selection);
                    // What the texts show.
                    all[i].Value = _percentiles[i].Value;
                }
            }
        }

        private static unsafe string Write(
            ref PicolloSummary a, ref PicolloSummary b, bool difference, string? title, string? nameA, string? nameB, TextFormat format)
        {
            Loader.Ensure();
            Arguments.Member((int)format, (int)TextFormat.Full, nameof(format));
            byte[] nativeTitle = Utf8.ToNative(title ?? "", nameof(title));
            byte[] nativeA = Utf8.ToNative(nameA ?? "", "thisName");
            byte[] nativeB = Utf8.ToNative(nameB ?? "", "otherName");
            var buffer = new byte[2048];
            fixed (PicolloSummary* pointerA = &a, pointerB = &b)
            fixed (byte* pointerTitle = nativeTitle, pointerNameA = nativeA, pointerNameB = nativeB)
            {
                while (true)
                {
                    UIntPtr length;
                    int status;
                    fixed (byte* start = buffer)
                    {
                        UIntPtr capacity = (UIntPtr)buffer.Length;
                        status = difference
                            ? NativeMethods.picollo_summary_format_diff(
                                pointerA, pointerB, pointerTitle, pointerNameA, pointerNameB, (uint)format, start, capacity, &length)
                            : NativeMethods.picollo_summary_format(
                                pointerA, pointerTitle, (uint)format, start, capacity, &length);
                    }
                    if (status == 0)
                        return Encoding.UTF8.GetString(buffer, 0, checked((int)length));
                    if (status != (int)PicolloStatus.BufferTooSmall)
                        Outcome.Check(status);
                    buffer = new byte[checked((int)length + 1)];
                }
            }
        }
    }
}
