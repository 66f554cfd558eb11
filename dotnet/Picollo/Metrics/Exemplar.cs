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
            IsSlow = native.IsSlow != 0;
            ThreadId = native.Thread;
            Cpu = Known(native.Cpu != Constants.CpuUnknown, native.Cpu);
            ExcessNanos = Known(Cause != Cause.Several && Cause != Cause.NotKnown, native.ExcessNanos);
            Missing = (MissingEvidence)native.Missing;
            PicolloExemplarContext context = native.Context;
            TraceId = HexDigits.Write(context.TraceId, PicolloExemplarContext.TraceIdLength);
            SpanId = HexDigits.Write(context.SpanId, PicolloExemplarContext.SpanIdLength);
            Word0 = context.Words[0];
            Word1 = context.Words[1];
            bool accounts = Knows(in native, Constants.KnownAccounts), ring = Knows(in native, Constants.KnownRing);
            WindowNanos = Known(accounts, native.WindowNanos);
            OnCpuNanos = Known(accounts, native.CpuNanos);
            RunDelayNanos = Known(Knows(in native, Constants.KnownRunDelay), native.RunDelayNanos);
            OffCpuNanos = Known(ring, native.OffNanos);
            PreemptedNanos = Known(ring, native.PreemptedNanos);
            FaultNanos = Known(Knows(in native, Constants.KnownFaultTimes), native.FaultNanos);
            VoluntarySwitches = Known(accounts, native.Voluntary);
            InvoluntarySwitches = Known(accounts, native.Involuntary);
            MinorFaults = Known(accounts, native.MinorFaults);
            MajorFaults = Known(accounts, native.MajorFaults);
            Throttled = Known(Knows(in native, Constants.KnownQuota), native.Throttled);
        }

        /// <summary>As recorded.</summary>
        public ulong Value { get; }

        /// <summary>Why it was slow, or took what it took.</summary>
        public Cause Cause { get; }

        /// <summary>Whether it is above the threshold of its interval.</summary>
        public bool IsSlow { get; }

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

        /// <summary>The processor that it ended on.</summary>
        public uint? Cpu { get; }

        /// <summary>What of its length is in excess of what is usual, for its cause.</summary>
        public ulong? ExcessNanos { get; }

        /// <summary>Why nothing is known of where its time went.</summary>
        public MissingEvidence Missing { get; }

        /// <summary>
        /// How long the window is that what follows is of: it ends with the observation, and begins up to 300 µs before it, or further where that holds many others.
        /// </summary>
        public ulong? WindowNanos { get; }

        /// <summary>How long the thread ran.</summary>
        public ulong? OnCpuNanos { get; }

        /// <summary>How long it was ready and did not run.</summary>
        public ulong? RunDelayNanos { get; }

        /// <summary>How long it was off the processor.</summary>
        public ulong? OffCpuNanos { get; }

        /// <summary>What of that although it did not wait for anything.</summary>
        public ulong? PreemptedNanos { get; }

        /// <summary>How long handling page faults took.</summary>
        public ulong? FaultNanos { get; }

        /// <summary>How often it gave the processor up, to wait.</summary>
        public uint? VoluntarySwitches { get; }

        /// <summary>How often it was taken off.</summary>
        public uint? InvoluntarySwitches { get; }

        /// <summary>Page faults without reading from a disk.</summary>
        public uint? MinorFaults { get; }

        /// <summary>Page faults with.</summary>
        public uint? MajorFaults { get; }

        /// <summary>How often its group of processes was held back by a quota since that was looked at last.</summary>
        public uint? Throttled { get; }

        private static bool Knows(in PicolloExemplar native, int what) => (native.Known & (uint)what) != 0;

        private static T? Known<T>(bool isKnown, T value) where T : struct => isKnown ? value : (T?)null;
    }
}
