using System;
using Picollo.PerfEvent;

namespace Picollo.Samples
{
    /// <summary>Counts work whose cycles are known: a thousand times 256 additions that wait for each other.</summary>
    internal static class KnownWork
    {
        internal static void Run()
        {
            if (!PerfEventCounterSession.TryGetNumberOfCounters(out uint fixedCounters, out uint programmableCounters))
                Console.WriteLine("CPU PMU: unavailable");
            Console.WriteLine($"CPU PMU: fixedCounters={fixedCounters}, programmableCounters={programmableCounters}");

            PerfEventCounterSession session;
            try
            {
                session = PerfEventCounterSession.Factory
                    .WithTarget(0, -1)
                    .WithPinned(true)
                    .WithKernel(false)
                    .WithEnabled(true)
                    .WithFixedCounters()
                    .WithHardwareCounter(PerfHardwareCounterId.BranchMisses)
                    .WithCacheCounter(PerfCacheCounterId.L1DReadMiss)
                    .Create();
            }
            catch (PicolloException missing)
            {
                Console.WriteLine($"SKIPPED, and with software counters instead: {missing.Message}");
                session = PerfEventCounterSession.Factory
                    .WithSoftwareCounter(PerfSoftwareCounterId.TaskClock)
                    .WithSoftwareCounter(PerfSoftwareCounterId.PageFaults)
                    .Create();
            }

            using (session)
            {
                for (int i = 0; i < 2000; i++)
                {
                    session.Read(PerfReadMode.SystemCall);
                    CpuUtils.AddChain256(1000);
                    session.Read(PerfReadMode.SystemCall);
                    session.Record(deltas: true);

                    if (i == 1000)
                        session.Reset(); // Warm from here on.
                }
                foreach (PerfEventCounter counter in session.Counters)
                    counter.Histogram.GetSummary().PrettyPrint(counter.Name);
            }
        }
    }
}
