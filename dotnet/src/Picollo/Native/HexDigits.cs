namespace Picollo.Native;

/// <summary>The ids of traces and spans: bytes for the library, hexadecimal digits for people.</summary>
internal static unsafe class HexDigits
{
    /// <summary>Null and an empty text give zeroes.</summary>
    internal static void Read(string? digits, byte* bytes, int length, string parameter)
    {
        if (string.IsNullOrEmpty(digits))
            return;
        if (digits.Length != 2 * length)
            throw new ArgumentException($"There must be {2 * length} hexadecimal digits.", parameter);
        try
        {
            Convert.FromHexString(digits).CopyTo(new Span<byte>(bytes, length));
        }
        catch (FormatException inner)
        {
            throw new ArgumentException($"{digits} has other than hexadecimal digits.", parameter, inner);
        }
    }

    /// <summary>Zeroes give null.</summary>
    internal static string? Write(byte* bytes, int length)
    {
        var id = new ReadOnlySpan<byte>(bytes, length);
        return id.IndexOfAnyExcept((byte)0) < 0 ? null : Convert.ToHexString(id).ToLowerInvariant();
    }
}
