namespace Picollo.Metrics;

/// <summary>How exemplars are kept.</summary>
public sealed class ExemplarOptions
{
    private TimeUnit _unit = TimeUnit.Nanoseconds;

    /// <summary>
    /// Above it, or rather above the end of its bucket, an observation is slow, as recorded. 0: P99 of the interval before, and in the
    /// first interval the slowest.
    /// </summary>
    public ulong Threshold { get; set; }

    /// <summary>What scopes record.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no such unit.</exception>
    public TimeUnit Unit
    {
        get => _unit;
        set
        {
            if (value < TimeUnit.Nanoseconds || value > TimeUnit.Picoseconds)
                throw new ArgumentOutOfRangeException(nameof(value), value, "There is no such unit.");
            _unit = value;
        }
    }

    /// <summary>
    /// How many of the slowest are kept in an interval, up to 65,536; 0: none. Beside them is the latest of each octave of values.
    /// </summary>
    public uint Slowest { get; set; } = 16;

    /// <summary>
    /// For how many threads of the process the kernel's account of the run queue is kept open; 0: 64. The waiting of others is not
    /// split.
    /// </summary>
    public uint Threads { get; set; }

    /// <summary>
    /// How many slow observations a thread looks into in a second; 0: 1,000. More are counted, and the slowest is never lost.
    /// </summary>
    public uint Rate { get; set; }

    /// <summary>How many ordinary observations are looked into in a second, to know what is usual; 0: 20.</summary>
    public uint Controls { get; set; }

    /// <summary>
    /// Whether to ask the kernel for its records of context switches and page faults, which make some times more precise.
    /// </summary>
    public bool UsesRing { get; set; } = true;

    /// <summary>
    /// Whether each thread that is looked into counts its instructions and cycles, where there are counters: more work is told from
    /// slower work.
    /// </summary>
    public bool UsesCounters { get; set; }

    /// <summary>
    /// Called on the observation's thread when one is kept, for its context. Null: the ids of <c>Activity.Current</c>. What it
    /// throws, the scope throws at its end; the observation is recorded by then.
    /// </summary>
    public Func<ExemplarContext>? Context { get; set; }
}
