using System.Diagnostics;

namespace Picollo.Tests;

/// <summary>All owners of a segment share its contents.</summary>
public static class SegmentTests
{
    private static void InADirectory(Action<string> test)
    {
        if (!Directory.Exists("/dev/shm"))
            throw new SkippedException("there is no directory in memory");
        string place = $"/dev/shm/picollo-cs-{Process.GetCurrentProcess().Id}";
        Directory.CreateDirectory(place);
        // Others must not have write permission, whatever the umask is.
        Process.Start("chmod", "700 " + place).WaitForExit();
        try
        {
            test(place);
        }
        finally
        {
            Directory.Delete(place, true);
        }
    }

    private static Segment Make(string place, string name) =>
        new Segment(new SegmentOptions { Name = name, Directory = place, MaxBytes = 8 << 20 });

    private static MetricOptions Request(string route)
    {
        var metric = new MetricOptions { Name = "request", Unit = "ns", Help = "How long they take" };
        metric.Labels["route"] = route;
        return metric;
    }

    [Test]
    public static void ContentsOutliveTheSegment() => InADirectory(place =>
    {
        HdrHistogram latency;
        MetricCounter requests;
        using (Segment segment = Make(place, "checkout"))
        {
            latency = segment.GetHistogram(Request("/pay"));
            requests = segment.GetCounter(new MetricOptions { Name = "requests" });
        }
        var threads = Enumerable.Range(0, 4).Select(_ => new Thread(() =>
        {
            for (ulong i = 1; i <= 1000; i++)
                latency.Record(i);
            requests.Add(1000);
        })).ToArray();
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        Check.Equal(4000ul, latency.TotalCount);
        Check.Equal(4000ul, requests.Value);
    });

    [Test]
    public static void TheSameNameIsTheSameHistogram() => InADirectory(place =>
    {
        using Segment segment = Make(place, "same");
        using Segment other = Segment.Attach(segment.Path);
        HdrHistogram one = segment.GetHistogram(Request("/pay")), two = other.GetHistogram(Request("/pay"));
        segment.GetHistogram(Request("/buy"));
        one.Record(100);
        two.Record(100);
        one.Dispose();
        Check.Equal(2ul, two.TotalCount);
        Check.Fails(PicolloStatus.Unsupported, two.Reset);
        Check.Fails(PicolloStatus.Incompatible,
            () => segment.GetHistogram(Request("/pay"), HdrHistogram.Factory.WithRelativeError(0.1)));
        Check.Fails(PicolloStatus.Incompatible, () => segment.GetCounter(Request("/pay")));
        var known = new MetricOptions { Name = "striped", Striped = true };
        MetricCounter striped = segment.GetCounter(known);
        striped.Add(7);
        other.GetCounter(known).Add();
        Check.Equal(8ul, striped.Value);
        Check.Fails(PicolloStatus.Incompatible, () => segment.GetCounter(new MetricOptions { Name = "striped" }));
        segment.Retire(known);
        Check.Fails(PicolloStatus.Unsupported,
            () => segment.GetHistogram(Request("/x"), HdrHistogram.Factory.WithThreadLocal()));
        segment.Retire(Request("/buy"));
        Check.Fails(PicolloStatus.InvalidArgument, () => segment.Retire(Request("/buy")));
        Check.True(Segment.Estimate(interlocked: true) < Segment.Estimate(HdrHistogram.Factory.WithPerCpu()), "fewer sets of counters");
    });

    [Test]
    public static void ResetsWithLiveReset() => InADirectory(place =>
    {
        using var segment = new Segment(new SegmentOptions { Name = "r", Directory = place, MaxBytes = 8 << 20, LiveReset = true });
        HdrHistogram histogram = segment.GetHistogram(Request("/"));
        histogram.Record(5, 3);
        histogram.Reset();
        histogram.Record(6);
        Check.Equal(1ul, histogram.TotalCount);
        Check.True(Segment.Estimate(liveReset: true) > 2 * Segment.Estimate(interlocked: true), "three times the memory");
    });

    [Test]
    public static void RefusalsAreExplained() => InADirectory(place =>
    {
        PicolloException refused = Check.Fails(PicolloStatus.InvalidArgument, () => new Segment("a/b"));
        Check.True(refused.Message.Contains("letters"), refused.Message);
        Check.Fails(PicolloStatus.Os, () => Segment.Attach(place + "/nothing.1.2"));
        Check.Fails(PicolloStatus.Permission,
            () => new Segment(new SegmentOptions { Name = "x", Directory = "/dev/null" }));
        Segment segment = Make(place, "ended");
        segment.Dispose();
        Check.Throws<ObjectDisposedException>(() => segment.GetHistogram(Request("/")));
    });
}
