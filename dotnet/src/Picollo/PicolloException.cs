namespace Picollo;

/// <summary>The library could not do what was requested. Its message has the remedy if there is one.</summary>
/// <remarks>
/// All the library's errors are of this type, also <see cref="PicolloStatus.InvalidArgument"/> and
/// <see cref="PicolloStatus.OutOfMemory"/>. Arguments that are rejected before the library call cause an
/// <see cref="ArgumentException"/> instead.
/// </remarks>
public class PicolloException : InvalidOperationException
{
    internal PicolloException(PicolloStatus status, string message, int osErrno, int eventIndex) : base(message)
    {
        Status = status;
        OsErrno = osErrno;
        EventIndex = eventIndex;
    }

    /// <summary>The kind of failure.</summary>
    public PicolloStatus Status { get; }

    /// <summary>The operating system's error, 0 if it was not called.</summary>
    public int OsErrno { get; }

    /// <summary>The index of the given event at fault, or -1.</summary>
    public int EventIndex { get; }
}
