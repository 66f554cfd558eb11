using System;
using System.Collections.Generic;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>How much of what slow observations took more than is usual went to one cause.</summary>
    public readonly struct CauseShare
    {
        internal CauseShare(Cause cause, in PicolloExemplarsShare native)
        {
            Cause = cause;
            Share = native.Share;
            ExcessNanos = native.ExcessNanos;
            Observations = native.Observations;
            TypicalNanos = native.TypicalNanos;
        }

        /// <summary>Which cause.</summary>
        public Cause Cause { get; }

        /// <summary>Its part of the excess of all that causes are known of, 0 to 1; NaN where there is no excess.</summary>
        public double Share { get; }

        /// <summary>The same in nanoseconds.</summary>
        public ulong ExcessNanos { get; }

        /// <summary>How many observations it is the cause of.</summary>
        public ulong Observations { get; }

        /// <summary>Its excess in a typical one of them.</summary>
        public ulong TypicalNanos { get; }
    }

    /// <summary>What was slow in an interval, and why. It does not change.</summary>
    public sealed unsafe class ExemplarInterval
    {
        private static readonly Cause[] s_causes = (Cause[])Enum.GetValues(typeof(Cause));

        private readonly string _text, _json;

        internal ExemplarInterval(ExemplarsHandle collector)
        {
            PicolloExemplarsInterval native;
            Outcome.Check(NativeMethods.picollo_exemplars_interval(collector, &native));
            BeginUtc = UnixTime.Utc(native.BeginUnixNanos);
            EndUtc = UnixTime.Utc(native.EndUnixNanos);
            Threshold = native.Threshold;
            ObservationCount = native.Observations;
            SlowCount = native.Slow;
            KnownCount = native.Known;
            ControlCount = native.Controls;
            var exemplars = new List<Exemplar>();
            PicolloExemplar one;
            int status;
            while ((status = NativeMethods.picollo_exemplars_get(collector, (UIntPtr)(uint)exemplars.Count, &one)) == 0)
                exemplars.Add(new Exemplar(in one));
            if (status != (int)PicolloStatus.End)
                Outcome.Check(status);
            Exemplars = exemplars.AsReadOnly();
            var shares = new List<CauseShare>();
            foreach (Cause cause in s_causes)
            {
                PicolloExemplarsShare share;
                Outcome.Check(NativeMethods.picollo_exemplars_share(collector, (uint)cause, &share));
                shares.Add(new CauseShare(cause, in share));
            }
            Shares = shares.AsReadOnly();
            _text = Format(collector, Constants.TextHuman);
            _json = Format(collector, Constants.TextJson);
        }

        /// <summary>When it began.</summary>
        public DateTime BeginUtc { get; }

        /// <summary>When it ended.</summary>
        public DateTime EndUtc { get; }

        /// <summary>From where on observations were slow, in units as recorded.</summary>
        public ulong Threshold { get; }

        /// <summary>How many observations there were.</summary>
        public ulong ObservationCount { get; }

        /// <summary>How many of them were slow.</summary>
        public ulong SlowCount { get; }

        /// <summary>Of how many of these the causes are known.</summary>
        public ulong KnownCount { get; }

        /// <summary>Of how many ordinary ones it was looked where their time went, to know what is usual.</summary>
        public ulong ControlCount { get; }

        /// <summary>The slowest, slowest first, and after them the latest of each octave of values.</summary>
        public IReadOnlyList<Exemplar> Exemplars { get; }

        /// <summary>What went to each cause, in the order of <see cref="Cause"/>.</summary>
        public IReadOnlyList<CauseShare> Shares { get; }

        /// <summary>All of it as a JSON object, with exact values.</summary>
        public string ToJson() => _json;

        /// <summary>A table for people, and the slowest with their traces.</summary>
        public override string ToString() => _text;

        private static string Format(ExemplarsHandle collector, int format) =>
            NativeText.Read((buffer, capacity, length) =>
                NativeMethods.picollo_exemplars_format(collector, (uint)format, buffer, capacity, length));
    }
}
