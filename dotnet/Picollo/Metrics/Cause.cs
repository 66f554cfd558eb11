namespace Picollo.Metrics;

/// <summary>Where the time went that a slow observation took more than is usual.</summary>
public enum Cause : uint
{
    /// <summary>Off the CPU, by a call of its own: for a lock, a disk, another thread, a collection of garbage.</summary>
    OwnWaiting = Constants.CauseOwnWaiting,

    /// <summary>Ready, and not running: preempted, or woken late.</summary>
    RunQueue = Constants.CauseRunQueue,

    /// <summary>The same, and the group of processes was also held back by its quota of CPU time.</summary>
    RunQueueOrQuota = Constants.CauseRunQueueOrQuota,

    /// <summary>Held back by the quota.</summary>
    Throttled = Constants.CauseThrottled,

    /// <summary>Off the CPU, and no more is known than that.</summary>
    OffCpu = Constants.CauseOffCpu,

    /// <summary>The kernel's handling of pages that were not there.</summary>
    PageFaults = Constants.CausePageFaults,

    /// <summary>More work than usual.</summary>
    MoreInstructions = Constants.CauseMoreInstructions,

    /// <summary>The same work, slower.</summary>
    SlowerInstructions = Constants.CauseSlowerInstructions,

    /// <summary>On the CPU, and no more is known than that.</summary>
    OnCpu = Constants.CauseOnCpu,

    /// <summary>What is left of the time.</summary>
    Unexplained = Constants.CauseUnexplained,

    /// <summary>None has more than half.</summary>
    Several = Constants.CauseSeveral,

    /// <summary>There is no evidence, or nothing usual to compare it with.</summary>
    NotKnown = Constants.CauseNotKnown
}
