using System;
using System.Diagnostics;
using System.Globalization;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>
    /// The smallest recorded value that at least <see cref="Rank"/> per cent of all recorded values do not exceed, as far as
    /// buckets tell.
    /// </summary>
    [DebuggerDisplay("{ToString(),nq}")]
    public readonly struct Percentile : IEquatable<Percentile>
    {
        private static EquivalentValueSelection s_default = EquivalentValueSelection.Midpoint;

        private readonly PicolloPercentile _native;
        private readonly bool _listed;

        internal Percentile(in PicolloPercentile native, bool listed = false)
        {
            _native = native;
            _listed = listed;
        }

        /// <summary>What <see cref="EquivalentValueSelection.Default"/> means, for the whole process.</summary>
        public static EquivalentValueSelection DefaultEquivalentValueSelection
        {
            get => s_default;
            set => s_default = value == EquivalentValueSelection.Default ? EquivalentValueSelection.Midpoint : Known(value);
        }

        /// <summary>0 to 100, as asked for; in a list of buckets, the rank at the middle of the bucket.</summary>
        public double Rank => _native.Rank;

        /// <summary>The value that stands for the bucket, by the selection asked for.</summary>
        public ulong Value => _native.Value;

        /// <summary>How many recorded values the percentile has to cover; 0 when nothing was recorded.</summary>
        public ulong TargetCount => _native.TargetCount;

        /// <summary>Where the percentile was found.</summary>
        public Bucket Bucket => new Bucket(in _native.Bucket);

        /// <summary>Another value that stands for the bucket.</summary>
        public ulong GetValue(EquivalentValueSelection selection) => Bucket.GetValue(selection);

        /// <inheritdoc/>
        public bool Equals(Percentile other) =>
            Rank.Equals(other.Rank) && Value == other.Value && TargetCount == other.TargetCount && Bucket.Equals(other.Bucket);

        /// <inheritdoc/>
        public override bool Equals(object obj) => obj is Percentile && Equals((Percentile)obj);

        /// <inheritdoc/>
        public override int GetHashCode() => unchecked((Rank.GetHashCode() * 397) ^ Value.GetHashCode());

        /// <summary>
        /// Rank, value and bucket: <c>P99=9,152 [138 / 519]: [9,088, 9,216) 386</c>. The rank has up to six decimals, in a list of
        /// buckets up to four. A percentile of nothing is <c>P99=n/a</c>.
        /// </summary>
        public override string ToString()
        {
            string rank = RoundedRank();
            return !_listed && TargetCount == 0 ? $"P{rank}=n/a" : $"P{rank}={Bucket.Grouped(Value)} {Bucket}";
        }

        internal static uint ToNative(EquivalentValueSelection selection) =>
            (uint)(selection == EquivalentValueSelection.Default ? s_default : Known(selection)) - 1;

        private static EquivalentValueSelection Known(EquivalentValueSelection selection)
        {
            if (selection < EquivalentValueSelection.Midpoint || selection > EquivalentValueSelection.UpperBound)
                throw new ArgumentOutOfRangeException(nameof(selection), selection, "There is no such selection.");
            return selection;
        }

        private string RoundedRank() =>
            Rank >= 0 && Rank <= 100 ? Rounded(Rank, _listed ? 4 : 6) : "n/a";

        /// <summary>
        /// Half away from zero on the exact value, as the library rounds, without trailing zeros. The runtime's own formatting would
        /// round to fifteen digits first.
        /// </summary>
        private static string Rounded(double value, int decimals)
        {
            ulong factor = decimals == 4 ? 10000ul : 1000000ul;
            ulong whole = (ulong)value;
            // The fraction is mantissa / 2^shift, exactly, with a shift of at least 53.
            long bits = BitConverter.DoubleToInt64Bits(value - whole);
            ulong mantissa = bits == 0 ? 0 : ((ulong)bits & ((1ul << 52) - 1)) | (1ul << 52);
            int shift = 1075 - (int)(bits >> 52) - 32;
            // In units of 2^32, which lie below the digit that decides.
            ulong scaled = (mantissa >> 32) * factor + ((mantissa & 0xffffffff) * factor >> 32);
            ulong fraction = shift < 64 ? (scaled + (1ul << (shift - 1))) >> shift : 0;
            if (fraction == factor)
            {
                fraction = 0;
                whole++;
            }
            string integer = whole.ToString(CultureInfo.InvariantCulture);
            if (fraction == 0)
                return integer;
            string digits = fraction.ToString(CultureInfo.InvariantCulture).PadLeft(decimals, '0').TrimEnd('0');
            return integer + "." + digits;
        }
    }
}
