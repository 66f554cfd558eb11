using System;
using System.Collections.Generic;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>One observation that is written with a metric, for others, with what leads further.</summary>
    public sealed unsafe class MetricExemplar
    {
        /// <summary>As recorded: it is divided as the metric's values are.</summary>
        public double Value { get; set; }

        /// <summary>When it was; null where that is not known.</summary>
        public DateTime? TimeUtc { get; set; }

        /// <summary>
        /// The trace that it belongs to: 32 hexadecimal digits, as <c>Activity.Current.TraceId.ToHexString()</c> has them; null for none.
        /// </summary>
        public string? TraceId { get; set; }

        /// <summary>The span in it: 16 hexadecimal digits; null for none.</summary>
        public string? SpanId { get; set; }

        /// <summary>
        /// Labels beside these. Names and values are up to 128 characters in all, of which a trace takes 40 and a span 23.
        /// </summary>
        public IDictionary<string, string>? Labels { get; set; } = new Dictionary<string, string>();

        internal PicolloMetricExemplar ToNative(NativeBlocks blocks)
        {
            var native = new PicolloMetricExemplar { Value = Value, UnixNanos = UnixTime.Nanos(TimeUtc) };
            Read(TraceId, native.TraceId, PicolloMetricExemplar.TraceIdLength, nameof(TraceId));
            Read(SpanId, native.SpanId, PicolloMetricExemplar.SpanIdLength, nameof(SpanId));
            native.Labels = blocks.Labels(Labels, nameof(Labels), out int length);
            native.LabelsLength = (UIntPtr)length;
            return native;
        }

        private static void Read(string? digits, byte* bytes, int length, string parameter)
        {
            if (digits == null || digits.Length == 0)
                return;
            if (digits.Length != 2 * length)
                throw new ArgumentException($"There must be {2 * length} hexadecimal digits.", parameter);
            for (int at = 0; at < length; at++)
                bytes[at] = (byte)(16 * Digit(digits[2 * at], parameter) + Digit(digits[2 * at + 1], parameter));
        }

        private static int Digit(char digit, string parameter)
        {
            if (digit >= '0' && digit <= '9')
                return digit - '0';
            char lower = (char)(digit | 0x20);
            if (lower >= 'a' && lower <= 'f')
                return lower - 'a' + 10;
            throw new ArgumentException($"{digit} is no hexadecimal digit.", parameter);
        }
    }
}
