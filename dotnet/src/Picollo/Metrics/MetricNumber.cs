namespace Picollo.Metrics;

/// <summary>Shared base of counters and gauges. Any thread may use them, even after the registry is gone.</summary>
public abstract class MetricNumber
{
    private IntPtr _pointer;

    internal MetricNumber(LastingHandle handle, ulong id)
    {
        _pointer = handle.Pointer;
        Id = id;
    }

    /// <summary>Another finalizer may have resurrected it: it no longer has anything to count in.</summary>
    ~MetricNumber()
    {
        Volatile.Write(ref _pointer, IntPtr.Zero);
    }

    /// <summary>For <see cref="MetricRegistry.Remove"/> and <see cref="MetricRegistry.SetExemplars"/>.</summary>
    public ulong Id { get; }

    /// <summary>For calls without a handle, which would cost more than the calls do.</summary>
    internal IntPtr Pointer
    {
        get
        {
            IntPtr pointer = Volatile.Read(ref _pointer);
            return pointer != IntPtr.Zero ? pointer : throw new ObjectDisposedException(GetType().Name);
        }
    }
}
