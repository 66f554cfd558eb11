using System;
using System.Runtime.CompilerServices;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>Records into a histogram without leaving managed code, for one thread at a time.</summary>
    /// <remarks>
    /// Keeps what it needs of the histogram alive. Dispose it when the thread is done: in thread-local mode its counters then go to the
    /// next thread, once the garbage collector has found that nobody is in the middle of recording.
    /// </remarks>
    public sealed class HdrRecorder : IRecorder, IDisposable
    {
        private readonly InlineRecorder _recorder;
        private InlineCells _cells;
        private bool _disposed;

        internal HdrRecorder(IntPtr histogram)
        {
            _recorder = InlineRecorder.Take(histogram, out _cells);
            if (_recorder == null)
                Outcome.Check((int)PicolloStatus.Unsupported);
        }

        /// <summary>Counts a value once.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Record(ulong value)
        {
            if (!_cells.TryRecord(value))
                RecordSlowly(value);
            GC.KeepAlive(this);
        }

        /// <summary>Counts a value many times: a call of the library.</summary>
        public void Record(ulong value, ulong count)
        {
            ThrowIfDisposed();
            NativeMethods.picollo_histogram_record_n(_recorder.Histogram, value, count);
            GC.KeepAlive(this);
        }

        /// <summary>
        /// Counts a value and those that a stalled caller did not send meanwhile, as <see cref="HdrHistogram.RecordCorrected"/>: a call
        /// of the library.
        /// </summary>
        public void RecordCorrected(ulong value, ulong expectedInterval)
        {
            ThrowIfDisposed();
            NativeMethods.picollo_histogram_record_corrected(_recorder.Histogram, value, expectedInterval);
            GC.KeepAlive(this);
        }

        /// <summary>Ends the use: recording from now on throws <see cref="ObjectDisposedException"/>.</summary>
        public void Dispose()
        {
            _disposed = true;
            _cells.Stop();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private void RecordSlowly(ulong value)
        {
            ThrowIfDisposed();
            NativeMethods.picollo_histogram_record_may_allocate(_recorder.Histogram, value);
        }

        private void ThrowIfDisposed()
        {
            if (_disposed)
                throw new ObjectDisposedException(nameof(HdrRecorder));
        }
    }
}
