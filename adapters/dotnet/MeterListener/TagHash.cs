using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;
using System.Security.Cryptography;

namespace Picollo.Metrics
{
    /// <summary>
    /// Hashes and compares tags as they are given: a few nanoseconds each, no allocation, and no code of anybody else's.
    /// </summary>
    /// <remarks>
    /// The hash is as wyhash's: sixteen bytes a step, by a multiplication to 128 bits whose halves are xored. Its constants
    /// are drawn for each process, so that nobody outside can choose labels that meet in one place.
    /// </remarks>
    internal static class TagHash
    {
        private static readonly ulong s_one = Random(), s_two = Random(), s_three = Random();

        /// <summary>
        /// Of tags in this order; false where a value is an object of a type that may do anything when it is asked, or that may change.
        /// </summary>
        internal static bool TryOf(ReadOnlySpan<KeyValuePair<string, object?>> tags, out ulong hash)
        {
            ulong all = (ulong)tags.Length;
            foreach (ref readonly KeyValuePair<string, object?> tag in tags)
            {
                ulong value;
                switch (tag.Value)
                {
                    case string text:
                        value = Of(text);
                        break;
                    case null:
                        value = s_one;
                        break;
                    case int number:
                        value = Mix(s_two ^ (uint)number, s_one);
                        break;
                    case bool flag:
                        value = flag ? s_two : ~s_two;
                        break;
                    default:
                        if (!IsPlain(tag.Value))
                        {
                            hash = 0;
                            return false;
                        }
                        value = Mix(s_two ^ (uint)tag.Value.GetHashCode(), s_one);
                        break;
                }
                all = Mix(all ^ Of(tag.Key), s_one ^ value);
            }
            hash = all;
            return true;
        }

        internal static bool AreSame(
            ReadOnlySpan<KeyValuePair<string, object?>> tags, KeyValuePair<string, object?>[] known)
        {
            if (tags.Length != known.Length)
                return false;
            // Mostly they are the same objects.
            for (int i = 0; i < known.Length; i++)
                if (!ReferenceEquals(tags[i].Key, known[i].Key) || !ReferenceEquals(tags[i].Value, known[i].Value))
                    return AreEqual(tags, known);
            return true;
        }

        private static bool AreEqual(ReadOnlySpan<KeyValuePair<string, object?>> tags, KeyValuePair<string, object?>[] known)
        {
            for (int i = 0; i < known.Length; i++)
                if (!string.Equals(tags[i].Key, known[i].Key) || !AreSame(tags[i].Value, known[i].Value))
                    return false;
            return true;
        }

        /// <summary>What is one of the runtime's own types of numbers, texts and times, or an enumeration: they do not change.</summary>
        internal static bool IsPlain(object? value) => value == null || Type.GetTypeCode(value.GetType()) > TypeCode.DBNull;

        private static bool AreSame(object? a, object? b)
        {
            if (ReferenceEquals(a, b))
                return true;
            if (a is string text)
                return b is string other && string.Equals(text, other);
            return a != null && b != null && a.GetType() == b.GetType() && a.Equals(b);
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static ulong Mix(ulong a, ulong b)
        {
            // Two multiplications at once: one to both halves writes the lower one to memory, and reads it again.
            if (Bmi2.X64.IsSupported)
                return Bmi2.X64.MultiplyNoFlags(a, b) ^ unchecked(a * b);
            ulong high = Math.BigMul(a, b, out ulong low);
            return high ^ low;
        }

        private static ulong Of(string? text)
        {
            if (text == null)
                return s_two;
            ref byte start = ref Unsafe.As<char, byte>(ref MemoryMarshal.GetReference(text.AsSpan()));
            int length = 2 * text.Length;
            ulong hash = s_one ^ (ulong)length;
            if (length >= 16)
            {
                // The first and the last sixteen, of which some may be the same; and what is between them.
                ulong first = Mix(Word(ref start, 0) ^ s_two, Word(ref start, 8) ^ hash);
                ulong last = Mix(Word(ref start, length - 16) ^ s_three, Word(ref start, length - 8) ^ hash);
                for (int at = 16; at < length - 16; at += 16)
                    first = Mix(Word(ref start, at) ^ s_two, Word(ref start, at + 8) ^ first);
                return first ^ last;
            }
            ulong low = 0, high = 0;
            if (length >= 8)
            {
                low = Word(ref start, 0);
                high = Word(ref start, length - 8);
            }
            else if (length >= 4)
            {
                low = Unsafe.ReadUnaligned<uint>(ref start);
                high = Unsafe.ReadUnaligned<uint>(ref Unsafe.Add(ref start, length - 4));
            }
            else if (length != 0)
                low = text[0];
            return Mix(low ^ s_two, high ^ hash);
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static ulong Word(ref byte start, int at) => Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref start, at));

        private static ulong Random() => BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(8)) | 1;
    }
}
