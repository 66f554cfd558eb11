namespace Picollo.PerfEvent;

/// <summary>The count of a counter, in total or between two readings.</summary>
public readonly partial struct PerfEventCounterValue
{
    /// <summary>The same as <see cref="Value"/>.</summary>
    public ulong ScaledValue => Value;

    /// <summary>Counts and times of two values, modulo 2⁶⁴, with the flags of both, and the status of the first that is not Ok.</summary>
    public static PerfEventCounterValue operator +(PerfEventCounterValue left, PerfEventCounterValue right) =>
        Combine(in left, in right, 1);

    /// <summary>The difference of counts and times, modulo 2⁶⁴, between a value and a later one.</summary>
    public static PerfEventCounterValue operator -(PerfEventCounterValue left, PerfEventCounterValue right) =>
        Combine(in left, in right, ulong.MaxValue);

    /// <param name="a">The first.</param>
    /// <param name="b">The second.</param>
    /// <param name="sign">1 or, modulo 2⁶⁴, -1.</param>
    private static PerfEventCounterValue Combine(in PerfEventCounterValue a, in PerfEventCounterValue b, ulong sign) =>
        unchecked(new PerfEventCounterValue
        {
            Value = a.Value + sign * b.Value,
            RawValue = a.RawValue + sign * b.RawValue,
            TimeEnabled = a.TimeEnabled + sign * b.TimeEnabled,
            TimeRunning = a.TimeRunning + sign * b.TimeRunning,
            Flags = a.Flags | b.Flags,
            Status = a.Status != PicolloStatus.Ok ? a.Status : b.Status
        });
}
