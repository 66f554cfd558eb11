using System.Collections;

namespace Picollo.PerfEvent;

/// <summary>The counters of a session, in the requested order.</summary>
public sealed class PerfEventKnownCounters : IReadOnlyList<PerfEventCounter>
{
    private readonly List<PerfEventCounter> _counters = new List<PerfEventCounter>();

    private readonly PerfEventCounterSession _session;

    // Made once, so that access to a counter by its name allocates nothing.
    private readonly System.Func<PerfTypeId, ulong, PerfEventCounter?> _find;

    internal PerfEventKnownCounters(PerfEventCounterSession session)
    {
        _session = session;
        _find = Find;
    }

    /// <summary>The number of counters.</summary>
    public int Count => _counters.Count;

    /// <summary>The generic hardware counters by name, each null if the session does not have it.</summary>
    public HardwareCounters<PerfEventCounter?> Hardware => new HardwareCounters<PerfEventCounter?>(_find);

    /// <summary>The software counters by name, each null if the session does not have it.</summary>
    public SoftwareCounters<PerfEventCounter?> Software => new SoftwareCounters<PerfEventCounter?>(_find);

    /// <summary>The cache counters by name, each null if the session does not have it.</summary>
    public CacheCounters<PerfEventCounter?> Caches => new CacheCounters<PerfEventCounter?>(_find);

    /// <summary>The counter at an index.</summary>
    public PerfEventCounter this[int index] => _counters[index];

    /// <summary>The first with a name such as <c>Hardware:CpuCycles</c>; null if the session has none.</summary>
    public PerfEventCounter? this[string name] =>
        name == null
            ? throw new System.ArgumentNullException(nameof(name)) : _counters.Find(counter => counter.Name == name);

    /// <summary>The values of the last reading, by name.</summary>
    /// <param name="useDeltas">True: between the last two readings. False: since the base.</param>
    public PerfEventKnownCountersSnapshot GetSnapshot(bool useDeltas = false)
    {
        var snapshot = new PerfEventKnownCountersSnapshot();
        ToSnapshot(snapshot, useDeltas);
        return snapshot;
    }

    /// <summary>Fills in the values of the last reading.</summary>
    /// <param name="snapshot">The snapshot to fill.</param>
    /// <param name="useDeltas">True: between the last two readings. False: since the base.</param>
    public void ToSnapshot(PerfEventKnownCountersSnapshot snapshot, bool useDeltas = false)
    {
        if (snapshot == null)
            throw new System.ArgumentNullException(nameof(snapshot));
        snapshot.Fill(this, _session, useDeltas);
    }

    /// <summary>Begins an enumeration.</summary>
    public List<PerfEventCounter>.Enumerator GetEnumerator() => _counters.GetEnumerator();

    IEnumerator<PerfEventCounter> IEnumerable<PerfEventCounter>.GetEnumerator() => GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    internal void Add(PerfEventCounter counter) => _counters.Add(counter);

    private PerfEventCounter? Find(PerfTypeId type, ulong config)
    {
        foreach (PerfEventCounter counter in _counters)
            if (counter.Type == type && counter.Config == config)
                return counter;
        return null;
    }
}
