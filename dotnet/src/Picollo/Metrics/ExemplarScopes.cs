namespace Picollo.Metrics;

/// <summary>
/// Measures a <c>using</c> block, records the time, and keeps it with its causes if it is slow. On one thread: the
/// compiler rejects it in async methods; use <see cref="AsyncExemplarScope"/> there.
/// </summary>
public ref struct ExemplarScope
{
    private ExemplarMeasure _measure;

    internal ExemplarScope(ExemplarCollector collector, uint label)
    {
        _measure = default;
        _measure.Begin(collector, label, false);
    }

    /// <summary>Records the time since the beginning; returns whether it is kept. A second call does nothing.</summary>
    public bool End() => _measure.End();

    /// <summary>Replaces the context that was looked up; does nothing if the observation is no longer kept.</summary>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: it has not ended, or was not kept.
    /// </exception>
    public void Annotate(ExemplarContext context) => _measure.Annotate(in context);

    /// <summary>Ends it, unless it has ended.</summary>
    public void Dispose() => _measure.End();
}

/// <summary>
/// Measures a <c>using</c> block of an async method, including the time in which it waits for others. It takes no
/// evidence from the thread, which works for others meanwhile: the cause is reported as unknown.
/// </summary>
public struct AsyncExemplarScope : IDisposable
{
    private ExemplarMeasure _measure;

    internal AsyncExemplarScope(ExemplarCollector collector, uint label)
    {
        _measure = default;
        _measure.Begin(collector, label, true);
    }

    /// <summary>Records the time since the beginning; returns whether it is kept. A second call does nothing.</summary>
    public bool End() => _measure.End();

    /// <summary>Ends it, unless it has ended.</summary>
    public void Dispose() => _measure.End();
}

/// <summary>Shared part of the scopes. The library keeps no pointer to it, so it may move.</summary>
internal unsafe struct ExemplarMeasure
{
    private ExemplarCollector? _collector;
    private bool _ended;
    private PicolloExemplarScope _native;

    internal void Begin(ExemplarCollector collector, uint label, bool sharesThread)
    {
        _collector = collector;
        IntPtr pointer = collector.Pointer;
        fixed (PicolloExemplarScope* native = &_native)
            NativeMethods.picollo_exemplars_begin(pointer, native);
        _native.Label = label;
        if (sharesThread)
            _native.Thread = null;
    }

    internal bool End()
    {
        ExemplarCollector? collector = _collector;
        if (collector == null || _ended)
            return false;
        _ended = true;
        uint kept;
        fixed (PicolloExemplarScope* native = &_native)
            kept = NativeMethods.picollo_exemplars_end(collector.PointerToEnd, native);
        if (kept == Constants.ExemplarKept && collector.TryLookUp(out ExemplarContext context))
            Annotate(in context);
        GC.KeepAlive(collector);
        return kept == Constants.ExemplarKept;
    }

    internal void Annotate(in ExemplarContext context)
    {
        PicolloExemplarContext given = context.Native;
        int status = (int)PicolloStatus.InvalidArgument;
        if (_collector != null && _ended)
            fixed (PicolloExemplarScope* native = &_native)
                status = NativeMethods.picollo_exemplars_annotate(_collector.PointerToEnd, native, &given);
        GC.KeepAlive(_collector);
        Outcome.Check(status);
    }
}
