namespace Picollo.Native;

/// <summary>Converts times to and from the library.</summary>
internal static class UnixTime
{
    /// <summary>Nanoseconds since 1970; 0 for null and for earlier times.</summary>
    internal static ulong Nanos(DateTime? time)
    {
        if (!time.HasValue)
            return 0;
        long ticks = (time.Value.ToUniversalTime() - DateTime.UnixEpoch).Ticks;
        return ticks < 0 ? 0 : (ulong)ticks * 100;
    }

    /// <summary>Rounded down to ticks of 100 ns.</summary>
    internal static DateTime Utc(ulong nanos) => DateTime.UnixEpoch.AddTicks((long)(nanos / 100));
}
