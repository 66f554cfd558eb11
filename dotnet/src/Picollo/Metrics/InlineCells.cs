using System.Numerics;
using System.Runtime.CompilerServices;

namespace Picollo.Metrics;

/// <summary>How to increment a cell.</summary>
internal enum CellKind
{
    /// <summary>A plain addition to 64 bits.</summary>
    Wide,

    /// <summary>An atomic addition to 64 bits.</summary>
    Atomic,

    /// <summary>A plain addition to 32 bits, which may be full.</summary>
    Narrow
}

/// <summary>The counters of a histogram, for recording without a call; see picollo_inline.h for the rule.</summary>
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
    /// From now on no value has a cell. Only the length changes, so that a thread in the middle of a record still sees
    /// consistent fields.
    /// </summary>
    internal void Stop() => Volatile.Write(ref _length, 0);

    /// <summary>Increments the value's cell; returns false and does nothing without one, or if it is full.</summary>
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
        // Compared with this, the preceding comparisons cost nothing.
        Interlocked.Increment(ref ((long*)_counters)[index]);
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ulong IndexOf(ulong value)
    {
        uint exponent = (uint)((63 ^ BitOperations.LeadingZeroCount(value | _block)) - _scale);
        return ((ulong)exponent << _scale) + (value >> (int)exponent) - _firstIndex;
    }
}
