using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using Picollo.Native;

namespace Picollo.Metrics
{
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

        /// <summary>Blocks before it may end for being precise enough: in the pilot, and judged. 0: 20.</summary>
        public int MinBlocks { get; set; }

        /// <summary>Blocks at most, with those of the pilot. 0: 100,000.</summary>
        public int MaxBlocks { get; set; }

        /// <summary>
        /// It ends with as many blocks as make half the width of the interval of the difference about this share of the older way's time,
        /// or a tenth of the resolution. 0: 0.002; negative: only with the budget. The first blocks, a pilot, tell how many it takes, and
        /// are not judged.
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
    public readonly struct BenchmarkNoise
    {
        internal BenchmarkNoise(in PicolloBenchmarkDisturbance native)
        {
            BlockCount = native.BlockCount;
            DisturbedCount = native.DisturbedCount;
            LeftOutCount = native.LeftOutCount;
            Seconds = native.Seconds;
            StealSeconds = native.StealSeconds;
            OthersSeconds = native.OthersSeconds;
            PressureSeconds = native.PressureSeconds;
            FrequencyLow = native.FrequencyLow;
            FrequencyHigh = native.FrequencyHigh;
            CpuCount = native.CpuCount == 0 ? (int?)null : (int)native.CpuCount;
        }

        /// <summary>Blocks that were measured, after the pilot.</summary>
        public ulong BlockCount { get; }

        /// <summary>Of these, what was disturbed from outside.</summary>
        public ulong DisturbedCount { get; }

        /// <summary>Of these, what was left out of the verdict: none where there is no verdict for it, or where they were to be kept.</summary>
        public ulong LeftOutCount { get; }

        /// <summary>Seconds that were looked at.</summary>
        public double Seconds { get; }

        /// <summary>Seconds that the host took from the CPUs that the program may run on.</summary>
        public double StealSeconds { get; }

        /// <summary>Seconds of CPU time that other programs took on these.</summary>
        public double OthersSeconds { get; }

        /// <summary>Seconds in which something, this program or another, had to wait for a CPU.</summary>
        public double PressureSeconds { get; }

        /// <summary>The lowest frequency that was seen, of one CPU: hertz.</summary>
        public double FrequencyLow { get; }

        /// <summary>The highest.</summary>
        public double FrequencyHigh { get; }

        /// <summary>CPUs that the program may run on; null where that is not known.</summary>
        public int? CpuCount { get; }
    }

    /// <summary>Which of two pieces of code is faster.</summary>
    /// <remarks>
    /// They are run by turns, in blocks of four samples (A B B A, then B A A B), so that what changes slowly falls on both alike, and
    /// the differences within blocks are judged. What calling an empty delegate as often takes is subtracted. Blocks that others
    /// disturbed are left out; where more than half are, nothing is proven (<see cref="IsNoisy"/>).
    /// </remarks>
    public sealed unsafe class Benchmark
    {
        private static readonly Action s_nothing = Nothing;

        private readonly BenchmarkHandle _handle;
        private readonly PicolloBenchmarkOutcome _result;

        private Benchmark(BenchmarkHandle handle, IReadOnlyList<string> counters)
        {
            _handle = handle;
            PicolloBenchmarkOutcome result;
            Outcome.Check(NativeMethods.picollo_benchmark_result(handle, &result));
            _result = result;
            PicolloBenchmarkDisturbance noise;
            Outcome.Check(NativeMethods.picollo_benchmark_noise(handle, &noise));
            Noise = new BenchmarkNoise(in noise);
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
            if (before == null)
                throw new ArgumentNullException(nameof(before));
            if (after == null)
                throw new ArgumentNullException(nameof(after));
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

        /// <summary>The difference and the verdict, of picoseconds a call.</summary>
        public BlockComparison Blocks => new BlockComparison(in _result.Blocks);

        /// <summary>What it amounts to.</summary>
        public Verdict Verdict => Blocks.Verdict;

        /// <summary>Others disturbed more than half of the blocks: nothing is proven, and the verdict is no evidence.</summary>
        public bool IsNoisy => (Blocks.Notes & ComparisonNotes.Noisy) != 0;

        /// <summary>What else the machine did, and how many blocks were left out for it.</summary>
        public BenchmarkNoise Noise { get; }

        /// <summary>Calls of the older way in each sample.</summary>
        public ulong RepetitionsBefore => _result.RepetitionsA;

        /// <summary>Calls of the newer way in each sample.</summary>
        public ulong RepetitionsAfter => _result.RepetitionsB;

        /// <summary>Picoseconds of an empty sample with as many calls as one of the older way, which were subtracted.</summary>
        public double OverheadBefore => _result.OverheadA;

        /// <summary>Picoseconds of an empty sample with as many calls as one of the newer way, which were subtracted.</summary>
        public double OverheadAfter => _result.OverheadB;

        /// <summary>Half the interval of <see cref="OverheadBefore"/>, at 95 %.</summary>
        public double OverheadErrorBefore => _result.OverheadErrorA;

        /// <summary>Half the interval of <see cref="OverheadAfter"/>, at 95 %.</summary>
        public double OverheadErrorAfter => _result.OverheadErrorB;

        /// <summary>Empty samples.</summary>
        public ulong EmptyCount => _result.EmptyCount;

        /// <summary>The budget was spent before as many blocks were measured as there should be at least.</summary>
        public bool IsBudgetSpent => (_result.Flags & 1) != 0;

        /// <summary>A call of the older way takes less than can be told: it does nothing, or was left out.</summary>
        public bool IsNothingBefore => (_result.Flags & 2) != 0;

        /// <summary>A call of the newer way takes less than can be told: it does nothing, or was left out.</summary>
        public bool IsNothingAfter => (_result.Flags & 4) != 0;

        /// <summary>Valgrind executed it: its times say nothing, and there is no verdict.</summary>
        public bool IsSimulated => (_result.Flags & 8) != 0;

        /// <summary>Samples of each: two a block, with those of the pilot.</summary>
        public ulong SampleCount => _result.SampleCount;

        /// <summary>How long it took.</summary>
        public TimeSpan Elapsed => TimeSpan.FromTicks((long)(_result.Elapsed / 100000));

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
            Arguments.Member((int)format, (int)TextFormat.Full, nameof(format));
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
        public void Print(string? title = null, string? nameBefore = "Before", string? nameAfter = "After", bool full = false) =>
            Console.WriteLine(Format(title, nameBefore, nameAfter, full ? TextFormat.Full : TextFormat.Human));

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
}
