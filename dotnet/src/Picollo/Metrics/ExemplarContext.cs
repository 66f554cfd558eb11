using System.Diagnostics;

namespace Picollo.Metrics;

/// <summary>Links an observation to its request.</summary>
public readonly struct ExemplarContext
{
    /// <summary>A trace and a span in it, either of which may be missing, and two numbers of the program.</summary>
    /// <param name="traceId">32 hexadecimal digits, as in W3C's <c>traceparent</c>; null for none.</param>
    /// <param name="spanId">16 hexadecimal digits; null for none.</param>
    /// <param name="word0">Any number of the program, such as that of a request.</param>
    /// <param name="word1">Another number.</param>
    /// <exception cref="ArgumentException">An id does not have this number of hexadecimal digits.</exception>
    public unsafe ExemplarContext(string? traceId, string? spanId = null, ulong word0 = 0, ulong word1 = 0)
    {
        PicolloExemplarContext native = default;
        HexDigits.Read(traceId, native.TraceId, PicolloExemplarContext.TraceIdLength, nameof(traceId));
        HexDigits.Read(spanId, native.SpanId, PicolloExemplarContext.SpanIdLength, nameof(spanId));
        native.Words[0] = word0;
        native.Words[1] = word1;
        Native = native;
    }

    private ExemplarContext(in PicolloExemplarContext native)
    {
        Native = native;
    }

    internal readonly PicolloExemplarContext Native;

    /// <summary>The ids of <see cref="Activity.Current"/>; false without one, or without ids in W3C's form.</summary>
    /// <remarks>Allocates nothing.</remarks>
    internal static unsafe bool TryFromCurrentActivity(out ExemplarContext context)
    {
        PicolloExemplarContext native = default;
        Activity? current = Activity.Current;
        bool isThere = current != null && current.IdFormat == ActivityIdFormat.W3C;
        if (isThere)
        {
            current!.TraceId.CopyTo(new Span<byte>(native.TraceId, PicolloExemplarContext.TraceIdLength));
            current.SpanId.CopyTo(new Span<byte>(native.SpanId, PicolloExemplarContext.SpanIdLength));
        }
        context = new ExemplarContext(in native);
        return isThere;
    }
}
