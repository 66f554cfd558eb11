using System;

namespace Picollo.PerfEvent
{
    /// <summary>The values of a session's counters at one reading, scaled, by name. To be filled again: that allocates nothing.</summary>
    /// <remarks>Not synchronised: fill and read it from one thread at a time.</remarks>
    public sealed class PerfEventKnownCountersSnapshot
    {
        private PerfEventKnownCounters? _counters;
        private PerfEventCounterValue[] _values = new PerfEventCounterValue[0];

        /// <summary>How many values there are.</summary>
        public int Count => _counters == null ? 0 : _counters.Count;

        /// <summary>The value of one counter, in the order of the session's.</summary>
        public PerfEventCounterValue this[int index] =>
            (uint)index < (uint)Count
                ? _values[index]
                : throw new ArgumentOutOfRangeException(nameof(index), index, $"There are {Count} values.");

        /// <summary>The generic hardware counters by name, each null where the session has none.</summary>
        public HardwareCounterValues Hardware => new HardwareCounterValues(this);

        /// <summary>The software counters by name, each null where the session has none.</summary>
        public SoftwareCounterValues Software => new SoftwareCounterValues(this);

        /// <summary>The cache counters by name, each null where the session has none.</summary>
        public CacheCounterValues Caches => new CacheCounterValues(this);

        internal void Fill(PerfEventKnownCounters counters, PerfEventCounterSession session, bool useDeltas)
        {
            if (_values.Length < counters.Count)
                _values = new PerfEventCounterValue[counters.Count];
            session.Readings(_values, useDeltas);
            _counters = counters;
        }

        internal ulong? Find(PerfHardwareCounterId id) => Find(PerfTypeId.Hardware, (ulong)id);

        internal ulong? Find(PerfSoftwareCounterId id) => Find(PerfTypeId.Software, (ulong)id);

        internal ulong? Find(PerfCacheCounterId id) => Find(PerfTypeId.HardwareCache, (ulong)id);

        // What was not counted is no number.
        private ulong? Find(PerfTypeId type, ulong config)
        {
            for (int i = 0; i < Count; i++)
                if (_counters![i].Type == type && _counters[i].Config == config)
                    return _values[i].Status == PicolloStatus.Ok ? _values[i].ScaledValue : (ulong?)null;
            return null;
        }
    }

    /// <summary>The values of a session's hardware counters; null where it has none, or it was not counted.</summary>
    public readonly struct HardwareCounterValues
    {
        private readonly PerfEventKnownCountersSnapshot _snapshot;

        internal HardwareCounterValues(PerfEventKnownCountersSnapshot snapshot)
        {
            _snapshot = snapshot;
        }

        /// <summary>Cycles of the processor; they follow its clock.</summary>
        public ulong? CpuCycles => _snapshot.Find(PerfHardwareCounterId.CpuCycles);

        /// <summary>Retired instructions.</summary>
        public ulong? Instructions => _snapshot.Find(PerfHardwareCounterId.Instructions);

        /// <summary>Accesses to, usually, the last level of cache.</summary>
        public ulong? CacheReferences => _snapshot.Find(PerfHardwareCounterId.CacheReferences);

        /// <summary>Misses of, usually, the last level of cache.</summary>
        public ulong? CacheMisses => _snapshot.Find(PerfHardwareCounterId.CacheMisses);

        /// <summary>Retired branches.</summary>
        public ulong? BranchInstructions => _snapshot.Find(PerfHardwareCounterId.BranchInstructions);

        /// <summary>Mispredicted branches.</summary>
        public ulong? BranchMisses => _snapshot.Find(PerfHardwareCounterId.BranchMisses);

        /// <summary>Cycles of the bus.</summary>
        public ulong? BusCycles => _snapshot.Find(PerfHardwareCounterId.BusCycles);

        /// <summary>Cycles in which nothing could be issued.</summary>
        public ulong? StalledCyclesFrontend => _snapshot.Find(PerfHardwareCounterId.StalledCyclesFrontend);

        /// <summary>Cycles in which nothing could be retired.</summary>
        public ulong? StalledCyclesBackend => _snapshot.Find(PerfHardwareCounterId.StalledCyclesBackend);

        /// <summary>Cycles at a constant rate, whatever the processor's clock.</summary>
        public ulong? RefCpuCycles => _snapshot.Find(PerfHardwareCounterId.RefCpuCycles);
    }

