using System;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;
using Picollo.Metrics;

namespace Picollo.Samples
{
    /// <summary>One task records, another prints each interval, and neither waits for the other.</summary>
    internal static class LiveMonitor
    {
        internal static void Run(double seconds)
        {
            HdrHistogram histogram = HdrHistogram.Factory
                .WithRelativeError(0.01).WithMinTrackableValue(10000).WithMaxTrackableValue(30000).Create();
            var cancel = new CancellationTokenSource(TimeSpan.FromSeconds(seconds));

            Task writer = Task.Run(() =>
            {
                var random = new Random(0);
                var watch = Stopwatch.StartNew();
                while (!cancel.IsCancellationRequested)
                {
                    double drift = watch.ElapsedMilliseconds & 16383;
                    double tail = random.NextDouble();
                    histogram.Record((ulong)(20000 + (0.5 - random.NextDouble()) * 1000 + tail * tail * drift));
                }
            });

            Task monitor = Task.Run(async () =>
            {
                HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
                HdrHistogramSummary summary = snapshot.GetSummary();
                while (!cancel.IsCancellationRequested)
                {
                    await Task.Delay(TimeSpan.FromSeconds(Math.Min(1, seconds / 4)));
                    // What was recorded since the previous update. Neither line allocates.
                    snapshot.Update(deltas: true);
                    snapshot.GetSummary(summary);
                    Console.WriteLine($"{summary.TimestampUtc:HH:mm:ss.fff} | {summary.ToString("interval")}");
                }
            });

            Task.WaitAll(writer, monitor);
            histogram.GetSummary().PrettyPrint("Aggregate");
        }
    }
}
