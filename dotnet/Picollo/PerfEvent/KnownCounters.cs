namespace Picollo.PerfEvent
{
    /// <summary>The generic hardware counters of a session; null where the session has none.</summary>
    public readonly struct HardwareCounters
    {
        private readonly PerfEventKnownCounters _counters;

        internal HardwareCounters(PerfEventKnownCounters counters)
        {
            _counters = counters;
        }

        /// <summary>Cycles of the processor; they follow its clock.</summary>
        public PerfEventCounter? CpuCycles => _counters.Find(PerfHardwareCounterId.CpuCycles);

        /// <summary>Retired instructions.</summary>
        public PerfEventCounter? Instructions => _counters.Find(PerfHardwareCounterId.Instructions);

        /// <summary>Accesses to, usually, the last level of cache.</summary>
        public PerfEventCounter? CacheReferences => _counters.Find(PerfHardwareCounterId.CacheReferences);

        /// <summary>Misses of, usually, the last level of cache.</summary>
        public PerfEventCounter? CacheMisses => _counters.Find(PerfHardwareCounterId.CacheMisses);

        /// <summary>Retired branches.</summary>
        public PerfEventCounter? BranchInstructions => _counters.Find(PerfHardwareCounterId.BranchInstructions);

        /// <summary>Mispredicted branches.</summary>
        public PerfEventCounter? BranchMisses => _counters.Find(PerfHardwareCounterId.BranchMisses);

        /// <summary>Cycles of the bus.</summary>
        public PerfEventCounter? BusCycles => _counters.Find(PerfHardwareCounterId.BusCycles);

        /// <summary>Cycles in which nothing could be issued.</summary>
        public PerfEventCounter? StalledCyclesFrontend => _counters.Find(PerfHardwareCounterId.StalledCyclesFrontend);

        /// <summary>Cycles in which nothing could be retired.</summary>
        public PerfEventCounter? StalledCyclesBackend => _counters.Find(PerfHardwareCounterId.StalledCyclesBackend);

        /// <summary>Cycles at a constant rate, whatever the processor's clock.</summary>
        public PerfEventCounter? RefCpuCycles => _counters.Find(PerfHardwareCounterId.RefCpuCycles);
    }

    /// <summary>The software counters of a session; null where the session has none.</summary>
    public readonly struct SoftwareCounters
    {
        private readonly PerfEventKnownCounters _counters;

        internal SoftwareCounters(PerfEventKnownCounters counters)
        {
            _counters = counters;
        }

        /// <summary>Nanoseconds by the clock of the processor.</summary>
        public PerfEventCounter? CpuClock => _counters.Find(PerfSoftwareCounterId.CpuClock);

        /// <summary>Nanoseconds that the task ran.</summary>
        public PerfEventCounter? TaskClock => _counters.Find(PerfSoftwareCounterId.TaskClock);

        /// <summary>Page faults.</summary>
        public PerfEventCounter? PageFaults => _counters.Find(PerfSoftwareCounterId.PageFaults);

        /// <summary>Context switches.</summary>
        public PerfEventCounter? ContextSwitches => _counters.Find(PerfSoftwareCounterId.ContextSwitches);

        /// <summary>Moves to another processor.</summary>
        public PerfEventCounter? CpuMigrations => _counters.Find(PerfSoftwareCounterId.CpuMigrations);

        /// <summary>Page faults without input or output.</summary>
        public PerfEventCounter? PageFaultsMin => _counters.Find(PerfSoftwareCounterId.PageFaultsMin);

        /// <summary>Page faults with input or output.</summary>
        public PerfEventCounter? PageFaultsMaj => _counters.Find(PerfSoftwareCounterId.PageFaultsMaj);

        /// <summary>Unaligned accesses that the kernel had to mend.</summary>
        public PerfEventCounter? AlignmentFaults => _counters.Find(PerfSoftwareCounterId.AlignmentFaults);

        /// <summary>Instructions that the kernel had to emulate.</summary>
        public PerfEventCounter? EmulationFaults => _counters.Find(PerfSoftwareCounterId.EmulationFaults);

        /// <summary>Counts nothing.</summary>
        public PerfEventCounter? Dummy => _counters.Find(PerfSoftwareCounterId.Dummy);

        /// <summary>Output of BPF programs.</summary>
        public PerfEventCounter? BpfOutput => _counters.Find(PerfSoftwareCounterId.BpfOutput);

        /// <summary>Context switches to another control group.</summary>
        public PerfEventCounter? CgroupSwitches => _counters.Find(PerfSoftwareCounterId.CgroupSwitches);
    }

    /// <summary>The cache counters of a session; null where the session has none.</summary>
    public readonly struct CacheCounters
    {
        private readonly PerfEventKnownCounters _counters;

        internal CacheCounters(PerfEventKnownCounters counters)
        {
            _counters = counters;
        }

        /// <summary>Reads of the level 1 data cache.</summary>
        public PerfEventCounter? L1DReadAccess => _counters.Find(PerfCacheCounterId.L1DReadAccess);

        /// <summary>Reads of the level 1 data cache that missed.</summary>
        public PerfEventCounter? L1DReadMiss => _counters.Find(PerfCacheCounterId.L1DReadMiss);

        /// <summary>Writes of the level 1 data cache.</summary>
        public PerfEventCounter? L1DWriteAccess => _counters.Find(PerfCacheCounterId.L1DWriteAccess);

        /// <summary>Writes of the level 1 data cache that missed.</summary>
        public PerfEventCounter? L1DWriteMiss => _counters.Find(PerfCacheCounterId.L1DWriteMiss);

        /// <summary>Prefetches of the level 1 data cache.</summary>
        public PerfEventCounter? L1DPrefetchAccess => _counters.Find(PerfCacheCounterId.L1DPrefetchAccess);

        /// <summary>Prefetches of the level 1 data cache that missed.</summary>
        public PerfEventCounter? L1DPrefetchMiss => _counters.Find(PerfCacheCounterId.L1DPrefetchMiss);

        /// <summary>Reads of the level 1 instruction cache.</summary>
        public PerfEventCounter? L1IReadAccess => _counters.Find(PerfCacheCounterId.L1IReadAccess);

        /// <summary>Reads of the level 1 instruction cache that missed.</summary>
        public PerfEventCounter? L1IReadMiss => _counters.Find(PerfCacheCounterId.L1IReadMiss);

        /// <summary>Writes of the level 1 instruction cache.</summary>
        public PerfEventCounter? L1IWriteAccess => _counters.Find(PerfCacheCounterId.L1IWriteAccess);

        /// <summary>Writes of the level 1 instruction cache that missed.</summary>
        public PerfEventCounter? L1IWriteMiss => _counters.Find(PerfCacheCounterId.L1IWriteMiss);

        /// <summary>Prefetches of the level 1 instruction cache.</summary>
        public PerfEventCounter? L1IPrefetchAccess => _counters.Find(PerfCacheCounterId.L1IPrefetchAccess);

        /// <summary>Prefetches of the level 1 instruction cache that missed.</summary>
        public PerfEventCounter? L1IPrefetchMiss => _counters.Find(PerfCacheCounterId.L1IPrefetchMiss);

        /// <summary>Reads of the last level cache.</summary>
        public PerfEventCounter? LLReadAccess => _counters.Find(PerfCacheCounterId.LLReadAccess);

        /// <summary>Reads of the last level cache that missed.</summary>
        public PerfEventCounter? LLReadMiss => _counters.Find(PerfCacheCounterId.LLReadMiss);

        /// <summary>Writes of the last level cache.</summary>
        public PerfEventCounter? LLWriteAccess => _counters.Find(PerfCacheCounterId.LLWriteAccess);

        /// <summary>Writes of the last level cache that missed.</summary>
        public PerfEventCounter? LLWriteMiss => _counters.Find(PerfCacheCounterId.LLWriteMiss);

        /// <summary>Prefetches of the last level cache.</summary>
        public PerfEventCounter? LLPrefetchAccess => _counters.Find(PerfCacheCounterId.LLPrefetchAccess);

        /// <summary>Prefetches of the last level cache that missed.</summary>
        public PerfEventCounter? LLPrefetchMiss => _counters.Find(PerfCacheCounterId.LLPrefetchMiss);

        /// <summary>Reads of the data TLB.</summary>
        public PerfEventCounter? DTLBReadAccess => _counters.Find(PerfCacheCounterId.DTLBReadAccess);

        /// <summary>Reads of the data TLB that missed.</summary>
        public PerfEventCounter? DTLBReadMiss => _counters.Find(PerfCacheCounterId.DTLBReadMiss);

        /// <summary>Writes of the data TLB.</summary>
        public PerfEventCounter? DTLBWriteAccess => _counters.Find(PerfCacheCounterId.DTLBWriteAccess);

        /// <summary>Writes of the data TLB that missed.</summary>
        public PerfEventCounter? DTLBWriteMiss => _counters.Find(PerfCacheCounterId.DTLBWriteMiss);

        /// <summary>Prefetches of the data TLB.</summary>
        public PerfEventCounter? DTLBPrefetchAccess => _counters.Find(PerfCacheCounterId.DTLBPrefetchAccess);

        /// <summary>Prefetches of the data TLB that missed.</summary>
        public PerfEventCounter? DTLBPrefetchMiss => _counters.Find(PerfCacheCounterId.DTLBPrefetchMiss);

        /// <summary>Reads of the instruction TLB.</summary>
        public PerfEventCounter? ITLBReadAccess => _counters.Find(PerfCacheCounterId.ITLBReadAccess);

        /// <summary>Reads of the instruction TLB that missed.</summary>
        public PerfEventCounter? ITLBReadMiss => _counters.Find(PerfCacheCounterId.ITLBReadMiss);

        /// <summary>Writes of the instruction TLB.</summary>
        public PerfEventCounter? ITLBWriteAccess => _counters.Find(PerfCacheCounterId.ITLBWriteAccess);

        /// <summary>Writes of the instruction TLB that missed.</summary>
        public PerfEventCounter? ITLBWriteMiss => _counters.Find(PerfCacheCounterId.ITLBWriteMiss);

        /// <summary>Prefetches of the instruction TLB.</summary>
        public PerfEventCounter? ITLBPrefetchAccess => _counters.Find(PerfCacheCounterId.ITLBPrefetchAccess);

        /// <summary>Prefetches of the instruction TLB that missed.</summary>
        public PerfEventCounter? ITLBPrefetchMiss => _counters.Find(PerfCacheCounterId.ITLBPrefetchMiss);

        /// <summary>Reads of the branch predictor.</summary>
        public PerfEventCounter? BPUReadAccess => _counters.Find(PerfCacheCounterId.BPUReadAccess);

        /// <summary>Reads of the branch predictor that missed.</summary>
        public PerfEventCounter? BPUReadMiss => _counters.Find(PerfCacheCounterId.BPUReadMiss);

        /// <summary>Writes of the branch predictor.</summary>
        public PerfEventCounter? BPUWriteAccess => _counters.Find(PerfCacheCounterId.BPUWriteAccess);

        /// <summary>Writes of the branch predictor that missed.</summary>
        public PerfEventCounter? BPUWriteMiss => _counters.Find(PerfCacheCounterId.BPUWriteMiss);

        /// <summary>Prefetches of the branch predictor.</summary>
        public PerfEventCounter? BPUPrefetchAccess => _counters.Find(PerfCacheCounterId.BPUPrefetchAccess);

        /// <summary>Prefetches of the branch predictor that missed.</summary>
        public PerfEventCounter? BPUPrefetchMiss => _counters.Find(PerfCacheCounterId.BPUPrefetchMiss);

        /// <summary>Reads of the local memory node.</summary>
        public PerfEventCounter? NodeReadAccess => _counters.Find(PerfCacheCounterId.NodeReadAccess);

        /// <summary>Reads of the local memory node that missed.</summary>
        public PerfEventCounter? NodeReadMiss => _counters.Find(PerfCacheCounterId.NodeReadMiss);

        /// <summary>Writes of the local memory node.</summary>
        public PerfEventCounter? NodeWriteAccess => _counters.Find(PerfCacheCounterId.NodeWriteAccess);

        /// <summary>Writes of the local memory node that missed.</summary>
        public PerfEventCounter? NodeWriteMiss => _counters.Find(PerfCacheCounterId.NodeWriteMiss);

        /// <summary>Prefetches of the local memory node.</summary>
        public PerfEventCounter? NodePrefetchAccess => _counters.Find(PerfCacheCounterId.NodePrefetchAccess);

        /// <summary>Prefetches of the local memory node that missed.</summary>
        public PerfEventCounter? NodePrefetchMiss => _counters.Find(PerfCacheCounterId.NodePrefetchMiss);
    }
}
