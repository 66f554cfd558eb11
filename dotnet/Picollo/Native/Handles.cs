using System;
using System.Runtime.InteropServices;

namespace Picollo.Native
{
    /// <summary>A reference to a native object. The library counts references, so handles may go in any order.</summary>
    internal abstract class NativeHandle : SafeHandle
    {
        protected NativeHandle() : base(IntPtr.Zero, true)
        {
        }

        public override bool IsInvalid => handle == IntPtr.Zero;
    }

    /// <summary>A picollo_histogram.</summary>
    /// <remarks>
    /// Never disposed, always finalised. Recording writes to the histogram's memory through bare pointers, and another thread may
    /// dispose the histogram meanwhile; only the garbage collector knows when no thread is in the middle of that.
    /// </remarks>
    internal sealed class HistogramHandle : NativeHandle
    {
        public HistogramHandle()
        {
        }

        internal IntPtr Pointer => handle;

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_histogram_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_snapshot.</summary>
    internal sealed class SnapshotHandle : NativeHandle
    {
        public SnapshotHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_snapshot_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_session.</summary>
    internal sealed class SessionHandle : NativeHandle
    {
        public SessionHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_session_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_double_histogram.</summary>
    /// <remarks>Never disposed, always finalised: as <see cref="HistogramHandle"/>.</remarks>
    internal sealed class DoubleHistogramHandle : NativeHandle
    {
        public DoubleHistogramHandle()
        {
        }

        internal IntPtr Pointer => handle;

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_double_histogram_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_double_snapshot.</summary>
    internal sealed class DoubleSnapshotHandle : NativeHandle
    {
        public DoubleSnapshotHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_double_snapshot_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_histogram_array.</summary>
    /// <remarks>Never disposed, always finalised: as <see cref="HistogramHandle"/>.</remarks>
    internal sealed class HistogramArrayHandle : NativeHandle
    {
        public HistogramArrayHandle()
        {
        }

        internal IntPtr Pointer => handle;

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_histogram_array_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_striped_counter.</summary>
    /// <remarks>Never disposed, always finalised: as <see cref="HistogramHandle"/>.</remarks>
    internal sealed class StripedCounterHandle : NativeHandle
    {
        public StripedCounterHandle()
        {
        }

        internal IntPtr Pointer => handle;

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_striped_counter_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_metric_counter.</summary>
    internal sealed class MetricCounterHandle : NativeHandle
    {
        public MetricCounterHandle()
        {
        }

        internal IntPtr Pointer => handle;

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_metric_counter_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_metric_gauge.</summary>
    internal sealed class MetricGaugeHandle : NativeHandle
    {
        public MetricGaugeHandle()
        {
        }

        internal IntPtr Pointer => handle;

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_metric_gauge_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_registry.</summary>
    internal sealed class RegistryHandle : NativeHandle
    {
        public RegistryHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_registry_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_benchmark.</summary>
    internal sealed class BenchmarkHandle : NativeHandle
    {
        public BenchmarkHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_benchmark_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_log_reader, with the text that it reads, which does not move as long as it is there.</summary>
    internal sealed class LogReaderHandle : NativeHandle
    {
        private GCHandle _text;

        public LogReaderHandle()
        {
        }

        /// <summary>A reader of bytes that nobody changes from now on.</summary>
        internal static unsafe LogReaderHandle Create(byte[] text)
        {
            GCHandle pinned = GCHandle.Alloc(text, GCHandleType.Pinned);
            LogReaderHandle reader = null;
            try
            {
                Outcome.Check(NativeMethods.picollo_log_reader_create(
                    (byte*)pinned.AddrOfPinnedObject(), (UIntPtr)text.Length, out reader));
                reader._text = pinned;
                return reader;
            }
            finally
            {
                if (reader == null || reader.IsInvalid)
                    pinned.Free();
            }
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_log_reader_free(handle);
            if (_text.IsAllocated)
                _text.Free();
            return true;
        }
    }
}
