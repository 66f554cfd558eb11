namespace Picollo.Metrics;

/// <summary>Why nothing is known of where the time of an observation went.</summary>
public enum MissingEvidence : uint
{
    /// <summary>Something is.</summary>
    Nothing = Constants.MissingNothing,

    /// <summary>It was timed elsewhere, or its thread works for others meanwhile.</summary>
    TimedElsewhere = Constants.MissingTimedElsewhere,

    /// <summary>It ended on another thread than it began on.</summary>
    OtherThread = Constants.MissingOtherThread,

    /// <summary>It began before a fork.</summary>
    Forked = Constants.MissingForked,

    /// <summary>Too many were slow at once.</summary>
    TooMany = Constants.MissingTooMany,

    /// <summary>It held so many other scopes that its beginning was forgotten.</summary>
    Overwritten = Constants.MissingOverwritten,

    /// <summary>What the system says contradicts itself.</summary>
    Contradictory = Constants.MissingContradictory,

    /// <summary>The system has no such accounts.</summary>
    Unsupported = Constants.MissingUnsupported
}
