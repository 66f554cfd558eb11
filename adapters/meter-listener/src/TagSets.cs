using System.Buffers;
using System.Collections.Concurrent;
using System.Numerics;

namespace Picollo.Metrics;

/// <summary>
/// Finds the histogram for a measurement's tags, in any order, without a lock. Unknown sets are sorted, and made under
/// a lock.
/// </summary>
internal sealed class TagSets
{
    /// <summary>The number of unsorted orders that are cached, per possible set; others are sorted each time.</summary>
    private const int OrdersPerSet = 4;

    /// <summary>The tag of measurements beyond the maximum number of sets, as in OpenTelemetry.</summary>
    internal const string OverflowTag = "otel.metric.overflow";

    // Next has the same hash. Hashes are keys, because .NET 8's dictionaries cannot look up spans.
    private sealed record Entry(KeyValuePair<string, object?>[] Tags, MeteredHistogram Set, Entry? Next);

    private readonly object _gate = new object();
    private readonly int _limit;
    private readonly Func<KeyValuePair<string, object?>[], bool, MeteredHistogram> _make;
    private readonly ConcurrentDictionary<int, Entry> _known = new ConcurrentDictionary<int, Entry>();
    private int _entries, _sets;
    private MeteredHistogram? _overflow;

    /// <param name="limit">The maximum number of sets.</param>
    /// <param name="make">Makes the histogram of sorted tags; true for the one beyond the limit.</param>
    internal TagSets(int limit, Func<KeyValuePair<string, object?>[], bool, MeteredHistogram> make)
    {
        _limit = limit;
        _make = make;
    }

    /// <summary>The set that is cached for this order; null: see <see cref="Get"/>.</summary>
    internal MeteredHistogram? Find(ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        if (TryHash(tags, out int hash) && _known.TryGetValue(hash, out Entry? entry))
            for (; entry != null; entry = entry.Next)
                if (AreSame(tags, entry.Tags))
                    return entry.Set;
        return null;
    }

    /// <summary>The set with these tags, made if necessary.</summary>
    /// <param name="tags">In any order; of two tags with one key, the last counts.</param>
    /// <param name="isNew">Whether it was made now.</param>
    internal MeteredHistogram Get(ReadOnlySpan<KeyValuePair<string, object?>> tags, out bool isNew)
    {
        isNew = false;
        KeyValuePair<string, object?>[] memory = ArrayPool<KeyValuePair<string, object?>>.Shared.Rent(tags.Length);
        try
        {
            ReadOnlySpan<KeyValuePair<string, object?>> sorted = memory.AsSpan(0, Sort(tags, memory));
            // Read first: if it already existed, all sets existed.
            MeteredHistogram? overflow = Volatile.Read(ref _overflow), set = Find(sorted) ?? overflow;
            if (set != null && (set == overflow || !TryHash(tags, out _) || _entries >= OrdersPerSet * _limit))
                return set;
            lock (_gate)
            {
                set = Find(sorted);
                if (set == null)
                {
                    if (_sets >= _limit)
                    {
                        isNew = _overflow == null;
                        return _overflow ??= _make([new KeyValuePair<string, object?>(OverflowTag, true)], true);
                    }
                    set = _make(sorted.ToArray(), false);
                    isNew = true;
                    _sets++;
                    Insert(set.TagArray, set);
                }
                if (_entries < OrdersPerSet * _limit && TryHash(tags, out _) && Find(tags) == null)
                    Insert(tags.ToArray(), set);
                return set;
            }
        }
        finally
        {
            ArrayPool<KeyValuePair<string, object?>>.Shared.Return(memory, clearArray: true);
        }
    }

    internal static bool AreSame(ReadOnlySpan<KeyValuePair<string, object?>> tags, KeyValuePair<string, object?>[] known)
    {
        if (tags.Length != known.Length)
            return false;
        for (int i = 0; i < known.Length; i++)
            if (!string.Equals(tags[i].Key, known[i].Key) || !AreSame(tags[i].Value, known[i].Value))
                return false;
        return true;
    }

    private static bool AreSame(object? a, object? b) =>
        // Usually they are the same objects.
        ReferenceEquals(a, b) || (a is string text ? b is string other && string.Equals(text, other)
            : a != null && b != null && a.GetType() == b.GetType() && a.Equals(b));

    /// <summary>Whether it is an enumeration or the runtime's own number, text or time: those are immutable.</summary>
    private static bool IsPlain(object? value) => value == null || Type.GetTypeCode(value.GetType()) > TypeCode.DBNull;

    /// <summary>
    /// The hash of tags in this order; false if the type of a value may run any code, or is mutable. Hashes of texts
    /// differ in each process, so that nobody outside can choose labels that collide.
    /// </summary>
    private static bool TryHash(ReadOnlySpan<KeyValuePair<string, object?>> tags, out int hash)
    {
        hash = tags.Length;
        foreach (ref readonly KeyValuePair<string, object?> tag in tags)
        {
            int value;
            if (tag.Value is string text)
                value = text.GetHashCode();
            else if (IsPlain(tag.Value))
                value = tag.Value?.GetHashCode() ?? -1;
            else
                return false;
            // Keys are the program's own, and mostly the same: hashing all their characters would take as long again.
            string? key = tag.Key;
            hash = unchecked((int)BitOperations.RotateLeft((uint)hash, 5) * 31 + value + (string.IsNullOrEmpty(key) ? 0 : key.Length ^ key[^1] << 8));
        }
        return true;
    }

    /// <summary>Sorts by key, keeps each key's last value, converts complex values to texts; returns the
    /// number.</summary>
    private static int Sort(ReadOnlySpan<KeyValuePair<string, object?>> tags, KeyValuePair<string, object?>[] sorted)
    {
        int count = 0;
        foreach (KeyValuePair<string, object?> tag in tags)
        {
            string key = tag.Key ?? "";
            object? value = IsPlain(tag.Value) ? tag.Value : TagText.Of(tag.Value);
            // Few, and mostly sorted already: searches from the end.
            int at = count;
            while (at > 0 && string.CompareOrdinal(sorted[at - 1].Key, key) > 0)
                at--;
            if (at > 0 && sorted[at - 1].Key == key)
            {
                sorted[at - 1] = new KeyValuePair<string, object?>(key, value);
                continue;
            }
            Array.Copy(sorted, at, sorted, at + 1, count - at);
            sorted[at] = new KeyValuePair<string, object?>(key, value);
            count++;
        }
        return count;
    }

    private void Insert(KeyValuePair<string, object?>[] tags, MeteredHistogram set)
    {
        TryHash(tags, out int hash);
        _known[hash] = new Entry(tags, set, _known.GetValueOrDefault(hash));
        _entries++;
    }
}
