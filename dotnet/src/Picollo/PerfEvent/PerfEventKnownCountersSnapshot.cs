namespace Picollo.PerfEvent;

/// <summary>A session's counters at one reading, scaled, by name. Filling it again allocates nothing.</summary>
/// <remarks>Not synchronized: fill and read it on one thread at a time.</remarks>
public sealed class PerfEventKnownCountersSnapshot
{
    private PerfEventKnownCounters? _counters;
    private PerfEventCounterValue[] _values = new PerfEventCounterValue[0];
    private readonly Func<PerfTypeId, ulong, ulong?> _find;

    /// <summary>An empty snapshot, to be filled.</summary>
    public PerfEventKnownCountersSnapshot()
    {
        _find = Find;
    }

    /// <summary>The number of values.</summary>
    public int Count => _counters == null ? 0 : _counters.Count;

    /// <summary>The value of one counter, in the order of the session's.</summary>
    public PerfEventCounterValue this[int index] =>
        (uint)index < (uint)Count
            ? _values[index]
            : throw new ArgumentOutOfRangeException(nameof(index), index, $"There are {Count} values.");

    /// <summary>The generic hardware counters by name, each null if the session does not have it.</summary>
    public HardwareCounters<ulong?> Hardware => new HardwareCounters<ulong?>(_find);

    /// <summary>The software counters by name, each null if the session does not have it.</summary>
    public SoftwareCounters<ulong?> Software => new SoftwareCounters<ulong?>(_find);

    /// <summary>The cache counters by name, each null if the session does not have it.</summary>
    public CacheCounters<ulong?> Caches => new CacheCounters<ulong?>(_find);

    internal void Fill(PerfEventKnownCounters counters, PerfEventCounterSession session, bool useDeltas)
    {
        if (_values.Length < counters.Count)
            _values = new PerfEventCounterValue[counters.Count];
        session.Readings(_values, useDeltas);
        _counters = counters;
    }

    // A missing count has no value.
    private ulong? Find(PerfTypeId type, ulong config)
    {
        for (int i = 0; i < Count; i++)
            if (_counters![i].Type == type && _counters[i].Config == config)
                return _values[i].Status == PicolloStatus.Ok ? _values[i].ScaledValue : (ulong?)null;
        return null;
    }
}
