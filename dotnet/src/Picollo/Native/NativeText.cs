using System.Text;

namespace Picollo.Native;

/// <summary>A call that writes text or bytes into a buffer, and reports the full length.</summary>
internal unsafe delegate int NativeWrite(byte* buffer, UIntPtr capacity, UIntPtr* length);

/// <summary>A call that lists items into a buffer, and reports the full number.</summary>
internal unsafe delegate int NativeList<T>(T* items, UIntPtr capacity, UIntPtr* length) where T : unmanaged;

/// <summary>Text and bytes of any length from the library.</summary>
internal static unsafe class NativeText
{
    private const int Enough = 4096;

    /// <summary>The text that the call writes.</summary>
    internal static string Read(NativeWrite write)
    {
        byte[] buffer = Fill(write, 1, out int length);
        return Encoding.UTF8.GetString(buffer, 0, length);
    }

    /// <summary>The bytes that the call writes.</summary>
    internal static byte[] ReadBytes(NativeWrite write)
    {
        byte[] buffer = Fill(write, 0, out int length);
        Array.Resize(ref buffer, length);
        return buffer;
    }

    /// <summary>All items that the call lists.</summary>
    internal static T[] List<T>(NativeList<T> list) where T : unmanaged
    {
        UIntPtr length;
        int status = list(null, UIntPtr.Zero, &length);
        if (status != (int)PicolloStatus.BufferTooSmall)
            Outcome.Check(status);
        var items = new T[checked((int)length)];
        fixed (T* start = items)
            if (items.Length != 0)
                Outcome.Check(list(start, (UIntPtr)items.Length, &length));
        return items;
    }

    private static byte[] Fill(NativeWrite write, int terminator, out int length)
    {
        var buffer = new byte[Enough];
        while (true)
        {
            UIntPtr needed;
            int status;
            fixed (byte* start = buffer)
                status = write(start, (UIntPtr)buffer.Length, &needed);
            if (status != (int)PicolloStatus.BufferTooSmall)
            {
                Outcome.CheckEncoded(status);
                length = checked((int)needed);
                return buffer;
            }
            buffer = new byte[checked((int)needed + terminator)];
        }
    }
}
