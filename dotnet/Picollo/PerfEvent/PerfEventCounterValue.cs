using Picollo.Native;

namespace Picollo.PerfEvent
{
    /// <summary>What a counter counted, in total or between two readings.</summary>
    public readonly struct PerfEventCounterValue
    {
        private readonly PicolloReading _native;

        internal PerfEventCounterValue(in PicolloReading native)
        {
            _native = native;
        }

        /// <summary>
        /// The count: scaled when the counter had to share the hardware, and without the cost of reading where that was asked for.
        /// </summary>
        public ulong Value => _native.Value;

        /// <summary>The count as read.</summary>
        public ulong RawValue => _native.Raw;

        /// <summary>Nanoseconds for which the counter was switched on.</summary>
        public ulong TimeEnabled => _native.TimeEnabled;

        /// <summary>Nanoseconds for which it counted; less than <see cref="TimeEnabled"/> when it had to share.</summary>
        public ulong TimeRunning => _native.TimeRunning;

        /// <summary>What is known of the reading.</summary>
        public PerfReadingFlags Flags => (PerfReadingFlags)_native.Flags;

        /// <summary>Ok, NotCounted, or why the counter is not open.</summary>
        public PicolloStatus Status => (PicolloStatus)_native.Status;

        /// <summary>The same as <see cref="Value"/>.</summary>
        public ulong ScaledValue => _native.Value;

        /// <summary>Counts and times of two values, modulo 2⁶⁴, with the flags of both, and the status of the first that is not Ok.</summary>
        public static PerfEventCounterValue operator +(PerfEventCounterValue left, PerfEventCounterValue right) =>
            Combine(in left._native, in right._native, 1);

        /// <summary>The difference of counts and times, modulo 2⁶⁴: what was counted from one value to a later one.</summary>
        public static PerfEventCounterValue operator -(PerfEventCounterValue left, PerfEventCounterValue right) =>
            Combine(in left._native, in right._native, ulong.MaxValue);

        /// <param name="a">The first.</param>
        /// <param name="b">The second.</param>
        /// <param name="sign">1 or, modulo 2⁶⁴, -1.</param>
        private static PerfEventCounterValue Combine(in PicolloReading a, in PicolloReading b, ulong sign) =>
            unchecked(new PerfEventCounterValue(new PicolloReading
            {
                Value = a.Value + sign * b.Value,
                Raw = a.Raw + sign * b.Raw,
                TimeEnabled = a.TimeEnabled + sign * b.TimeEnabled,
                TimeRunning = a.TimeRunning + sign * b.TimeRunning,
                Flags = a.Flags | b.Flags,
                Status = a.Status != 0 ? a.Status : b.Status
            }));
    }
}
