using System.Diagnostics;

namespace Picollo.Tests;

/// <summary>Code for the published package has the same meaning here.</summary>
public static class PublishedTests
{
    private static HdrHistogram Narrow() =>
        HdrHistogram.Factory.WithRelativeError(0.01).WithMinTrackableValue(100).WithMaxTrackableValue(10000).Create();

    [Test]
    public static void BucketsBorders()
    {
        HdrHistogram histogram = Narrow();
        histogram.Record(1000, 3);
        Bucket bucket = histogram.GetBucket(1000);
        Check.True(bucket.Start <= 1000 && 1000 <= bucket.End && bucket.Count == 3, bucket.ToString());
        Check.Equal(bucket.End + 1, bucket.NextBucketStart);
        Check.Equal(bucket.NextBucketStart, histogram.GetBucket(bucket.NextBucketStart).Start);
        Check.True(!bucket.IsOverflowBucket && bucket.IsValid, "a bucket");
        Check.True(bucket == histogram.GetBucket(bucket.End) && bucket != histogram.GetBucket(bucket.NextBucketStart), "equality");
        Check.Equal(64, histogram.BlockSize);
    }

    [Test]
    public static void OutsideIsBelowAndAbove()
    {
        HdrHistogram histogram = Narrow();
        histogram.Record(1, 2);
        histogram.Record(1000000, 5);
        histogram.Record(500);
        Check.Equal(7ul, histogram.OverflowCount);
        Check.Equal(2ul, histogram.UnderflowCount);
        HdrHistogramSummary summary = histogram.GetSummary();
        Check.Equal(7ul, summary.OverflowCount);
        Check.Equal(2ul, summary.UnderflowCount);
        foreach (ulong outside in new ulong[] { 0, 1, 1000000, ulong.MaxValue })
        {
            Bucket bucket = histogram.GetBucket(outside);
            Check.True(bucket.IsOverflowBucket && !bucket.IsValid, "of all outside");
            Check.Equal(-1, bucket.StorageIndex);
            Check.Equal(7ul, bucket.Count);
        }
    }

    [Test]
    public static void RunningCounts()
    {
        ulong[] values = Example.First;
        HdrHistogram histogram = HdrHistogram.Create();
        histogram.Record(values);
        double[] ranks = { 50, 99, 0, 100, 99.9, 1 };
        var together = new Percentile[ranks.Length];
        histogram.GetPercentiles(ranks, together);
        for (int i = 0; i < ranks.Length; i++)
        {
            Percentile one = histogram.GetPercentile(ranks[i]);
            Check.True(one == together[i] && !(one != together[i]), "alone and together");
            foreach (Percentile percentile in new[] { one, together[i] })
            {
                Check.Equal((ulong)values.Count(v => v < one.Bucket.Start), percentile.RunningCountBefore, "below");
                Check.Equal((ulong)values.Count(v => v <= one.Bucket.End), percentile.RunningCount, "up to");
            }
        }
        HdrHistogramSummary summary = histogram.GetSummary();
        foreach (Percentile percentile in summary.GetPercentiles())
            Check.Equal((ulong)values.Count(v => v < percentile.Bucket.Start), percentile.RunningCountBefore, "of a summary");
        ulong running = 0;
        foreach (Percentile listed in histogram.BucketPercentilesWithValues)
        {
            Check.Equal(running, listed.RunningCountBefore);
            running += listed.Bucket.Count;
            Check.Equal(running, listed.RunningCount);
        }
        Check.Equal((ulong)values.Length, running);
    }

    /// <summary>Four values in a bucket of sixteen: each has a quarter of it.</summary>
    [Test]
    public static void InterpolatedValues()
    {
        HdrHistogram histogram = HdrHistogram.Factory.WithRelativeError(0.01).Create();
        Bucket wide = histogram.GetBucket(1024);
        Check.Equal(16ul, wide.Step);
        histogram.Record(wide.Start, 4);
        for (int i = 0; i < 4; i++)
        {
            double rank = (i + 1) * 25;
            ulong expected = wide.Start + (ulong)i * 4;
            Percentile percentile = histogram.GetPercentile(rank, EquivalentValueSelection.Interpolated);
            Check.Equal(expected, percentile.Value);
            Check.Equal(expected, histogram.GetPercentile(rank).GetValue(EquivalentValueSelection.Interpolated));
            Check.Equal(expected, histogram.GetPercentileValue(rank, EquivalentValueSelection.Interpolated));
            var values = new ulong[1];
            histogram.GetPercentileValues(new[] { rank }, values, EquivalentValueSelection.Interpolated);
            Check.Equal(expected, values[0]);
        }
        Check.Equal(wide.Start + 12, histogram.GetSummary(null, EquivalentValueSelection.Interpolated).P100.Value);
        Check.Throws<ArgumentOutOfRangeException>(() => wide.GetValue(EquivalentValueSelection.Interpolated));
    }

