namespace Picollo.Native;

/// <summary>A reference to a native object. The library counts references: any order of release works.</summary>
/// <param name="free">The function that releases the reference.</param>
internal abstract unsafe class NativeHandle(delegate*<IntPtr, void> free) : SafeHandle(IntPtr.Zero, true)
{
    public override bool IsInvalid => handle == IntPtr.Zero;

    /// <summary>Returns the handle, unless its owner was disposed.</summary>
    internal static T Live<T>(T handle, object owner) where T : NativeHandle
    {
        ObjectDisposedException.ThrowIf(handle.IsClosed, owner);
        return handle;
    }

    protected override bool ReleaseHandle()
    {
        free(handle);
        return true;
    }
}

/// <summary>A handle used through bare pointers, whose use another thread may end meanwhile.</summary>
/// <remarks>
/// Never disposed, always finalized: only the garbage collector knows when no thread is in the middle of a use. The
/// owner's finalizer ends the use, but another object's finalizer may have passed the owner to a thread before. So this
/// frees the memory when it is unreachable for the second time: by then no use is in progress, and none can begin.
/// </remarks>
internal abstract unsafe class LastingHandle(delegate*<IntPtr, void> free) : NativeHandle(free)
{
    private bool _wasUnreachable;

    internal IntPtr Pointer => handle;

    protected override void Dispose(bool disposing)
    {
        if (!disposing && !_wasUnreachable && !IsInvalid)
        {
            _wasUnreachable = true;
            GC.ReRegisterForFinalize(this);
            return;
        }
        base.Dispose(disposing);
    }
}

// One for each kind of object.
internal sealed unsafe class HistogramHandle() : LastingHandle(&NativeMethods.picollo_histogram_free);
internal sealed unsafe class SnapshotHandle() : NativeHandle(&NativeMethods.picollo_snapshot_free);
internal sealed unsafe class SessionHandle() : NativeHandle(&NativeMethods.picollo_session_free);
internal sealed unsafe class DoubleHistogramHandle() : LastingHandle(&NativeMethods.picollo_double_histogram_free);
internal sealed unsafe class DoubleSnapshotHandle() : NativeHandle(&NativeMethods.picollo_double_snapshot_free);
internal sealed unsafe class MetricCounterHandle() : LastingHandle(&NativeMethods.picollo_metric_counter_free);
internal sealed unsafe class MetricGaugeHandle() : LastingHandle(&NativeMethods.picollo_metric_gauge_free);
internal sealed unsafe class ExemplarsHandle() : LastingHandle(&NativeMethods.picollo_exemplars_free);
internal sealed unsafe class RegistryHandle() : NativeHandle(&NativeMethods.picollo_registry_free);
internal sealed unsafe class BenchmarkHandle() : NativeHandle(&NativeMethods.picollo_benchmark_free);
internal sealed unsafe class SegmentHandle() : NativeHandle(&NativeMethods.picollo_segment_free);

/// <summary>A picollo_log_reader with its text, which is pinned as long as the reader lives.</summary>
internal sealed unsafe class LogReaderHandle() : NativeHandle(&NativeMethods.picollo_log_reader_free)
{
    private GCHandle _text;

    /// <summary>A reader of bytes that nobody changes any more.</summary>
    internal static LogReaderHandle Create(byte[] text)
    {
        GCHandle pinned = GCHandle.Alloc(text, GCHandleType.Pinned);
        LogReaderHandle? reader = null;
        try
        {
            Outcome.Check(NativeMethods.picollo_log_reader_create(
                (byte*)pinned.AddrOfPinnedObject(), (UIntPtr)text.Length, out reader));
            reader._text = pinned;
            return reader;
        }
        finally
        {
            if (reader == null || reader.IsInvalid)
                pinned.Free();
        }
    }

    protected override bool ReleaseHandle()
    {
        base.ReleaseHandle();
        if (_text.IsAllocated)
            _text.Free();
        return true;
    }
}
