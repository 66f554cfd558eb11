using System.Diagnostics;
using System.Threading.Tasks;

namespace Picollo.Tests;

/// <summary>Which observations were slow, and why: kept, reported and unknown facts.</summary>
public static class ExemplarTests
{
    private const string Trace = "0af7651916cd43dd8448eb211c80319c";
    private const string Span = "b7ad6b7169203331";
    private const ulong Milli = 1000000;

    /// <summary>The usual: about a millisecond of waiting. Collectors get enough controls, more than by
    /// default.</summary>
    private static void Ordinary(ExemplarCollector slow, int count = 200)
    {
        for (int i = 0; i < count; i++)
            using (slow.Scope())
                Thread.Sleep(1);
    }

    /// <summary>Runs on the CPU for this long; the collector reports that time.</summary>
    private static void Spin(int milliseconds)
    {
        var watch = System.Diagnostics.Stopwatch.StartNew();
        while (watch.ElapsedMilliseconds < milliseconds)
            CpuUtils.AddChain256(100);
    }

    private static bool IsNothingKnown(Exemplar one) =>
        one.Cause == Cause.NotKnown && one.Missing != MissingEvidence.Nothing && one.OnCpuNanos == null && one.RunDelayNanos == null
        && one.VoluntarySwitches == null && one.MinorFaults == null && one.ExcessNanos == null;

