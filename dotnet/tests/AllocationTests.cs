namespace Picollo.Tests;

/// <summary>Repeated calls allocate no managed memory.</summary>
public static class AllocationTests
{
    internal static void Nothing(string what, Action action)
    {
        for (int i = 0; i < 3; i++)
            action();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 100; i++)
            action();
        Check.Equal(0L, GC.GetAllocatedBytesForCurrentThread() - before, what);
    }

    [Test]
    public static void Recording()
    {
        HdrHistogram single = HdrHistogram.Factory.WithSingleWriter().Create(), interlocked = HdrHistogram.Factory.WithInterlocked().Create(),
            local = HdrHistogram.Factory.WithThreadLocal().Create();
        var batch = new ulong[100];
        Nothing("Record", () => single.Record(1));
        Nothing("Record, interlocked", () => interlocked.Record(1));
        Nothing("Record, thread-local", () => local.Record(1));
        Nothing("Record, repeated", () => single.Record(1, 3));
        Nothing("Record, batch", () => single.Record(batch));
        Nothing("NanoScope", () =>
        {
            using (single.GetNanoScope())
            {
            }
        });
    }

    /// <summary>Also if an observation is kept for its octave, or its thread is examined.</summary>
    [Test]
    public static void Exemplars()
    {
        var slow = new ExemplarCollector(HdrHistogram.Create());
        Nothing("Scope", () =>
        {
            using (slow.Scope())
            {
            }
        });
        Nothing("AsyncScope", () =>
        {
            using (slow.AsyncScope(1))
            {
            }
        });
        Nothing("Offer", () => slow.Offer(5));
        var context = new ExemplarContext("0af7651916cd43dd8448eb211c80319c");
        ulong value = 0;
        Nothing("Offer, kept", () => slow.Offer(++value, context));
        Nothing("Annotate", () =>
        {
            ExemplarScope scope = slow.Scope();
            if (scope.End())
                scope.Annotate(context);
        });
    }

    [Test]
    public static void Summaries()
    {
        foreach (HdrHistogram histogram in new[]
        {
            HdrHistogram.Factory.WithSingleWriter().Create(), HdrHistogram.Factory.WithInterlocked().Create(),
            HdrHistogram.Factory.WithThreadLocal().Create()
        })
        {
            histogram.Record(5);
            HdrHistogramSummary summary = histogram.GetSummary();
            Nothing("GetSummary(reuse)", () => histogram.GetSummary(summary));
            HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
            Nothing("Update(deltas: true)", () => snapshot.Update(deltas: true));
            Nothing("Update(deltas: false)", () => snapshot.Update(deltas: false));
            Nothing("snapshot.GetSummary(reuse)", () => snapshot.GetSummary(summary));
            Nothing("P99", () => summary.P99.GetValue(EquivalentValueSelection.UpperBound));
            Nothing("TotalCount", () => Check.Equal(1ul, histogram.TotalCount));
        }
    }

    [Test]
    public static void Percentiles()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        histogram.Record(5);
        double[] ranks = { 50, 99 };
        var values = new ulong[2];
        var percentiles = new Percentile[2];
        Nothing("GetPercentileValue", () => histogram.GetPercentileValue(99));
        Nothing("GetPercentile", () => histogram.GetPercentile(99));
        Nothing("GetPercentileValues", () => histogram.GetPercentileValues(ranks, values));
        Nothing("GetPercentiles", () => histogram.GetPercentiles(ranks, percentiles));
        Nothing("Reset", () => histogram.Reset());
    }
}
