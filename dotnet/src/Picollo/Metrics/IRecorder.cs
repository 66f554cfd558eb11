namespace Picollo.Metrics;

/// <summary>Records values: a histogram, or one thread's recorder of it.</summary>
/// <remarks>
/// For code that accepts both. Calls through the interface are not inlined: if nanoseconds matter, name the type.
/// </remarks>
public interface IRecorder
{
    /// <summary>Counts a value once.</summary>
    void Record(ulong value);

    /// <summary>Counts a value many times.</summary>
    void Record(ulong value, ulong count);

    /// <summary>Counts a value and those that a stalled caller did not send meanwhile (coordinated omission).</summary>
    void RecordCorrected(ulong value, ulong expectedInterval);
}
