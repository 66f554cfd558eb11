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
}
