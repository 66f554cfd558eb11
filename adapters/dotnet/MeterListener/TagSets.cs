using System.Buffers;
using System.Collections.Concurrent;
using System.Numerics;

namespace Picollo.Metrics;

/// <summary>
/// From the tags of a measurement to the histogram of their set, in whatever order they come. Found without a lock; what is not known
/// yet is sorted, and made under one.
/// </summary>
internal sealed class TagSets
{
    /// <summary>Orders that sets are known in besides the sorted one, for each set that there may be: then these are sorted each time.</summary>
    private const int OrdersPerSet = 4;

    /// <summary>The tag of what came when there were as many sets as there may be, as OpenTelemetry has it.</summary>
    internal const string OverflowTag = "otel.metric.overflow";

    // Next has the same hash. A dictionary of .NET 8 finds nothing by a span, so that hashes are its keys.
    private sealed record Entry(KeyValuePair<string, object?>[] Tags, MeteredHistogram Set, Entry? Next);

    private readonly object _gate = new object();
    private readonly int _limit;
    private readonly Func<KeyValuePair<string, object?>[], bool, MeteredHistogram> _make;
    private readonly ConcurrentDictionary<int, Entry> _known = new ConcurrentDictionary<int, Entry>();
    private int _entries, _sets;
    private MeteredHistogram? _overflow;

    /// <param name="limit">Sets that there may be.</param>
    /// <param name="make">Makes the one of sorted tags; true for that of all which are too many.</param>
    internal TagSets(int limit, Func<KeyValuePair<string, object?>[], bool, MeteredHistogram> make)
    {
        _limit = limit;
        _make = make;
    }

    /// <summary>The set that was known in this order; null: see <see cref="Get"/>.</summary>
    internal MeteredHistogram? Find(ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        if (TryHash(tags, out int hash) && _known.TryGetValue(hash, out Entry? entry))
            for (; entry != null; entry = entry.Next)
                if (AreSame(tags, entry.Tags))
                    return entry.Set;
        return null;
    }

    /// <summary>The set of these tags, made where there is none.</summary>
    /// <param name="tags">In any order; of two with one key the last counts.</param>
    /// <param name="isNew">Whether it was made now.</param>
    internal MeteredHistogram Get(ReadOnlySpan<KeyValuePair<string, object?>> tags, out bool isNew)
    {
        isNew = false;
        KeyValuePair<string, object?>[] memory = ArrayPool<KeyValuePair<string, object?>>.Shared.Rent(tags.Length);
        try
        {
            ReadOnlySpan<KeyValuePair<string, object?>> sorted = memory.AsSpan(0, Sort(tags, memory));
            // Read before: where it was there already, all sets were.
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
        // Mostly they are the same objects.
        ReferenceEquals(a, b) || (a is string text ? b is string other && string.Equals(text, other)
            : a != null && b != null && a.GetType() == b.GetType() && a.Equals(b));

    /// <summary>What is one of the runtime's own types of numbers, texts and times, or an enumeration: they do not change.</summary>
    private static bool IsPlain(object? value) => value == null || Type.GetTypeCode(value.GetType()) > TypeCode.DBNull;

    /// <summary>
    /// Of tags in this order; false where a value is an object of a type that may do anything when it is asked, or that may change. Hashes
    /// of texts are other ones in each process, so that nobody outside can choose labels that meet in one place.
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
            // Keys are the program's own, and mostly the same ones: all of their characters would take as long again.
            string? key = tag.Key;
            hash = unchecked((int)BitOperations.RotateLeft((uint)hash, 5) * 31 + value + (string.IsNullOrEmpty(key) ? 0 : key.Length ^ key[^1] << 8));
        }
        return true;
    }

    /// <summary>By key, each key once with its last value, and values that are no plain ones as their texts. How many there are.</summary>
    private static int Sort(ReadOnlySpan<KeyValuePair<string, object?>> tags, KeyValuePair<string, object?>[] sorted)
    {
        int count = 0;
        foreach (KeyValuePair<string, object?> tag in tags)
        {
            string key = tag.Key ?? "";
            object? value = IsPlain(tag.Value) ? tag.Value : TagText.Of(tag.Value);
            // Few, mostly sorted already: found from the end.
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
