namespace Picollo.Metrics;

/// <summary>How exemplars are kept.</summary>
public sealed class ExemplarOptions
{
    private TimeUnit _unit = TimeUnit.Nanoseconds;

    /// <summary>
    /// An observation above it, or rather above the end of its bucket, is slow, as recorded. 0: P99 of the previous
    /// interval, and in the first interval the slowest.
    /// </summary>
    public ulong Threshold { get; set; }

    /// <summary>The unit that scopes record in.</summary>
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
    /// How many of the slowest an interval keeps, up to 65,536; 0: none. It also keeps the latest of each octave.
    /// </summary>
    public uint Slowest { get; set; } = 16;

    /// <summary>
    /// For how many threads of the process the kernel's account of the run queue stays open; 0: 64. For other threads,
    /// waiting is not split.
    /// </summary>
    public uint Threads { get; set; }

    /// <summary>
    /// How many slow observations a thread examines per second; 0: 1,000. More are counted. The slowest is never lost.
    /// </summary>
    public uint Rate { get; set; }

    /// <summary>How many ordinary observations are examined per second, to learn what is usual; 0: 20.</summary>
    public uint Controls { get; set; }

    /// <summary>
    /// Whether to ask the kernel for its records of context switches and page faults, which make some times more precise.
    /// </summary>
    public bool UsesRing { get; set; } = true;

    /// <summary>
    /// Whether each examined thread counts its instructions and cycles, if there are counters: this separates more work
    /// from slower work.
    /// </summary>
    public bool UsesCounters { get; set; }

    /// <summary>
    /// Called on the observation's thread when one is kept, for its context. Null: the ids of <c>Activity.Current</c>.
    /// The scope rethrows its exceptions at its end; by then the observation is recorded.
    /// </summary>
    public Func<ExemplarContext>? Context { get; set; }
}
