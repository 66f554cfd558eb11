namespace Picollo.Native;

/// <summary>The C ABI of include/picollo.h, which documents each function.</summary>
/// <remarks>
/// Handles are passed as SafeHandles, which the runtime keeps alive for the call. The record functions take bare
/// pointers: their callers keep the owner alive, which costs nothing. If the call can neither allocate nor wait, it
/// omits the garbage collector's transition (5 ns of 8). ffi/describe/csharp.py decides which is which.
/// </remarks>
internal static unsafe partial class NativeMethods
{
    internal const string Library = "picollo";

    /// <summary>The library's name without a development link: it has the number of the ABI.</summary>
    internal static readonly string Soname = $"libpicollo.so.{Constants.AbiVersion}";
}
