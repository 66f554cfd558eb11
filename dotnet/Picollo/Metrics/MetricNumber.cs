namespace Picollo.Metrics;

/// <summary>What counters and gauges of a registry have in common. Any thread may use them, also when the registry is gone.</summary>
public abstract class MetricNumber
{
    private IntPtr _pointer;

    internal MetricNumber(LastingHandle handle, ulong id)
    {
        _pointer = handle.Pointer;
        Id = id;
    }

    /// <summary>Another finaliser may have brought it back: there is nothing to count in any more.</summary>
    ~MetricNumber()
    {
        Volatile.Write(ref _pointer, IntPtr.Zero);
    }

    /// <summary>What <see cref="MetricRegistry.Remove"/> and <see cref="MetricRegistry.SetExemplars"/> take.</summary>
    public ulong Id { get; }

    /// <summary>For calls that no handle is given to, as one would cost more than what they do.</summary>
    internal IntPtr Pointer
    {
        get
        {
            IntPtr pointer = Volatile.Read(ref _pointer);
            return pointer != IntPtr.Zero ? pointer : throw new ObjectDisposedException(GetType().Name);
        }
    }
}
