using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

/// <summary>
/// What measurements of an instrument go to. They come on threads of the program's, which know nothing of it: no exception may leave it.
/// </summary>
internal sealed class InstrumentState
{
    private readonly PicolloMeterListener _listener;
    private readonly TagSets _sets;
    private readonly double _scale;
    private MeteredHistogram? _untagged;

    internal InstrumentState(PicolloMeterListener listener, Instrument instrument, double scale, MeterListenerOptions options)
    {
        _listener = listener;
        _scale = scale;
        _sets = new TagSets(options.TagSets, (tags, isOverflow) =>
            new MeteredHistogram(instrument, scale, Create(options.RelativeError), tags, isOverflow));
        Instrument = instrument;
    }

    internal Instrument Instrument { get; }

    /// <summary>A value that has a fraction.</summary>
    internal void Record(double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        double scaled = value * _scale;
        // Not so where it is NaN.
        if (scaled >= 0 && scaled < Units.Highest)
            // By way of the signed type: a conversion to the unsigned one is more than an instruction.
            RecordScaled((ulong)(long)(scaled + 0.5), tags);
        else if (scaled >= 0)
            RecordScaled(ulong.MaxValue, tags);
        else
            _listener.Lose(isNaN: double.IsNaN(scaled));
    }

    /// <summary>An integer, which is counted as it is unless a scale was asked for.</summary>
    internal void Record(long value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        if (_scale != 1)
            Record((double)value, tags);
        else if (value >= 0)
            RecordScaled((ulong)value, tags);
        else
            _listener.Lose(isNaN: false);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void RecordScaled(ulong scaled, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        MeteredHistogram? set = tags.IsEmpty ? _untagged : _sets.Find(tags);
        if (set != null)
            set.Record(scaled);
        else
            RecordSlowly(scaled, tags);
    }

    // What is called before has no code of anybody else's in it, and takes no memory.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RecordSlowly(ulong scaled, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        try
        {
            MeteredHistogram set = _sets.Get(tags, out bool isNew);
            set.Record(scaled);
            if (tags.IsEmpty)
                _untagged = set;
            if (isNew)
                _listener.Publish(this, set);
        }
#pragma warning disable CA1031 // whatever it is: a tag's text that throws, no memory
        catch (Exception)
        {
            _listener.Refuse();
        }
#pragma warning restore CA1031
    }

    // Interlocked, as one that is thread-local would have counters for each set and each thread. Never reset, so that it takes half.
    private static HdrHistogram Create(double relativeError) =>
        HdrHistogram.Factory.WithRelativeError(relativeError).WithMaxTrackableValue(long.MaxValue).WithLiveReset(false).Create();
}
