// A shop with an instrument, as programs have them, that knows nothing of Picollo; and what a listener makes of it.
#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Threading.Tasks;
using Picollo.Metrics;

using PicolloMeterListener listener = new PicolloMeterListener().Start();

var shop = new Meter("Shop", "1.0");
Histogram<double> duration = shop.CreateHistogram<double>("shop.checkout.duration", "s", "How long a checkout takes");
Histogram<long> items = shop.CreateHistogram<long>("shop.checkout.items", "{item}");

Parallel.For(0, 4, worker =>
{
    var random = new Random(worker);
    for (int i = 0; i < 10_000; i++)
    {
        var payment = new KeyValuePair<string, object?>("payment", random.Next(3) == 0 ? "invoice" : "card");
        long start = Stopwatch.GetTimestamp();
        Math.Sqrt(random.NextDouble());
        duration.Record(Stopwatch.GetElapsedTime(start).TotalSeconds, payment);
        items.Record(1 + random.Next(20), payment);
    }
});

foreach (MeteredHistogram one in listener.Histograms)
    Console.WriteLine($"{one}: {one.Count} values, median {one.GetPercentileValue(50)} {one.Unit}, P99.9 {one.GetPercentileValue(99.9)} {one.Unit}");

// The whole distribution, and what a scrape by Prometheus would see.
listener.Find("shop.checkout.duration", new KeyValuePair<string, object?>("payment", "card"))!
    .GetSnapshot().GetSummary().PrettyPrint("Checkouts by card, ns");
listener.Registry.Scrape(Console.Out);
