using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

/// <summary>How a benchmark measures. Zero stands for the default.</summary>
public sealed class BenchmarkOptions
{
    /// <summary>Seconds at most; a sample that was begun is finished, and one block of four measured in any case. 0: 5.</summary>
    public double BudgetSeconds { get; set; }

    /// <summary>Seconds to warm up for, both together; the JIT needs some. 0: a tenth of the budget.</summary>
    public double WarmUpSeconds { get; set; }

    /// <summary>Seconds that a sample should take. 0: 0.0002.</summary>
    public double SampleSeconds { get; set; }

    /// <summary>Calls in a sample. 0: as many as <see cref="SampleSeconds"/> take.</summary>
    public ulong Repetitions { get; set; }

    /// <summary>Blocks before it may end by itself. 0: 20.</summary>
    public int MinBlocks { get; set; }

    /// <summary>Blocks at most. 0: 100,000.</summary>
    public int MaxBlocks { get; set; }

    /// <summary>
    /// 0: it ends when the answer can no longer change. Above: when half the width of the interval of the difference is at most this
    /// share of the older way's time, or a tenth of the resolution. Negative: only with the budget.
    /// </summary>
    public double Precision { get; set; }

    /// <summary>Of the interval, between 0 and 1. 0: 0.95.</summary>
    public double Confidence { get; set; }

    /// <summary>Differences up to this share do not matter. 0: 0.01; negative: no such threshold.</summary>
    public double RelativeThreshold { get; set; }

    /// <summary>
    /// Seconds a call that cannot be told apart. 0: half a nanosecond, or a hundredth of what calling nothing takes where that is
    /// more; negative: nothing.
    /// </summary>
    public double ResolutionSeconds { get; set; }

    /// <summary>Subtract nothing: of samples so long that calling them does not matter.</summary>
    public bool KeepsOverhead { get; set; }

    /// <summary>Count blocks that were disturbed from outside, too: where other programs belong to what is measured.</summary>
    public bool KeepsDisturbed { get; set; }

    /// <summary>Events to count beside the time, by the names that perf knows: <c>cycles</c>, <c>branch-misses</c>.</summary>
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

/// <summary>How much of an event a call took.</summary>
public readonly struct BenchmarkCounter
{
    internal BenchmarkCounter(string name, in PicolloBenchmarkCounts native)
    {
        Name = name;
        Before = native.A;
        After = native.B;
        Status = (PicolloStatus)native.Status;
    }

    /// <summary>As it was asked for.</summary>
    public string Name { get; }

    /// <summary>Of the older way; NaN where nothing was counted.</summary>
    public double Before { get; }

    /// <summary>Of the newer way; NaN where nothing was counted.</summary>
    public double After { get; }

    /// <summary>Ok, or why there is no count.</summary>
    public PicolloStatus Status { get; }
}

/// <summary>What else the machine did during a benchmark. NaN is what is not known.</summary>
public readonly partial struct BenchmarkNoise
{
    /// <summary>CPUs that the program may run on; null where that is not known.</summary>
    public int? CpuCount => _cpuCount == 0 ? null : (int)_cpuCount;
}

/// <summary>Which of two pieces of code is faster, A, the older, or B, the newer.</summary>
/// <remarks>
/// They are run by turns, in blocks of four samples (A B B A or B A A B, by a coin), so that what changes slowly falls on both alike, and
/// the differences within blocks are judged. What calling an empty delegate as often takes is subtracted. Blocks that others
/// disturbed are left out; where more than half are, all count, and if their interval says nothing, nothing is proven
/// (<see cref="IsNoisy"/>).
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

    /// <summary>Runs both until the difference is known well enough, or the budget is spent. Ends with an exception of theirs.</summary>
    /// <param name="before">The older way. Its results have to be used, or the compiler may leave it out.</param>
    /// <param name="after">The newer way.</param>
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
            // Its counters go on counting until it is freed.
            handle.Dispose();
            throw;
        }
    }

    /// <summary>What it amounts to.</summary>
    public Verdict Verdict => Blocks.Verdict;

    /// <summary>Others disturbed so much that nothing is proven, and the verdict is no evidence: a larger budget may tell.</summary>
    public bool IsNoisy => (Blocks.Notes & ComparisonNotes.Noisy) != 0;

    /// <summary>What else the machine did, and how many blocks were left out for it.</summary>
    public BenchmarkNoise Noise { get; }

    /// <summary>The budget was spent before as many blocks were measured as there should be at least.</summary>
    public bool IsBudgetSpent => (_native.Flags & 1) != 0;

    /// <summary>A call of the older way takes less than can be told: it does nothing, or was left out.</summary>
    public bool IsNothingBefore => (_native.Flags & 2) != 0;

    /// <summary>A call of the newer way takes less than can be told: it does nothing, or was left out.</summary>
    public bool IsNothingAfter => (_native.Flags & 4) != 0;

    /// <summary>Valgrind executed it: its times say nothing, and there is no verdict.</summary>
    public bool IsSimulated => (_native.Flags & 8) != 0;

    /// <summary>How long it took.</summary>
    public TimeSpan Elapsed => TimeSpan.FromTicks((long)(_native.Elapsed / 100000));

    /// <summary>Samples of the older way: picoseconds a call.</summary>
    public HdrHistogram HistogramBefore { get; }

    /// <summary>Samples of the newer way: picoseconds a call.</summary>
    public HdrHistogram HistogramAfter { get; }

    /// <summary>The counters that were asked for.</summary>
    public IReadOnlyList<BenchmarkCounter> Counters { get; }

    /// <summary>How it went: times of single samples, the verdict by blocks, and the counters. As Markdown, or for people.</summary>
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

    /// <summary>Writes how it went to the console.</summary>
    public void PrettyPrint(string? title = null, string? nameBefore = "Before", string? nameAfter = "After") =>
        Console.WriteLine(Format(title, nameBefore, nameAfter));

    /// <summary>Writes how it went to the console for people: the answer first.</summary>
    public void Print(string? title = null, string? nameBefore = "Before", string? nameAfter = "After") =>
        Console.WriteLine(Format(title, nameBefore, nameAfter, TextFormat.Human));

    /// <summary>For people: the answer in a sentence, and what it is made of.</summary>
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

    // One loop for all three: the same loop elsewhere in memory may take a third longer.
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
