using System;
using System.Collections;
using System.Collections.Generic;

namespace Picollo.PerfEvent
{
    /// <summary>The counters of a session, in the order in which they were asked for.</summary>
    public sealed class PerfEventKnownCounters : IReadOnlyList<PerfEventCounter>
    {
        private readonly List<PerfEventCounter> _counters = new List<PerfEventCounter>();

        private readonly PerfEventCounterSession _session;

        internal PerfEventKnownCounters(PerfEventCounterSession session)
        {
            _session = session;
        }

        /// <summary>How many there are.</summary>
        public int Count => _counters.Count;

        /// <summary>The generic hardware counters by name, each null where the session has none.</summary>
        public HardwareCounters Hardware => new HardwareCounters(this);

        /// <summary>The software counters by name, each null where the session has none.</summary>
        public SoftwareCounters Software => new SoftwareCounters(this);

        /// <summary>The cache counters by name, each null where the session has none.</summary>
        public CacheCounters Caches => new CacheCounters(this);

        /// <summary>One of them.</summary>
        public PerfEventCounter this[int index] => _counters[index];

        /// <summary>The first with a name such as <c>Hardware:CpuCycles</c>; null where the session has none.</summary>
        public PerfEventCounter? this[string name] =>
            name == null
                ? throw new System.ArgumentNullException(nameof(name)) : _counters.Find(counter => counter.Name == name);

        /// <summary>The values of the last reading, by name.</summary>
        /// <param name="useDeltas">True: between the last two readings. False: since the base.</param>
        public PerfEventKnownCountersSnapshot GetSnapshot(bool useDeltas)
        {
            var snapshot = new PerfEventKnownCountersSnapshot();
            ToSnapshot(snapshot, useDeltas);
            return snapshot;
        }

        /// <summary>Fills in the values of the last reading.</summary>
        /// <param name="snapshot">What to fill.</param>
        /// <param name="useDeltas">True: between the last two readings. False: since the base.</param>
        public void ToSnapshot(PerfEventKnownCountersSnapshot snapshot, bool useDeltas)
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

        internal PerfEventCounter? Find(PerfHardwareCounterId id) => Find(PerfTypeId.Hardware, (ulong)id);

        internal PerfEventCounter? Find(PerfSoftwareCounterId id) => Find(PerfTypeId.Software, (ulong)id);

        internal PerfEventCounter? Find(PerfCacheCounterId id) => Find(PerfTypeId.HardwareCache, (ulong)id);

        private PerfEventCounter? Find(PerfTypeId type, ulong config)
        {
            foreach (PerfEventCounter counter in _counters)
                if (counter.Type == type && counter.Config == config)
                    return counter;
            return null;
        }
    }
}
