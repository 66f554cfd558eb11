using Picollo.Native;

namespace Picollo.PerfEvent
{
    /// <summary>What this machine offers in performance counters.</summary>
    public sealed class PerfMachine
    {
        private PerfMachine()
        {
        }

        /// <summary>Whether there are hardware counters.</summary>
        public bool IsPmuAvailable { get; private set; }

        /// <summary>Whether they can be read without a system call.</summary>
        public bool IsUserReadAvailable { get; private set; }

        /// <summary>Counters that count one thing each.</summary>
        public uint FixedCounters { get; private set; }

        /// <summary>Counters that count anything.</summary>
        public uint ProgrammableCounters { get; private set; }

        /// <summary>The kernel's perf_event_paranoid; null where it cannot be read.</summary>
        public int? Paranoid { get; private set; }

        /// <summary>Whether this is a virtual machine.</summary>
        public bool IsVirtual { get; private set; }

        /// <summary>What is missing and how to get it; "" when all is well.</summary>
        public string Explanation { get; private set; } = "";

        /// <summary>Looks.</summary>
        public static unsafe PerfMachine Probe()
        {
            Loader.Ensure();
            PicolloPerfInfo info;
            PicolloError error;
            Outcome.Check(NativeMethods.picollo_perf_probe(&info, &error), &error);
            return new PerfMachine
            {
                IsPmuAvailable = info.PmuAvailable != 0,
                IsUserReadAvailable = info.UserReadAvailable != 0,
                FixedCounters = info.FixedCounters,
                ProgrammableCounters = info.ProgrammableCounters,
                Paranoid = info.Paranoid == int.MinValue ? (int?)null : info.Paranoid,
                IsVirtual = info.Hypervisor != 0,
                Explanation = Utf8.FromField(info.Explanation, PicolloPerfInfo.ExplanationLength)
            };
        }
    }

    public sealed unsafe partial class PerfEventCounterSession
    {
        /// <summary>Whether this machine has hardware counters.</summary>
        public static bool IsSupported => PerfMachine.Probe().IsPmuAvailable;

        /// <summary>How many hardware counters there are; false where there are none. <see cref="PerfMachine"/> tells why.</summary>
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
}
