using System.Text.Json;
using System.Text.Json.Serialization;

namespace Picollo.Metrics;

/// <summary>Totals, mean, deviation and the usual percentiles of one moment.</summary>
/// <remarks>
/// <see cref="ReadOnlyHdrHistogram.GetSummary"/> refills it without allocations. Not synchronized: fill and read it on
/// one thread at a time. P0 is the smallest value, P100 the largest; P925 is the percentile at 92.5 %, P999 at 99.9 %.
/// </remarks>
[JsonConverter(typeof(HdrHistogramSummaryConverter))]
public sealed partial class HdrHistogramSummary : IEquatable<HdrHistogramSummary>
{
    private readonly Percentile[] _percentiles = new Percentile[ConstantArrays.DefaultRanks.Length];
    // What the library found, for texts.
    private readonly PicolloPercentile[] _found = new PicolloPercentile[ConstantArrays.DefaultRanks.Length];
    private PicolloSummary _native;

    /// <summary>An empty summary, for <see cref="ReadOnlyHdrHistogram.GetSummary"/> to fill.</summary>
    public HdrHistogramSummary()
    {
        _native.Mean = double.NaN;
        _native.Stddev = double.NaN;
        for (int i = 0; i < _found.Length; i++)
            _found[i].Rank = ConstantArrays.DefaultRanks[i];
    }

    /// <summary>Observations in range; saturating.</summary>
    public ulong TotalCount => _native.TotalCount;

    /// <summary>Observations below the trackable range: included only in <see cref="OverflowCount"/>.</summary>
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

    /// <summary>When the counts were taken.</summary>
    public DateTime TimestampUtc => UnixTime.Utc(_native.TimestampUnixNanos);

    /// <summary>All percentiles, ascending. Not a copy: it changes with the next filling.</summary>
    public ReadOnlySpan<Percentile> Percentiles => _percentiles;

    /// <summary>All percentiles, ascending: a copy.</summary>
    public Percentile[] GetPercentiles() => (Percentile[])_percentiles.Clone();

    /// <summary>Writes the summary to the console, as a table.</summary>
    public void PrettyPrint(string? title = null) => Console.WriteLine(Format(title));

    /// <summary>Writes to the console, as a table, how another summary differs from this one.</summary>
    public void PrettyPrintDiff(
        HdrHistogramSummary other, string? title = null, string? thisName = "This", string? otherName = "Other") =>
        Console.WriteLine(FormatDiff(other, title, thisName, otherName));

    /// <summary>The summary as text from the library, by default a Markdown table.</summary>
    public string Format(string? title = null, TextFormat format = TextFormat.Markdown) =>
        Write(this, this, false, title, null, null, format);

    /// <summary>How another summary differs from this one, as text.</summary>
    public string FormatDiff(
        HdrHistogramSummary other, string? title = null, string? thisName = "This", string? otherName = "Other",
        TextFormat format = TextFormat.Markdown)
    {
        ArgumentNullException.ThrowIfNull(other);
        return Write(this, other, true, title, thisName, otherName, format);
    }

    /// <summary>A few lines for people, without a title and a unit.</summary>
    public override string ToString() => Format(null, TextFormat.Human);

    /// <summary>Writes the summary to the console for people, in a unit such as <c>ns</c>: short, or with all percentiles.</summary>
    public void Print(string? title = null, string? unit = null) =>
        Console.WriteLine(Format(Titled(title, unit), TextFormat.Human));

    internal static string? Titled(string? title, string? unit) => string.IsNullOrEmpty(unit) ? title : $"{title} ({unit})";

    /// <summary>One line: <c>Example: Total=99,940, Overflow=0, Mean=4,332.9, P0=2,008, …</c>.</summary>
    public string ToString(string? name) => Format(name, TextFormat.Line);

