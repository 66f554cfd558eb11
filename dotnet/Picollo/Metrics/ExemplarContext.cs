using System.Diagnostics;

namespace Picollo.Metrics;

/// <summary>What leads from an observation to its request.</summary>
public readonly struct ExemplarContext
{
    /// <summary>A trace and a span in it, of which either may be missing, and two numbers of the program's.</summary>
    /// <param name="traceId">32 hexadecimal digits, as in W3C's <c>traceparent</c>; null for none.</param>
    /// <param name="spanId">16 hexadecimal digits; null for none.</param>
    /// <param name="word0">Whatever the program likes, such as the number of a request.</param>
    /// <param name="word1">The same.</param>
    /// <exception cref="ArgumentException">They are not so many hexadecimal digits.</exception>
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

    /// <summary>The ids of <see cref="Activity.Current"/>; false without one, or where it has no ids of W3C's form.</summary>
    /// <remarks>Allocates nothing.</remarks>
    internal static unsafe bool TryOfCurrentActivity(out ExemplarContext context)
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
