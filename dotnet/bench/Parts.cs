#if NET5_0_OR_GREATER
using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using Picollo.Metrics;

namespace Picollo.Bench
{
    /// <summary>
    /// What the parts of a thread-local record cost, each as small as C# can write it: why it is a call of the library. By turns, medians.
    /// </summary>
    internal static unsafe class Parts
    {
        private const int Rounds = 201;

        private struct Entry
        {
            internal long Id;
            internal ulong* Counters;
        }

        private static class Mine
        {
            [ThreadStatic]
            internal static long t_pointer;

            [ThreadStatic]
            internal static Entry[] t_entries;
        }

        private static ulong[] s_values;
        private static int[] s_cells;
        private static ulong s_length, s_block;
        private static int s_scale;
        private static IntPtr s_local;

        [DllImport("picollo")]
        private static extern int picollo_histogram_create(void* options, out IntPtr histogram);

        [DllImport("picollo")]
        [SuppressGCTransition]
        private static extern void picollo_histogram_record(IntPtr histogram, ulong value);

        internal static void Run(ulong[] values)
        {
            HdrLayout layout = HdrHistogram.Factory.GetLayout();
            s_values = values;
            s_cells = Array.ConvertAll(values, value => (int)layout.GetBucket(value).StorageIndex);
            s_length = (ulong)layout.CounterCount;
            s_block = (ulong)layout.BlockSize;
            s_scale = (int)Math.Log2(s_block);
            var counters = (ulong*)NativeMemory.AllocZeroed((UIntPtr)(s_length * 8));
            var entries = (Entry*)NativeMemory.AllocZeroed((UIntPtr)sizeof(Entry));
            entries->Counters = counters;
            entries->Id = 1;
            Mine.t_pointer = (long)entries;
            Mine.t_entries = new[] { *entries };
            var cells = new long[s_length];
            uint* options = stackalloc uint[14];
            options[0] = 56;
            options[1] = 2;
            picollo_histogram_create(options, out s_local);
            for (int i = 0; i < values.Length; i++)
                if ((int)Index(values[i]) != s_cells[i])
                    throw new Exception("the index is wrong");

            (string Name, Action Way)[] ways =
            {
                ("bare Interlocked.Increment, known cells", () => Increment(cells)),
                ("index and a plain addition", () => Plain(counters)),
                ("a thread's static alone, of a number", ReadNumber),
                ("a thread's static alone, of an array", ReadArray),
                ("the record through a number", RecordByNumber),
                ("the record through an array", RecordByArray),
                ("the record in the library, no transition", Call)
            };
            var nanos = new double[ways.Length][];
            for (int way = 0; way < ways.Length; way++)
                nanos[way] = new double[Rounds];
            for (int round = -100; round < Rounds; round++)
                for (int way = 0; way < ways.Length; way++)
                {
                    long start = Stopwatch.GetTimestamp();
                    ways[way].Way();
                    long elapsed = Stopwatch.GetTimestamp() - start;
                    if (round >= 0)
                        nanos[way][round] = elapsed * 1e9 / Stopwatch.Frequency / values.Length;
                }
            double bare = 0;
            for (int way = 0; way < ways.Length; way++)
            {
                Array.Sort(nanos[way]);
                double median = nanos[way][Rounds / 2];
                bare = way == 0 ? median : bare;
                Console.WriteLine(string.Format(
                    CultureInfo.InvariantCulture, "| {0,-42} | {1,6:0.00} | {2,6:0.00} |", ways[way].Name, median, median / bare));
            }
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static ulong Index(ulong value)
        {
            uint exponent = (uint)((63 ^ System.Numerics.BitOperations.LeadingZeroCount(value | s_block)) - s_scale);
            return ((ulong)exponent << s_scale) + (value >> (int)exponent);
        }

        // Where a profile calls a block rare, .NET 8 leaves the static to a helper of some 60 ns: hence methods that begin with it.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Entry* Number() => (Entry*)Mine.t_pointer;

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Entry[] Entries() => Mine.t_entries;

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Slowly() => throw new Exception("the slow path");

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Increment(long[] cells)
        {
            foreach (int cell in s_cells)
                Interlocked.Increment(ref cells[cell]);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Plain(ulong* counters)
        {
            foreach (ulong value in s_values)
            {
                ulong index = Index(value);
                if (index < s_length)
                    counters[index]++;
                else
                    Slowly();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ReadNumber()
        {
            foreach (ulong value in s_values)
                if ((ulong)Number() == value)
                    Slowly();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ReadArray()
        {
            foreach (ulong value in s_values)
                if (Entries() == null)
                    Slowly();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void RecordByNumber()
        {
            foreach (ulong value in s_values)
            {
                Entry* entry = Number();
                ulong index = Index(value);
                if (entry != null && entry->Id == 1 && index < s_length)
                    entry->Counters[index]++;
                else
                    Slowly();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void RecordByArray()
        {
            foreach (ulong value in s_values)
            {
                Entry[] entries = Entries();
                ulong index = Index(value);
                if (entries != null && entries.Length > 0 && entries[0].Id == 1 && index < s_length)
                    entries[0].Counters[index]++;
                else
                    Slowly();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Call()
        {
            foreach (ulong value in s_values)
                picollo_histogram_record(s_local, value);
        }
    }
}
#endif
