using System.Runtime.CompilerServices;
using System.Threading;
using Picollo.Native;
#if NETCOREAPP3_0_OR_GREATER || NET5_0_OR_GREATER
using System.Numerics;
#endif

namespace Picollo.Metrics
{
    /// <summary>How one is added to a cell.</summary>
    internal enum CellKind
    {
        /// <summary>A plain addition to 64 bits.</summary>
        Wide,

        /// <summary>An atomic addition to 64 bits.</summary>
        Atomic,

        /// <summary>A plain addition to 32 bits, which may be full.</summary>
        Narrow
    }

    /// <summary>The counters of a histogram, for recording without a call; the rule is that of picollo_inline.h.</summary>
    internal unsafe struct InlineCells
    {
        private void* _counters;
        private ulong _length;
        private ulong _firstIndex;
        private ulong _block;
        private int _scale;
        private CellKind _kind;

        internal InlineCells(in PicolloRecorder recorder)
        {
            _counters = recorder.Counters;
            _length = recorder.Length;
            _firstIndex = recorder.FirstIndex;
            _block = 1ul << (int)recorder.BlockScale;
            _scale = (int)recorder.BlockScale;
            _kind = recorder.CounterBits == 64 ? CellKind.Wide : CellKind.Narrow;
        }

        internal InlineCells(in PicolloAtomicRecorder recorder)
        {
            _counters = recorder.Counters;
            _length = recorder.Length;
            _firstIndex = recorder.FirstIndex;
            _block = 1ul << (int)recorder.BlockScale;
            _scale = (int)recorder.BlockScale;
            _kind = CellKind.Atomic;
        }

        /// <summary>
        /// From now on every value has no cell. Only the length changes, so that a thread in the middle of a record still sees fields that
        /// belong together.
        /// </summary>
        internal void Stop() => Volatile.Write(ref _length, 0);

        /// <summary>Adds one to the value's cell; false, and nothing done, where there is none or it is full.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal bool TryRecord(ulong value)
        {
            ulong index = IndexOf(value);
            if (index >= _length)
                return false;
            if (_kind == CellKind.Wide)
            {
                ((ulong*)_counters)[index]++;
                return true;
            }
            if (_kind == CellKind.Narrow)
            {
                uint* cell = (uint*)_counters + index;
                uint count = *cell;
                if (count == uint.MaxValue)
                    return false;
                *cell = count + 1;
                return true;
            }
            // The comparisons before it cost nothing beside it.
            Interlocked.Increment(ref ((long*)_counters)[index]);
            return true;
        }

#if !NET5_0_OR_GREATER
        /// <summary>Whether this was made from a recorder.</summary>
        internal bool IsKnown => _block != 0;

        /// <summary>As <see cref="TryRecord"/>, by a plain addition to cells of another thread, of the same layout.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal bool TryRecordIn(void* counters, ulong value)
        {
            ulong index = IndexOf(value);
            if (index >= _length)
                return false;
            if (_kind == CellKind.Wide)
            {
                ((ulong*)counters)[index]++;
                return true;
            }
            // Full ones are for the library, which counts how often they wrap.
            return ((uint*)counters)[index] != uint.MaxValue && ++((uint*)counters)[index] != 0;
        }
#endif

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private ulong IndexOf(ulong value)
        {
            uint exponent = (uint)((63 ^ LeadingZeros(value | _block)) - _scale);
            return ((ulong)exponent << _scale) + (value >> (int)exponent) - _firstIndex;
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static int LeadingZeros(ulong value)
        {
#if NETCOREAPP3_0_OR_GREATER || NET5_0_OR_GREATER
            return BitOperations.LeadingZeroCount(value);
#else
            // Not zero. Without the instruction, the exponent of a double tells: 32 bits are exact in one.
            uint upper = (uint)(value >> 32);
            double number = upper != 0 ? upper : (uint)value;
            int exponent = (int)(*(ulong*)&number >> 52) - 1023;
            return (upper != 0 ? 31 : 63) - exponent;
#endif
        }
    }
}
