namespace Picollo.Native;

/// <summary>
/// Turns the library's error statuses into <see cref="PicolloException"/>s. Arguments that are wrong without calling it
/// cause <see cref="ArgumentException"/>s in <see cref="Arguments"/> before the call.
/// </summary>
internal static unsafe class Outcome
{
    internal static void Check(int status)
    {
        if (status != 0)
            throw Exception(status, null);
    }

    /// <summary>Includes the detail that calls into the kernel fill in.</summary>
    internal static void Check(int status, PicolloError* error)
    {
        if (status != 0)
            throw Exception(status, error);
    }

    private static PicolloException Exception(int status, PicolloError* error)
    {
        string message = error == null ? "" : Utf8.FromField(error->Message, PicolloError.MessageLength);
        if (message.Length == 0)
            message = Utf8.FromNative(NativeMethods.picollo_status_str(status));
        var kind = (PicolloStatus)status;
        return error != null
            ? new PicolloException(kind, message, error->OsErrno, error->EventIndex)
            : new PicolloException(kind, message, 0, -1);
    }

    /// <summary>For a snapshot to encode: the message adds how it was made, which the library cannot know.</summary>
    internal static void CheckEncoded(int status)
    {
        if (status == (int)PicolloStatus.Incompatible)
            throw new PicolloException(PicolloStatus.Incompatible,
                "The buckets are not those of HdrHistogram. Create the histogram WithSignificantDigits(3), "
                + "or encode it as SnapshotEncoding.Native. Nothing was written.", 0, -1);
        Check(status);
    }
}
