using System;
using System.Collections.Generic;
using System.Threading;

namespace Picollo.Metrics
{
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

        private sealed class Entry
        {
            internal readonly ulong Hash;
            internal readonly KeyValuePair<string, object?>[] Tags;
            internal readonly MeteredHistogram Set;

            internal Entry(ulong hash, KeyValuePair<string, object?>[] tags, MeteredHistogram set)
            {
                Hash = hash;
                Tags = tags;
                Set = set;
            }
        }

        private sealed class ByKey : IComparer<KeyValuePair<string, object?>>
        {
            internal static readonly ByKey s_instance = new ByKey();

            public int Compare(KeyValuePair<string, object?> a, KeyValuePair<string, object?> b) => string.CompareOrdinal(a.Key, b.Key);
        }

        [ThreadStatic]
        private static KeyValuePair<string, object?>[]? t_sorted;

        private readonly object _gate = new object();
        private readonly int _limit;
        private readonly Func<KeyValuePair<string, object?>[], bool, MeteredHistogram> _make;
        // A power of two, at most half full. Whoever reads it sees entries that are whole: they are published by a release.
        private Entry?[] _table = new Entry?[16];
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
        internal MeteredHistogram? Find(ReadOnlySpan<KeyValuePair<string, object?>> tags) =>
            TagHash.TryOf(tags, out ulong hash) ? Find(Volatile.Read(ref _table), hash, tags) : null;

        private static MeteredHistogram? Find(Entry?[] table, ulong hash, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            for (int at = (int)hash; ; at++)
            {
                Entry? entry = Volatile.Read(ref table[at & (table.Length - 1)]);
                if (entry == null)
                    return null;
                if (entry.Hash == hash && TagHash.AreSame(tags, entry.Tags))
                    return entry.Set;
            }
        }

        /// <summary>The set of these tags, made where there is none.</summary>
        /// <param name="tags">In any order; of two with one key the last counts.</param>
        /// <param name="isNew">Whether it was made now.</param>
        internal MeteredHistogram Get(ReadOnlySpan<KeyValuePair<string, object?>> tags, out bool isNew)
        {
            // While it is in use nobody else on this thread has it: texts of values may themselves be measured.
            KeyValuePair<string, object?>[]? memory = t_sorted;
            t_sorted = null;
            if (memory == null || memory.Length < tags.Length)
                memory = new KeyValuePair<string, object?>[Math.Max(8, tags.Length)];
            try
            {
                ReadOnlySpan<KeyValuePair<string, object?>> sorted = memory.AsSpan(0, Sort(tags, memory));
                bool isPlain = TagHash.TryOf(tags, out ulong hash);
                TagHash.TryOf(sorted, out ulong sortedHash);
                // Read before: where it was there already, all sets were.
                MeteredHistogram? overflow = Volatile.Read(ref _overflow);
                MeteredHistogram? set = Find(Volatile.Read(ref _table), sortedHash, sorted) ?? overflow;
                isNew = false;
                if (set == overflow && set != null)
                    return set;
                if (set != null && !(isPlain && _entries < OrdersPerSet * _limit))
                    return set;
                lock (_gate)
                {
                    set = Find(_table, sortedHash, sorted);
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
                        Insert(new Entry(sortedHash, set.TagArray, set));
                    }
                    if (isPlain && _entries < OrdersPerSet * _limit && Find(_table, hash, tags) == null)
                        Insert(new Entry(hash, tags.ToArray(), set));
                    return set;
                }
            }
            finally
            {
                Array.Clear(memory);
                t_sorted = memory;
            }
        }

        /// <summary>By key, each key once with its last value, and values that are no plain ones as their texts. How many there are.</summary>
        private static int Sort(ReadOnlySpan<KeyValuePair<string, object?>> tags, KeyValuePair<string, object?>[] sorted)
        {
            int count = 0;
            foreach (KeyValuePair<string, object?> tag in tags)
            {
                string key = tag.Key ?? "";
                object? value = TagHash.IsPlain(tag.Value) ? tag.Value : TagText.Of(tag.Value);
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

        private void Insert(Entry entry)
        {
            Entry?[] table = _table;
            if (2 * (_entries + 1) > table.Length)
            {
                var larger = new Entry?[2 * table.Length];
                foreach (Entry? known in table)
                    if (known != null)
                        Put(larger, known);
                Put(larger, entry);
                Volatile.Write(ref _table, larger);
            }
            else
                Put(table, entry);
            _entries++;
        }

        private static void Put(Entry?[] table, Entry entry)
        {
            int at = (int)entry.Hash;
            while (table[at & (table.Length - 1)] != null)
                at++;
            Volatile.Write(ref table[at & (table.Length - 1)], entry);
        }
    }
}
