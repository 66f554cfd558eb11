using System.Text;

namespace Picollo.PerfEvent;

public sealed unsafe partial class PerfEventCounterSession
{
    private uint _flags;
    private int _thread;
    private int _cpu = -1;
    private double _relativeError;

    /// <summary>Begins the configuration of a session.</summary>
    public static PerfEventCounterSessionFactory Factory =>
        new PerfEventCounterSessionFactory(new PerfEventCounterSession());

    /// <summary>The configuration of a session.</summary>
    public readonly ref struct PerfEventCounterSessionFactory
    {
        private readonly PerfEventCounterSession _session;

        internal PerfEventCounterSessionFactory(PerfEventCounterSession session)
        {
            _session = session;
        }

        private PerfEventCounterSession Session =>
            _session ?? throw new InvalidOperationException("Use PerfEventCounterSession.Factory.");

        /// <summary>
        /// What to count. 0 and -1: the calling thread on any processor, the default. A thread's id and -1: that
        /// thread. Both: the thread, only while it runs there. -1 and a processor: everything there, with a privilege.
        /// </summary>
        public PerfEventCounterSessionFactory WithTarget(int threadId, int cpu)
        {
            if (threadId < 0 && cpu < 0)
                throw new ArgumentException("Every thread on every processor cannot be counted: name one of the two.");
            Session._thread = threadId < 0 ? -1 : threadId;
            Session._cpu = cpu < 0 ? -1 : cpu;
            return SetFlag(Constants.SessionOnCpu, cpu >= 0);
        }

        /// <summary>
        /// Keep the counters of the first group running all the time, as far as the machine can. If it cannot, at once
        /// or later, they are multiplexed like any others. That is no exception; <see cref="PerfEventCounter.Message"/>
        /// reports it. An interval that was lost because of it is not counted. Off by default.
        /// </summary>
        public PerfEventCounterSessionFactory WithPinned(bool pinned = true) => SetFlag(Constants.SessionPinned, pinned);

        /// <summary>
        /// Count in the kernel as well. Off by default. Without the privilege, opening fails, for software and
        /// hardware. <see cref="WithSkipUnavailable"/> counts in user space instead, and
        /// <see cref="PerfEventCounter.Message"/> reports it. Clocks, context switches and migrations count the same
        /// with it and without.
        /// </summary>
        public PerfEventCounterSessionFactory WithKernel(bool withKernel = true) => SetFlag(Constants.SessionKernel, withKernel);

        /// <summary>Count from the beginning instead of from <see cref="Enable"/> on. On by default.</summary>
        public PerfEventCounterSessionFactory WithEnabled(bool enabled = true) => SetFlag(Constants.SessionDisabled, !enabled);

        /// <summary>Count threads and processes that the target starts as well. Off by default.</summary>
        public PerfEventCounterSessionFactory WithInherit(bool inherit = true) => SetFlag(Constants.SessionInherit, inherit);

        /// <summary>
        /// Open the session without the counters that this machine lacks; <see cref="PerfEventCounter.Status"/> and
        /// <see cref="PerfEventCounter.Message"/> explain. Off by default: a missing counter is an exception.
        /// </summary>
        public PerfEventCounterSessionFactory WithSkipUnavailable(bool skip = true) =>
            SetFlag(Constants.SessionSkipUnavailable, skip);

        /// <summary>Let the processor finish earlier instructions before each fast reading. Off by default.</summary>
        public PerfEventCounterSessionFactory WithOrderedReads(bool ordered = true) => SetFlag(Constants.SessionOrdered, ordered);

        /// <summary>Measure the cost of reading, and subtract it from every delta. Off by default.</summary>
        public PerfEventCounterSessionFactory WithOverheadSubtracted(bool subtract = true) =>
            SetFlag(Constants.SessionSubtract, subtract);

        /// <summary>
        /// Never read in user space: for programs that a fault must not end if somebody forbids such reads while they
        /// run. Off by default.
        /// </summary>
        public PerfEventCounterSessionFactory WithSystemCallsOnly(bool only = true) => SetFlag(Constants.SessionSyscallOnly, only);

        /// <summary>The relative error of the histograms; 0.001 by default.</summary>
        public PerfEventCounterSessionFactory WithRelativeError(double value)
        {
            Session._relativeError = Arguments.RelativeError(value, 1e-6, nameof(value));
            return this;
        }

        /// <summary>Instructions, cycles and reference cycles; fixed counters for them take no other's place.</summary>
        public PerfEventCounterSessionFactory WithFixedCounters() =>
            WithHardwareCounter(PerfHardwareCounterId.Instructions)
                .WithHardwareCounter(PerfHardwareCounterId.CpuCycles)
                .WithHardwareCounter(PerfHardwareCounterId.RefCpuCycles);

        /// <summary>The fixed counters, branches, mispredicted branches, cache references and misses.</summary>
        public PerfEventCounterSessionFactory WithHardwareCounters() =>
            WithFixedCounters()
                .WithHardwareCounter(PerfHardwareCounterId.BranchInstructions)
                .WithHardwareCounter(PerfHardwareCounterId.BranchMisses)
                .WithHardwareCounter(PerfHardwareCounterId.CacheReferences)
                .WithHardwareCounter(PerfHardwareCounterId.CacheMisses);

        /// <summary>Adds a generic hardware counter.</summary>
        public PerfEventCounterSessionFactory WithHardwareCounter(PerfHardwareCounterId id) => WithHardwareCounter(id, out _);

        /// <summary>Adds a generic hardware counter and returns it.</summary>
        public PerfEventCounterSessionFactory WithHardwareCounter(PerfHardwareCounterId id, out PerfEventCounter counter) =>
            Add(PerfTypeId.Hardware, (ulong)id, "Hardware:" + id, out counter);

        /// <summary>Adds a software counter.</summary>
        public PerfEventCounterSessionFactory WithSoftwareCounter(PerfSoftwareCounterId id) => WithSoftwareCounter(id, out _);

        /// <summary>Adds a software counter and returns it.</summary>
        public PerfEventCounterSessionFactory WithSoftwareCounter(PerfSoftwareCounterId id, out PerfEventCounter counter) =>
            Add(PerfTypeId.Software, (ulong)id, "Software:" + id, out counter);

        /// <summary>Adds a cache counter.</summary>
        public PerfEventCounterSessionFactory WithCacheCounter(PerfCacheCounterId id) => WithCacheCounter(id, out _);

        /// <summary>Adds a cache counter and returns it.</summary>
        public PerfEventCounterSessionFactory WithCacheCounter(PerfCacheCounterId id, out PerfEventCounter counter) =>
            Add(PerfTypeId.HardwareCache, (ulong)id, "Cache:" + id, out counter);

        /// <summary>Adds an event by the processor's own code.</summary>
        public PerfEventCounterSessionFactory WithRawCounter(ulong config) => WithRawCounter(config, out _);

        /// <summary>Adds an event by the processor's own code and returns it.</summary>
        public PerfEventCounterSessionFactory WithRawCounter(ulong config, out PerfEventCounter counter) =>
            Add(PerfTypeId.Raw, config, "Raw:0x" + config.ToString("x", System.Globalization.CultureInfo.InvariantCulture), out counter);

        /// <summary>
        /// Adds an event by name: <c>cycles</c>, <c>branch-misses</c>, <c>L1-dcache-load-misses</c>, <c>page-faults</c>, <c>r01c2</c>,
        /// <c>cpu/event=0x3c,umask=0x1/</c>, <c>msr/tsc/</c>, <c>sched:sched_switch</c>, <c>mem:0xADDRESS/8:w</c>.
        /// </summary>
        /// <exception cref="PicolloException">It is no event, or this machine does not know it.</exception>
        public PerfEventCounterSessionFactory WithCounter(string name) => WithCounter(name, out _);

        /// <summary>Adds an event by name and returns it.</summary>
        public PerfEventCounterSessionFactory WithCounter(string name, out PerfEventCounter counter)
        {
            ArgumentNullException.ThrowIfNull(name);
            Loader.Ensure();
            PicolloEvent parsed;
            PicolloError error;
            fixed (byte* spec = Utf8.ToNative(name, nameof(name)))
                Outcome.Check(NativeMethods.picollo_event_parse(spec, &parsed, &error), &error);
            return Add(parsed, out counter);
        }

        /// <summary>Adds events by name, in this order: <c>WithCounters("cycles", "page-faults")</c>.</summary>
        /// <exception cref="PicolloException">One is unknown to this machine; the message names it.</exception>
        public PerfEventCounterSessionFactory WithCounters(params string[] names)
        {
            ArgumentNullException.ThrowIfNull(names);
            if (Array.IndexOf(names, null) >= 0)
                throw new ArgumentException("Each name is the name of an event: one is null.", nameof(names));
            foreach (string name in names)
                WithCounter(name);
            return this;
        }

        /// <summary>Opens the counters.</summary>
        /// <exception cref="PicolloException">A counter cannot be opened; the message explains what to do.</exception>
        public PerfEventCounterSession Create()
        {
            PerfEventCounterSession session = Session;
            session.Open(
                session._flags, session._thread, session._cpu, session._relativeError,
                (session._flags & Constants.SessionSubtract) != 0);
            return session;
        }

        private PerfEventCounterSessionFactory SetFlag(uint flag, bool on)
        {
            Session._flags = on ? Session._flags | flag : Session._flags & ~flag;
            return this;
        }

        private PerfEventCounterSessionFactory Add(PerfTypeId type, ulong config, string name, out PerfEventCounter counter)
        {
            var description = new PicolloEvent { Type = (uint)type, Config = config, Scale = 1 };
            byte[] bytes = Encoding.ASCII.GetBytes(name);
            for (int i = 0; i < bytes.Length && i < PicolloEvent.NameLength - 1; i++)
                description.Name[i] = bytes[i];
            return Add(description, out counter);
        }

        private PerfEventCounterSessionFactory Add(PicolloEvent description, out PerfEventCounter counter)
        {
            if (Session._handle != null)
                throw new InvalidOperationException("The session is open already.");
            counter = new PerfEventCounter(Session, Session.Counters.Count, in description);
            Session.Counters.Add(counter);
            return this;
        }
    }
}
