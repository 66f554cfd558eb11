using System.Diagnostics;

namespace Picollo.Tests;

/// <summary>Times.</summary>
public static class ScopeTests
{
    [Test]
    public static void ScopesRecordTheirTime()
    {
        HdrHistogram ticks = HdrHistogram.Create(), nanos = HdrHistogram.Create(), micros = HdrHistogram.Create(),
            millis = HdrHistogram.Create();
        using (ticks.GetTickScope())
        using (nanos.GetNanoScope())
        using (micros.GetMicroScope())
        using (millis.GetMilliScope())
            Thread.Sleep(30);
        // It slept for at least this long, within the error, and not for minutes.
        Between(0.03 * TickScope.OneSecondValue, ticks);
        Between(0.03 * NanoScope.OneSecondValue, nanos);
        Between(0.03 * MicroScope.OneSecondValue, micros);
        Between(0.03 * MilliScope.OneSecondValue, millis);
    }

    private static void Between(double least, HdrHistogram histogram)
    {
        ulong value = histogram.GetPercentileValue(100);
        Check.Equal(1ul, histogram.TotalCount);
        Check.True(value >= least * 0.99 && value < least * 1000, $"{value} for {least}");
    }

    [Test]
    public static void ScopesRecordOnce()
    {
        HdrHistogram histogram = HdrHistogram.Create();
        NanoScope scope = histogram.GetNanoScope();
        scope.Dispose();
        scope.Dispose();
        Check.Equal(1ul, histogram.TotalCount);
        new TickScope().Dispose();
    }

    [Test]
    public static void Conversion()
    {
        ulong frequency = (ulong)Stopwatch.Frequency;
        Check.Equal(1000000000ul, NanoScope.OneSecondValue);
        Check.Equal(frequency, TickScope.OneSecondValue);
        Check.Equal(NanoScope.OneSecondValue, NanoScope.TicksToNanos(frequency));
        Check.Equal(0ul, NanoScope.TicksToNanos(0L));
        Check.Equal(0ul, NanoScope.TicksToNanos(-5L));
        foreach (ulong ticks in new ulong[] { 1, 7, frequency - 1, frequency + 1, 123456789012345 })
        {
            var exact = (ulong)Math.Floor((decimal)ticks * 1000000000 / frequency);
            Check.Equal(exact, NanoScope.TicksToNanos(ticks), $"{ticks} ticks");
        }
        ulong years = NanoScope.TicksToNanos(ulong.MaxValue);
        Check.Equal(ulong.MaxValue, years, "saturates or is the identity");
    }

    [Test]
    public static void ThreadNumbers()
    {
        int mine = CpuUtils.GetOsThreadId(), other = 0;
        ModeTests.Run(1, thread => other = CpuUtils.GetOsThreadId());
        Check.True(mine > 0 && other > 0 && mine != other, $"{mine} and {other}");
    }
}
