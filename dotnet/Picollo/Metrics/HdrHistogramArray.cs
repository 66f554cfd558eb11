using System;
using System.Collections;
using System.Collections.Generic;
using System.Threading;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>
    /// Many histograms alike in one block of memory, each on cache lines of its own: per endpoint, per core, per tenant. Made by
    /// <c>HdrHistogram.Factory.….CreateArray(count)</c>.
    /// </summary>
    /// <remarks>Its histograms are like any other. They outlive the array, and each keeps the memory of all.</remarks>
    public sealed unsafe class HdrHistogramArray : IReadOnlyList<HdrHistogram>, IDisposable
    {
        private readonly HistogramArrayHandle _handle;
        private readonly HdrHistogram[] _histograms;
        private readonly IntPtr _pointer;
        private readonly RecordMode _mode;
        private readonly bool _sparse;
        private readonly long _pressure;
        private volatile bool _disposed;

        internal HdrHistogramArray(HistogramArrayHandle handle, int count, RecordMode mode, bool sparse)
        {
            _handle = handle;
            _histograms = new HdrHistogram[count];
            _pointer = handle.Pointer;
            _mode = mode;
            _sparse = sparse;
            _pressure = (long)Math.Min(FootprintInBytes, int.MaxValue);
            GC.AddMemoryPressure(_pressure);
        }

        /// <summary>Ends the use of an array that was not disposed.</summary>
        ~HdrHistogramArray()
        {
            _disposed = true;
            if (_pressure != 0)
                GC.RemoveMemoryPressure(_pressure);
        }

        /// <summary>How many histograms there are.</summary>
        public int Count => _histograms.Length;

        /// <summary>What all of them take now, in bytes of native memory.</summary>
        public ulong FootprintInBytes
        {
            get
            {
                ThrowIfDisposed();
                UIntPtr bytes;
                Outcome.Check(NativeMethods.picollo_histogram_array_footprint(_handle, &bytes));
                return (ulong)bytes;
            }
        }

        /// <summary>A histogram of the array: the same object each time, unless it was disposed meanwhile.</summary>
        /// <exception cref="ArgumentOutOfRangeException">There is none of this number.</exception>
        public HdrHistogram this[int index]
        {
            get
            {
                ThrowIfOutside(index);
                HdrHistogram known = Volatile.Read(ref _histograms[index]);
                return known != null && !known.IsDisposed ? known : Take(index);
            }
        }

        /// <summary>Counts a value once in a histogram of the array, without an object for it.</summary>
        /// <exception cref="ArgumentOutOfRangeException">There is none of this number.</exception>
        public void Record(int index, ulong value)
        {
            ThrowIfOutside(index);
#if !NET5_0_OR_GREATER
            // A thread's own counters are found by the histogram's object.
            if (_mode == RecordMode.ThreadLocal)
                this[index].Record(value);
            else
#endif
            if (_sparse || _mode == RecordMode.Scalable)
                NativeMethods.picollo_histogram_array_record_may_allocate(_pointer, (UIntPtr)(uint)index, value);
            else
                NativeMethods.picollo_histogram_array_record(_pointer, (UIntPtr)(uint)index, value);
            GC.KeepAlive(this);
        }

        /// <inheritdoc/>
        public IEnumerator<HdrHistogram> GetEnumerator()
        {
            for (int index = 0; index < _histograms.Length; index++)
                yield return this[index];
        }

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

        /// <summary>Ends the use of the array, not of the histograms that were taken from it. Its memory goes with the last of them.</summary>
        public void Dispose() => _disposed = true;

        private HdrHistogram Take(int index)
        {
            lock (_histograms)
            {
                HdrHistogram known = _histograms[index];
                if (known != null && !known.IsDisposed)
                    return known;
                Outcome.Check(NativeMethods.picollo_histogram_array_ref(
                    _handle, (UIntPtr)(uint)index, out HistogramHandle histogram));
                known = new HdrHistogram(histogram, _mode, _sparse, false);
                Volatile.Write(ref _histograms[index], known);
                return known;
            }
        }

        private void ThrowIfOutside(int index)
        {
            ThrowIfDisposed();
            if ((uint)index >= (uint)_histograms.Length)
                throw new ArgumentOutOfRangeException(nameof(index), index, $"There are {_histograms.Length} histograms.");
        }

        private void ThrowIfDisposed()
        {
            if (_disposed)
                throw new ObjectDisposedException(nameof(HdrHistogramArray));
        }
    }
}
