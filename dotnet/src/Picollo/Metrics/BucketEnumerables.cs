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
    public Enumerator GetEnumerator() => new Enumerator(Buckets.Of(_source, _nonEmptyOnly));

    /// <exception cref="InvalidOperationException">The default value belongs to no histogram.</exception>
    internal static PicolloBucket[] Of(ReadOnlyHdrHistogram source, bool nonEmptyOnly) =>
        source != null
            ? source.CopyBuckets(nonEmptyOnly)
            : throw new InvalidOperationException("These are the buckets of no histogram: a default value.");

    internal static InvalidOperationException Ended() =>
        new InvalidOperationException("The enumeration has not begun, or was disposed.");

    IEnumerator<Bucket> IEnumerable<Bucket>.GetEnumerator() => GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Enumerates buckets.</summary>
    public struct Enumerator : IEnumerator<Bucket>
    {
        private PicolloBucket[]? _buckets;
        private int _next;

        internal Enumerator(PicolloBucket[] buckets)
        {
            _buckets = buckets;
            _next = 0;
        }

        /// <inheritdoc/>
        public Bucket Current => _buckets == null ? throw Buckets.Ended() : _next == 0 ? default : new Bucket(in _buckets[_next - 1]);

        object IEnumerator.Current => Current;

        /// <inheritdoc/>
        public bool MoveNext()
        {
            if (_buckets == null)
                throw Buckets.Ended();
            if (_next == _buckets.Length)
                return false;
            _next++;
            return true;
        }

        /// <inheritdoc/>
        public void Reset() => _next = _buckets == null ? throw Buckets.Ended() : 0;

        /// <inheritdoc/>
        public void Dispose() => _buckets = null;
    }
}

/// <summary>The buckets of a histogram or snapshot, each with the percentile rank of the observation in its middle.</summary>
public readonly struct BucketPercentiles : IEnumerable<Percentile>
{
    private readonly ReadOnlyHdrHistogram _source;
    private readonly bool _nonEmptyOnly;

    internal BucketPercentiles(ReadOnlyHdrHistogram source, bool nonEmptyOnly)
    {
        _source = source;
        _nonEmptyOnly = nonEmptyOnly;
    }

    /// <summary>Begins an enumeration.</summary>
    public Enumerator GetEnumerator() => new Enumerator(Buckets.Of(_source, _nonEmptyOnly));

    IEnumerator<Percentile> IEnumerable<Percentile>.GetEnumerator() => GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Enumerates buckets and adds up their counts.</summary>
    public struct Enumerator : IEnumerator<Percentile>
    {
        private readonly double _total;
        private Buckets.Enumerator _buckets;
        private ulong _before;

        internal Enumerator(PicolloBucket[] buckets)
        {
            _buckets = new Buckets.Enumerator(buckets);
            foreach (PicolloBucket bucket in buckets)
                _total += bucket.Count;
        }

        /// <inheritdoc/>
        public Percentile Current
        {
            get
            {
                Bucket bucket = _buckets.Current;
                if (!bucket.IsValid)
                    return default;
                // The number of the observation in the middle, among all.
                ulong target = _before + bucket.Count - bucket.Count / 2;
                var percentile = new PicolloPercentile
                {
                    Rank = target * 100.0 / _total, Value = bucket.GetValue(), TargetCount = target, Bucket = bucket.Native
                };
                return new Percentile(in percentile, _before, EquivalentValueSelection.Default, true);
            }
        }

        object IEnumerator.Current => Current;

        /// <inheritdoc/>
        public bool MoveNext()
        {
            ulong passed = _buckets.Current.Count;
            if (!_buckets.MoveNext())
                return false;
            _before += passed;
            return true;
        }

        /// <inheritdoc/>
        public void Reset()
        {
            _buckets.Reset();
            _before = 0;
        }

        /// <inheritdoc/>
        public void Dispose() => _buckets.Dispose();
    }
}
