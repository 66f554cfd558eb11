namespace Picollo.Metrics;

/// <summary>The configuration of a <see cref="MetricsServer"/>.</summary>
public sealed class MetricsServerOptions
{
    /// <summary>The path of the metrics; null: <c>/metrics</c>. The path <c>/</c> links to it.</summary>
    public string? Path { get; set; }

    /// <summary>Further names of a server on a loopback address, separated by commas.</summary>
    public string? Hosts { get; set; }

    /// <summary>Maximum connections at the same time; more get a 503 at once. 0: 16.</summary>
    public int Connections { get; set; }

    /// <summary>Maximum seconds to receive a request. Sending the answer may take twice as long. 0: 5.</summary>
    public double TimeoutSeconds { get; set; }
}

/// <summary>
/// Serves the metrics of a registry over HTTP, in threads of the library; made by <see cref="MetricRegistry.Serve"/>.
/// </summary>
/// <remarks>It serves until it is disposed, even if nothing refers to it. It keeps the counts of the registry.</remarks>
public sealed unsafe class MetricsServer : IDisposable
{
    private IntPtr _handle;

    internal MetricsServer(RegistryHandle registry, string? address, MetricsServerOptions? options)
    {
        MetricsServerOptions chosen = options ?? new MetricsServerOptions();
        if (chosen.Connections < 0)
            throw new ArgumentOutOfRangeException(nameof(options), chosen.Connections, "Numbers of connections are not negative.");
        using var blocks = new NativeBlocks();
        var native = new PicolloServerOptions
        {
            StructSize = (uint)sizeof(PicolloServerOptions),
            Connections = (uint)chosen.Connections,
            TimeoutSeconds = chosen.TimeoutSeconds,
            Path = blocks.Text(chosen.Path, nameof(options)),
            Hosts = blocks.Text(chosen.Hosts, nameof(options))
        };
        PicolloError error;
        Outcome.Check(NativeMethods.picollo_server_start(
            registry, blocks.Text(address, nameof(address)), &native, out _handle, &error), &error);
        Address = NativeText.Read((buffer, capacity, length) =>
            NativeMethods.picollo_server_address(_handle, buffer, capacity, length));
    }

    /// <summary>The address with its port: <c>127.0.0.1:9464</c>, <c>[::1]:9464</c> or <c>unix:PATH</c>.</summary>
    public string Address { get; }

    /// <summary>Stops it: nobody listens any more. Answers that were begun have a second to arrive.</summary>
    public void Dispose() => NativeMethods.picollo_server_stop(Interlocked.Exchange(ref _handle, IntPtr.Zero));
}
