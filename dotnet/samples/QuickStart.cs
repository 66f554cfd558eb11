using System;
using Picollo.Metrics;

namespace Picollo.Samples
{
    /// <summary>The whole of it in ten lines: how long does it take to make a string of a number?</summary>
    internal static class QuickStart
    {
        internal static void Run()
        {
            var latency = HdrHistogram.Factory.WithRelativeError(0.01).WithMaxTrackableValue(NanoScope.OneSecondValue).Create();
            for (int i = 0; i < 100000; i++)
                using (latency.GetNanoScope())
                    i.ToString();
            HdrHistogramSummary summary = latency.GetSummary();
            summary.PrettyPrint("Nanoseconds");
            Console.WriteLine(summary.P99);
        }
    }
}
