using System;
using System.Diagnostics;
using Picollo.Metrics;

namespace Picollo.Samples
{
    /// <summary>The shortest time that the clock can tell: how far apart are two readings that differ?</summary>
    internal static class ClockResolution
    {
        internal static void Run()
        {
            HdrHistogram histogram = HdrHistogram.Factory.WithSingleWriter().Create();
            long last = Stopwatch.GetTimestamp();
            for (int i = 0; i < 200000; i++)
            {
                long now;
                do
                    now = Stopwatch.GetTimestamp();
                while (now == last);
                histogram.Record((ulong)(now - last));
                last = now;
            }

            HdrHistogramSummary summary = histogram.GetSummary();
            Console.WriteLine($"Stopwatch.Frequency: {Stopwatch.Frequency:N0}");
            Console.WriteLine(summary.P0);
            Console.WriteLine(summary.P50);
            Console.WriteLine(summary.P99);
            Console.WriteLine($"the median step is {summary.P50.Value * 1e9 / Stopwatch.Frequency} ns");
        }
    }
}
