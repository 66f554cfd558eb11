using System.Runtime.InteropServices;

namespace Picollo.Tests;

/// <summary>
/// One scenario of the simulated PMU for each width of counter: checks every reading. For CoreCLR with the simulation
/// preloaded, and its path in SIMULATED_PMU_LIBRARY; see ci/simulated-pmu.sh.
/// </summary>
public static class SimulatedPmuTests
{
    private const int Reads = 100000;
    private const int Rearm = 2;
    private const int Reset = 3;
    private const int Migrate = 6;

    [StructLayout(LayoutKind.Sequential)]
    private struct Options
    {
        public uint Width, Period, Counters, UserReads, UserTime, Hidden, Clock, Drift;
    }

    [DllImport("simulated_pmu", EntryPoint = "simulated_pmu_reset")]
    private static extern void Start(ref Options options);

    [DllImport("simulated_pmu", EntryPoint = "simulated_pmu_count")]
    private static extern void Count(ulong number);

    [DllImport("simulated_pmu", EntryPoint = "simulated_pmu_truth")]
    private static extern ulong Truth(uint counter);

    [DllImport("simulated_pmu", EntryPoint = "simulated_pmu_act")]
    private static extern void Act(int action);

    [Test]
    public static void Width32Rearmed() => Scenario(32, Rearm);

    [Test]
    public static void Width40ResetByAnotherHolder() => Scenario(40, Reset);

    [Test]
    public static void Width48Migrated() => Scenario(48, Migrate);

    private static void Scenario(uint width, int action)
    {
        if (Environment.GetEnvironmentVariable("SIMULATED_PMU_LIBRARY") == null)
            throw new SkippedException("needs the simulated PMU, see ci/simulated-pmu.sh");
        var options = new Options { Width = width, Counters = 4, UserReads = 1, UserTime = 1 };
        Start(ref options);
        int fast = 0;
        using (PerfEventCounterSession session = PerfEventCounterSession.Factory
            .WithHardwareCounter(PerfHardwareCounterId.CpuCycles)
            .WithHardwareCounter(PerfHardwareCounterId.Instructions)
            .Create())
        {
            var before = new[] { Truth(0), Truth(1) };
            for (uint i = 0; i < Reads; i++)
            {
                Count(i % 977 + (action == Reset ? 2000u : 0u));
                bool acted = i % 20 == 19;
                if (acted)
                {
                    // Reads the counts so far, so that later counts cannot hide a reset.
                    session.Read();
                    Act(action);
                    for (uint k = 0; k < 2; k++)
                        before[k] = action == Reset ? 0 : Truth(k);
                    Count(7);
                }
                session.Read();
                for (int k = 0; k < 2; k++)
                {
                    ulong truth = Truth((uint)k);
                    PerfEventCounterValue delta = session.Counters[k].Delta;
                    bool resynced = (delta.Flags & PerfReadingFlags.Resync) != 0;
                    if (delta.RawValue != truth - before[k] || resynced != (acted && action == Reset))
                        throw new Exception(
                            $"round {i}, counter {k}: {delta.RawValue}, truth {truth - before[k]}, {delta.Flags}");
                    if ((delta.Flags & PerfReadingFlags.Fast) != 0)
                        fast++;
                    before[k] = truth;
                }
            }
        }
        if (fast <= Reads * 2 * 0.8)
            throw new Exception($"only {fast} of {2 * Reads} readings were made in user space");
    }
}
