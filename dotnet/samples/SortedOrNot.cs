using System;
using System.Diagnostics;
using Picollo.Metrics;
using Picollo.PerfEvent;

namespace Picollo.Samples
{
    /// <summary>The same loop over the same bytes, first shuffled and then sorted: what the branch predictor makes of it.</summary>
    internal static class SortedOrNot
    {
        private const int Rounds = 200;

        internal static void Run()
        {
            var values = new byte[200000];
            new Random(0).NextBytes(values);

            PerfEventCounterSession session = null;
            try
            {
                session = PerfEventCounterSession.Factory
                    .WithHardwareCounter(PerfHardwareCounterId.CpuCycles)
                    .WithHardwareCounter(PerfHardwareCounterId.BranchMisses)
                    .Create();
            }
            catch (PicolloException missing)
            {
                Console.WriteLine($"SKIPPED, and with the clock alone instead: {missing.Message}");
            }

            HdrHistogram nanos = HdrHistogram.Factory.WithMaxTrackableValue(NanoScope.OneSecondValue).Create();
            var unsortedNanos = new HdrHistogramSummary();
            var unsortedCycles = new HdrHistogramSummary();
            var unsortedMisses = new HdrHistogramSummary();
            for (int run = 0; run < 2; run++)
            {
                for (int i = 0; i < Rounds; i++)
                {
                    session?.Read(PerfReadMode.SystemCall);
                    long start = Stopwatch.GetTimestamp();
                    Sum(values);
                    nanos.Record(NanoScope.TicksToNanos(Stopwatch.GetTimestamp() - start));
                    session?.Read(PerfReadMode.SystemCall);
                    session?.Record(deltas: true);
                }
                if (run == 0)
                {
                    nanos.GetSummary(unsortedNanos);
                    session?.Counters.Hardware.CpuCycles.Histogram.GetSummary(unsortedCycles);
                    session?.Counters.Hardware.BranchMisses.Histogram.GetSummary(unsortedMisses);
                    nanos.Reset();
                    session?.Reset();
                    Array.Sort(values);
                }
            }

            unsortedNanos.PrettyPrintDiff(nanos.GetSummary(), "Nanoseconds", "Unsorted", "Sorted");
            if (session == null)
                return;
            HdrHistogramSummary sortedCycles = session.Counters.Hardware.CpuCycles.Histogram.GetSummary();
            HdrHistogramSummary sortedMisses = session.Counters.Hardware.BranchMisses.Histogram.GetSummary();
            unsortedCycles.PrettyPrintDiff(sortedCycles, "CpuCycles", "Unsorted", "Sorted");
            unsortedMisses.PrettyPrintDiff(sortedMisses, "BranchMisses", "Unsorted", "Sorted");
            session.Dispose();
        }

        private static double Sum(byte[] values)
        {
            double sum = 0;
            foreach (byte value in values)
            {
                if (value >= 128)
                    sum += 100;
                else
                    sum *= 0.9999;
            }
            return sum;
        }
    }
}
