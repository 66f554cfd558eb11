namespace Picollo.PerfEvent;

/// <summary>The kernel's event types.</summary>
public enum PerfTypeId : uint
{
    /// <summary>Generic hardware events.</summary>
    Hardware = 0,

    /// <summary>Events of the kernel.</summary>
    Software = 1,

    /// <summary>Tracepoints.</summary>
    Tracepoint = 2,

    /// <summary>Generic events of the caches.</summary>
    HardwareCache = 3,

    /// <summary>Events by the processor's own codes.</summary>
    Raw = 4,

    /// <summary>Hardware breakpoints.</summary>
    Breakpoint = 5
}

/// <summary>Generic hardware events.</summary>
public enum PerfHardwareCounterId : ulong
{
    /// <summary>Cycles of the processor; they follow its clock.</summary>
    CpuCycles = 0,

    /// <summary>Retired instructions.</summary>
    Instructions = 1,

    /// <summary>Accesses to, usually, the last level of cache.</summary>
    CacheReferences = 2,

    /// <summary>Misses of, usually, the last level of cache.</summary>
    CacheMisses = 3,

    /// <summary>Retired branches.</summary>
    BranchInstructions = 4,

    /// <summary>Mispredicted branches.</summary>
    BranchMisses = 5,

    /// <summary>Cycles of the bus.</summary>
    BusCycles = 6,

    /// <summary>Cycles in which nothing could be issued.</summary>
    StalledCyclesFrontend = 7,

    /// <summary>Cycles in which nothing could be retired.</summary>
    StalledCyclesBackend = 8,

    /// <summary>Cycles at a constant rate, independent of the processor's clock.</summary>
    RefCpuCycles = 9
}

/// <summary>Events that the kernel counts; they need no performance counters.</summary>
public enum PerfSoftwareCounterId : ulong
{
    /// <summary>Nanoseconds by the clock of the processor.</summary>
    CpuClock = 0,

    /// <summary>Nanoseconds that the task ran.</summary>
    TaskClock = 1,

    /// <summary>Page faults.</summary>
    PageFaults = 2,

    /// <summary>Context switches.</summary>
    ContextSwitches = 3,

    /// <summary>Moves to another processor.</summary>
    CpuMigrations = 4,

    /// <summary>Page faults without input or output.</summary>
    PageFaultsMin = 5,

    /// <summary>Page faults with input or output.</summary>
    PageFaultsMaj = 6,

    /// <summary>Unaligned accesses that the kernel had to fix up.</summary>
    AlignmentFaults = 7,

    /// <summary>Instructions that the kernel had to emulate.</summary>
    EmulationFaults = 8,

    /// <summary>Counts nothing.</summary>
    Dummy = 9,

    /// <summary>Output of BPF programs.</summary>
    BpfOutput = 10,

    /// <summary>Context switches to another control group.</summary>
    CgroupSwitches = 11
}

#pragma warning disable CS1591 // the names of the members are complete
/// <summary>
/// Generic cache events. Each name has the cache (L1D, L1I: data and instructions of level 1; LL: the last level; DTLB,
/// ITLB: of addresses; BPU: branch predictor; Node: local memory node), the operation, and all accesses or only misses.
/// </summary>
public enum PerfCacheCounterId : ulong
{
    L1DReadAccess = 0 | (0 << 8) | (0 << 16),
    L1DReadMiss = 0 | (0 << 8) | (1 << 16),
    L1DWriteAccess = 0 | (1 << 8) | (0 << 16),
    L1DWriteMiss = 0 | (1 << 8) | (1 << 16),
    L1DPrefetchAccess = 0 | (2 << 8) | (0 << 16),
    L1DPrefetchMiss = 0 | (2 << 8) | (1 << 16),
    L1IReadAccess = 1 | (0 << 8) | (0 << 16),
    L1IReadMiss = 1 | (0 << 8) | (1 << 16),
    L1IWriteAccess = 1 | (1 << 8) | (0 << 16),
    L1IWriteMiss = 1 | (1 << 8) | (1 << 16),
    L1IPrefetchAccess = 1 | (2 << 8) | (0 << 16),
    L1IPrefetchMiss = 1 | (2 << 8) | (1 << 16),
    LLReadAccess = 2 | (0 << 8) | (0 << 16),
    LLReadMiss = 2 | (0 << 8) | (1 << 16),
    LLWriteAccess = 2 | (1 << 8) | (0 << 16),
    LLWriteMiss = 2 | (1 << 8) | (1 << 16),
    LLPrefetchAccess = 2 | (2 << 8) | (0 << 16),
    LLPrefetchMiss = 2 | (2 << 8) | (1 << 16),
    DTLBReadAccess = 3 | (0 << 8) | (0 << 16),
    DTLBReadMiss = 3 | (0 << 8) | (1 << 16),
    DTLBWriteAccess = 3 | (1 << 8) | (0 << 16),
    DTLBWriteMiss = 3 | (1 << 8) | (1 << 16),
    DTLBPrefetchAccess = 3 | (2 << 8) | (0 << 16),
    DTLBPrefetchMiss = 3 | (2 << 8) | (1 << 16),
    ITLBReadAccess = 4 | (0 << 8) | (0 << 16),
    ITLBReadMiss = 4 | (0 << 8) | (1 << 16),
    ITLBWriteAccess = 4 | (1 << 8) | (0 << 16),
    ITLBWriteMiss = 4 | (1 << 8) | (1 << 16),
    ITLBPrefetchAccess = 4 | (2 << 8) | (0 << 16),
    ITLBPrefetchMiss = 4 | (2 << 8) | (1 << 16),
    BPUReadAccess = 5 | (0 << 8) | (0 << 16),
    BPUReadMiss = 5 | (0 << 8) | (1 << 16),
    BPUWriteAccess = 5 | (1 << 8) | (0 << 16),
    BPUWriteMiss = 5 | (1 << 8) | (1 << 16),
    BPUPrefetchAccess = 5 | (2 << 8) | (0 << 16),
    BPUPrefetchMiss = 5 | (2 << 8) | (1 << 16),
    NodeReadAccess = 6 | (0 << 8) | (0 << 16),
    NodeReadMiss = 6 | (0 << 8) | (1 << 16),
    NodeWriteAccess = 6 | (1 << 8) | (0 << 16),
    NodeWriteMiss = 6 | (1 << 8) | (1 << 16),
    NodePrefetchAccess = 6 | (2 << 8) | (0 << 16),
    NodePrefetchMiss = 6 | (2 << 8) | (1 << 16)
}
#pragma warning restore CS1591

/// <summary>How a session reads its counters.</summary>
public enum PerfReadMode
{
    /// <summary>In user space if that is provably correct, else by system call. For the session's thread.</summary>
    Automatic = Constants.ReadAuto,

    /// <summary>By system call, on any thread.</summary>
    SystemCall = Constants.ReadSyscall
}

