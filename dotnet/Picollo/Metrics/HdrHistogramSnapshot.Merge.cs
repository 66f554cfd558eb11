namespace Picollo.Metrics;

public sealed unsafe partial class HdrHistogramSnapshot
{
    /// <summary>An empty snapshot without a histogram behind it, to merge others into.</summary>
    /// <remarks>
    /// The sum of a log has HdrHistogram's figures in the layout of its first interval, over the widest range
    /// (<see cref="HdrLayout.WithRange"/>), with <see cref="MergePlacement.LowEnds"/>.
    /// </remarks>
    public static HdrHistogramSnapshot Create(HdrLayout layout)
    {
        Loader.Ensure();
        PicolloLayout native = layout.Native;
        Outcome.Check(NativeMethods.picollo_snapshot_create_from_layout(&native, out SnapshotHandle handle));
        return new HdrHistogramSnapshot(handle);
    }

    /// <summary>
    /// What values have to be multiplied with for those of the histogram of doubles that this was decoded from, Java's
    /// <c>DoubleHistogram</c>; 1 for everything else. Whoever encoded it wrote it, so it may be anything.
    /// </summary>
    public double ValueRatio => Ask<double>(&NativeMethods.picollo_snapshot_value_ratio);

    /// <summary>Reads encoded data: any encoding of HdrHistogram (V0, V1, V2, compressed or not), or Picollo's own.</summary>
    /// <param name="bytes">The data, or base64 of them. Data from strangers are safe: they are checked from beginning to end.</param>
    /// <param name="maxCounters">The most counters that the result may have; 0: 6,291,456, which is 48 MiB.</param>
    /// <exception cref="PicolloException">
    /// The data are <see cref="PicolloStatus.Corrupt"/>, or of a later version; or the result would have more counters than it may
    /// (<see cref="PicolloStatus.OutOfMemory"/>).
    /// </exception>
    public static HdrHistogramSnapshot Decode(ReadOnlySpan<byte> bytes, ulong maxCounters = 0)
    {
        Loader.Ensure();
        fixed (byte* start = &System.Runtime.InteropServices.MemoryMarshal.GetReference(bytes))
        {
            Outcome.Check(NativeMethods.picollo_snapshot_decode(
                start, (UIntPtr)bytes.Length, maxCounters, out SnapshotHandle handle));
            return new HdrHistogramSnapshot(handle);
        }
    }

    /// <summary>Reads the first of several encodings that follow one another, of any kinds.</summary>
    /// <param name="bytes">The data, as for <see cref="Decode(ReadOnlySpan{byte}, ulong)"/>.</param>
    /// <param name="bytesConsumed">How many of them it takes, behind which the next one begins; 0 where it fails.</param>
    /// <param name="maxCounters">The most counters that the result may have; 0: 6,291,456, which is 48 MiB.</param>
    /// <remarks>
    /// Each says in front how long it is, and is held to it; but V0 that is not compressed takes everything, and base64 ends at white
    /// space, which belongs to it. Fails as <see cref="Decode(ReadOnlySpan{byte}, ulong)"/> does.
    /// </remarks>
    public static HdrHistogramSnapshot Decode(ReadOnlySpan<byte> bytes, out int bytesConsumed, ulong maxCounters = 0)
    {
        bytesConsumed = 0;
        Loader.Ensure();
        fixed (byte* start = &System.Runtime.InteropServices.MemoryMarshal.GetReference(bytes))
        {
            UIntPtr taken;
            Outcome.Check(NativeMethods.picollo_snapshot_decode_first(
                start, (UIntPtr)bytes.Length, maxCounters, out SnapshotHandle handle, &taken));
            bytesConsumed = (int)taken;
            return new HdrHistogramSnapshot(handle);
        }
    }

    /// <summary>Reads encoded data that were written as base64, such as the HISTFAAA… of HdrHistogram's logs.</summary>
    /// <remarks>Fails as <see cref="Decode(ReadOnlySpan{byte}, ulong)"/> does.</remarks>
    public static HdrHistogramSnapshot DecodeBase64(string text, ulong maxCounters = 0)
    {
        ArgumentNullException.ThrowIfNull(text);
        return Decode(System.Text.Encoding.UTF8.GetBytes(text), maxCounters);
    }

    /// <summary>A copy without a histogram behind it: to keep what the next update replaces, and to merge into.</summary>
    public HdrHistogramSnapshot Copy()
    {
        lock (Gate)
        {
            Outcome.Check(NativeMethods.picollo_snapshot_copy(Current(), out SnapshotHandle copy));
            return Derived(copy);
        }
    }

    /// <summary>Adds the counts of another snapshot, of any layout.</summary>
    /// <param name="other">What to add.</param>
    /// <param name="spread">
    /// False: a bucket's count goes to the bucket of its midpoint, whole. True: it is divided among all buckets that it has values
    /// of, in proportion, and rounding loses nothing.
    /// </param>
    /// <returns>What could not be placed exactly.</returns>
    public MergeReport Merge(HdrHistogramSnapshot other, bool spread = false) =>
        Merge(other, spread ? MergePlacement.Spread : MergePlacement.Midpoint);

    /// <summary>Adds the counts of another snapshot, of any layout, placed as asked for.</summary>
    /// <returns>What could not be placed exactly.</returns>
    public MergeReport Merge(HdrHistogramSnapshot other, MergePlacement placement)
    {
        ThrowIfUnfit(other);
        Arguments.Member((int)placement, (int)MergePlacement.LowEnds, nameof(placement));
        MergeReport merged;
        lock (s_pairing)
        lock (Gate)
        lock (other.Gate)
            Outcome.Check(NativeMethods.picollo_snapshot_merge(Current(), other.Current(), (uint)placement, &merged));
        return merged;
    }

    /// <summary>
    /// Takes away the counts of another snapshot, of any layout, from where <see cref="Merge(HdrHistogramSnapshot, bool)"/> would have put them. It undoes a
    /// merge, and tells what was added to an earlier snapshot.
    /// </summary>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: there is less than is to be taken away; nothing was changed.
    /// </exception>
    public MergeReport Subtract(HdrHistogramSnapshot other)
    {
        ThrowIfUnfit(other);
        MergeReport merged;
        lock (s_pairing)
        lock (Gate)
        lock (other.Gate)
            Outcome.Check(NativeMethods.picollo_snapshot_subtract(Current(), other.Current(), &merged));
        return merged;
    }

    private void ThrowIfUnfit(HdrHistogramSnapshot other)
    {
        ArgumentNullException.ThrowIfNull(other);
        if (ReferenceEquals(other, this))
            throw new ArgumentException("A snapshot cannot be combined with itself.", nameof(other));
    }
}
