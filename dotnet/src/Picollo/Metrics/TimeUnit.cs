namespace Picollo.Metrics;

/// <summary>The unit of times.</summary>
public enum TimeUnit : uint
{
    /// <summary>10⁻⁹ seconds.</summary>
    Nanoseconds = Constants.UnitNanos,

    /// <summary>10⁻⁶ seconds.</summary>
    Microseconds = Constants.UnitMicros,

    /// <summary>10⁻³ seconds.</summary>
    Milliseconds = Constants.UnitMillis,

    /// <summary>10⁻¹² seconds.</summary>
    Picoseconds = Constants.UnitPicos
}
