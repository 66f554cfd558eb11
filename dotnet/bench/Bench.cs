using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Picollo.Metrics;

namespace Picollo.Bench;

/// <summary>
/// The cost of a record from C#, compared with C's inlined recorders on the same values in the same process. They
/// alternate, so that the state of the machine is the same; the results are medians of the rounds.
/// </summary>
public static unsafe class Program
{
    private const int Values = 65536;
    private const int Rounds = 201;
    private const string Bare = "C#, bare `Interlocked.Increment`, known cells";
    // The difference between two measurements of the same code limits the precision of all ratios.
    private const string Again = "C#, the bare increment once more";

    private static readonly ulong[] s_values = Skewed();
    private static readonly int[] s_cells = new int[Values];

    [DllImport("picollo_bench")]
    private static extern void bench_c_inline(void* recorder, ulong* values, UIntPtr length);

    [DllImport("picollo_bench")]
    private static extern void bench_c_atomic(void* recorder, ulong* values, UIntPtr length);

    [DllImport("picollo_bench")]
    private static extern void bench_c_call(IntPtr histogram, ulong* values, UIntPtr length);

    [DllImport("picollo")]
    private static extern int picollo_histogram_create(void* options, out IntPtr histogram);

    [DllImport("picollo")]
    private static extern int picollo_histogram_recorder(IntPtr histogram, uint version, void* recorder);

    [DllImport("picollo")]
    private static extern int picollo_histogram_atomic_recorder(IntPtr histogram, uint version, void* recorder);

    [DllImport("picollo", EntryPoint = "picollo_histogram_record")]
    [SuppressGCTransition]
    private static extern void picollo_histogram_record_suppressed(IntPtr histogram, ulong value);

