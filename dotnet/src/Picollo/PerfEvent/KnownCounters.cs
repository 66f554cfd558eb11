namespace Picollo.PerfEvent;

#pragma warning disable CS1591 // the identifiers with the same names are documented

/// <summary>The generic hardware counters of a session by name, or their values; null if the session has none.</summary>
public readonly struct HardwareCounters<T>
{
    private readonly Func<PerfTypeId, ulong, T> _find;

    internal HardwareCounters(Func<PerfTypeId, ulong, T> find)
    {
        _find = find;
    }

    public T CpuCycles => Of(PerfHardwareCounterId.CpuCycles);
    public T Instructions => Of(PerfHardwareCounterId.Instructions);
    public T CacheReferences => Of(PerfHardwareCounterId.CacheReferences);
    public T CacheMisses => Of(PerfHardwareCounterId.CacheMisses);
    public T BranchInstructions => Of(PerfHardwareCounterId.BranchInstructions);
    public T BranchMisses => Of(PerfHardwareCounterId.BranchMisses);
    public T BusCycles => Of(PerfHardwareCounterId.BusCycles);
    public T StalledCyclesFrontend => Of(PerfHardwareCounterId.StalledCyclesFrontend);
    public T StalledCyclesBackend => Of(PerfHardwareCounterId.StalledCyclesBackend);
    public T RefCpuCycles => Of(PerfHardwareCounterId.RefCpuCycles);

    private T Of(PerfHardwareCounterId id) => _find(PerfTypeId.Hardware, (ulong)id);
}

/// <summary>The software counters of a session by name, or their values; null if the session has none.</summary>
public readonly struct SoftwareCounters<T>
{
    private readonly Func<PerfTypeId, ulong, T> _find;

    internal SoftwareCounters(Func<PerfTypeId, ulong, T> find)
    {
        _find = find;
    }

    public T CpuClock => Of(PerfSoftwareCounterId.CpuClock);
    public T TaskClock => Of(PerfSoftwareCounterId.TaskClock);
    public T PageFaults => Of(PerfSoftwareCounterId.PageFaults);
    public T ContextSwitches => Of(PerfSoftwareCounterId.ContextSwitches);
    public T CpuMigrations => Of(PerfSoftwareCounterId.CpuMigrations);
    public T PageFaultsMin => Of(PerfSoftwareCounterId.PageFaultsMin);
    public T PageFaultsMaj => Of(PerfSoftwareCounterId.PageFaultsMaj);
    public T AlignmentFaults => Of(PerfSoftwareCounterId.AlignmentFaults);
    public T EmulationFaults => Of(PerfSoftwareCounterId.EmulationFaults);
    public T Dummy => Of(PerfSoftwareCounterId.Dummy);
    public T BpfOutput => Of(PerfSoftwareCounterId.BpfOutput);
    public T CgroupSwitches => Of(PerfSoftwareCounterId.CgroupSwitches);

    private T Of(PerfSoftwareCounterId id) => _find(PerfTypeId.Software, (ulong)id);
}

/// <summary>The cache counters of a session by name, or their values; null if the session has none.</summary>
public readonly struct CacheCounters<T>
{
    private readonly Func<PerfTypeId, ulong, T> _find;

    internal CacheCounters(Func<PerfTypeId, ulong, T> find)
    {
        _find = find;
    }

    public T L1DReadAccess => Of(PerfCacheCounterId.L1DReadAccess);
    public T L1DReadMiss => Of(PerfCacheCounterId.L1DReadMiss);
    public T L1DWriteAccess => Of(PerfCacheCounterId.L1DWriteAccess);
    public T L1DWriteMiss => Of(PerfCacheCounterId.L1DWriteMiss);
    public T L1DPrefetchAccess => Of(PerfCacheCounterId.L1DPrefetchAccess);
    public T L1DPrefetchMiss => Of(PerfCacheCounterId.L1DPrefetchMiss);
    public T L1IReadAccess => Of(PerfCacheCounterId.L1IReadAccess);
    public T L1IReadMiss => Of(PerfCacheCounterId.L1IReadMiss);
    public T L1IWriteAccess => Of(PerfCacheCounterId.L1IWriteAccess);
    public T L1IWriteMiss => Of(PerfCacheCounterId.L1IWriteMiss);
    public T L1IPrefetchAccess => Of(PerfCacheCounterId.L1IPrefetchAccess);
    public T L1IPrefetchMiss => Of(PerfCacheCounterId.L1IPrefetchMiss);
    public T LLReadAccess => Of(PerfCacheCounterId.LLReadAccess);
    public T LLReadMiss => Of(PerfCacheCounterId.LLReadMiss);
    public T LLWriteAccess => Of(PerfCacheCounterId.LLWriteAccess);
    public T LLWriteMiss => Of(PerfCacheCounterId.LLWriteMiss);
    public T LLPrefetchAccess => Of(PerfCacheCounterId.LLPrefetchAccess);
    public T LLPrefetchMiss => Of(PerfCacheCounterId.LLPrefetchMiss);
    public T DTLBReadAccess => Of(PerfCacheCounterId.DTLBReadAccess);
    public T DTLBReadMiss => Of(PerfCacheCounterId.DTLBReadMiss);
    public T DTLBWriteAccess => Of(PerfCacheCounterId.DTLBWriteAccess);
    public T DTLBWriteMiss => Of(PerfCacheCounterId.DTLBWriteMiss);
    public T DTLBPrefetchAccess => Of(PerfCacheCounterId.DTLBPrefetchAccess);
    public T DTLBPrefetchMiss => Of(PerfCacheCounterId.DTLBPrefetchMiss);
    public T ITLBReadAccess => Of(PerfCacheCounterId.ITLBReadAccess);
    public T ITLBReadMiss => Of(PerfCacheCounterId.ITLBReadMiss);
    public T ITLBWriteAccess => Of(PerfCacheCounterId.ITLBWriteAccess);
    public T ITLBWriteMiss => Of(PerfCacheCounterId.ITLBWriteMiss);
    public T ITLBPrefetchAccess => Of(PerfCacheCounterId.ITLBPrefetchAccess);
    public T ITLBPrefetchMiss => Of(PerfCacheCounterId.ITLBPrefetchMiss);
    public T BPUReadAccess => Of(PerfCacheCounterId.BPUReadAccess);
    public T BPUReadMiss => Of(PerfCacheCounterId.BPUReadMiss);
    public T BPUWriteAccess => Of(PerfCacheCounterId.BPUWriteAccess);
    public T BPUWriteMiss => Of(PerfCacheCounterId.BPUWriteMiss);
    public T BPUPrefetchAccess => Of(PerfCacheCounterId.BPUPrefetchAccess);
    public T BPUPrefetchMiss => Of(PerfCacheCounterId.BPUPrefetchMiss);
    public T NodeReadAccess => Of(PerfCacheCounterId.NodeReadAccess);
    public T NodeReadMiss => Of(PerfCacheCounterId.NodeReadMiss);
    public T NodeWriteAccess => Of(PerfCacheCounterId.NodeWriteAccess);
    public T NodeWriteMiss => Of(PerfCacheCounterId.NodeWriteMiss);
    public T NodePrefetchAccess => Of(PerfCacheCounterId.NodePrefetchAccess);
    public T NodePrefetchMiss => Of(PerfCacheCounterId.NodePrefetchMiss);

    private T Of(PerfCacheCounterId id) => _find(PerfTypeId.HardwareCache, (ulong)id);
}

#pragma warning restore CS1591
