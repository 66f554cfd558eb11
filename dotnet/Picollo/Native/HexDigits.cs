using System;

namespace Picollo.Native
{
    /// <summary>The ids of traces and spans: bytes to the library, hexadecimal digits to people.</summary>
    internal static unsafe class HexDigits
    {
        /// <summary>Zeroes for null and for none.</summary>
        internal static void Read(string? digits, byte* bytes, int length, string parameter)
        {
            if (digits == null || digits.Length == 0)
                return;
            if (digits.Length != 2 * length)
                throw new ArgumentException($"There must be {2 * length} hexadecimal digits.", parameter);
            for (int at = 0; at < length; at++)
                bytes[at] = (byte)(16 * Digit(digits[2 * at], parameter) + Digit(digits[2 * at + 1], parameter));
        }

        /// <summary>Null for zeroes.</summary>
        internal static string? Write(byte* bytes, int length)
        {
            const string digits = "0123456789abcdef";
            var text = new char[2 * length];
            bool isNone = true;
            for (int at = 0; at < length; at++)
            {
                text[2 * at] = digits[bytes[at] >> 4];
                text[2 * at + 1] = digits[bytes[at] & 15];
                isNone &= bytes[at] == 0;
            }
            return isNone ? null : new string(text);
        }

        private static int Digit(char digit, string parameter)
        {
            if (digit >= '0' && digit <= '9')
                return digit - '0';
            char lower = (char)(digit | 0x20);
            if (lower >= 'a' && lower <= 'f')
                return lower - 'a' + 10;
            throw new ArgumentException($"{digit} is no hexadecimal digit.", parameter);
        }
    }
}
