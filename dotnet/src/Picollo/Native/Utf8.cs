using System.Text;

namespace Picollo.Native;

/// <summary>Strings to and from the library, in UTF-8 with a NUL at the end.</summary>
internal static unsafe class Utf8
{
    /// <summary>Null gives null.</summary>
    internal static byte[]? ToNativeOrNull(string? text, string parameter) => text == null ? null : ToNative(text, parameter);

    /// <summary>A lone surrogate becomes a question mark, as everywhere in .NET.</summary>
    internal static byte[] ToNative(string text, string parameter)
    {
        if (text.IndexOf('\0') >= 0)
            throw new ArgumentException("The text contains a NUL character, at which the library would stop.", parameter);
        var bytes = new byte[Encoding.UTF8.GetByteCount(text) + 1];
        Encoding.UTF8.GetBytes(text, 0, text.Length, bytes, 0);
        return bytes;
    }

    /// <summary>Reads up to a NUL.</summary>
    internal static string FromNative(byte* text)
    {
        int length = 0;
        while (text[length] != 0)
            length++;
        return Encoding.UTF8.GetString(text, length);
    }

    /// <summary>Reads up to a NUL, or a whole field without one.</summary>
    internal static string FromField(byte* field, int capacity)
    {
        int length = 0;
        while (length < capacity && field[length] != 0)
            length++;
        return Encoding.UTF8.GetString(field, length);
    }
}
