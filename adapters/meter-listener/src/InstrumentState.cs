using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

/// <summary>
/// Receives the measurements of an instrument. They come on the program's threads, so no exception may leave it.
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

    /// <summary>Records a value with a fraction.</summary>
    internal void Record(double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        double scaled = value * _scale;
        // This is false for NaN.
        if (scaled >= 0 && scaled < Units.Highest)
            // By way of the signed type: a conversion to the unsigned one takes more than one instruction.
            RecordScaled((ulong)(long)(scaled + 0.5), tags);
        else if (scaled >= 0)
            RecordScaled(ulong.MaxValue, tags);
        else
            _listener.Lose(isNaN: double.IsNaN(scaled));
    }

    /// <summary>Records an integer, unscaled unless a scale was requested.</summary>
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

    // The code before this calls no foreign code, and allocates nothing.
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
#pragma warning disable CA1031 // any exception: a tag's text that throws, no memory
        catch (Exception)
        {
            _listener.Refuse();
        }
#pragma warning restore CA1031
    }

    // Interlocked: thread-local ones would have counters per set and thread. Never reset, which halves the memory.
    private static HdrHistogram Create(double relativeError) =>
        HdrHistogram.Factory.WithRelativeError(relativeError).WithMaxTrackableValue(long.MaxValue).WithLiveReset(false).Create();
}