    public static void Main(string[] arguments)
    {
        HdrHistogram single = HdrHistogram.Factory.WithSingleWriter().Create(),
            narrow = HdrHistogram.Factory.WithSingleWriter().WithUInt32Storage().Create(),
            interlocked = HdrHistogram.Factory.WithInterlocked().Create(),
            local = HdrHistogram.Factory.WithThreadLocal().Create(), perCpu = HdrHistogram.Factory.WithPerCpu().Create(),
            narrowShared = HdrHistogram.Factory.WithUInt32Storage().Create();
        HdrRecorder recorder = single.GetRecorder(), localRecorder = local.GetRecorder();
        // struct_size and mode, the rest 0: the default mode, and a single writer.
        uint* options = stackalloc uint[14];
        options[0] = 56;
        picollo_histogram_create(options, out IntPtr atomic);
        options[1] = 1;
        picollo_histogram_create(options, out IntPtr histogram);
        options[1] = 2;
        picollo_histogram_create(options, out IntPtr sharded);
        byte* native = stackalloc byte[64];
        picollo_histogram_recorder(histogram, 1, native);
        IntPtr pointer = (IntPtr)native;
        byte* atomicNative = stackalloc byte[64];
        picollo_histogram_atomic_recorder(atomic, 1, atomicNative);
        IntPtr atomicPointer = (IntPtr)atomicNative;
        var cells = new long[Cells(s_values)];

        string[] names =
        {
            "C, inline recorder, single writer", "C, exported, thread-local", "C, exported, interlocked", "C, inline recorder, interlocked", Bare, "C#, `Record`, single writer",
            "C#, `Record`, single writer, 32-bit",
            "C#, `HdrRecorder`, single writer", "C#, `Record`, thread-local", "C#, `HdrRecorder`, thread-local",
            "C#, `Record`, interlocked", "C#, P/Invoke, suppressed transition, single writer",
            "C#, `Record(ReadOnlySpan)`, single writer, batch", "C#, `Record`, interlocked, 32-bit", "C#, `Record`, per CPU",
            Again
        };
        Action[] ways =
        {
            () =>
            {
                fixed (ulong* values = s_values)
                    bench_c_inline((void*)pointer, values, (UIntPtr)Values);
            },
            () =>
            {
                fixed (ulong* values = s_values)
                    bench_c_call(sharded, values, (UIntPtr)Values);
            },
            () =>
            {
                fixed (ulong* values = s_values)
                    bench_c_call(atomic, values, (UIntPtr)Values);
            },
            () =>
            {
                fixed (ulong* values = s_values)
                    bench_c_atomic((void*)atomicPointer, values, (UIntPtr)Values);
            },
            () => Increment(cells),
            () => Record(single), () => Record(narrow), () => Record(recorder), () => Record(local),
            () => Record(localRecorder), () => Record(interlocked),
            () => CallSuppressed(histogram),
            () => single.Record(s_values), () => RecordByCall(narrowShared), () => RecordByCall(perCpu),
            () => Increment(cells)
        };

        var nanos = new double[ways.Length][];
        for (int way = 0; way < ways.Length; way++)
            nanos[way] = new double[Rounds];
        double scale = 1e9 / Stopwatch.Frequency / Values;
        // All other modes first, until their loop is compiled for them: code that the profile has not seen is slow.
        for (int round = 0; round < 100; round++)
            for (int way = 0; way < ways.Length; way++)
                if (!names[way].Contains("thread-local"))
                    ways[way]?.Invoke();
        // The runtime recompiles a loop while it runs; the first rounds are for that.
        for (int round = -100; round < Rounds; round++)
            for (int way = 0; way < ways.Length; way++)
            {
                if (ways[way] == null)
                    continue;
                long start = Stopwatch.GetTimestamp();
                ways[way]();
                long elapsed = Stopwatch.GetTimestamp() - start;
                if (round >= 0)
                    nanos[way][round] = elapsed * scale;
            }

        Console.WriteLine("| way to record                                      | ns a value | to C inline | to increment |");
        Console.WriteLine("| :------------------------------------------------- | ---------: | ----------: | -----------: |");
        int increment = Array.IndexOf(names, Bare);
        Array.Sort(nanos[0]);
        Array.Sort(nanos[increment]);
        double reference = nanos[0][Rounds / 2], bare = nanos[increment][Rounds / 2];
        for (int way = 0; way < ways.Length; way++)
        {
            if (ways[way] == null)
                continue;
            Array.Sort(nanos[way]);
            double median = nanos[way][Rounds / 2];
            Console.WriteLine(string.Format(
                CultureInfo.InvariantCulture, "| {0,-50} | {1,10:0.00} | {2,11:0.00} | {3,12:0.00} |", names[way], median,
                median / reference, median / bare));
        }
        ulong expected = (ulong)(Rounds + 200) * Values * 3;
        if (single.TotalCount != expected)
            throw new Exception($"{single.TotalCount} records, expected {expected}");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Record(HdrHistogram histogram)
    {
        foreach (ulong value in s_values)
            histogram.Record(value);
    }

    /// <summary>For modes without cells for recorders: each record is a library call.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RecordByCall(HdrHistogram histogram)
    {
        foreach (ulong value in s_values)
            histogram.Record(value);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Record(HdrRecorder recorder)
    {
        foreach (ulong value in s_values)
            recorder.Record(value);
    }

    /// <summary>The cost of an atomic addition to a known cell: the limit.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Increment(long[] cells)
    {
        foreach (int cell in s_cells)
            System.Threading.Interlocked.Increment(ref cells[cell]);
    }

    /// <summary>The cells of the values in the default layout; returns their number.</summary>
    private static int Cells(ulong[] values)
    {
        HdrLayout layout = HdrHistogram.Factory.GetLayout();
        for (int i = 0; i < Values; i++)
            s_cells[i] = (int)layout.GetBucket(values[i]).StorageIndex;
        return (int)layout.CounterCount;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void CallSuppressed(IntPtr histogram)
    {
        foreach (ulong value in s_values)
            picollo_histogram_record_suppressed(histogram, value);
    }

    /// <summary>Skewed over 1 … 7.7e9: equally many values in every factor of two, like latencies.</summary>
    private static ulong[] Skewed()
    {
        var values = new ulong[Values];
        ulong x = 1;
        for (int i = 0; i < Values; i++)
        {
            x = unchecked(x * 6364136223846793005 + 1442695040888963407);
            int magnitude = (int)((x >> 58) % 33);
            ulong fraction = (x >> 20) & 0xffffffff;
            values[i] = 1 + ((fraction << magnitude) >> 32) % 7700000000;
        }
        return values;
    }
}
