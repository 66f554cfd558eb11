namespace Picollo.Metrics;

public abstract unsafe partial class ReadOnlyHdrHistogram
{
    /// <summary>Callers that hold two gates hold this as well, so that two callers cannot deadlock.</summary>
    internal static readonly object s_pairing = new object();

    internal delegate int WriteSnapshot(SnapshotHandle snapshot, byte* buffer, UIntPtr capacity, UIntPtr* length);

    private delegate int ListSteps(SnapshotHandle snapshot, PicolloStep* steps, UIntPtr capacity, UIntPtr* length);

    /// <summary>The rule that maps values to counters.</summary>
    public HdrLayout GetLayout() => new HdrLayout(Ask<PicolloLayout>(&NativeMethods.picollo_snapshot_layout));

    /// <summary>The number of observations between two values, inclusive; buckets of the two count whole.</summary>
    public ulong GetCountBetween(ulong lowest, ulong highest)
    {
        ulong count;
        lock (Gate)
            Outcome.Check(NativeMethods.picollo_snapshot_count_between(Current(), lowest, highest, &count));
        return count;
    }

    /// <summary>
    /// The values at many ranks, as if the observations of a bucket were evenly distributed in it: the inverse of
    /// <see cref="GetRank"/> with interpolation.
    /// </summary>
    public void GetInterpolatedPercentileValues(ReadOnlySpan<double> ranks, Span<ulong> values)
    {
        Arguments.Ranks(ranks, values.Length, nameof(ranks), nameof(values));
        if (ranks.Length == 0)
            return;
        fixed (double* from = &MemoryMarshal.GetReference(ranks))
        fixed (ulong* to = &MemoryMarshal.GetReference(values))
            lock (Gate)
                Outcome.Check(NativeMethods.picollo_snapshot_interpolated_percentiles(
                    Current(), from, (UIntPtr)ranks.Length, to));
    }

    /// <summary>Steps of equal width: they end at width − 1, 2 · width − 1, and so on, until all counts are covered.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The width is 0.</exception>
    /// <exception cref="PicolloException">There would be millions of steps.</exception>
    public HdrStep[] GetLinearSteps(ulong width)
    {
        if (width == 0)
            throw new ArgumentOutOfRangeException(nameof(width), width, "Steps have a width.");
        return Steps((snapshot, steps, capacity, length) =>
            NativeMethods.picollo_snapshot_linear_steps(snapshot, width, steps, capacity, length));
    }

    /// <summary>Steps of growing width: they end at first − 1, first · factor − 1, and so on.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The first is 0, or the factor is not above 1.</exception>
    /// <exception cref="PicolloException">There would be millions of steps.</exception>
    public HdrStep[] GetLogarithmicSteps(ulong first, double factor)
    {
        if (first == 0)
            throw new ArgumentOutOfRangeException(nameof(first), first, "Steps have a width.");
        if (!(factor > 1))
            throw new ArgumentOutOfRangeException(nameof(factor), factor, "It is above 1.");
        return Steps((snapshot, steps, capacity, length) =>
            NativeMethods.picollo_snapshot_logarithmic_steps(snapshot, first, factor, steps, capacity, length));
    }

    /// <summary>Percentile steps that halve with each halving of the distance to 100 %.</summary>
    public HdrStep[] GetPercentileSteps(int ticksPerHalfDistance = 5)
    {
        Arguments.AtLeastOne(ticksPerHalfDistance, nameof(ticksPerHalfDistance));
        return Steps((snapshot, steps, capacity, length) =>
            NativeMethods.picollo_snapshot_percentile_steps(snapshot, (uint)ticksPerHalfDistance, steps, capacity, length));
    }

    /// <summary>Encodes the counts: see <see cref="HdrHistogramSnapshot.Decode(ReadOnlySpan{byte}, ulong)"/>.</summary>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.Incompatible"/>: HdrHistogram's encodings hold only the buckets of 0 to 5 significant
    /// digits (<c>WithSignificantDigits</c>), and neither values nor counts of 2⁶³ or more.
    /// </exception>
    public byte[] Encode(SnapshotEncoding encoding = SnapshotEncoding.Native)
    {
        Arguments.Member((int)encoding, (int)SnapshotEncoding.Native, nameof(encoding));
        lock (Gate)
        {
            SnapshotHandle snapshot = Current();
            return NativeText.ReadBytes((buffer, capacity, length) =>
                NativeMethods.picollo_snapshot_encode(snapshot, (uint)encoding, buffer, capacity, length));
        }
    }

    /// <summary>Encodes the counts into a buffer. If it is too small, nothing is written there.</summary>
    /// <returns>Whether there was room; if not, <paramref name="length"/> is the required length.</returns>
    /// <remarks>Allocates no managed memory. Otherwise like <see cref="Encode"/>.</remarks>
    public bool TryEncode(Span<byte> buffer, out int length, SnapshotEncoding encoding = SnapshotEncoding.Native)
    {
        Arguments.Member((int)encoding, (int)SnapshotEncoding.Native, nameof(encoding));
        UIntPtr needed;
        int status;
        fixed (byte* start = &MemoryMarshal.GetReference(buffer))
            lock (Gate)
                status = NativeMethods.picollo_snapshot_encode(
                    Current(), (uint)encoding, start, (UIntPtr)buffer.Length, &needed);
        if (status != (int)PicolloStatus.BufferTooSmall)
            Outcome.CheckEncoded(status);
        length = checked((int)needed);
        return status == 0;
    }

