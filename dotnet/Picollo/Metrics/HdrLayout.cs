namespace Picollo.Metrics;

/// <summary>The rule that maps values to counters.</summary>
public readonly struct HdrLayout
{
    private readonly PicolloLayout _native;

    internal HdrLayout(in PicolloLayout native)
    {
        _native = native;
    }

    /// <summary>The smallest value that is counted for sure.</summary>
    public ulong MinTrackableValue => _native.MinTrackable;

    /// <summary>The largest value that is counted for sure.</summary>
    public ulong MaxTrackableValue => _native.MaxTrackable;

    /// <summary>How many counters there are.</summary>
    public ulong CounterCount => _native.Length;

    /// <summary>The largest distance between a value and the midpoint of its bucket, in proportion.</summary>
    public double RelativeError => _native.RelativeError;

    /// <summary>Buckets in a run of equal width, a power of two.</summary>
    public ulong BlockSize => 1ul << (int)_native.BlockScale;

    /// <summary>
    /// In what the buckets of small values are measured, a power of two: what an HdrHistogram's lowest discernible value comes to. 1
    /// for all that was not decoded from one.
    /// </summary>
    /// <remarks>The relative error holds from <see cref="BlockSize"/> units on; smaller values are at most half a unit away.</remarks>
    public ulong Unit => _native.Length == 0 ? 1 : _native.Unit;

    /// <summary>The same blocks and the same unit over another range: for sums, see <see cref="HdrHistogramSnapshot.Create"/>.</summary>
    /// <exception cref="PicolloException">There is no such layout: the range is none, or ends below the unit.</exception>
    public unsafe HdrLayout WithRange(ulong minTrackableValue, ulong maxTrackableValue)
    {
        Loader.Ensure();
        PicolloLayout layout = _native;
        Outcome.Check(NativeMethods.picollo_layout_with_range(&layout, minTrackableValue, maxTrackableValue, &layout));
        return new HdrLayout(in layout);
    }

    internal PicolloLayout Native => _native;

    /// <summary>Significant digits of the HdrHistogram that has these buckets, 0 where there is none.</summary>
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

    /// <summary>Whether two values share a bucket, so that they cannot be told from each other.</summary>
    public bool AreEquivalent(ulong a, ulong b)
    {
        Bucket bucket = GetBucket(a);
        return b >= bucket.Lower && b <= bucket.Upper;
    }
}

/// <summary>What a histogram takes, in bytes of native memory.</summary>
public readonly partial struct HdrFootprint
{
}

/// <summary>A step on the way through the counts, as HdrHistogram's iterators have them: all buckets up to a value.</summary>
public readonly struct HdrStep
{
    private readonly PicolloStep _native;

    internal HdrStep(in PicolloStep native, ulong bucketCount, double cumulativeSum)
    {
        _native = native;
        BucketCount = bucketCount;
        CumulativeSum = cumulativeSum;
    }

    /// <summary>Where the step before ended; 0 for the first.</summary>
    public ulong From => _native.From;

    /// <summary>Where this one ends.</summary>
    public ulong To => _native.To;

    /// <summary>Counts that came with it.</summary>
    public ulong AddedCount => _native.AddedCount;

    /// <summary>Counts of it and all before.</summary>
    public ulong CumulativeCount => _native.CumulativeCount;

    /// <summary>Counts of the bucket that it ends in.</summary>
    public ulong BucketCount { get; }

    /// <summary>The values of it and all before, added up, each at the middle of its bucket: in the end, mean times count.</summary>
    public double CumulativeSum { get; }

    /// <summary>The percentage of all counts that is.</summary>
    public double Rank => _native.Rank;

    /// <summary>The percentage at which a step of percentiles was due; <see cref="Rank"/> for other steps.</summary>
    public double RankLevel => _native.RankLevel;

    /// <inheritdoc/>
    public override string ToString() =>
        FormattableString.Invariant($"({From}, {To}]: {AddedCount} of {CumulativeCount}, {Rank} %");
}

/// <summary>What became of counts that were merged or subtracted. All zero: each was placed exactly.</summary>
public readonly partial struct MergeReport
{
    /// <summary>Whether each count was placed exactly.</summary>
    public bool IsExact => Refined == 0 && Underflow == 0 && Overflow == 0 && Lost == 0;
}
