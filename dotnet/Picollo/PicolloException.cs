namespace Picollo;

/// <summary>Why a call of the library did not succeed.</summary>
public enum PicolloStatus
{
    /// <summary>Done.</summary>
    Ok = Constants.Ok,

    /// <summary>There is no more. No error: no exception has it.</summary>
    End = Constants.End,

    /// <summary>A pointer is null that must not be; a defect of this binding.</summary>
    NullPointer = Constants.ErrNullPointer,

    /// <summary>An argument is outside its range.</summary>
    InvalidArgument = Constants.ErrInvalidArgument,

    /// <summary>The allocator had no memory; nothing was changed.</summary>
    OutOfMemory = Constants.ErrOutOfMemory,

    /// <summary>The buffer is too small.</summary>
    BufferTooSmall = Constants.ErrBufferTooSmall,

    /// <summary>This build, platform, mode or option does not offer it.</summary>
    Unsupported = Constants.ErrUnsupported,

    /// <summary>The layouts cannot be combined without loss, or the data were made by another version.</summary>
    Incompatible = Constants.ErrIncompatible,

    /// <summary>Encoded data are malformed.</summary>
    Corrupt = Constants.ErrCorrupt,

    /// <summary>Nothing was recorded, so there is nothing to tell.</summary>
    Empty = Constants.ErrEmpty,

    /// <summary>Only the thread that opened the session may do this.</summary>
    WrongThread = Constants.ErrWrongThread,

    /// <summary>The operating system refused; see <see cref="PicolloException.OsErrno"/>.</summary>
    Os = Constants.ErrOs,

    /// <summary>The operating system denied it for lack of rights.</summary>
    Permission = Constants.ErrPermission,

    /// <summary>The event is unknown to this machine, or the machine offers no performance counters.</summary>
    NoSuchEvent = Constants.ErrNoSuchEvent,

    /// <summary>The event was never scheduled in the interval, so its count is unknown rather than zero.</summary>
    NotCounted = Constants.ErrNotCounted,

    /// <summary>Retries ran out against competing calls; try again.</summary>
    Busy = Constants.ErrBusy,

    /// <summary>A session of the process that forked this one, or a registry that it was at work on.</summary>
    Forked = Constants.ErrForked,

    /// <summary>A defect of the library, stopped at its boundary.</summary>
    Panic = Constants.ErrPanic
}

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
