using System;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
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

    private static readonly ulong[] s_values = Skewed();
    private static readonly int[] s_cells = new int[Values];

    [DllImport("picollo_bench")]
    private static extern void bench_inline(ulong* values, UIntPtr length);

    [DllImport("picollo_bench")]
    private static extern void bench_call(ulong* values, UIntPtr length);

    public static void Main(string[] arguments)
    {
        HdrHistogram single = HdrHistogram.Factory.WithSingleWriter().Create(), interlocked = HdrHistogram.Create(),
            local = HdrHistogram.Factory.WithThreadLocal().Create(), perCpu = HdrHistogram.Factory.WithPerCpu().Create(),
            narrow = HdrHistogram.Factory.WithUInt32Storage().Create();
        HdrRecorder recorder = single.GetRecorder(), localRecorder = local.GetRecorder();
        var cells = new long[Cells(s_values)];
        (string Name, Action Way)[] ways =
        {
            ("C, inline recorder, single writer", () =>
            {
                fixed (ulong* values = s_values)
                    bench_inline(values, (UIntPtr)Values);
            }),
            ("C, exported, interlocked", () =>
            {
                fixed (ulong* values = s_values)
                    bench_call(values, (UIntPtr)Values);
            }),
            (Bare, () => Increment(cells)),
            ("C#, `Record`, single writer", () => Record(single)),
            ("C#, `HdrRecorder`, single writer", () => Record(recorder)),
            ("C#, `Record`, thread-local", () => Record(local)),
            ("C#, `HdrRecorder`, thread-local", () => Record(localRecorder)),
            ("C#, `Record`, interlocked", () => Record(interlocked)),
            ("C#, `Record(ReadOnlySpan)`, single writer, batch", () => single.Record(s_values)),
            ("C#, `Record`, interlocked, 32-bit", () => RecordByCall(narrow)),
            ("C#, `Record`, per CPU", () => RecordByCall(perCpu)),
            // The difference between two measurements of the same code limits the precision of all ratios.
            ("C#, the bare increment once more", () => Increment(cells))
        };

        double[][] nanos = ways.Select(_ => new double[Rounds]).ToArray();
        double scale = 1e9 / Stopwatch.Frequency / Values;
        // All other modes first, until their loop is compiled for them: code that the profile has not seen is slow.
        for (int round = 0; round < 100; round++)
            foreach ((string name, Action way) in ways)
                if (!name.Contains("thread-local"))
                    way();
        // The runtime recompiles a loop while it runs; the first rounds are for that.
        for (int round = -100; round < Rounds; round++)
            for (int i = 0; i < ways.Length; i++)
            {
                long start = Stopwatch.GetTimestamp();
                ways[i].Way();
                long elapsed = Stopwatch.GetTimestamp() - start;
                if (round >= 0)
                    nanos[i][round] = elapsed * scale;
            }

        double[] medians = nanos.Select(rounds => rounds.Order().ElementAt(Rounds / 2)).ToArray();
        double bare = medians[Array.FindIndex(ways, way => way.Name == Bare)];
        Console.WriteLine("| way to record                                      | ns a value | to increment |");
        Console.WriteLine("| :------------------------------------------------- | ---------: | -----------: |");
        for (int i = 0; i < ways.Length; i++)
            Console.WriteLine(string.Format(
                CultureInfo.InvariantCulture, "| {0,-50} | {1,10:0.00} | {2,12:0.00} |", ways[i].Name, medians[i], medians[i] / bare));
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
