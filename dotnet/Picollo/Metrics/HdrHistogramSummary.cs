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
        Csv = Constants.TextCsv
    }

    /// <summary>Totals, mean, deviation and the usual percentiles of one moment.</summary>
    /// <remarks>
    /// Hand one to <see cref="ReadOnlyHdrHistogram.GetSummary"/> to fill it again: that allocates nothing. Not synchronised: fill
    /// and read it from one thread at a time.
    /// </remarks>
    public sealed class HdrHistogramSummary
    {
        private PicolloSummary _native;

        /// <summary>An empty summary, to be filled by <see cref="ReadOnlyHdrHistogram.GetSummary"/>.</summary>
        public HdrHistogramSummary()
        {
            _native.Mean = double.NaN;
            _native.Stddev = double.NaN;
        }

        /// <summary>Observations in range; saturates.</summary>
        public ulong TotalCount => _native.TotalCount;

        /// <summary>Observations below the trackable range; part of nothing else here.</summary>
        public ulong UnderflowCount => _native.UnderflowCount;

        /// <summary>Observations above the trackable range; part of nothing else here.</summary>
        public ulong OverflowCount => _native.OverflowCount;

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
        public Percentile P0 => new Percentile(in _native.Percentiles.P0);

        /// <summary>1 %.</summary>
        public Percentile P1 => new Percentile(in _native.Percentiles.P1);

        /// <summary>5 %.</summary>
        public Percentile P5 => new Percentile(in _native.Percentiles.P5);

        /// <summary>10 %.</summary>
        public Percentile P10 => new Percentile(in _native.Percentiles.P10);

        /// <summary>25 %, the first quartile.</summary>
        public Percentile P25 => new Percentile(in _native.Percentiles.P25);

        /// <summary>50 %, the median.</summary>
        public Percentile P50 => new Percentile(in _native.Percentiles.P50);

        /// <summary>75 %, the third quartile.</summary>
        public Percentile P75 => new Percentile(in _native.Percentiles.P75);

        /// <summary>90 %.</summary>
        public Percentile P90 => new Percentile(in _native.Percentiles.P90);

        /// <summary>92.5 %.</summary>
        public Percentile P925 => new Percentile(in _native.Percentiles.P925);

        /// <summary>95 %.</summary>
        public Percentile P95 => new Percentile(in _native.Percentiles.P95);

        /// <summary>97.5 %.</summary>
        public Percentile P975 => new Percentile(in _native.Percentiles.P975);

        /// <summary>99 %.</summary>
        public Percentile P99 => new Percentile(in _native.Percentiles.P99);

        /// <summary>99.9 %.</summary>
        public Percentile P999 => new Percentile(in _native.Percentiles.P999);

        /// <summary>99.99 %.</summary>
        public Percentile P9999 => new Percentile(in _native.Percentiles.P9999);

        /// <summary>99.999 %.</summary>
        public Percentile P99999 => new Percentile(in _native.Percentiles.P99999);

        /// <summary>The largest recorded value.</summary>
        public Percentile P100 => new Percentile(in _native.Percentiles.P100);

        /// <summary>All of them, ascending.</summary>
        public Percentile[] GetPercentiles() =>
            new[] { P0, P1, P5, P10, P25, P50, P75, P90, P925, P95, P975, P99, P999, P9999, P99999, P100 };

        /// <summary>Writes the summary to the console, as a table.</summary>
        public void PrettyPrint(string title = null) => Console.WriteLine(Format(title));

        /// <summary>Writes to the console, as a table, how another summary differs from this one.</summary>
        public void PrettyPrintDiff(
            HdrHistogramSummary other, string title = null, string thisName = "This", string otherName = "Other") =>
            Console.WriteLine(FormatDiff(other, title, thisName, otherName));

        /// <summary>The summary as text, a Markdown table unless asked otherwise. The text is the library's own.</summary>
        public string Format(string title = null, TextFormat format = TextFormat.Markdown) =>
            Write(ref _native, ref _native, false, title, null, null, format);

        /// <summary>How another summary differs from this one, as text.</summary>
        public string FormatDiff(
            HdrHistogramSummary other, string title = null, string thisName = "This", string otherName = "Other",
            TextFormat format = TextFormat.Markdown)
        {
            if (other == null)
                throw new ArgumentNullException(nameof(other));
            return Write(ref _native, ref other._native, true, title, thisName, otherName, format);
        }

        /// <summary>One line, without a name.</summary>
        public override string ToString() => Format(null, TextFormat.Line);

        /// <summary>One line: <c>Example: Total=99,940, Overflow=0, Mean=4,332.9, P0=2,008, …</c>.</summary>
        public string ToString(string name) => Format(name, TextFormat.Line);

        internal ref readonly PicolloSummary Native => ref _native;

        internal unsafe void Fill(SnapshotHandle snapshot, EquivalentValueSelection selection)
        {
            fixed (PicolloSummary* native = &_native)
                Outcome.Check(NativeMethods.picollo_snapshot_summary(snapshot, Percentile.ToNative(selection), native));
        }

        private static unsafe string Write(
            ref PicolloSummary a, ref PicolloSummary b, bool difference, string title, string nameA, string nameB, TextFormat format)
        {
            Loader.Ensure();
            Arguments.Member((int)format, (int)TextFormat.Csv, nameof(format));
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
