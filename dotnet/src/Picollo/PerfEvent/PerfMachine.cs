namespace Picollo.PerfEvent;

/// <summary>This machine's performance counters.</summary>
public sealed unsafe class PerfMachine
{
    private readonly PicolloPerfInfo _info;

    private PerfMachine()
    {
        Loader.Ensure();
        PicolloPerfInfo info;
        PicolloError error;
        Outcome.Check(NativeMethods.picollo_perf_probe(&info, &error), &error);
        _info = info;
        Explanation = Utf8.FromField(info.Explanation, PicolloPerfInfo.ExplanationLength);
    }

    /// <summary>Whether there are hardware counters.</summary>
    public bool IsPmuAvailable => _info.PmuAvailable != 0;

    /// <summary>Whether they can be read without a system call.</summary>
    public bool IsUserReadAvailable => _info.UserReadAvailable != 0;

    /// <summary>Counters that count one event each.</summary>
    public uint FixedCounters => _info.FixedCounters;

    /// <summary>Counters that count any event.</summary>
    public uint ProgrammableCounters => _info.ProgrammableCounters;

    /// <summary>The kernel's perf_event_paranoid; null if it cannot be read.</summary>
    public int? Paranoid => _info.Paranoid == int.MinValue ? null : _info.Paranoid;

    /// <summary>Whether this is a virtual machine.</summary>
    public bool IsVirtual => _info.Hypervisor != 0;

    /// <summary>The missing capabilities and how to get them; "" if nothing is missing.</summary>
    public string Explanation { get; }

    /// <summary>Examines the machine.</summary>
    public static PerfMachine Probe() => new PerfMachine();
}

public sealed unsafe partial class PerfEventCounterSession
{
    /// <summary>Whether this machine has hardware counters.</summary>
    public static bool IsSupported => PerfMachine.Probe().IsPmuAvailable;

    /// <summary>How many hardware counters there are, or false: see <see cref="PerfMachine.Explanation"/>.</summary>
    public static bool TryGetNumberOfCounters(out uint fixedCounters, out uint programmableCounters)
    {
        PerfMachine machine = PerfMachine.Probe();
        fixedCounters = machine.FixedCounters;
        programmableCounters = machine.ProgrammableCounters;
        return machine.IsPmuAvailable;
    }

    /// <summary>Whether a generic hardware counter can be opened.</summary>
    public static bool IsCounterSupported(PerfHardwareCounterId id) => CanOpen(Factory.WithHardwareCounter(id));

    /// <summary>Whether a cache counter can be opened.</summary>
    public static bool IsCounterSupported(PerfCacheCounterId id) => CanOpen(Factory.WithCacheCounter(id));

    private static bool CanOpen(PerfEventCounterSessionFactory factory)
    {
        try
        {
            factory.Create().Dispose();
            return true;
        }
        catch (PicolloException)
        {
            return false;
        }
    }
}