    /// <summary>Whether all their contents are equal; NaN equals NaN.</summary>
    public bool Equals(HdrHistogramSummary? other)
    {
        if (other is null)
            return false;
        ref readonly PicolloSummary a = ref _native;
        ref readonly PicolloSummary b = ref other._native;
        return a.TotalCount == b.TotalCount && a.UnderflowCount == b.UnderflowCount && a.OverflowCount == b.OverflowCount
            && a.LostCount == b.LostCount && a.Mean.Equals(b.Mean) && a.Stddev.Equals(b.Stddev)
            && a.RelativeError.Equals(b.RelativeError) && a.MinTrackable == b.MinTrackable && a.MaxTrackable == b.MaxTrackable
            && a.Flags == b.Flags && a.TimestampUnixNanos == b.TimestampUnixNanos
            && ((ReadOnlySpan<Percentile>)_percentiles).SequenceEqual(other._percentiles);
    }

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as HdrHistogramSummary);

    /// <summary>Changes with every filling: do not use it as the key of a dictionary if you fill it again.</summary>
    public override int GetHashCode() =>
        unchecked((((_native.TotalCount.GetHashCode() * 397) ^ _native.Mean.GetHashCode()) * 397)
            ^ _native.TimestampUnixNanos.GetHashCode());

    /// <summary>Whether all their contents are equal.</summary>
    public static bool operator ==(HdrHistogramSummary? left, HdrHistogramSummary? right) =>
        ReferenceEquals(left, right) || (left is not null && left.Equals(right));

    /// <summary>Whether any of their contents differ.</summary>
    public static bool operator !=(HdrHistogramSummary? left, HdrHistogramSummary? right) => !(left == right);

    /// <summary>The library's form; its percentiles are in <paramref name="found"/>, which is <see cref="Found"/>.</summary>
    internal unsafe PicolloSummary Native(PicolloPercentile* found)
    {
        PicolloSummary native = _native;
        native.Percentiles = found;
        native.PercentilesLength = (UIntPtr)_found.Length;
        return native;
    }

    internal PicolloPercentile[] Found => _found;

    internal unsafe void Fill(SnapshotHandle snapshot, EquivalentValueSelection selection)
    {
        fixed (PicolloSummary* native = &_native)
        fixed (double* ranks = ConstantArrays.DefaultRanks)
        fixed (PicolloPercentile* all = _found)
        {
            Outcome.Check(NativeMethods.picollo_snapshot_summary(
                snapshot, Percentile.ToNative(selection), ranks, (UIntPtr)_found.Length, all, native));
            // The array moves.
            native->Percentiles = null;
            native->PercentilesLength = UIntPtr.Zero;
            ulong before = 0;
            PicolloBucket last = default;
            for (int i = 0; i < _percentiles.Length; i++)
            {
                before = ReadOnlyHdrHistogram.CountBelow(snapshot, in all[i].Bucket, in last, before);
                last = all[i].Bucket;
                _percentiles[i] = new Percentile(in all[i], before, selection);
                // The values that the texts show.
                all[i].Value = _percentiles[i].Value;
            }
        }
    }

    private static unsafe string Write(
        HdrHistogramSummary a, HdrHistogramSummary b, bool difference, string? title, string? nameA, string? nameB, TextFormat format)
    {
        Loader.Ensure();
        Arguments.Member((int)format, (int)TextFormat.Human, nameof(format));
        byte[] nativeTitle = Utf8.ToNative(title ?? "", nameof(title));
        byte[] nativeA = Utf8.ToNative(nameA ?? "", "thisName");
        byte[] nativeB = Utf8.ToNative(nameB ?? "", "otherName");
        return NativeText.Read((buffer, capacity, length) =>
        {
            fixed (PicolloPercentile* foundA = a._found, foundB = b._found)
            fixed (byte* text = nativeTitle, nameOfA = nativeA, nameOfB = nativeB)
            {
                PicolloSummary one = a.Native(foundA), two = b.Native(foundB);
                return difference
                    ? NativeMethods.picollo_summary_format_diff(
                        &one, &two, text, nameOfA, nameOfB, (uint)format, buffer, capacity, length)
                    : NativeMethods.picollo_summary_format(&one, text, (uint)format, buffer, capacity, length);
            }
        });
    }
}

/// <summary>Writes a summary as <see cref="TextFormat.Json"/>: see <see cref="HdrHistogramSummary.Format"/>.</summary>
internal sealed class HdrHistogramSummaryConverter : JsonConverter<HdrHistogramSummary>
{
    public override HdrHistogramSummary Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        throw new NotSupportedException("A summary is not read from JSON. Keep the counts: HdrHistogramSnapshot.Encode and Decode.");

    public override void Write(Utf8JsonWriter writer, HdrHistogramSummary value, JsonSerializerOptions options) =>
        writer.WriteRawValue(value.Format(null, TextFormat.Json));
}
