namespace Picollo.Metrics;

/// <summary>What values are recorded into: a histogram, or one thread's recorder of it.</summary>
/// <remarks>
/// For code that is given either. A call through the interface is not inlined: where single nanoseconds matter, name the type.
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
