namespace Picollo.Native;

/// <summary>The C ABI, as in include/picollo.h, which documents each function.</summary>
/// <remarks>
/// Handles travel as SafeHandles, which the runtime keeps alive for the call. The record functions take bare pointers:
/// their callers keep the owner alive themselves, which costs nothing. Where the call can neither allocate nor wait, it
/// leaves out the transition of the garbage collector (5 ns of 8). ci/describe/csharp.py knows which is which.
/// </remarks>
internal static unsafe partial class NativeMethods
{
    internal const string Library = "picollo";
}