    [Test]
    public static void TheSlowestAreKeptWithTheirContext()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        using var slow = new ExemplarCollector(histogram);
        var random = new Random(20);
        ulong[] values = Enumerable.Range(0, 5000).Select(_ => (ulong)random.Next(1, int.MaxValue)).ToArray();
        for (int i = 0; i < values.Length; i++)
            slow.Offer(values[i], new ExemplarContext(Trace, Span.ToUpperInvariant(), (ulong)i, values[i]));
        ExemplarInterval interval = slow.Collect();
        Check.True(interval.Exemplars.Take(16).Select(one => one.Value).SequenceEqual(values.OrderByDescending(one => one).Take(16)),
            "the slowest");
        foreach (Exemplar one in interval.Exemplars)
        {
            Check.True(values[one.Word0] == one.Value && one.Word1 == one.Value, "words");
            Check.True(one.TraceId == Trace && one.SpanId == Span, $"{one.TraceId} {one.SpanId}");
            Check.True(IsNothingKnown(one) && one.Missing == MissingEvidence.TimedElsewhere && one.Cpu == null, "timed elsewhere");
        }
        Check.Equal(5000ul, interval.ObservationCount);
        Check.Equal(5000ul, histogram.TotalCount);
        Check.True(interval.Threshold == null, "nobody knew in the first interval what is slow");
        slow.Offer(5);
        interval = slow.Collect();
        Check.True(interval.Exemplars.Count == 1 && interval.Exemplars[0].TraceId == null && interval.Exemplars[0].SpanId == null, "anew");
        Check.True(interval.Threshold >= values.OrderBy(one => one).ElementAt(4900), "P99 of the interval before");
    }

    [Test]
    public static void ScopesRecordInTheUnit()
    {
        foreach ((TimeUnit unit, double inASecond) in new[]
        {
            (TimeUnit.Picoseconds, 1e12), (TimeUnit.Nanoseconds, 1e9), (TimeUnit.Microseconds, 1e6), (TimeUnit.Milliseconds, 1e3)
        })
        {
            var slow = new ExemplarCollector(HdrHistogram.Create(), new ExemplarOptions { Unit = unit });
            DateTime begin = DateTime.UtcNow;
            using (slow.Scope(7))
                Thread.Sleep(20);
            DateTime end = DateTime.UtcNow;
            Exemplar kept = slow.Collect().Exemplars.Single();
            double seconds = kept.Value / inASecond;
            Check.True(seconds >= 0.0199 && seconds < 2 && kept.Label == 7, $"{unit}: {seconds}");
            TimeSpan clocks = TimeSpan.FromMilliseconds(15), slept = TimeSpan.FromMilliseconds(19.9);
            Check.True(kept.BeganUtc > begin - clocks && kept.BeganUtc < end - slept + clocks, $"{begin:O} {kept.BeganUtc:O} {end:O}");
        }
    }

    [Test]
    public static void PlantedWaitsAreReported()
    {
        var slow = new ExemplarCollector(HdrHistogram.Create(), new ExemplarOptions { Threshold = 30 * Milli, Controls = 1000, UsesCounters = true });
        Ordinary(slow);
        for (int i = 0; i < 5; i++)
            using (slow.Scope())
                Thread.Sleep(60);
        ExemplarInterval interval = slow.Collect();
        Exemplar[] kept = interval.Exemplars.Take(5).ToArray();
        Cause waits = kept[0].RunDelayNanos == null ? Cause.OffCpu : Cause.OwnWaiting;
        // A busy machine may delay one of them for longer than it waits.
        Check.True(kept.Count(one => one.Cause == waits) >= 4, string.Join(", ", kept.Select(one => one.Cause)));
        foreach (Exemplar one in kept)
            Check.True(one.IsSlow && one.Value >= 40 * Milli && one.OnCpuNanos < 20 * Milli && one.VoluntarySwitches >= 1
                && one.Missing == MissingEvidence.Nothing && one.WindowNanos >= one.Value - Milli, $"{one.Value} {one.OnCpuNanos}");
        Check.True(interval.SlowCount >= 5 && interval.KnownCount >= 5 && interval.ControlCount >= 3 && interval.ObservationCount == 205,
            "counts");
        Check.True(kept.Any(one => one.Instructions > 0 && one.Cycles > 0) || interval.ToString().Contains("Instructions were counted of"), "counters");
        CauseShare share = interval.Shares.Single(one => one.Cause == waits);
        Check.True(share.Share > 0.5 && share.Observations >= 4 && share.TypicalNanos > 40 * Milli && share.TypicalNanos < 90 * Milli,
            $"{share.Share} {share.Observations} {share.TypicalNanos}");
        Check.Near(1, interval.Shares.Sum(one => one.Share ?? 0), 1e-6, "all shares");
        foreach (Cause none in new[] { Cause.Several, Cause.NotKnown })
            Check.True(interval.Shares.Single(one => one.Cause == none).Share == null, "no cause has no share");
        string words = waits == Cause.OwnWaiting ? "own waiting" : "off CPU, not split";
        Check.True(interval.ToString().Contains(words), interval.ToString());
        Check.True(interval.ToMarkdown().Contains("| Cause | Excess |") && interval.ToMarkdown().Contains("| The slowest |"), interval.ToMarkdown());
        Check.True(interval.ToHtml().StartsWith("<section") && interval.ToHtml().Contains($"<td>{words}</td>"), interval.ToHtml());
        Check.True(interval.ToJson().StartsWith("{") && interval.ToJson().Contains($"\"{words}\""), interval.ToJson());
    }

    [Test]
    public static void TheContextIsLookedUpOnlyIfKept()
    {
        int asked = 0;
        HdrHistogram histogram = HdrHistogram.Create();
        var slow = new ExemplarCollector(histogram, new ExemplarOptions
        {
            Slowest = 1, Context = () => ++asked == 1 ? throw new TimeoutException() : new ExemplarContext(Trace, null, (ulong)asked)
        });
        Check.Throws<TimeoutException>(() => { using (slow.Scope()) { } });
        Check.Equal(1ul, histogram.TotalCount, "recorded all the same");
        int kept = 1;
        foreach (int milliseconds in new[] { 30, 0, 0, 0, 60 })
        {
            ExemplarScope scope = slow.Scope();
            Thread.Sleep(milliseconds);
            kept += scope.End() ? 1 : 0;
            Check.True(!scope.End(), "a second time");
        }
        Check.True(asked == kept && kept >= 3, $"{asked} of {kept}");
        Exemplar slowest = slow.Collect().Exemplars[0];
        Check.True(slowest.TraceId == Trace && slowest.SpanId == null && slowest.Word0 == (ulong)asked, "context");
    }

    [Test]
    public static void Annotating()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        var slow = new ExemplarCollector(histogram);
        // A variable of using can end it too: it is recorded once.
        using (ExemplarScope scope = slow.Scope())
        {
            Check.True(scope.End(), "kept");
            scope.Annotate(new ExemplarContext(Trace, Span, 1, ulong.MaxValue));
        }
        Check.Equal(1ul, histogram.TotalCount);
        Exemplar kept = slow.Collect().Exemplars.Single();
        Check.True(kept.TraceId == Trace && kept.SpanId == Span && kept.Word0 == 1 && kept.Word1 == ulong.MaxValue, "annotated");
        Check.Fails(PicolloStatus.InvalidArgument, () => slow.Scope().Annotate(new ExemplarContext(Trace)), "not ended");
        default(ExemplarScope).Dispose();
    }

    [Test]
    public static void ActivitiesLeadToTheirRequests()
    {
        var slow = new ExemplarCollector(HdrHistogram.Create());
        using (Activity activity = new Activity("request").SetIdFormat(ActivityIdFormat.W3C).Start())
        {
            using (slow.Scope())
                Thread.Sleep(1);
            Exemplar kept = slow.Collect().Exemplars.Single();
            Check.Equal(activity.TraceId.ToHexString(), kept.TraceId);
            Check.Equal(activity.SpanId.ToHexString(), kept.SpanId);
        }
        using (new Activity("of another form").SetIdFormat(ActivityIdFormat.Hierarchical).Start())
            using (slow.Scope())
                Thread.Sleep(1);
        Check.True(slow.Collect().Exemplars.Single().TraceId == null, "no id of W3C's");
        using (slow.Scope())
            Thread.Sleep(1);
        Check.True(slow.Collect().Exemplars.Single().TraceId == null, "no activity");
    }

    /// <summary>Begins, keeps, looks up and annotates without an allocation.</summary>
    [Test]
    public static void LookingUpAnActivityAllocatesNothing()
    {
        var slow = new ExemplarCollector(HdrHistogram.Create(), new ExemplarOptions { Slowest = 1000 });
        int kept = 0;
        using (new Activity("request").SetIdFormat(ActivityIdFormat.W3C).Start())
            AllocationTests.Nothing("kept scopes", () => kept += slow.Scope().End() ? 1 : 0);
        Check.True(kept > 50 && slow.Collect().Exemplars.All(one => one.TraceId != null), $"{kept} kept");
    }

    /// <summary>The compiler rejects a thread's scope in async methods, where its thread may work for others.</summary>
    [Test]
    public static void ThreadScopesAreRefStructs() =>
        Check.True(typeof(ExemplarScope).IsByRefLike && !typeof(AsyncExemplarScope).IsByRefLike, "a ref struct");

    /// <summary>Like an async method that resumes on its thread, whose accounts would show work.</summary>
    [Test]
    public static void AsyncScopesHaveNoEvidence()
    {
        var slow = new ExemplarCollector(HdrHistogram.Create(), new ExemplarOptions { Slowest = 1, Controls = 1000 });
        Ordinary(slow, 100);
        using (slow.AsyncScope())
            Spin(60);
        Exemplar kept = slow.Collect().Exemplars[0];
        Check.True(kept.Value >= 40 * Milli && IsNothingKnown(kept), $"{kept.Value} {kept.Cause} {kept.Missing}");
    }

    [Test]
    public static void Publishing()
    {
        using var registry = new MetricRegistry();
        HdrHistogram histogram = HdrHistogram.Create();
        ulong id = registry.Add(histogram, new MetricOptions { Name = "request_seconds", Unit = "seconds", Divisor = 1e9 });
        var slow = new ExemplarCollector(histogram, new ExemplarOptions { Controls = 1000, Context = () => new ExemplarContext(Trace, Span) });
        Check.Fails(PicolloStatus.Empty, () => slow.Publish(registry, id), "nothing was collected");
        Ordinary(slow);
        using (slow.Scope())
            Thread.Sleep(300);
        Cause cause = slow.Collect().Exemplars[0].Cause;
        slow.Publish(registry, id);
        registry.Update();
        string line = registry.Format().Split('\n').Last(one => one.Contains(" # {"));
        Check.True(line.Contains($"trace_id=\"{Trace}\"") && line.Contains($"span_id=\"{Span}\""), line);
        Check.True(line.Contains(cause == Cause.OffCpu ? "cause=\"off CPU, not split\"" : "cause=\"own waiting\""), line);
        PicolloException refused = Check.Fails(PicolloStatus.InvalidArgument, () => slow.Publish(registry, id + 1));
        Check.True(refused.Message.Contains($"{id + 1}"), refused.Message);
        slow.Collect();
        slow.Publish(registry, id);
        Check.True(!registry.Format().Contains(" # {"), "those of an interval without any take their place");
    }

    [Test]
    public static void WrongArguments()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        Check.Fails(PicolloStatus.InvalidArgument, () => new ExemplarCollector(histogram, new ExemplarOptions { Slowest = 1000000 }));
        foreach (TimeUnit wrong in new[] { (TimeUnit)0, (TimeUnit)5 })
            Check.Throws<ArgumentOutOfRangeException>(() => new ExemplarOptions().Unit = wrong);
        foreach (string wrong in new[] { Trace.Substring(1), "g" + Trace.Substring(1), Span })
            Check.Equal("traceId", Check.Throws<ArgumentException>(() => new ExemplarContext(wrong)).ParamName);
        Check.Equal("spanId", Check.Throws<ArgumentException>(() => new ExemplarContext(null, Trace)).ParamName);
        var nothing = new ExemplarCollector(histogram, new ExemplarOptions { Slowest = 0 });
        using (nothing.Scope())
            Thread.Sleep(1);
        Check.Equal(1, nothing.Collect().Exemplars.Count, "that of its octave");
        for (ulong i = 0; i < 100; i++)
            nothing.Offer(600 + i);
        Check.True(nothing.Collect().Exemplars.Count <= 1, "none of the slowest");
        new ExemplarCollector(histogram).PrepareThread();
    }

    [Test]
    public static void Disposing()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
        var slow = new ExemplarCollector(histogram);
        histogram.Dispose();
        ExemplarScope scope = slow.Scope();
        Exemplar before = Offered(slow);
        slow.Dispose();
        Check.True(scope.End(), "what is under way records to its end");
        snapshot.Update(deltas: false);
        Check.Equal(2ul, snapshot.TotalCount);
        foreach (Action call in new Action[] { () => slow.Scope(), () => slow.AsyncScope() })
            Check.Equal(typeof(ExemplarCollector).FullName, Check.Throws<ObjectDisposedException>(call).ObjectName);
        Check.Equal(5ul, before.Value);
    }

    private static Exemplar Offered(ExemplarCollector slow)
    {
        slow.Offer(5);
        return slow.Collect().Exemplars.Single();
    }
}
