using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

/// <summary>How a benchmark measures. Zero selects the default.</summary>
public sealed class BenchmarkOptions
{
    /// <summary>Maximum seconds; it finishes a begun sample, and measures at least one block of four. 0: 5.</summary>
    public double BudgetSeconds { get; set; }

    /// <summary>Seconds of warm-up, for both together; the JIT needs some. 0: a tenth of the budget.</summary>
    public double WarmUpSeconds { get; set; }

    /// <summary>Target seconds of a sample. 0: 0.0002.</summary>
    public double SampleSeconds { get; set; }

    /// <summary>Calls in a sample. 0: as many as take <see cref="SampleSeconds"/>.</summary>
    public ulong Repetitions { get; set; }

    /// <summary>Minimum blocks before it may end early. 0: 20.</summary>
    public int MinBlocks { get; set; }

    /// <summary>Maximum blocks. 0: 100,000.</summary>
    public int MaxBlocks { get; set; }

    /// <summary>
    /// 0: it ends when the answer can no longer change. Above 0: when half the width of the interval of the difference
    /// is at most this share of the older time, or a tenth of the resolution. Negative: only with the budget.
    /// </summary>
    public double Precision { get; set; }

    /// <summary>Confidence of the interval, between 0 and 1. 0: 0.95.</summary>
    public double Confidence { get; set; }

    /// <summary>Differences up to this share do not matter. 0: 0.01; negative: no such threshold.</summary>
    public double RelativeThreshold { get; set; }

    /// <summary>
    /// Differences up to this many seconds per call cannot be distinguished. 0: half a nanosecond, or a hundredth of an
    /// empty call if that is more; negative: none.
    /// </summary>
    public double ResolutionSeconds { get; set; }

    /// <summary>Subtract no overhead: for samples so long that the call does not matter.</summary>
    public bool KeepsOverhead { get; set; }

    /// <summary>Also count blocks that were disturbed from outside: if others belong to the measurement.</summary>
    public bool KeepsDisturbed { get; set; }

    /// <summary>Events to count beside the time, by perf's names: <c>cycles</c>, <c>branch-misses</c>.</summary>
    public IReadOnlyList<string> Counters
    {
        get => _counters;
        set => _counters = value ?? throw new ArgumentNullException(nameof(value), "Without counters it is an empty list.");
    }

    private IReadOnlyList<string> _counters = new string[0];

    internal unsafe PicolloBenchmarkOptions ToNative()
    {
        if (MinBlocks < 0)
            throw new ArgumentOutOfRangeException(nameof(MinBlocks), MinBlocks, "Numbers of blocks are not negative.");
        if (MaxBlocks < 0)
            throw new ArgumentOutOfRangeException(nameof(MaxBlocks), MaxBlocks, "Numbers of blocks are not negative.");
        if (Confidence != 0)
            Arguments.BetweenZeroAndOne(Confidence, nameof(Confidence));
        return new PicolloBenchmarkOptions
        {
            StructSize = (uint)sizeof(PicolloBenchmarkOptions),
            Flags = (uint)((KeepsOverhead ? Constants.BenchmarkNoOverhead : 0) | (KeepsDisturbed ? Constants.BenchmarkKeepDisturbed : 0)),
            MinBlocks = (uint)MinBlocks,
            MaxBlocks = (uint)MaxBlocks,
            Repetitions = Repetitions,
            BudgetSeconds = BudgetSeconds,
            WarmUpSeconds = WarmUpSeconds,
            SampleSeconds = SampleSeconds,
            Precision = Precision,
            Confidence = Confidence,
            RelativeThreshold = RelativeThreshold,
            ResolutionSeconds = ResolutionSeconds
        };
    }
}

/// <summary>The count of an event in one call.</summary>
public readonly struct BenchmarkCounter
{
    internal BenchmarkCounter(string name, in PicolloBenchmarkCounts native)
    {
        Name = name;
        Before = native.A;
        After = native.B;
        Status = (PicolloStatus)native.Status;
    }

    /// <summary>The name as requested.</summary>
    public string Name { get; }

    /// <summary>The count for the older code; NaN if nothing was counted.</summary>
    public double Before { get; }

    /// <summary>The count for the newer code; NaN if nothing was counted.</summary>
    public double After { get; }

    /// <summary>Ok, or the reason why there is no count.</summary>
    public PicolloStatus Status { get; }
}

