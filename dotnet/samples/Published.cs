using System;
using System.Diagnostics;
using System.Text;
using System.Threading;
using Picollo.Metrics;

namespace Picollo.Samples;

/// <summary>
/// A service that others watch: <c>picollo top</c>, <c>picollo show billing</c>, <c>picollo serve</c>. Two threads
/// write invoices of varying length, and publish each duration.
/// </summary>
internal static class Published
{
    public static void Main(string[] arguments)
    {
        double seconds = arguments.Length > 0 ? double.Parse(arguments[0]) : 10;
        HdrHistogram latency;
        using (var segment = new Segment("billing"))
            latency = segment.GetHistogram(new MetricOptions { Name = "invoice", Unit = "ns" });

        DateTime end = DateTime.UtcNow.AddSeconds(seconds);
        var threads = new Thread[2];
        for (int i = 0; i < threads.Length; i++)
        {
            int seed = i;
            threads[i] = new Thread(() => Work(end, seed, latency));
            threads[i].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine("published for {0} s", seconds);
    }

    private static void Work(DateTime end, int seed, HdrHistogram latency)
    {
        var choice = new Random(seed);
        while (DateTime.UtcNow < end)
        {
            int lines = choice.Next(100) == 0 ? 3000 : choice.Next(50, 300);
            long start = Stopwatch.GetTimestamp();
            var text = new StringBuilder();
            for (int line = 0; line < lines; line++)
                text.Append("item ").Append(line).Append(" at ").Append(line * 7 % 100).AppendLine();
            latency.Record((ulong)((Stopwatch.GetTimestamp() - start) * (1e9 / Stopwatch.Frequency)));
            Thread.Sleep(3);
        }
    }
}