    /// <summary>The values of a session's software counters; null where it has none, or it was not counted.</summary>
    public readonly struct SoftwareCounterValues
    {
        private readonly PerfEventKnownCountersSnapshot _snapshot;

        internal SoftwareCounterValues(PerfEventKnownCountersSnapshot snapshot)
        {
            _snapshot = snapshot;
        }

        /// <summary>Nanoseconds by the clock of the processor.</summary>
        public ulong? CpuClock => _snapshot.Find(PerfSoftwareCounterId.CpuClock);

        /// <summary>Nanoseconds that the task ran.</summary>
        public ulong? TaskClock => _snapshot.Find(PerfSoftwareCounterId.TaskClock);

        /// <summary>Page faults.</summary>
        public ulong? PageFaults => _snapshot.Find(PerfSoftwareCounterId.PageFaults);

        /// <summary>Context switches.</summary>
        public ulong? ContextSwitches => _snapshot.Find(PerfSoftwareCounterId.ContextSwitches);

        /// <summary>Moves to another processor.</summary>
        public ulong? CpuMigrations => _snapshot.Find(PerfSoftwareCounterId.CpuMigrations);

        /// <summary>Page faults without input or output.</summary>
        public ulong? PageFaultsMin => _snapshot.Find(PerfSoftwareCounterId.PageFaultsMin);

        /// <summary>Page faults with input or output.</summary>
        public ulong? PageFaultsMaj => _snapshot.Find(PerfSoftwareCounterId.PageFaultsMaj);

        /// <summary>Unaligned accesses that the kernel had to mend.</summary>
        public ulong? AlignmentFaults => _snapshot.Find(PerfSoftwareCounterId.AlignmentFaults);

        /// <summary>Instructions that the kernel had to emulate.</summary>
        public ulong? EmulationFaults => _snapshot.Find(PerfSoftwareCounterId.EmulationFaults);

        /// <summary>Counts nothing.</summary>
        public ulong? Dummy => _snapshot.Find(PerfSoftwareCounterId.Dummy);

        /// <summary>Output of BPF programs.</summary>
        public ulong? BpfOutput => _snapshot.Find(PerfSoftwareCounterId.BpfOutput);

        /// <summary>Context switches to another control group.</summary>
        public ulong? CgroupSwitches => _snapshot.Find(PerfSoftwareCounterId.CgroupSwitches);
    }