/// <summary>Other activity on the machine during a benchmark. Unknown values are NaN.</summary>
public readonly partial struct BenchmarkNoise
{
    /// <summary>CPUs that the program may run on; null if unknown.</summary>
    public int? CpuCount => _cpuCount == 0 ? null : (int)_cpuCount;
}

/// <summary>Decides which of two pieces of code is faster: A, the older, or B, the newer.</summary>
/// <remarks>
/// They run alternately, in blocks of four samples (A B B A or B A A B, at random), so that slow changes affect both
/// equally. The differences within blocks are judged. The time of the same number of empty calls is subtracted. Blocks
/// that others disturbed are left out. If more than half are disturbed, all count; if their interval shows no
/// difference, nothing is proven (<see cref="IsNoisy"/>).
/// </remarks>
public sealed unsafe partial class Benchmark
{
    private static readonly Action s_nothing = Nothing;

    private readonly BenchmarkHandle _handle;
    private readonly PicolloBenchmarkOutcome _native;

    private Benchmark(BenchmarkHandle handle, IReadOnlyList<string> counters)
    {
        _handle = handle;
        PicolloBenchmarkOutcome result;
        BenchmarkNoise noise;
        Outcome.Check(NativeMethods.picollo_benchmark_result(handle, &result, &noise));
        _native = result;
        Noise = noise;
        HistogramBefore = Histogram(0);
        HistogramAfter = Histogram(1);
        var counted = new BenchmarkCounter[counters.Count];
        for (int i = 0; i < counted.Length; i++)
        {
            PicolloBenchmarkCounts native;
            Outcome.Check(NativeMethods.picollo_benchmark_counter(handle, (UIntPtr)(uint)i, &native));
            counted[i] = new BenchmarkCounter(counters[i], in native);
        }
        Counters = counted;
    }

    /// <summary>Runs both until the difference is known well enough or the budget is spent. Rethrows errors.</summary>
    /// <param name="before">The older code. Use its results, or the compiler may remove it.</param>
    /// <param name="after">The newer code.</param>
    /// <param name="options">Null: the defaults.</param>
    public static Benchmark Run(Action before, Action after, BenchmarkOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(before);
        ArgumentNullException.ThrowIfNull(after);
        Loader.Ensure();
        BenchmarkOptions chosen = options ?? new BenchmarkOptions();
        PicolloBenchmarkOptions native = chosen.ToNative();
        IReadOnlyList<string> counters = chosen.Counters;
        BenchmarkHandle handle = Create(&native, counters);
        PicolloError error;
        try
        {
            while (true)
            {
                uint which;
                ulong repetitions;
                int status = NativeMethods.picollo_benchmark_next(handle, &which, &repetitions, &error);
                if (status == (int)PicolloStatus.End)
                    return new Benchmark(handle, counters);
                Outcome.Check(status, &error);
                Action action = which == Constants.BenchmarkA ? before : which == Constants.BenchmarkB ? after : s_nothing;
                Repeat(action, repetitions);
                Outcome.Check(NativeMethods.picollo_benchmark_done(handle, &error), &error);
            }
        }
        catch
        {
            // Its counters count until it is freed.
            handle.Dispose();
            throw;
        }
    }

    /// <summary>The verdict.</summary>
    public Verdict Verdict => Blocks.Verdict;

    /// <summary>Others disturbed so much that there is no evidence. A larger budget may help.</summary>
    public bool IsNoisy => (Blocks.Notes & ComparisonNotes.Noisy) != 0;

    /// <summary>Other activity on the machine, and the number of blocks left out because of it.</summary>
    public BenchmarkNoise Noise { get; }

    /// <summary>The budget was spent before the minimum number of blocks was measured.</summary>
    public bool IsBudgetSpent => (_native.Flags & 1) != 0;

