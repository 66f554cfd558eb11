// The cost of a measurement: an instrument that Picollo listens to, compared with one that the runtime's own aggregator
// listens to (that of dotnet-counters and dotnet-monitor). In one process, alternately, medians; each with no tag, and
// with two tags of 50 sets.
#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Picollo.Metrics;

const int Sets = 50, Rounds = 15, WarmUps = 10;
var ours = new Meter("ours");
var theirs = new Meter("theirs");
Histogram<double> unheard = new Meter("unheard").CreateHistogram<double>("x", "s");
Histogram<double> picollo = ours.CreateHistogram<double>("x", "s"), runtime = theirs.CreateHistogram<double>("x", "s");

using PicolloMeterListener listener = new PicolloMeterListener(new MeterListenerOptions { Filter = one => one.Meter.Name == "ours" }).Start();
using var aggregator = new Aggregator("theirs");

var random = new Random(1);
double[] values = Enumerable.Range(0, 4096).Select(_ => 1e-4 * Math.Pow(10, 3 * random.NextDouble())).ToArray();
var tags = Enumerable.Range(0, Sets).Select(set => new[]
{
    new KeyValuePair<string, object?>("http.request.method", set % 2 == 0 ? "GET" : "POST"),
    new KeyValuePair<string, object?>("http.route", $"/api/orders/{set / 2}/items")
}).ToArray();

// The runtime recompiles frequently called code; the first rounds are for that.
Histogram<double>[] instruments = { picollo, runtime, unheard };
for (int round = 0; round < WarmUps; round++)
    foreach (Histogram<double> instrument in instruments)
        foreach (bool tagged in new[] { false, true })
            Nanoseconds(1, instrument, tagged);

Console.WriteLine("| ns a measurement | threads | Picollo | the runtime's aggregator | ratio | nobody |");
Console.WriteLine("| :-- | --: | --: | --: | --: | --: |");
foreach (int threads in new[] { 1, 2, 10 })
    foreach (bool tagged in new[] { false, true })
    {
        var nanos = instruments.Select(_ => new List<double>()).ToArray();
        for (int round = 0; round < Rounds; round++)
            for (int way = 0; way < instruments.Length; way++)
                nanos[way].Add(Nanoseconds(threads, instruments[way], tagged));
        double[] medians = nanos.Select(times => times.OrderBy(time => time).ElementAt(Rounds / 2)).ToArray();
        Console.WriteLine(FormattableString.Invariant(
            $"| {(tagged ? $"two tags, {Sets} sets" : "no tags")} | {threads} | {medians[0]:0.0} | {medians[1]:0.0} | {medians[0] / medians[1]:0.00} | {medians[2]:0.0} |"));
    }
if (aggregator.Fault != null)
    throw new InvalidOperationException(aggregator.Fault);
ulong counted = listener.Histograms.Aggregate(0ul, (sum, one) => sum + one.Count);
ulong expected = (2ul * WarmUps + 13ul * 2 * Rounds) * (ulong)Ways.Measurements;
if (counted != expected)
    throw new InvalidOperationException($"{counted} measurements, expected {expected}");

// The time of each thread, from when all have begun until all have ended; fewer cores than threads are shared.
double Nanoseconds(int threads, Histogram<double> instrument, bool tagged)
{
    using var barrier = new Barrier(threads + 1);
    Thread[] workers = Enumerable.Range(0, threads).Select(worker => new Thread(() =>
    {
        barrier.SignalAndWait();
        if (tagged)
            Ways.Tagged(instrument, values, tags, worker * 7);
        else
            Ways.Untagged(instrument, values);
        barrier.SignalAndWait();
    })).ToArray();
    foreach (Thread worker in workers)
        worker.Start();
    barrier.SignalAndWait();
    long start = Stopwatch.GetTimestamp();
    barrier.SignalAndWait();
    double elapsed = Stopwatch.GetElapsedTime(start).TotalNanoseconds;
    foreach (Thread worker in workers)
        worker.Join();
    return elapsed / Ways.Measurements / Math.Max(1.0, (double)threads / Environment.ProcessorCount);
}

internal static class Ways
{
    internal const int Measurements = 200_000;

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Untagged(Histogram<double> instrument, double[] values)
    {
        for (int i = 0; i < Measurements; i++)
            instrument.Record(values[i & (values.Length - 1)]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Tagged(Histogram<double> instrument, double[] values, KeyValuePair<string, object?>[][] tags, int set)
    {
        for (int i = 0; i < Measurements; i++)
        {
            if (++set >= tags.Length)
                set = 0;
            instrument.Record(values[i & (values.Length - 1)], tags[set][0], tags[set][1]);
        }
    }
}

/// <summary>Lets the runtime aggregate a meter and collect it once an hour; only records are compared.</summary>
internal sealed class Aggregator : EventListener
{
    internal string? Fault { get; private set; }

    internal Aggregator(string meter)
    {
        EventSource source = EventSource.GetSources().Single(one => one.Name == "System.Diagnostics.Metrics");
        EnableEvents(source, EventLevel.Informational, (EventKeywords)2, new Dictionary<string, string?>
        {
            { "SessionId", "bench" }, { "Metrics", meter }, { "RefreshInterval", "3600" }, { "MaxTimeSeries", "1000" }, { "MaxHistograms", "1000" }
        });
    }

    protected override void OnEventWritten(EventWrittenEventArgs data)
    {
        if (data.EventName is "Error" or "HistogramLimitReached" or "TimeSeriesLimitReached" or "MultipleSessionsNotSupportedError")
            Fault = data.EventName + ": " + string.Join(", ", data.Payload ?? new System.Collections.ObjectModel.ReadOnlyCollection<object?>(Array.Empty<object?>()));
    }
}
