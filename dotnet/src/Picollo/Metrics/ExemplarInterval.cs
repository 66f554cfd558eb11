namespace Picollo.Metrics;

/// <summary>How much of the excess time of slow observations went to one cause.</summary>
public readonly struct CauseShare
{
    internal CauseShare(Cause cause, in PicolloExemplarShare native, ulong excess)
    {
        bool isPart = cause != Cause.Several && cause != Cause.NotKnown;
        Cause = cause;
        Share = isPart && excess != 0 ? native.Share : (double?)null;
        ExcessNanos = isPart ? native.ExcessNanos : (ulong?)null;
        Observations = native.Observations;
        TypicalNanos = isPart && native.Observations != 0 ? native.TypicalNanos : (ulong?)null;
    }

    /// <summary>The cause.</summary>
    public Cause Cause { get; }

    /// <summary>
    /// Its share, 0 to 1, of the excess of all observations with evidence; null if there is no excess, and for
    /// <see cref="Cause.Several"/> and <see cref="Cause.NotKnown"/>.
    /// </summary>
    public double? Share { get; }

    /// <summary>The same in nanoseconds.</summary>
    public ulong? ExcessNanos { get; }

    /// <summary>How many observations were slow because of it.</summary>
    public ulong Observations { get; }

    /// <summary>The median of its excess in these; null if there are no such observations.</summary>
    public ulong? TypicalNanos { get; }
}

/// <summary>The slow observations of an interval, and their causes. It is immutable.</summary>
public sealed unsafe class ExemplarInterval
{
    private static readonly Cause[] s_causes = (Cause[])Enum.GetValues(typeof(Cause));

    private readonly PicolloExemplarInterval _native;
    private readonly string _text, _json, _markdown, _html;

    internal ExemplarInterval(ExemplarsHandle collector)
    {
        PicolloExemplarInterval native;
        Outcome.Check(NativeMethods.picollo_exemplars_interval(collector, &native));
        _native = native;
        var exemplars = new List<Exemplar>();
        PicolloExemplar one;
        int status;
        while ((status = NativeMethods.picollo_exemplars_get(collector, (UIntPtr)(uint)exemplars.Count, &one)) == 0)
            exemplars.Add(new Exemplar(in one));
        if (status != (int)PicolloStatus.End)
            Outcome.Check(status);
        Exemplars = exemplars.AsReadOnly();
        var shares = new List<CauseShare>();
        foreach (Cause cause in s_causes)
        {
            PicolloExemplarShare share;
            Outcome.Check(NativeMethods.picollo_exemplars_share(collector, (uint)cause, &share));
            shares.Add(new CauseShare(cause, in share, native.ExcessNanos));
        }
        Shares = shares.AsReadOnly();
        _text = Format(collector, Constants.TextHuman);
        _json = Format(collector, Constants.TextJson);
        _markdown = Format(collector, Constants.TextMarkdown);
        _html = Format(collector, Constants.TextHtml);
    }

    /// <summary>When it began.</summary>
    public DateTime BeginUtc => UnixTime.Utc(_native.BeginUnixNanos);

    /// <summary>When it ended.</summary>
    public DateTime EndUtc => UnixTime.Utc(_native.EndUnixNanos);

    /// <summary>
    /// Observations above this value, as recorded, were slow. Null if unknown, at first: then the slowest are.
    /// </summary>
    public ulong? Threshold => _native.Threshold == 0 ? null : _native.Threshold;

    /// <summary>How many observations there were.</summary>
    public ulong ObservationCount => _native.Observations;

    /// <summary>How many of them were slow.</summary>
    public ulong SlowCount => _native.Slow;

    /// <summary>For how many of these the causes are known.</summary>
    public ulong KnownCount => _native.Known;

    /// <summary>How many ordinary observations were examined so far, to learn what is usual.</summary>
    public ulong ControlCount => _native.Controls;

    /// <summary>The slowest observations, slowest first, then the latest of each octave of values.</summary>
    public IReadOnlyList<Exemplar> Exemplars { get; }

    /// <summary>The share of each cause, in the order of <see cref="Cause"/>.</summary>
    public IReadOnlyList<CauseShare> Shares { get; }

    /// <summary>All of it as a JSON object, with exact values.</summary>
    public string ToJson() => _json;

    /// <summary>The same in tables, as Markdown, for reports.</summary>
    public string ToMarkdown() => _markdown;

    /// <summary>The same as a section of a page, with bars. It needs no script and no external resources.</summary>
    public string ToHtml() => _html;

    /// <summary>A table for people, and the slowest with their traces.</summary>
    public override string ToString() => _text;

    private static string Format(ExemplarsHandle collector, int format) =>
        NativeText.Read((buffer, capacity, length) =>
            NativeMethods.picollo_exemplars_format(collector, (uint)format, buffer, capacity, length));
}
