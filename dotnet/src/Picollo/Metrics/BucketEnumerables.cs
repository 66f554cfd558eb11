using System.Collections;

namespace Picollo.Metrics;

/// <summary>The buckets of a histogram or snapshot. Each enumeration shows the moment at which it begins.</summary>
public readonly struct Buckets : IEnumerable<Bucket>
{
    private readonly ReadOnlyHdrHistogram _source;
    private readonly bool _nonEmptyOnly;

    internal Buckets(ReadOnlyHdrHistogram source, bool nonEmptyOnly)
    {
        _source = source;
        _nonEmptyOnly = nonEmptyOnly;
    }

    /// <summary>Begins an enumeration.</summary>
    /// <exception cref="InvalidOperationException">The default value belongs to no histogram.</exception>
    public IEnumerator<Bucket> GetEnumerator() => Copied().Select(native => new Bucket(in native)).GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    internal PicolloBucket[] Copied() =>
        _source != null
            ? _source.CopyBuckets(_nonEmptyOnly)
            : throw new InvalidOperationException("These are the buckets of no histogram: a default value.");
}

/// <summary>The buckets of a histogram or snapshot, each with the percentile rank of the observation in its middle.</summary>
public readonly struct BucketPercentiles : IEnumerable<Percentile>
{
    private readonly Buckets _buckets;

    internal BucketPercentiles(ReadOnlyHdrHistogram source, bool nonEmptyOnly)
    {
        _buckets = new Buckets(source, nonEmptyOnly);
    }

    /// <summary>Begins an enumeration.</summary>
    /// <exception cref="InvalidOperationException">The default value belongs to no histogram.</exception>
    public IEnumerator<Percentile> GetEnumerator() => Ranked(_buckets.Copied()).GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    private static IEnumerable<Percentile> Ranked(PicolloBucket[] buckets)
    {
        double total = buckets.Sum(bucket => (double)bucket.Count);
        ulong before = 0;
        foreach (PicolloBucket bucket in buckets)
        {
            // The number of the observation in the middle, among all.
            ulong target = before + bucket.Count - bucket.Count / 2;
            var percentile = new PicolloPercentile
            {
                Rank = target * 100.0 / total, Value = new Bucket(in bucket).GetValue(), TargetCount = target, Bucket = bucket
            };
            yield return new Percentile(in percentile, before, EquivalentValueSelection.Default, true);
            before += bucket.Count;
        }
    }
}
