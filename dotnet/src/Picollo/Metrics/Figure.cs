namespace Picollo.Metrics;

/// <summary>A figure from event counts, such as instructions per cycle, with the interval of the true one.</summary>
public readonly partial struct Figure
{
    /// <summary>
    /// Estimates a figure from the sums of events over many scopes, which may be of unequal sizes.
    /// <c>Figure.Estimate("ipc", new[] { "instructions", "cycles" }, counts)</c>
    /// </summary>
    /// <param name="name">Of a figure: docs/counters.md lists them.</param>
    /// <param name="events">The names of the columns.</param>
    /// <param name="values">A row for each scope, with a column for each event; NaN if it was not counted.</param>
    /// <param name="confidence">Confidence of the interval, between 0 and 1.</param>
    /// <exception cref="ArgumentException">The values do not fill rows, or the confidence is not between 0 and 1.</exception>
    /// <exception cref="PicolloException">No such figure, an event without counts, or a divisor of zero.</exception>
    public static unsafe Figure Estimate(string name, string[] events, ReadOnlySpan<double> values, double confidence = 0.95)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(events);
        Arguments.BetweenZeroAndOne(confidence, nameof(confidence));
        if (events.Length == 0 || values.Length % events.Length != 0)
            throw new ArgumentException("The values do not fill rows of as many as there are events.", nameof(values));
        Loader.Ensure();
        Figure estimate;
        PicolloError error;
        fixed (byte* text = Utf8.ToNative(name, nameof(name)))
        fixed (byte* names = Utf8.ToNative(string.Join(" ", events), nameof(events)))
        fixed (double* start = &MemoryMarshal.GetReference(values))
        {
            UIntPtr scopes = (UIntPtr)(uint)(values.Length / events.Length);
            Outcome.Check(NativeMethods.picollo_figure_compute(text, names, start, scopes, confidence, &estimate, &error), &error);
        }
        return estimate;
    }

    /// <summary>An event was not counted in some scopes: they are left out.</summary>
    public bool IsPartial => (_flags & Constants.FigurePartial) != 0;
}
