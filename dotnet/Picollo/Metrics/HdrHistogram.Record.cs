using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Picollo.Native;

namespace Picollo.Metrics
{
    public sealed unsafe partial class HdrHistogram : IRecorder
    {
        // What a record needs. In modes that cannot record inline, and once disposed, there are no cells, so that every value takes
        // the slow path.
        private InlineCells _cells;
#pragma warning disable 414 // Never read: it keeps the memory that the cells point into.
        private readonly InlineRecorder _recorder;
#pragma warning restore 414
        private readonly IntPtr _pointer;
        private readonly bool _mayAllocate;
        private readonly int _slot;
        private readonly long _id;

        /// <summary>Counts a value once.</summary>
        /// <remarks>
        /// In the default mode, interlocked, this is an atomic addition in the library. In single-writer mode it is a plain addition
        /// that the compiler inlines, without leaving managed code, in thread-local mode one after a look-up of the thread's counters; see
        /// <see cref="GetRecorder"/> to look them up once.
        /// </remarks>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Record(ulong value)
        {
            if (!_cells.TryRecord(value))
                RecordSlowly(value);
            // Until here the memory cannot go, whoever disposes this object.
            GC.KeepAlive(this);
        }

        /// <summary>Counts a value many times.</summary>
        public void Record(ulong value, ulong count)
        {
            ThrowIfDisposed();
            NativeMethods.picollo_histogram_record_n(_pointer, value, count);
            GC.KeepAlive(this);
        }

        /// <summary>Counts many values: the fastest way for those that are at hand.</summary>
        public void Record(ReadOnlySpan<ulong> values)
        {
            ThrowIfDisposed();
            fixed (ulong* start = &MemoryMarshal.GetReference(values))
                NativeMethods.picollo_histogram_record_batch(_pointer, start, (UIntPtr)values.Length);
            GC.KeepAlive(this);
        }

        /// <summary>
        /// Counts a value and, when it is longer than the interval at which values were expected, also those that a stalled caller did
        /// not send meanwhile (correction for coordinated omission).
        /// </summary>
        public void RecordCorrected(ulong value, ulong expectedInterval)
        {
            ThrowIfDisposed();
            NativeMethods.picollo_histogram_record_corrected(_pointer, value, expectedInterval);
            GC.KeepAlive(this);
        }

        /// <summary>
        /// Counts a value only when it lies between exact bounds, which may be tighter than the buckets at the ends of the range. Outside
        /// it is counted as underflow or overflow.
        /// </summary>
        /// <returns>Whether it was in range.</returns>
        /// <exception cref="ArgumentException">The bounds are the wrong way round; nothing was counted.</exception>
        /// <exception cref="ArgumentOutOfRangeException">
        /// It was not, and that was to be an exception. It is counted as underflow or overflow all the same.
        /// </exception>
        public bool RecordInRange(ulong value, ulong min, ulong max, bool throwOnOutOfRange = false)
        {
            ThrowIfDisposed();
            if (min > max)
                throw new ArgumentException($"The smallest value, {min}, is above the largest, {max}.", nameof(min));
            int status = NativeMethods.picollo_histogram_record_in_range(_pointer, value, min, max);
            GC.KeepAlive(this);
            if (status == 0)
                return true;
            if (status != (int)PicolloStatus.InvalidArgument)
                Outcome.Check(status);
            if (throwOnOutOfRange)
                throw new ArgumentOutOfRangeException(nameof(value), value, $"The value is not within {min} to {max}.");
            return false;
        }

        /// <summary>
        /// A recorder for one thread. In thread-local mode it saves the look-up of the thread's counters; what it records counts as
        /// recorded by <see cref="Record(ulong)"/>.
        /// </summary>
        /// <exception cref="PicolloException">
        /// The histogram is interlocked (the default), scalable, per-CPU or sparse: those have none.
        /// </exception>
        public HdrRecorder GetRecorder()
        {
            ThrowIfDisposed();
            if (_mayAllocate || _mode == RecordMode.Interlocked || _mode == RecordMode.PerCpu)
                throw new PicolloException(PicolloStatus.Unsupported,
                    "Histograms made with WithThreadLocal or WithSingleWriter have recorders, and no others.", 0, -1);
            var recorder = new HdrRecorder(_pointer);
            GC.KeepAlive(this);
            return recorder;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private void RecordSlowly(ulong value)
        {
            ThrowIfDisposed();
            if (_mode == RecordMode.ThreadLocal)
                ThreadRecorders.Record(_slot, _id, _pointer, value);
            else if (_mayAllocate)
                NativeMethods.picollo_histogram_record_may_allocate(_pointer, value);
            else
                NativeMethods.picollo_histogram_record(_pointer, value);
        }
    }
}
