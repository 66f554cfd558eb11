namespace Picollo.Tests;

/// <summary>Sessions on software events, which need no performance counters; errors without counters.</summary>
public static class SessionTests
{
    private static PerfEventCounterSession Software() =>
        PerfEventCounterSession.Factory
            .WithSoftwareCounter(PerfSoftwareCounterId.PageFaults)
            .WithSoftwareCounter(PerfSoftwareCounterId.TaskClock)
            .Create();

    /// <summary>Touches new pages, with at least one fault each.</summary>
    private static void Fault(int pages)
    {
        IntPtr memory = mmap(IntPtr.Zero, (UIntPtr)(pages * 4096), 3, 0x22, -1, IntPtr.Zero);
        for (int page = 0; page < pages; page++)
            System.Runtime.InteropServices.Marshal.WriteByte(memory, page * 4096, 1);
        munmap(memory, (UIntPtr)(pages * 4096));
    }

    [System.Runtime.InteropServices.DllImport("libc")]
    private static extern IntPtr mmap(
        IntPtr address, UIntPtr length, int protection, int flags, int descriptor, IntPtr offset);

    [System.Runtime.InteropServices.DllImport("libc")]
    private static extern int munmap(IntPtr address, UIntPtr length);

    [Test]
    public static void PageFaultsAreCounted()
    {
        Fault(1);
        using PerfEventCounterSession session = Software();
        PerfEventCounter faults = session.Counters.Software.PageFaults;
        var values = new PerfEventCounterValue[3];
        Check.Fails(PicolloStatus.Empty, () => session.Readings(values, deltas: true), "without a reading");
        for (int i = 0; i < 20; i++)
        {
            session.Read(PerfReadMode.SystemCall);
            Fault(100);
            session.Read(PerfReadMode.SystemCall);
            session.Record(deltas: true);
        }
        HdrHistogramSummary summary = faults.Histogram.GetSummary();
        Check.Equal(20ul, summary.TotalCount);
        Check.True(summary.P50.Value >= 100 && summary.P50.Value < 130, summary.ToString(faults.Name));
        Check.True(faults.Delta.Value >= 100 && faults.Current.Value >= 2000, $"in all {faults.Current.Value}");
        // All counters in one copy equal the single ones.
        foreach (bool deltas in new[] { true, false })
        {
            session.Readings(values, deltas);
            for (int i = 0; i < 2; i++)
            {
                PerfEventCounterValue one = deltas ? session.Counters[i].Delta : session.Counters[i].Current;
                Check.Equal(
                    (one.Value, one.RawValue, one.TimeEnabled, one.TimeRunning, one.Flags, PicolloStatus.Ok),
                    (values[i].Value, values[i].RawValue, values[i].TimeEnabled, values[i].TimeRunning, values[i].Flags, values[i].Status));
                Check.True(one.TimeRunning > 0 && one.Value == one.RawValue, "its time");
            }
            Check.Equal(0ul, values[2].TimeEnabled, "beyond the counters");
        }
        Check.Throws<ArgumentException>(() => session.Readings(new PerfEventCounterValue[1], deltas: true));
        session.Reset();
        Check.Equal(0ul, faults.Histogram.TotalCount);
    }

