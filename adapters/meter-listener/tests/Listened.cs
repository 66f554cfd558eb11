namespace Picollo.Tests;

/// <summary>A meter for one test, and a listener of nothing else.</summary>
internal sealed class Listened : IDisposable
{
    private static int s_number;

    internal readonly Meter Meter = new Meter($"test {Interlocked.Increment(ref s_number)}");
    internal readonly PicolloMeterListener Listener;

    internal Listened(Action<MeterListenerOptions> set = null)
    {
        var options = new MeterListenerOptions { Filter = instrument => instrument.Meter.Name == Meter.Name };
        set?.Invoke(options);
        Listener = new PicolloMeterListener(options).Start();
    }

    /// <summary>The only histogram.</summary>
    internal MeteredHistogram Only => Listener.Histograms.Single();

    internal ulong Total => Listener.Histograms.Aggregate(0ul, (sum, one) => sum + one.Count);

    internal string Scrape()
    {
        var text = new System.IO.StringWriter();
        Listener.Registry.Scrape(text);
        return text.ToString();
    }

    internal static KeyValuePair<string, object> Tag(string key, object value) => new KeyValuePair<string, object>(key, value);

    /// <summary>Starts threads, each with its number.</summary>
    internal static Thread[] Start(int count, Action<int> body)
    {
        Thread[] threads = Enumerable.Range(0, count).Select(number => new Thread(() => body(number))).ToArray();
        Array.ForEach(threads, thread => thread.Start());
        return threads;
    }

    public void Dispose()
    {
        Listener.Dispose();
        Meter.Dispose();
    }
}
