using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

/// <summary>Measures a <c>using</c> block in ticks of <see cref="Stopwatch"/>, and records the time.</summary>
/// <param name="histogram">The histogram to record into; null: none.</param>
public struct TickScope(HdrHistogram? histogram) : IDisposable
{
    private readonly long _start = Stopwatch.GetTimestamp();
    private HdrHistogram? _histogram = histogram;

    /// <summary>Ticks in a second.</summary>
    public static ulong OneSecondValue => (ulong)Stopwatch.Frequency;

    /// <summary>Records the time since the beginning; a second call does nothing.</summary>
    public void Dispose() => Elapsed.Record(ref _histogram, _start, OneSecondValue);
}

/// <summary>Measures a <c>using</c> block in nanoseconds, and records the time.</summary>
/// <param name="histogram">The histogram to record into; null: none.</param>
public struct NanoScope(HdrHistogram? histogram) : IDisposable
{
    /// <summary>Nanoseconds in a second.</summary>
    public const ulong OneSecondValue = 1000000000;

    private readonly long _start = Stopwatch.GetTimestamp();
    private HdrHistogram? _histogram = histogram;

    /// <summary>Ticks of <see cref="Stopwatch"/> as nanoseconds, rounded down; 0 for negative ones.</summary>
    public static ulong TicksToNanos(long ticks) => Elapsed.Convert(ticks < 0 ? 0 : (ulong)ticks, OneSecondValue);

    /// <summary>Ticks of <see cref="Stopwatch"/> as nanoseconds, rounded down.</summary>
    public static ulong TicksToNanos(ulong ticks) => Elapsed.Convert(ticks, OneSecondValue);

    /// <summary>Records the time since the beginning; a second call does nothing.</summary>
    public void Dispose() => Elapsed.Record(ref _histogram, _start, OneSecondValue);
}

/// <summary>Measures a <c>using</c> block in microseconds, and records the time.</summary>
/// <param name="histogram">The histogram to record into; null: none.</param>
public struct MicroScope(HdrHistogram? histogram) : IDisposable
{
    /// <summary>Microseconds in a second.</summary>
    public const ulong OneSecondValue = 1000000;

    private readonly long _start = Stopwatch.GetTimestamp();
    private HdrHistogram? _histogram = histogram;

    /// <summary>Records the time since the beginning; a second call does nothing.</summary>
    public void Dispose() => Elapsed.Record(ref _histogram, _start, OneSecondValue);
}

/// <summary>Measures a <c>using</c> block in milliseconds, and records the time.</summary>
/// <param name="histogram">The histogram to record into; null: none.</param>
public struct MilliScope(HdrHistogram? histogram) : IDisposable
{
    /// <summary>Milliseconds in a second.</summary>
    public const ulong OneSecondValue = 1000;

    private readonly long _start = Stopwatch.GetTimestamp();
    private HdrHistogram? _histogram = histogram;

    /// <summary>Records the time since the beginning; a second call does nothing.</summary>
    public void Dispose() => Elapsed.Record(ref _histogram, _start, OneSecondValue);
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
    /// <summary>Records the time since the start, and clears the reference to the histogram.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Record(ref HdrHistogram? histogram, long start, ulong unitsPerSecond)
    {
        long elapsed = unchecked(Stopwatch.GetTimestamp() - start);
        histogram?.Record(Convert(elapsed < 0 ? 0 : (ulong)elapsed, unitsPerSecond));
        histogram = null;
    }

    /// <summary>⌊ticks · units / frequency⌋, exact and saturating.</summary>
    internal static ulong Convert(ulong ticks, ulong unitsPerSecond)
    {
        ulong frequency = (ulong)Stopwatch.Frequency;
        if (frequency == unitsPerSecond)
            return ticks;
        // The remainder is below the frequency, so its product fits for frequencies up to 18 GHz.
        ulong seconds = ticks / frequency;
        ulong rest = ticks % frequency * unitsPerSecond / frequency;
        if (seconds > (ulong.MaxValue - rest) / unitsPerSecond)
            return ulong.MaxValue;
        return seconds * unitsPerSecond + rest;
    }
}
