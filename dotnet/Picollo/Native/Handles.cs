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

    /// <summary>What is used through bare pointers, which another thread may end meanwhile.</summary>
    /// <remarks>
    /// Never disposed, always finalised: only the garbage collector knows when no thread is in the middle of a use. The owner's
    /// finaliser ends the use; but the finaliser of another object may have handed the owner to a thread before. So this gives the memory back
    /// when it is found unreachable for the second time: by then whoever was in the middle is through, and nobody begins.
    /// </remarks>
    internal abstract class LastingHandle : NativeHandle
    {
        private bool _wasUnreachable;

        internal IntPtr Pointer => handle;

        protected override void Dispose(bool disposing)
        {
            if (!disposing && !_wasUnreachable && !IsInvalid)
            {
                _wasUnreachable = true;
                GC.ReRegisterForFinalize(this);
                return;
            }
            base.Dispose(disposing);
        }
    }

    /// <summary>A picollo_histogram.</summary>
    internal sealed class HistogramHandle : LastingHandle
    {
        public HistogramHandle()
        {
        }

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

        /// <summary>Takes over what a call made that does not hand out handles itself.</summary>
        internal SnapshotHandle(IntPtr snapshot)
        {
            SetHandle(snapshot);
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
    internal sealed class DoubleHistogramHandle : LastingHandle
    {
        public DoubleHistogramHandle()
        {
        }

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
    internal sealed class HistogramArrayHandle : LastingHandle
    {
        public HistogramArrayHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_histogram_array_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_striped_counter.</summary>
    internal sealed class StripedCounterHandle : LastingHandle
    {
        public StripedCounterHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_striped_counter_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_metric_counter.</summary>
    internal sealed class MetricCounterHandle : LastingHandle
    {
        public MetricCounterHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_metric_counter_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_metric_gauge.</summary>
    internal sealed class MetricGaugeHandle : LastingHandle
    {
        public MetricGaugeHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_metric_gauge_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_exemplars.</summary>
    internal sealed class ExemplarsHandle : LastingHandle
    {
        public ExemplarsHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_exemplars_free(handle);
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

    /// <summary>A picollo_otlp_export.</summary>
    internal sealed class OtlpExportHandle : NativeHandle
    {
        public OtlpExportHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_otlp_export_free(handle);
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

    /// <summary>A picollo_segment.</summary>
    internal sealed class SegmentHandle : NativeHandle
    {
        public SegmentHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_segment_free(handle);
            return true;
        }
    }

    /// <summary>A picollo_viewer.</summary>
    internal sealed class ViewerHandle : NativeHandle
    {
        public ViewerHandle()
        {
        }

        protected override bool ReleaseHandle()
        {
            NativeMethods.picollo_viewer_free(handle);
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
            LogReaderHandle? reader = null;
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
