namespace Picollo.Metrics;

/// <summary>The rule that maps values to counters.</summary>
public readonly struct HdrLayout
{
    private readonly PicolloLayout _native;

    internal HdrLayout(in PicolloLayout native)
    {
        _native = native;
    }

    /// <summary>The smallest value that is certainly counted.</summary>
    public ulong MinTrackableValue => _native.MinTrackable;

    /// <summary>The largest value that is certainly counted.</summary>
    public ulong MaxTrackableValue => _native.MaxTrackable;

    /// <summary>How many counters there are.</summary>
    public ulong CounterCount => _native.Length;

    /// <summary>The largest relative distance between a value and the midpoint of its bucket.</summary>
    public double RelativeError => _native.RelativeError;

    /// <summary>Buckets in a run of equal width, a power of two.</summary>
    public ulong BlockSize => 1ul << (int)_native.BlockScale;

    /// <summary>
    /// The unit of the buckets of small values, a power of two: the effective value of an HdrHistogram's lowest
    /// discernible value. 1 unless it was decoded from one.
    /// </summary>
    /// <remarks>The relative error holds from <see cref="BlockSize"/> units on; smaller values are at most half a unit away.</remarks>
    public ulong Unit => _native.Length == 0 ? 1 : _native.Unit;

    /// <summary>The same blocks and the same unit over another range: for sums, see <see cref="HdrHistogramSnapshot.Create"/>.</summary>
    /// <exception cref="PicolloException">The range is empty, or ends below the unit.</exception>
    public unsafe HdrLayout WithRange(ulong minTrackableValue, ulong maxTrackableValue)
    {
        Loader.Ensure();
        PicolloLayout layout = _native;
        Outcome.Check(NativeMethods.picollo_layout_with_range(&layout, minTrackableValue, maxTrackableValue, &layout));
        return new HdrLayout(in layout);
    }

    internal PicolloLayout Native => _native;

    /// <summary>Significant digits of the HdrHistogram with these buckets, 0 if there is no such one.</summary>
    public int SignificantDigits => (int)_native.SignificantDigits;

    /// <summary>The bucket of a value, in range or not; its count is 0.</summary>
    public unsafe Bucket GetBucket(ulong value)
    {
        Loader.Ensure();
        PicolloLayout layout = _native;
        PicolloBucket bucket;
        Outcome.Check(NativeMethods.picollo_layout_bucket_of(&layout, value, &bucket));
        return new Bucket(in bucket);
    }

    /// <summary>Whether two values share a bucket, and so cannot be distinguished.</summary>
    public bool AreEquivalent(ulong a, ulong b)
    {
        Bucket bucket = GetBucket(a);
        return b >= bucket.Lower && b <= bucket.Upper;
    }
}

/// <summary>The size of a histogram, in bytes of native memory.</summary>
public readonly partial struct HdrFootprint
{
}

/// <summary>A step of an iteration over the counts, as in HdrHistogram: all buckets up to a value.</summary>
public readonly struct HdrStep
{
    private readonly PicolloStep _native;

    internal HdrStep(in PicolloStep native, ulong bucketCount, double cumulativeSum)
    {
        _native = native;
        BucketCount = bucketCount;
        CumulativeSum = cumulativeSum;
    }

    /// <summary>Where the previous step ended; 0 for the first.</summary>
    public ulong From => _native.From;

    /// <summary>Where this step ends.</summary>
    public ulong To => _native.To;

    /// <summary>The counts in this step.</summary>
    public ulong AddedCount => _native.AddedCount;

    /// <summary>The counts in this and all earlier steps.</summary>
    public ulong CumulativeCount => _native.CumulativeCount;

    /// <summary>The counts of the bucket that the step ends in.</summary>
    public ulong BucketCount { get; }

    /// <summary>The sum of the values up to here, as their buckets' midpoints; at the end, mean times count.</summary>
    public double CumulativeSum { get; }

    /// <summary>The cumulative count as a percentage of all counts.</summary>
    public double Rank => _native.Rank;

    /// <summary>The percentage that a percentile step aimed at; <see cref="Rank"/> for other steps.</summary>
    public double RankLevel => _native.RankLevel;

    /// <inheritdoc/>
    public override string ToString() =>
        FormattableString.Invariant($"({From}, {To}]: {AddedCount} of {CumulativeCount}, {Rank} %");
}

/// <summary>Where merged or subtracted counts went. If all are zero, each was placed exactly.</summary>
public readonly partial struct MergeReport
{
    /// <summary>Whether each count was placed exactly.</summary>
    public bool IsExact => Refined == 0 && Underflow == 0 && Overflow == 0 && Lost == 0;
}
