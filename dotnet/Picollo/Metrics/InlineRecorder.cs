using System;
using System.Runtime.CompilerServices;
using System.Threading;
using Picollo.Native;
#if NETCOREAPP3_0_OR_GREATER || NET5_0_OR_GREATER
using System.Numerics;
#endif

namespace Picollo.Metrics
{
    /// <summary>The counters of a histogram, for recording without a call; the rule is that of picollo_inline.h.</summary>
    internal unsafe struct InlineCells
    {
        private void* _counters;
        private ulong _length;
        private ulong _firstIndex;
        private ulong _block;
        private int _scale;
        private bool _wide;

        internal InlineCells(in PicolloRecorder recorder)
        {
            _counters = recorder.Counters;
            _length = recorder.Length;
            _firstIndex = recorder.FirstIndex;
            _block = 1ul << (int)recorder.BlockScale;
            _scale = (int)recorder.BlockScale;
            _wide = recorder.CounterBits == 64;
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
            uint exponent = (uint)((63 ^ LeadingZeros(value | _block)) - _scale);
            ulong index = ((ulong)exponent << _scale) + (value >> (int)exponent) - _firstIndex;
            if (index >= _length)
                return false;
            if (_wide)
            {
                ((ulong*)_counters)[index]++;
                return true;
            }
            uint* cell = (uint*)_counters + index;
            uint count = *cell;
            if (count == uint.MaxValue)
                return false;
            *cell = count + 1;
            return true;
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

    /// <summary>Holds a native recorder, and with it the memory that cells point into, until it is collected.</summary>
    internal sealed unsafe class InlineRecorder
    {
        private PicolloRecorder _native;

        private InlineRecorder()
        {
        }

        /// <summary>The finaliser may run on any thread, and the library is fine with that.</summary>
        ~InlineRecorder()
        {
            fixed (PicolloRecorder* native = &_native)
                NativeMethods.picollo_recorder_release(native);
        }

        /// <summary>Where the library takes what the cells cannot.</summary>
        internal IntPtr Histogram => (IntPtr)_native.Histogram;

        /// <summary>A recorder, or null and no cells where this kind of histogram has none.</summary>
        internal static InlineRecorder Take(IntPtr histogram, out InlineCells cells)
        {
            cells = default;
            var recorder = new InlineRecorder();
            int status;
            fixed (PicolloRecorder* native = &recorder._native)
                status = NativeMethods.picollo_histogram_recorder(histogram, Constants.InlineVersion, native);
            if (status == (int)PicolloStatus.Unsupported)
            {
                GC.SuppressFinalize(recorder);
                return null;
            }
            if (status != 0)
                GC.SuppressFinalize(recorder);
            Outcome.Check(status);
            cells = new InlineCells(in recorder._native);
            return recorder;
        }
    }
}