    /// <summary>Writes the counts as base64 text.</summary>
    /// <remarks>Fails like <see cref="Encode"/>.</remarks>
    public string EncodeBase64(SnapshotEncoding encoding = SnapshotEncoding.HdrV2Compressed)
    {
        Arguments.Member((int)encoding, (int)SnapshotEncoding.Native, nameof(encoding));
        return Write((snapshot, buffer, capacity, length) =>
            NativeMethods.picollo_snapshot_encode_base64(snapshot, (uint)encoding, buffer, capacity, length));
    }

    /// <summary>Writes the text of <see cref="FormatHgrm"/>.</summary>
    public void WriteHgrm(System.IO.TextWriter output, int ticksPerHalfDistance = 5, double valueScale = 1, bool csv = false)
    {
        ArgumentNullException.ThrowIfNull(output);
        output.Write(FormatHgrm(ticksPerHalfDistance, valueScale, csv));
    }

    /// <summary>The percentile distribution in the format of HdrHistogram for Java (.hgrm), for its plotters.</summary>
    /// <param name="ticksPerHalfDistance">Rows in each half of the distance to 100 %.</param>
    /// <param name="valueScale">Values are divided by this; above 0.</param>
    /// <param name="csv">Comma-separated values instead of columns.</param>
    public string FormatHgrm(int ticksPerHalfDistance = 5, double valueScale = 1, bool csv = false)
    {
        Arguments.AtLeastOne(ticksPerHalfDistance, nameof(ticksPerHalfDistance));
        if (!(valueScale > 0 && valueScale <= double.MaxValue))
            throw new ArgumentOutOfRangeException(nameof(valueScale), valueScale, "Values are divided by a number above 0.");
        return Write((snapshot, buffer, capacity, length) => NativeMethods.picollo_snapshot_format_hgrm(
            snapshot, (uint)ticksPerHalfDistance, valueScale, csv ? 1u : 0u, buffer, capacity, length));
    }

    /// <summary>
    /// A copy corrected for coordinated omission, as by <see cref="HdrHistogram.RecordCorrected"/>: for every value
    /// above the interval at which values were expected, it adds those that a stalled caller did not send meanwhile.
    /// </summary>
    public HdrHistogramSnapshot Corrected(ulong expectedInterval)
    {
        lock (Gate)
        {
            Outcome.Check(NativeMethods.picollo_snapshot_corrected(
                Current(), expectedInterval, out SnapshotHandle corrected));
            return Derived(corrected);
        }
    }

    /// <summary>A quantile, and the interval that contains the true one; the observations are a sample.</summary>
    /// <param name="quantile">Between 0 and 1, exclusive.</param>
    /// <param name="confidence">Between 0 and 1, exclusive.</param>
    /// <exception cref="ArgumentOutOfRangeException">One of them is not.</exception>
    /// <exception cref="PicolloException">Nothing was recorded.</exception>
    public QuantileInterval GetQuantileInterval(double quantile, double confidence = 0.95)
    {
        Arguments.BetweenZeroAndOne(quantile, nameof(quantile));
        Arguments.BetweenZeroAndOne(confidence, nameof(confidence));
        QuantileInterval interval;
        lock (Gate)
            Outcome.Check(NativeMethods.picollo_snapshot_quantile_interval(Current(), quantile, confidence, &interval));
        return interval;
    }

    /// <summary>Compares this, the older, with a newer one: is it faster, by how much, and how sure is that?</summary>
    /// <exception cref="PicolloException">One of the two has no observations.</exception>
    public HdrComparison Compare(ReadOnlyHdrHistogram after, CompareOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(after);
        PicolloCompareOptions native = CompareOptions.ToNative(options);
        var a = new HdrHistogramSummary();
        var b = new HdrHistogramSummary();
        PicolloComparison comparison;
        lock (s_pairing)
        lock (Gate)
        lock (after.Gate)
        {
            SnapshotHandle before = Current(), newer = after.Current();
            Outcome.Check(NativeMethods.picollo_compare(before, newer, &native, &comparison));
            a.Fill(before, EquivalentValueSelection.Midpoint);
            b.Fill(newer, EquivalentValueSelection.Midpoint);
        }
        return new HdrComparison(in comparison, a, b);
    }

    /// <summary>The library's text for the counts of one moment, even if it is called twice.</summary>
    internal string Write(WriteSnapshot write)
    {
        lock (Gate)
        {
            SnapshotHandle snapshot = Current();
            return NativeText.Read((buffer, capacity, length) => write(snapshot, buffer, capacity, length));
        }
    }

    private HdrStep[] Steps(ListSteps list)
    {
        lock (Gate)
        {
            SnapshotHandle snapshot = Current();
            PicolloStep[] native = NativeText.List<PicolloStep>((steps, capacity, length) => list(snapshot, steps, capacity, length));
            return WithBuckets(native, CopyBuckets(snapshot, true));
        }
    }

    /// <summary>Adds bucket data: a step ends before or with a bucket, so each bucket belongs to one step.</summary>
    private static HdrStep[] WithBuckets(PicolloStep[] native, PicolloBucket[] buckets)
    {
        var steps = new HdrStep[native.Length];
        int next = 0;
        double sum = 0;
        for (int i = 0; i < native.Length; i++)
        {
            for (; next < buckets.Length && buckets[next].Lower <= native[i].To; next++)
                sum += (buckets[next].Lower + buckets[next].Step / 2) * (double)buckets[next].Count;
            bool endsInOne = next != 0 && buckets[next - 1].Upper >= native[i].To;
            steps[i] = new HdrStep(in native[i], endsInOne ? buckets[next - 1].Count : 0, sum);
        }
        return steps;
    }
}
