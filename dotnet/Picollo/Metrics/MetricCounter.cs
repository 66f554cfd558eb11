using System;
using System.Threading;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>A number that only grows, made by <see cref="MetricRegistry.AddCounter"/> or <see cref="Segment.GetCounter"/>. Any thread
    /// may count, also when the registry is gone.</summary>
    public sealed unsafe class MetricCounter
    {
        private readonly MetricCounterHandle _handle;
        private IntPtr _pointer;

        internal MetricCounter(MetricCounterHandle handle, ulong id)
        {
            _handle = handle;
            _pointer = handle.Pointer;
            Id = id;
        }

        /// <summary>Another finaliser may have brought it back: there is nothing to count in any more.</summary>
        ~MetricCounter()
        {
            Volatile.Write(ref _pointer, IntPtr.Zero);
        }

        /// <summary>What <see cref="MetricRegistry.Remove"/> takes; 0 of a segment's.</summary>
        public ulong Id { get; }

        /// <summary>What was added so far, modulo 2⁶⁴.</summary>
        public ulong Value
        {
            get
            {
                ulong count;
                Outcome.Check(NativeMethods.picollo_metric_counter_read(_handle, &count));
                return count;
            }
        }

        /// <summary>Adds: one atomic addition, and the call of the library.</summary>
        public void Add(ulong count = 1)
        {
            NativeMethods.picollo_metric_counter_add(Pointer, count);
            GC.KeepAlive(this);
        }

        private IntPtr Pointer
        {
            get
            {
                IntPtr pointer = Volatile.Read(ref _pointer);
                return pointer != IntPtr.Zero ? pointer : throw new ObjectDisposedException(nameof(MetricCounter));
            }
        }
    }

    /// <summary>A number that goes up and down, made by <see cref="MetricRegistry.AddGauge"/>. Any thread may set it, also when the
    /// registry is gone.</summary>
    public sealed unsafe class MetricGauge
    {
        private readonly MetricGaugeHandle _handle;
        private IntPtr _pointer;

        internal MetricGauge(MetricGaugeHandle handle, ulong id)
        {
            _handle = handle;
            _pointer = handle.Pointer;
            Id = id;
        }

        /// <summary>Another finaliser may have brought it back: there is nothing to count in any more.</summary>
        ~MetricGauge()
        {
            Volatile.Write(ref _pointer, IntPtr.Zero);
        }

        /// <summary>What <see cref="MetricRegistry.Remove"/> takes.</summary>
        public ulong Id { get; }

        /// <summary>What it is now.</summary>
        public double Value
        {
            get
            {
                double value;
                Outcome.Check(NativeMethods.picollo_metric_gauge_read(_handle, &value));
                return value;
            }
        }

        /// <summary>Sets it.</summary>
        public void Set(double value)
        {
            NativeMethods.picollo_metric_gauge_set(Pointer, value);
            GC.KeepAlive(this);
        }

        /// <summary>Adds, also what is negative. Of several threads that add at once, nothing is lost.</summary>
        public void Add(double value)
        {
            NativeMethods.picollo_metric_gauge_add(Pointer, value);
            GC.KeepAlive(this);
        }

        private IntPtr Pointer
        {
            get
            {
                IntPtr pointer = Volatile.Read(ref _pointer);
                return pointer != IntPtr.Zero ? pointer : throw new ObjectDisposedException(nameof(MetricGauge));
            }
        }
    }
}