    /// <summary>The values of a session's cache counters; null where it has none, or it was not counted.</summary>
    public readonly struct CacheCounterValues
    {
        private readonly PerfEventKnownCountersSnapshot _snapshot;

        internal CacheCounterValues(PerfEventKnownCountersSnapshot snapshot)
        {
            _snapshot = snapshot;
        }

        /// <summary>Reads of the level 1 data cache.</summary>
        public ulong? L1DReadAccess => _snapshot.Find(PerfCacheCounterId.L1DReadAccess);

        /// <summary>Reads of the level 1 data cache that missed.</summary>
        public ulong? L1DReadMiss => _snapshot.Find(PerfCacheCounterId.L1DReadMiss);

        /// <summary>Writes of the level 1 data cache.</summary>
        public ulong? L1DWriteAccess => _snapshot.Find(PerfCacheCounterId.L1DWriteAccess);

        /// <summary>Writes of the level 1 data cache that missed.</summary>
        public ulong? L1DWriteMiss => _snapshot.Find(PerfCacheCounterId.L1DWriteMiss);

        /// <summary>Prefetches of the level 1 data cache.</summary>
        public ulong? L1DPrefetchAccess => _snapshot.Find(PerfCacheCounterId.L1DPrefetchAccess);

        /// <summary>Prefetches of the level 1 data cache that missed.</summary>
        public ulong? L1DPrefetchMiss => _snapshot.Find(PerfCacheCounterId.L1DPrefetchMiss);

        /// <summary>Reads of the level 1 instruction cache.</summary>
        public ulong? L1IReadAccess => _snapshot.Find(PerfCacheCounterId.L1IReadAccess);

        /// <summary>Reads of the level 1 instruction cache that missed.</summary>
        public ulong? L1IReadMiss => _snapshot.Find(PerfCacheCounterId.L1IReadMiss);

        /// <summary>Writes of the level 1 instruction cache.</summary>
        public ulong? L1IWriteAccess => _snapshot.Find(PerfCacheCounterId.L1IWriteAccess);

        /// <summary>Writes of the level 1 instruction cache that missed.</summary>
        public ulong? L1IWriteMiss => _snapshot.Find(PerfCacheCounterId.L1IWriteMiss);

        /// <summary>Prefetches of the level 1 instruction cache.</summary>
        public ulong? L1IPrefetchAccess => _snapshot.Find(PerfCacheCounterId.L1IPrefetchAccess);

        /// <summary>Prefetches of the level 1 instruction cache that missed.</summary>
        public ulong? L1IPrefetchMiss => _snapshot.Find(PerfCacheCounterId.L1IPrefetchMiss);

        /// <summary>Reads of the last level cache.</summary>
        public ulong? LLReadAccess => _snapshot.Find(PerfCacheCounterId.LLReadAccess);

        /// <summary>Reads of the last level cache that missed.</summary>
        public ulong? LLReadMiss => _snapshot.Find(PerfCacheCounterId.LLReadMiss);

        /// <summary>Writes of the last level cache.</summary>
        public ulong? LLWriteAccess => _snapshot.Find(PerfCacheCounterId.LLWriteAccess);

        /// <summary>Writes of the last level cache that missed.</summary>
        public ulong? LLWriteMiss => _snapshot.Find(PerfCacheCounterId.LLWriteMiss);

        /// <summary>Prefetches of the last level cache.</summary>
        public ulong? LLPrefetchAccess => _snapshot.Find(PerfCacheCounterId.LLPrefetchAccess);

        /// <summary>Prefetches of the last level cache that missed.</summary>
        public ulong? LLPrefetchMiss => _snapshot.Find(PerfCacheCounterId.LLPrefetchMiss);

        /// <summary>Reads of the data TLB.</summary>
        public ulong? DTLBReadAccess => _snapshot.Find(PerfCacheCounterId.DTLBReadAccess);

        /// <summary>Reads of the data TLB that missed.</summary>
        public ulong? DTLBReadMiss => _snapshot.Find(PerfCacheCounterId.DTLBReadMiss);

        /// <summary>Writes of the data TLB.</summary>
        public ulong? DTLBWriteAccess => _snapshot.Find(PerfCacheCounterId.DTLBWriteAccess);

        /// <summary>Writes of the data TLB that missed.</summary>
        public ulong? DTLBWriteMiss => _snapshot.Find(PerfCacheCounterId.DTLBWriteMiss);

        /// <summary>Prefetches of the data TLB.</summary>
        public ulong? DTLBPrefetchAccess => _snapshot.Find(PerfCacheCounterId.DTLBPrefetchAccess);

        /// <summary>Prefetches of the data TLB that missed.</summary>
        public ulong? DTLBPrefetchMiss => _snapshot.Find(PerfCacheCounterId.DTLBPrefetchMiss);

        /// <summary>Reads of the instruction TLB.</summary>
        public ulong? ITLBReadAccess => _snapshot.Find(PerfCacheCounterId.ITLBReadAccess);

        /// <summary>Reads of the instruction TLB that missed.</summary>
        public ulong? ITLBReadMiss => _snapshot.Find(PerfCacheCounterId.ITLBReadMiss);

        /// <summary>Writes of the instruction TLB.</summary>
        public ulong? ITLBWriteAccess => _snapshot.Find(PerfCacheCounterId.ITLBWriteAccess);

        /// <summary>Writes of the instruction TLB that missed.</summary>
        public ulong? ITLBWriteMiss => _snapshot.Find(PerfCacheCounterId.ITLBWriteMiss);

        /// <summary>Prefetches of the instruction TLB.</summary>
        public ulong? ITLBPrefetchAccess => _snapshot.Find(PerfCacheCounterId.ITLBPrefetchAccess);

        /// <summary>Prefetches of the instruction TLB that missed.</summary>
        public ulong? ITLBPrefetchMiss => _snapshot.Find(PerfCacheCounterId.ITLBPrefetchMiss);

        /// <summary>Reads of the branch predictor.</summary>
        public ulong? BPUReadAccess => _snapshot.Find(PerfCacheCounterId.BPUReadAccess);

        /// <summary>Reads of the branch predictor that missed.</summary>
        public ulong? BPUReadMiss => _snapshot.Find(PerfCacheCounterId.BPUReadMiss);

        /// <summary>Writes of the branch predictor.</summary>
        public ulong? BPUWriteAccess => _snapshot.Find(PerfCacheCounterId.BPUWriteAccess);

        /// <summary>Writes of the branch predictor that missed.</summary>
        public ulong? BPUWriteMiss => _snapshot.Find(PerfCacheCounterId.BPUWriteMiss);

        /// <summary>Prefetches of the branch predictor.</summary>
        public ulong? BPUPrefetchAccess => _snapshot.Find(PerfCacheCounterId.BPUPrefetchAccess);

        /// <summary>Prefetches of the branch predictor that missed.</summary>
        public ulong? BPUPrefetchMiss => _snapshot.Find(PerfCacheCounterId.BPUPrefetchMiss);

        /// <summary>Reads of the local memory node.</summary>
        public ulong? NodeReadAccess => _snapshot.Find(PerfCacheCounterId.NodeReadAccess);

        /// <summary>Reads of the local memory node that missed.</summary>
        public ulong? NodeReadMiss => _snapshot.Find(PerfCacheCounterId.NodeReadMiss);

        /// <summary>Writes of the local memory node.</summary>
        public ulong? NodeWriteAccess => _snapshot.Find(PerfCacheCounterId.NodeWriteAccess);

        /// <summary>Writes of the local memory node that missed.</summary>
        public ulong? NodeWriteMiss => _snapshot.Find(PerfCacheCounterId.NodeWriteMiss);

        /// <summary>Prefetches of the local memory node.</summary>
        public ulong? NodePrefetchAccess => _snapshot.Find(PerfCacheCounterId.NodePrefetchAccess);

        /// <summary>Prefetches of the local memory node that missed.</summary>
        public ulong? NodePrefetchMiss => _snapshot.Find(PerfCacheCounterId.NodePrefetchMiss);
    }
}
