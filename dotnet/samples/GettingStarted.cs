using System;
using Picollo.Metrics;

namespace Picollo.Samples
{
    /// <summary>Record, summarise, reset, compare; snapshots and percentiles.</summary>
    internal static class GettingStarted
    {
        internal static void Run()
        {
            HdrHistogram histogram = HdrHistogram.Factory
                .WithRelativeError(0.01)
                .WithUInt32Storage()
                .WithMinTrackableValue(2000)
                .WithMaxTrackableValue(12000)
                .Create();
            Console.WriteLine($"{histogram.FootprintInBytes} bytes");

            var generator = new Generator(1);
            for (int i = 0; i < 100000; i++)
                histogram.Record(generator.Next(1990, 1500, 40));

            // Sixteen percentiles, each with the bucket in which it was found.
            HdrHistogramSummary before = histogram.GetSummary();
            before.PrettyPrint("Example");
            Console.WriteLine(before.P99);
            Console.WriteLine(before.ToString("Example"));
            Console.WriteLine();

            // Another distribution. A snapshot would tell the two apart as well, without a reset: see the live monitor.
            histogram.Reset();
            generator = new Generator(2);
            for (int i = 0; i < 150000; i++)
                histogram.Record(generator.Next(1800, 1700, 36));
            before.PrettyPrintDiff(histogram.GetSummary(), "Example diff", "Before", "After");

            double[] ranks = { 90, 91, 92, 93, 94, 95 };
            var percentiles = new Percentile[ranks.Length];
            histogram.GetPercentiles(ranks, percentiles);
            foreach (Percentile percentile in percentiles)
                Console.WriteLine(percentile);
            Console.WriteLine($"the median is {histogram.GetPercentileValue(50)}");

            int shown = 0;
            foreach (Percentile percentile in histogram.BucketPercentilesWithValues)
                if (shown++ < 3)
                    Console.WriteLine(percentile);
        }

        /// <summary>The example data of the documentation.</summary>
        private struct Generator
        {
            private ulong _state;

            internal Generator(ulong seed)
            {
                _state = seed;
            }

            internal ulong Next(ulong start, ulong spread, ulong divisor)
            {
                _state = unchecked(_state * 6364136223846793005 + 1442695040888963407);
                ulong tail = (_state >> 20) % 64;
                return start + (_state >> 40) % spread + tail * tail * tail / divisor;
            }
        }
    }
}
