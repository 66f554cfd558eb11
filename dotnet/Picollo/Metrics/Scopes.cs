using System;
using System.Diagnostics;

namespace Picollo.Metrics
{
    /// <summary>Measures a <c>using</c> block in ticks of <see cref="Stopwatch"/>, and records that.</summary>
    public struct TickScope : IDisposable
    {
        private HdrHistogram? _histogram;
        private readonly long _start;

        /// <summary>Begins to measure.</summary>
        /// <param name="histogram">What to record in; null: nothing.</param>
        public TickScope(HdrHistogram? histogram)
        {
            _histogram = histogram;
            _start = Stopwatch.GetTimestamp();
        }

        /// <summary>Ticks in a second.</summary>
        public static ulong OneSecondValue => (ulong)Stopwatch.Frequency;

        /// <summary>Records the time since the beginning; a second time does nothing.</summary>
        public void Dispose()
        {
            ulong elapsed = Elapsed.Since(_start);
            _histogram?.Record(elapsed);
            _histogram = null;
        }
    }

    /// <summary>Measures a <c>using</c> block in nanoseconds, and records that.</summary>
    public struct NanoScope : IDisposable
    {
        /// <summary>Nanoseconds in a second.</summary>
        public const ulong OneSecondValue = 1000000000;

        private HdrHistogram? _histogram;
        private readonly long _start;

        /// <summary>Begins to measure.</summary>
        /// <param name="histogram">What to record in; null: nothing.</param>
        public NanoScope(HdrHistogram? histogram)
        {
            _histogram = histogram;
            _start = Stopwatch.GetTimestamp();
        }

        /// <summary>Ticks of <see cref="Stopwatch"/> as nanoseconds, rounded down; 0 for negative ones.</summary>
        public static ulong TicksToNanos(long ticks) => Elapsed.Convert(ticks < 0 ? 0 : (ulong)ticks, OneSecondValue);

        /// <summary>Ticks of <see cref="Stopwatch"/> as nanoseconds, rounded down.</summary>
        public static ulong TicksToNanos(ulong ticks) => Elapsed.Convert(ticks, OneSecondValue);

        /// <summary>Records the time since the beginning; a second time does nothing.</summary>
        public void Dispose()
        {
            ulong elapsed = Elapsed.Since(_start);
            _histogram?.Record(Elapsed.Convert(elapsed, OneSecondValue));
            _histogram = null;
        }
    }

    /// <summary>Measures a <c>using</c> block in microseconds, and records that.</summary>
    public struct MicroScope : IDisposable
    {
        /// <summary>Microseconds in a second.</summary>
        public const ulong OneSecondValue = 1000000;

        private HdrHistogram? _histogram;
        private readonly long _start;

        /// <summary>Begins to measure.</summary>
        /// <param name="histogram">What to record in; null: nothing.</param>
        public MicroScope(HdrHistogram? histogram)
        {
            _histogram = histogram;
            _start = Stopwatch.GetTimestamp();
        }

        /// <summary>Records the time since the beginning; a second time does nothing.</summary>
        public void Dispose()
        {
            ulong elapsed = Elapsed.Since(_start);
            _histogram?.Record(Elapsed.Convert(elapsed, OneSecondValue));
            _histogram = null;
        }
    }

    /// <summary>Measures a <c>using</c> block in milliseconds, and records that.</summary>
    public struct MilliScope : IDisposable
    {
        /// <summary>Milliseconds in a second.</summary>
        public const ulong OneSecondValue = 1000;

        private HdrHistogram? _histogram;
        private readonly long _start;

        /// <summary>Begins to measure.</summary>
        /// <param name="histogram">What to record in; null: nothing.</param>
        public MilliScope(HdrHistogram? histogram)
        {
            _histogram = histogram;
            _start = Stopwatch.GetTimestamp();
        }

        /// <summary>Records the time since the beginning; a second time does nothing.</summary>
        public void Dispose()
        {
            ulong elapsed = Elapsed.Since(_start);
            _histogram?.Record(Elapsed.Convert(elapsed, OneSecondValue));
            _histogram = null;
        }
    }

    public sealed unsafe partial class HdrHistogram
    {
        /// <summary>Measures a block: <c>using (histogram.GetTickScope()) { … }</c>.</summary>
        public TickScope GetTickScope() => new TickScope(this);

        /// <summary>Measures a block in nanoseconds.</summary>
        public NanoScope GetNanoScope() => new NanoScope(this);

        /// <summary>Measures a block in microseconds.</summary>
        public MicroScope GetMicroScope() => new MicroScope(this);

        /// <summary>Measures a block in milliseconds.</summary>
        public MilliScope GetMilliScope() => new MilliScope(this);
    }

    /// <summary>Times between two readings of <see cref="Stopwatch"/>.</summary>
    internal static class Elapsed
    {
        internal static ulong Since(long start)
        {
            long elapsed = unchecked(Stopwatch.GetTimestamp() - start);
            return elapsed < 0 ? 0 : (ulong)elapsed;
        }

        /// <summary>⌊ticks · units / frequency⌋, exactly; saturates.</summary>
        internal static ulong Convert(ulong ticks, ulong unitsPerSecond)
        {
            ulong frequency = (ulong)Stopwatch.Frequency;
            if (frequency == unitsPerSecond)
                return ticks;
            // The remainder is below the frequency, so that its product fits for frequencies up to 18 GHz.
            ulong seconds = ticks / frequency;
            ulong rest = ticks % frequency * unitsPerSecond / frequency;
            if (seconds > (ulong.MaxValue - rest) / unitsPerSecond)
                return ulong.MaxValue;
            return seconds * unitsPerSecond + rest;
        }
    }
}