    [Test]
    public static void CountersByName()
    {
        using PerfEventCounterSession session = PerfEventCounterSession.Factory
            .WithSoftwareCounter(PerfSoftwareCounterId.TaskClock, out PerfEventCounter clock)
            .WithCounter("page-faults", out PerfEventCounter faults)
            .Create();
        Check.Equal(2, session.Counters.Count);
        Check.True(ReferenceEquals(clock, session.Counters[0]), "in order");
        Check.True(ReferenceEquals(faults, session.Counters[1]), "in order");
        Check.True(ReferenceEquals(clock, session.Counters.Software.TaskClock), "by name");
        Check.True(ReferenceEquals(faults, session.Counters.Software.PageFaults), "by name");
        Check.True(ReferenceEquals(faults, session.Counters["Software:PageFaults"]), "by its own name");
        Check.True(session.Counters.Software.ContextSwitches == null, "absent");
        Check.True(session.Counters.Hardware.CpuCycles == null, "absent");
        Check.True(session.Counters.Caches.L1DReadMiss == null, "absent");
        Check.True(session.Counters["nothing"] == null, "absent");
        Check.Equal("Software:TaskClock", clock.Name);
        Check.Equal("Software:TaskClock, Software:PageFaults", session.ToString());
        Check.Equal(PicolloStatus.Ok, clock.Status);
        Check.True(session.Counters.Select(counter => counter.Name).SequenceEqual(
            new[] { "Software:TaskClock", "Software:PageFaults" }), "enumerable");
        foreach (PerfEventCounter counter in session.Counters)
            Check.Equal(0ul, counter.Histogram.TotalCount);
        Check.Equal(0ul, clock.NotCountedCount);
    }

    [Test]
    public static void DisabledUntilEnabled()
    {
        int own = CpuUtils.GetOsThreadId();
        using PerfEventCounterSession session = PerfEventCounterSession.Factory
            .WithTarget(own, -1).WithEnabled(false).WithSoftwareCounter(PerfSoftwareCounterId.PageFaults).Create();
        Check.Equal(own, session.Pid);
        Fault(50);
        session.Read(PerfReadMode.SystemCall);
        Check.Equal(0ul, session.Counters[0].Current.RawValue);
        session.Enable();
        Fault(50);
        session.Disable();
        Fault(50);
        session.Read(PerfReadMode.SystemCall);
        ulong counted = session.Counters[0].Current.Value;
        Check.True(counted >= 50 && counted < 90, $"{counted}");
    }

    [Test]
    public static void ThreadsTakeTurns()
    {
        using (PerfEventCounterSession session = Software())
            ModeTests.Run(3, thread =>
            {
                for (int i = 0; i < 2000; i++)
                {
                    session.Read(PerfReadMode.SystemCall);
                    if (i % 16 == 0)
                        session.Reset();
                    session.Counters[0].Histogram.GetSummary();
                    Check.Equal(PicolloStatus.Ok, session.Counters[1].Status);
                }
            });
    }

    [Test]
    public static void FreedInAnyOrder()
    {
        for (int i = 0; i < 200; i++)
        {
            PerfEventCounterSession session = Software();
            HdrHistogram histogram = session.Counters[0].Histogram;
            HdrHistogramSnapshot snapshot = histogram.GetSnapshot();
            session.Read();
            session.Record(true);
            if (i % 2 == 0)
                session.Dispose();
            if (i % 3 == 0)
                histogram.Dispose();
            snapshot.Update(true);
            Check.Equal(1ul, snapshot.TotalCount);
            if (i % 50 == 49)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }
    }

    [Test]
    public static void Factories()
    {
        Check.Throws<InvalidOperationException>(() => PerfEventCounterSession.Factory.Create(), "of nothing");
        Check.Throws<ArgumentException>(() => PerfEventCounterSession.Factory.WithTarget(-1, -1));
        Check.Throws<ArgumentNullException>(() => PerfEventCounterSession.Factory.WithCounter(null));
        Check.Throws<InvalidOperationException>(() => default(PerfEventCounterSession.PerfEventCounterSessionFactory).Create());
        Check.Throws<InvalidOperationException>(() =>
        {
            PerfEventCounterSession.Factory.WithRawCounter(0x01c2, out PerfEventCounter counter);
            counter.Histogram.Reset();
        }, "before Create");
    }