    [Test]
    public static void ListsOfNothingThrow()
    {
        Check.Throws<InvalidOperationException>(() => new Buckets().GetEnumerator());
        Check.Throws<InvalidOperationException>(() => new BucketPercentiles().GetEnumerator());
        HdrHistogram histogram = HdrHistogram.Create();
        histogram.Record(5);
        Check.Equal(5ul, histogram.BucketsWithValues.Single().Start);
        Check.Equal(100.0, histogram.BucketPercentilesWithValues.Single().Rank);
    }

    [Test]
    public static void RanksOfBuckets()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        histogram.Record(1, 183827);
        histogram.Record(2, 1000000 - 183827);
        Percentile first = histogram.BucketPercentilesWithValues.First();
        Check.Equal(91914ul, first.TargetCount);
        Check.True(first.ToString().StartsWith("P9.1914="), first.ToString());
    }

    [Test]
    public static void SummariesAreValues()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        Check.True(new HdrHistogramSummary().Equals(new HdrHistogramSummary()), "NaN equals NaN");
        histogram.Record(5);
        HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
        HdrHistogramSummary one = snapshot.GetSummary(), same = snapshot.GetSummary();
        Check.True(one == same && one.Equals((object)same) && one.GetHashCode() == same.GetHashCode(), "equal");
        histogram.Record(7);
        snapshot.Update(false);
        int before = same.GetHashCode();
        snapshot.GetSummary(same);
        Check.True(one != same && !one.Equals(null) && before != same.GetHashCode(), "another filling");
        Percentile[] named =
        {
            same.P0, same.P1, same.P5, same.P10, same.P25, same.P50, same.P75, same.P90, same.P925, same.P95, same.P975, same.P99, same.P999,
            same.P9999, same.P99999, same.P100
        };
        double[] ranks = { 0, 1, 5, 10, 25, 50, 75, 90, 92.5, 95, 97.5, 99, 99.9, 99.99, 99.999, 100 };
        Check.True(named.SequenceEqual(same.GetPercentiles()) && named.Select(one => one.Rank).SequenceEqual(ranks), "each has its rank");
        Check.Equal(7ul, same.Percentiles.ToArray()[15].Value);
        Check.Equal(2.0, histogram.Mean() - 4);
        Check.Equal(1.0, histogram.StDev());
    }

    [Test]
    public static void CounterValuesAndSnapshots()
    {
        using PerfEventCounterSession session = PerfEventCounterSession.Factory
            .WithSoftwareCounter(PerfSoftwareCounterId.TaskClock, out PerfEventCounter clock)
            .WithSoftwareCounter(PerfSoftwareCounterId.PageFaults, out PerfEventCounter faults).Create();
        Check.Equal(0, session.Pid);
        Check.Equal(-1, session.Cpu);
        session.Read();
        PerfEventCounterValue earlier = clock.Current;
        CpuUtils.AddChain256(10000);
        session.Read();
        PerfEventCounterValue later = clock.Current, passed = later - earlier;
        Check.Equal(later.RawValue - earlier.RawValue, passed.RawValue);
        Check.Equal(clock.RawDelta, passed.RawValue);
        Check.True(passed.Value > 0, "time passed");
        Check.Equal(later.Value, (earlier + passed).Value);
        Check.Equal(later.TimeEnabled, (earlier + passed).TimeEnabled);
        PerfEventKnownCountersSnapshot snapshot = session.Counters.GetSnapshot(false);
        Check.Equal(2, snapshot.Count);
        Check.Equal(later.ScaledValue, snapshot.Software.TaskClock.Value);
        Check.Equal(faults.Current.ScaledValue, snapshot.Software.PageFaults.Value);
        Check.True(snapshot.Hardware.CpuCycles == null && snapshot.Caches.LLReadMiss == null, "not there");
        session.Counters.ToSnapshot(snapshot, true);
        Check.Equal(clock.Delta.ScaledValue, snapshot.Software.TaskClock.Value);
        Check.True(!faults.HasUserRdpmc && !faults.HasUserTime, "by system call");
        Check.Throws<ArgumentOutOfRangeException>(() => snapshot[2].ToString());
    }

    /// <summary>Each call is in the form of the published package: this test fails if it does not compile.</summary>
    [Test]
    public static void CallsOfThePublishedIntroductionCompile()
    {
        using PerfEventCounterSession session = PerfEventCounterSession.Factory
            .WithTarget((int)0, -1).WithPinned(false).WithKernel(false).WithEnabled(true)
            .WithSoftwareCounter(PerfSoftwareCounterId.TaskClock).Create();
        for (int i = 0; i < 10; i++)
        {
            session.Read(forceSyscallRead: true);
            CpuUtils.AddChain256(1000);
            session.Read(forceSyscallRead: false);
            session.Record(deltas: true);
        }
        session.Read();
        bool fast = session.HasUserRdpmc, time = session.HasUserTime;
        Check.True(!fast && !time, "software counters are read by system call");
        PerfEventKnownCounters counters = session.Counters;
        PerfEventKnownCountersSnapshot snapshot = counters.GetSnapshot();
        ulong? since = snapshot.Software.TaskClock;
        counters.ToSnapshot(snapshot);
        Check.Equal(since, snapshot.Software.TaskClock, "since the base, as without the argument");
        Check.Equal(10ul, counters[0].Histogram.TotalCount);

        if (PerfEventCounterSession.TryGetNumberOfCounters(out uint fixedCounters, out uint programmableCounters))
            WithHardware();
        else
            Check.True(fixedCounters == 0 && programmableCounters == 0 && !PerfEventCounterSession.IsSupported, "none");
        var unsorted = new HdrHistogramSummary();
        counters[0].Histogram.GetSummary(unsorted);
        Check.Equal(10ul, unsorted.TotalCount);

        HdrHistogram histogram = Narrow();
        Check.True(histogram.RecordInRange(500), "in range");
        Check.True(!histogram.RecordInRange(500, min: 600), "too small");
        Check.True(!histogram.RecordInRange(500, max: 400), "too large");
        Check.Equal(2ul, histogram.OverflowCount);
    }

    private static void WithHardware()
    {
        using PerfEventCounterSession session = PerfEventCounterSession.Factory
            .WithTarget((int)CpuUtils.GetOsThreadId(), -1).WithFixedCounters()
            .WithHardwareCounter(PerfHardwareCounterId.BranchMisses).WithCacheCounter(PerfCacheCounterId.L1DReadMiss)
            .WithCacheCounter(PerfCacheCounterId.L1IReadMiss).WithSkipUnavailable().Create();
        session.Read();
        CpuUtils.AddChain512(1000);
        session.Read();
        foreach (PerfEventCounter counter in session.Counters)
            Check.True($"{counter.Name} {counter.PairReadOverhead:N0}".Length > 5, "its name and what a reading takes");
        Check.True(session.Counters.Hardware.CpuCycles!.Delta.Value > 0, "cycles passed");
    }

    [Test]
    public static void TheThreadOfABenchmark()
    {
        Check.True(CpuUtils.GetCpu() >= 0, "a processor");
        Check.True(CpuUtils.WarmupCpu() > 1e7, "additions a second");
        foreach (int none in new[] { -1, 1023, 100000 })
            Check.True(!CpuUtils.PrepareBenchmarkThread(none), $"there is no processor {none}");
        ModeTests.Run(1, thread =>
        {
            ProcessThread own = CpuUtils.GetCurrentProcessThread();
            Check.Equal(CpuUtils.GetOsThreadId(), own.Id);
        });
    }

    /// <summary>In a separate process, because niceness cannot be lowered again.</summary>
    [Test]
    public static void APreparedThreadStays()
    {
        ModeTests.Run(1, thread =>
        {
            int core = CpuUtils.GetCpu();
            bool pinned = CpuUtils.PrepareBenchmarkThread(core);
            Check.True(pinned, "the thread stays where it is");
            for (int i = 0; i < 100; i++)
            {
                System.Threading.Thread.Sleep(0);
                Check.Equal(core, CpuUtils.GetCpu());
            }
        });
    }
}
