using System;

namespace Picollo
{
    /// <summary>Why a call of the library did not succeed.</summary>
    public enum PicolloStatus
    {
        /// <summary>Done.</summary>
        Ok = 0,

        /// <summary>A pointer is null that must not be; a defect of this binding.</summary>
        NullPointer = -1,

        /// <summary>An argument is outside its range.</summary>
        InvalidArgument = -2,

        /// <summary>The allocator had no memory; nothing was changed.</summary>
        OutOfMemory = -3,

        /// <summary>The buffer is too small.</summary>
        BufferTooSmall = -4,

        /// <summary>This build, platform, mode or option does not offer it.</summary>
        Unsupported = -5,

        /// <summary>The layouts cannot be combined without loss, or the data were made by another version.</summary>
        Incompatible = -6,

        /// <summary>Encoded data are malformed.</summary>
        Corrupt = -7,

        /// <summary>Nothing was recorded, so there is nothing to tell.</summary>
        Empty = -8,

        /// <summary>Only the thread that opened the session may do this.</summary>
        WrongThread = -9,

        /// <summary>The operating system refused; see <see cref="PicolloException.OsErrno"/>.</summary>
        Os = -10,

        /// <summary>The operating system denied it for lack of rights.</summary>
        Permission = -11,

        /// <summary>The event is unknown to this machine, or the machine offers no performance counters.</summary>
        NoSuchEvent = -12,

        /// <summary>The event was never scheduled in the interval, so its count is unknown rather than zero.</summary>
        NotCounted = -13,

        /// <summary>Retries ran out against competing calls; try again.</summary>
        Busy = -14,

        /// <summary>A session of the process that forked this one, or a registry that it was at work on.</summary>
        Forked = -15,

        /// <summary>A defect of the library, stopped at its boundary.</summary>
        Panic = -127
    }

    /// <summary>The library could not do what was asked; the message is the library's, with the remedy where there is one.</summary>
    /// <remarks>Bad arguments are <see cref="ArgumentException"/>s instead.</remarks>
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
}
