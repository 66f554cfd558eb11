using System;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>An observation that was kept, with what is known of where its time went. What is not known is null.</summary>
    public sealed unsafe class Exemplar
    {
        internal Exemplar(in PicolloExemplar native)
        {
            Value = native.Value;
            Cause = (Cause)native.Cause;
            BeganUtc = UnixTime.Utc(native.UnixNanos);
            Label = native.Label;
            ThreadId = native.Thread;
            CpuAtBegin = Cpu(native.CpuBegin);
            CpuAtEnd = Cpu(native.CpuEnd);
            PicolloExemplar one = native;
            TraceId = HexDigits.Write(one.TraceId, PicolloExemplar.TraceIdLength);
            SpanId = HexDigits.Write(one.SpanId, PicolloExemplar.SpanIdLength);
            Word0 = one.Words[0];
            Word1 = one.Words[1];
            bool accounts = Knows(native, Constants.KnownAccounts);
            OnCpuNanos = Known(accounts, native.CpuNanos);
            RunDelayNanos = Known(Knows(native, Constants.KnownRunDelay), native.RunDelayNanos);
            VoluntarySwitches = Known(accounts, native.Voluntary);
            InvoluntarySwitches = Known(accounts, native.Involuntary);
            MinorFaults = Known(accounts, native.MinorFaults);
            MajorFaults = Known(accounts, native.MajorFaults);
            WindowNanos = Known(accounts, native.WindowNanos);
        }

        /// <summary>As recorded.</summary>
        public ulong Value { get; }

        /// <summary>Why it was slow.</summary>
        public Cause Cause { get; }

        /// <summary>When it began.</summary>
        public DateTime BeganUtc { get; }

        /// <summary>Which kind of observation it is.</summary>
        public uint Label { get; }

        /// <summary>The trace that it belongs to, 32 hexadecimal digits.</summary>
        public string? TraceId { get; }

        /// <summary>The span in it, 16 hexadecimal digits.</summary>
        public string? SpanId { get; }

        /// <summary>What the program gave it.</summary>
        public ulong Word0 { get; }

        /// <summary>What the program gave it.</summary>
        public ulong Word1 { get; }

        /// <summary>The kernel's number of the thread that it ended on.</summary>
        public int ThreadId { get; }

        /// <summary>The processor that it began on.</summary>
        public uint? CpuAtBegin { get; }

        /// <summary>The processor that it ended on.</summary>
        public uint? CpuAtEnd { get; }

        /// <summary>
        /// How long the window is that what follows is of: it ends with the observation, and begins with it or up to 100 µs before.
        /// </summary>
        public ulong? WindowNanos { get; }

        /// <summary>How long the thread ran.</summary>
        public ulong? OnCpuNanos { get; }

        /// <summary>How long it was ready and did not run.</summary>
        public ulong? RunDelayNanos { get; }

        /// <summary>How often it gave the processor up, to wait.</summary>
        public uint? VoluntarySwitches { get; }

        /// <summary>How often it was taken off.</summary>
        public uint? InvoluntarySwitches { get; }

        /// <summary>Page faults without reading from a disk.</summary>
        public uint? MinorFaults { get; }

        /// <summary>Page faults with.</summary>
        public uint? MajorFaults { get; }

        private static bool Knows(in PicolloExemplar native, int what) => (native.Known & (uint)what) != 0;

        private static T? Known<T>(bool isKnown, T value) where T : struct => isKnown ? value : (T?)null;

        private static uint? Cpu(uint number) => Known(number != uint.MaxValue, number);
    }
}