    [Test]
    public static void DeltasInOneCall()
    {
        using PerfEventCounterSession session = PerfEventCounterSession.Factory.WithCounters("page-faults", "task-clock").Create();
        Check.Equal("Software:PageFaults", session.Counters[0].Name);
        var deltas = new ulong[3];
        deltas[2] = 77;
        Fault(1);
        session.ReadDeltas(deltas);
        Fault(100);
        session.ReadDeltas(deltas);
        Check.True(deltas[0] >= 100 && deltas[0] < 1000, $"{deltas[0]} faults of 100");
        Check.True(deltas[1] > 0, "time");
        Check.Equal(77ul, deltas[2], "what is not asked for");
        session.ReadDeltas(deltas, PerfReadMode.SystemCall);
        Check.True(deltas[0] < 100, "only those since the last");
        ArgumentException small = Check.Throws<ArgumentException>(() => session.ReadDeltas(new ulong[1]));
        Check.True(small.ParamName == "deltas" && small.Message.Contains("2"), small.Message);
        AllocationTests.Nothing("ReadDeltas", () => session.ReadDeltas(deltas));
    }

    /// <summary>More counters than the stack has room for; a missing counter is not a zero.</summary>
    [Test]
    public static void DeltasOfManyAndOfMissingCounters()
    {
        var deltas = new ulong[40];
        using (PerfEventCounterSession session = PerfEventCounterSession.Factory.WithCounters(Enumerable.Repeat("task-clock", 40).ToArray()).Create())
        {
            session.ReadDeltas(deltas);
            CpuUtils.AddChain256(1000);
            session.ReadDeltas(deltas);
            Check.True(deltas.All(delta => delta > 0), "each of them");
        }
        if (PerfMachine.Probe().IsPmuAvailable)
            return;
        using (PerfEventCounterSession session = PerfEventCounterSession.Factory
            .WithSkipUnavailable().WithCounters("task-clock", "cycles").Create())
        {
            deltas[0] = deltas[1] = 77;
            PicolloException missing = Check.Throws<PicolloException>(() => session.ReadDeltas(deltas));
            Check.True(missing.EventIndex == 1 && missing.Message.Contains("Cycles"), missing.Message);
            Check.True(deltas[0] == 77 && deltas[1] == 77, "nothing was handed out");
        }
    }

    /// <summary>The counts include other threads.</summary>
    [Test]
    public static void AProcessWithAllItsThreads()
    {
        using (var process = new PerfEventProcess(0, "page-faults", "task-clock"))
        {
            Check.True(process.ThreadCount >= 2, $"{process.ThreadCount} threads");
            Check.Equal("page-faults,task-clock", string.Join(",", process.Names));
            var values = new PerfEventCounterValue[2];
            process.Read(values, deltas: true);
            ModeTests.Run(2, thread => Fault(500));
            process.Read(values, deltas: true);
            Check.True(values[0].Value >= 1000 && values[0].Status == PicolloStatus.Ok, $"{values[0].Value} faults of 1000, {values[0].Status}");
            ulong all = values[0].Value;
            process.Read(values, deltas: true);
            Check.True(values[0].Value < all && values[1].Value > 0, "only those since the last");
            process.Read(values, deltas: false);
            Check.True(values[0].Value >= all, "since the beginning");
            Check.Throws<ArgumentException>(() => process.Read(new PerfEventCounterValue[1], true));
        }
        Check.Equal("processId", Check.Throws<ArgumentException>(() => new PerfEventProcess(int.MaxValue, "task-clock")).ParamName);
        Check.Fails(PicolloStatus.NoSuchEvent, () => new PerfEventProcess(0, "nonsense"));
    }

    [Test]
    public static void UnknownEventsAreExplained()
    {
        foreach (Action call in new Action[]
        {
            () => PerfEventCounterSession.Factory.WithCounter("nonsense"),
            () => PerfEventCounterSession.Factory.WithCounters("page-faults", "nonsense")
        })
            Check.True(Check.Fails(PicolloStatus.NoSuchEvent, call).Message.Contains("nonsense"), "its name");
    }

