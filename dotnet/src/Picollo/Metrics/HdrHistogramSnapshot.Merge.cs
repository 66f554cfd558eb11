namespace Picollo.Metrics;

public sealed unsafe partial class HdrHistogramSnapshot
{
    /// <summary>An empty snapshot without a histogram, to merge others into.</summary>
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
    /// Multiply values by this if the snapshot was decoded from a histogram of doubles, Java's <c>DoubleHistogram</c>;
    /// 1 for everything else. It comes from the data unchecked, so it may be any number.
    /// </summary>
    public double ValueRatio => Ask<double>(&NativeMethods.picollo_snapshot_value_ratio);

    /// <summary>Decodes any encoding of HdrHistogram (V0, V1, V2, compressed or not), or Picollo's own.</summary>
    /// <param name="bytes">The data, or their base64. They need not be trusted: they are checked completely.</param>
    /// <param name="maxCounters">The maximum number of counters of the result; 0: 6,291,456, which is 48 MiB.</param>
    /// <exception cref="PicolloException">
    /// The data are <see cref="PicolloStatus.Corrupt"/>, or from a later version; or the result would have too many
    /// counters (<see cref="PicolloStatus.OutOfMemory"/>).
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

    /// <summary>Decodes the first of several consecutive encodings, of any kinds.</summary>
    /// <param name="bytes">The data, as for <see cref="Decode(ReadOnlySpan{byte}, ulong)"/>.</param>
    /// <param name="bytesConsumed">Its length, after which the next one begins; 0 on failure.</param>
    /// <param name="maxCounters">The maximum number of counters of the result; 0: 6,291,456, which is 48 MiB.</param>
    /// <remarks>
    /// Each begins with its length, and must match it. The exceptions are uncompressed V0, which takes everything, and
    /// base64, which ends at white space and includes it. Fails like <see cref="Decode(ReadOnlySpan{byte}, ulong)"/>.
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

    /// <summary>Decodes data in base64, such as the HISTFAAA… of HdrHistogram's logs.</summary>
    /// <remarks>Fails like <see cref="Decode(ReadOnlySpan{byte}, ulong)"/>.</remarks>
    public static HdrHistogramSnapshot DecodeBase64(string text, ulong maxCounters = 0)
    {
        ArgumentNullException.ThrowIfNull(text);
        return Decode(System.Text.Encoding.UTF8.GetBytes(text), maxCounters);
    }

    /// <summary>A copy without a histogram: to keep counts beyond the next update, and to merge into.</summary>
    public HdrHistogramSnapshot Copy()
    {
        lock (Gate)
        {
            Outcome.Check(NativeMethods.picollo_snapshot_copy(Current(), out SnapshotHandle copy));
            return Derived(copy);
        }
    }

    /// <summary>Adds the counts of another snapshot, of any layout.</summary>
    /// <param name="other">The snapshot to add.</param>
    /// <param name="spread">
    /// False: a bucket's whole count goes to the bucket of its midpoint. True: it is divided in proportion among all
    /// buckets that share values with it, and rounding loses nothing.
    /// </param>
    /// <returns>The counts that could not be placed exactly.</returns>
    public MergeReport Merge(HdrHistogramSnapshot other, bool spread = false) =>
        Merge(other, spread ? MergePlacement.Spread : MergePlacement.Midpoint);

    /// <summary>Adds the counts of another snapshot, of any layout, with a placement.</summary>
    /// <returns>The counts that could not be placed exactly.</returns>
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
    /// Subtracts the counts of another snapshot, of any layout, from where
    /// <see cref="Merge(HdrHistogramSnapshot, bool)"/> would have put them. It undoes a merge, and shows the additions
    /// to an earlier snapshot.
    /// </summary>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: there is less than is to be subtracted; nothing was changed.
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
