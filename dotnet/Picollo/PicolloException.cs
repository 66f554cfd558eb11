namespace Picollo;

/// <summary>The library could not do what was asked; the message is the library's, with the remedy where there is one.</summary>
/// <remarks>
/// Whatever the library answers is one of these, <see cref="PicolloStatus.InvalidArgument"/> and
/// <see cref="PicolloStatus.OutOfMemory"/> too. An argument that is seen to be wrong before the library is asked is an
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

    /// <summary>What the operating system answered, 0 when it was not asked.</summary>
    public int OsErrno { get; }

    /// <summary>Which of the events given is at fault, -1 when none is.</summary>
    public int EventIndex { get; }
}
