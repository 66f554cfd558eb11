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
    }
}