    [Test]
    public static void MissingCountersAreExplained()
    {
        PerfMachine machine = PerfMachine.Probe();
        if (machine.IsPmuAvailable)
            throw new SkippedException("this machine has performance counters");
        Check.True(machine.Explanation.Length > 20, "the machine explains itself: " + machine.Explanation);
        Check.True(!PerfEventCounterSession.TryGetNumberOfCounters(out uint fixedCounters, out uint programmable), "none");
        Check.Equal(0u, fixedCounters + programmable);
        Check.True(!PerfEventCounterSession.IsCounterSupported(PerfHardwareCounterId.CpuCycles), "not this one either");
        PicolloException exception = Check.Throws<PicolloException>(() => PerfEventCounterSession.Factory
            .WithSoftwareCounter(PerfSoftwareCounterId.PageFaults)
            .WithHardwareCounter(PerfHardwareCounterId.BranchMisses)
            .Create());
        Check.Equal(PicolloStatus.NoSuchEvent, exception.Status, exception.Message);
        Check.Equal(1, exception.EventIndex);
        Check.Equal(2, exception.OsErrno, "ENOENT");
        Check.True(exception.Message.Contains("BranchMisses"), exception.Message);
        Console.WriteLine("the message of a missing counter: " + exception.Message);
    }

    [Test]
    public static void MissingCountersCanBeSkipped()
    {
        if (PerfMachine.Probe().IsPmuAvailable)
            throw new SkippedException("this machine has performance counters");
        using PerfEventCounterSession session = PerfEventCounterSession.Factory
            .WithSkipUnavailable()
            .WithHardwareCounter(PerfHardwareCounterId.CpuCycles)
            .WithSoftwareCounter(PerfSoftwareCounterId.TaskClock)
            .Create();
        PerfEventCounter missing = session.Counters.Hardware.CpuCycles;
        Check.Equal(PicolloStatus.NoSuchEvent, missing.Status);
        Check.True(missing.Message.Length > 10, missing.Message);
        session.Read();
        session.Record(deltas: true);
        Check.Equal(0ul, missing.Histogram.TotalCount, "never a zero");
        Check.Equal(PicolloStatus.NoSuchEvent, missing.Delta.Status);
        Check.Equal(1ul, session.Counters.Software.TaskClock.Histogram.TotalCount);
    }

    [Test]
    public static void NothingIsAllocated()
    {
        using PerfEventCounterSession session = Software();
        PerfEventCounter counter = session.Counters[0];
        var values = new PerfEventCounterValue[2];
        AllocationTests.Nothing("Read, Record, Delta, Readings", () =>
        {
            session.Read(PerfReadMode.SystemCall);
            session.Readings(values, deltas: false);
            session.Read();
            session.Read(PerfReadMode.SystemCall);
            session.Record(deltas: true);
            Check.True(counter.Delta.Status == PicolloStatus.Ok, "delta");
        });
        HdrHistogramSummary summary = counter.Histogram.GetSummary();
        AllocationTests.Nothing("Counters", () =>
        {
            foreach (PerfEventCounter each in session.Counters)
                each.Histogram.GetSummary(summary);
            Check.True(session.Counters.Software.TaskClock != null, "by name");
        });
    }

    [Test]
    public static void Calibration()
    {
        using PerfEventCounterSession session = PerfEventCounterSession.Factory
            .WithOverheadSubtracted().WithSoftwareCounter(PerfSoftwareCounterId.TaskClock).Create();
        Check.True(session.Counters[0].PairReadOverhead > 0, "two system calls take time");
        session.Calibrate();
        session.Read(PerfReadMode.SystemCall);
        session.Read(PerfReadMode.SystemCall);
        Check.True(session.Counters[0].Delta.Value <= session.Counters[0].Delta.RawValue, "subtracted");
    }

    /// <summary>The identifiers of cache events follow the kernel's rule.</summary>
    [Test]
    public static void CacheIdentifiers()
    {
        Check.Equal(42, Enum.GetValues(typeof(PerfCacheCounterId)).Length);
        Check.Equal(0x10000ul, (ulong)PerfCacheCounterId.L1DReadMiss);
        Check.Equal(0x10001ul, (ulong)PerfCacheCounterId.L1IReadMiss);
        Check.Equal(0x00102ul, (ulong)PerfCacheCounterId.LLWriteAccess);
        Check.Equal(0x10206ul, (ulong)PerfCacheCounterId.NodePrefetchMiss);
    }
}