    /// <summary>A call of the older code takes less than the resolution: it does nothing, or was removed.</summary>
    public bool IsNothingBefore => (_native.Flags & 2) != 0;

    /// <summary>A call of the newer code takes less than the resolution: it does nothing, or was removed.</summary>
    public bool IsNothingAfter => (_native.Flags & 4) != 0;

    /// <summary>Valgrind executed it: its times mean nothing, and there is no verdict.</summary>
    public bool IsSimulated => (_native.Flags & 8) != 0;

    /// <summary>The duration.</summary>
    public TimeSpan Elapsed => TimeSpan.FromTicks((long)(_native.Elapsed / 100000));

    /// <summary>Samples of the older code: picoseconds per call.</summary>
    public HdrHistogram HistogramBefore { get; }

    /// <summary>Samples of the newer code: picoseconds per call.</summary>
    public HdrHistogram HistogramAfter { get; }

    /// <summary>The requested counters.</summary>
    public IReadOnlyList<BenchmarkCounter> Counters { get; }

    /// <summary>The result as Markdown or for people: times of samples, verdict by blocks, and counters.</summary>
    public string Format(
        string? title = null, string? nameBefore = "Before", string? nameAfter = "After", TextFormat format = TextFormat.Markdown)
    {
        Arguments.Member((int)format, (int)TextFormat.Human, nameof(format));
        byte[] nativeTitle = Utf8.ToNative(title ?? "", nameof(title));
        byte[] nativeBefore = Utf8.ToNative(nameBefore ?? "", nameof(nameBefore));
        byte[] nativeAfter = Utf8.ToNative(nameAfter ?? "", nameof(nameAfter));
        lock (_handle)
            return NativeText.Read((buffer, capacity, length) =>
            {
                fixed (byte* text = nativeTitle, before = nativeBefore, after = nativeAfter)
                    return NativeMethods.picollo_benchmark_format(
                        _handle, text, before, after, (uint)format, buffer, capacity, length);
            });
    }

    /// <summary>Writes the result to the console.</summary>
    public void PrettyPrint(string? title = null, string? nameBefore = "Before", string? nameAfter = "After") =>
        Console.WriteLine(Format(title, nameBefore, nameAfter));

    /// <summary>Writes the result to the console for people, with the answer first.</summary>
    public void Print(string? title = null, string? nameBefore = "Before", string? nameAfter = "After") =>
        Console.WriteLine(Format(title, nameBefore, nameAfter, TextFormat.Human));

    /// <summary>For people: the answer in a sentence, and the figures behind it.</summary>
    public override string ToString() => Format(format: TextFormat.Human);

    private static BenchmarkHandle Create(PicolloBenchmarkOptions* options, IReadOnlyList<string> counters)
    {
        var events = new PicolloEvent[counters.Count];
        PicolloError error;
        for (int i = 0; i < events.Length; i++)
        {
            PicolloEvent parsed;
            byte[] name = Utf8.ToNative(counters[i] ?? throw new ArgumentNullException("Counters"), "Counters");
            fixed (byte* spec = name)
                Outcome.Check(NativeMethods.picollo_event_parse(spec, &parsed, &error), &error);
            events[i] = parsed;
        }
        fixed (PicolloEvent* start = events)
        {
            int status = NativeMethods.picollo_benchmark_create(
                options, start, (UIntPtr)(uint)events.Length, out BenchmarkHandle handle, &error);
            Outcome.Check(status, &error);
            return handle;
        }
    }

    private static void Nothing()
    {
    }

    // One loop for all three, because the same loop elsewhere in memory may take a third longer.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Repeat(Action action, ulong repetitions)
    {
        for (ulong i = 0; i < repetitions; i++)
            action();
    }

    private HdrHistogram Histogram(uint which)
    {
        Outcome.Check(NativeMethods.picollo_benchmark_histogram_ref(_handle, which, out HistogramHandle histogram));
        return new HdrHistogram(histogram, RecordMode.SingleWriter, false);
    }
}
