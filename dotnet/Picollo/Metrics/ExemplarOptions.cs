using System;

namespace Picollo.Metrics
{
    /// <summary>How exemplars are kept. What is 0 is the library's choice.</summary>
    public sealed class ExemplarOptions
    {
        /// <summary>
        /// From where on causes are told, in units as recorded. 0: P99 of the interval before, and in the first interval only those that
        /// are kept.
        /// </summary>
        public ulong Threshold { get; set; }

        /// <summary>How many of the slowest are kept in an interval; 0: 16. Beside them is the latest of each octave of values.</summary>
        public uint Slowest { get; set; }

        /// <summary>
        /// For how many threads the kernel's account of waiting is kept open; 0: 64. Other threads' waiting is not split.
        /// </summary>
        public uint Threads { get; set; }

        /// <summary>For how many threads the kernel's records of switches are kept, where it permits that; 0: 64.</summary>
        public uint Rings { get; set; }

        /// <summary>Whether to keep these records at all.</summary>
        public bool UsesRings { get; set; } = true;

        /// <summary>
        /// How many slow observations a second and thread are looked into; 0: 1,000. More are counted, and the slowest is never lost.
        /// </summary>
        public uint Rate { get; set; }

        /// <summary>How many ordinary observations a second are looked into as well, to know what is usual; 0: 20.</summary>
        public uint Controls { get; set; }

        /// <summary>
        /// Called on the observation's thread when one is kept, for its context. Null: the ids of <c>Activity.Current</c>, which there is
        /// from .NET 5 on. What it throws, the scope throws at its end; the observation is recorded by then.
        /// </summary>
        public Func<ExemplarContext>? Context { get; set; }
    }
}
