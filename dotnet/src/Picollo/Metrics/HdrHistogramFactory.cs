namespace Picollo.Metrics;

public sealed unsafe partial class HdrHistogram
{
    /// <summary>
    /// A histogram with a relative error of 0.001, 64-bit counters, over all values: for any number of recording threads and
    /// readers.
    /// </summary>
    public static HdrHistogram Create() => Factory.Create();

    /// <summary>Begins the configuration of a histogram: <c>HdrHistogram.Factory.WithRelativeError(0.01).Create()</c>.</summary>
    public static HdrHistogramFactory Factory => default;

    /// <summary>The configuration of a histogram. Each step returns a changed copy.</summary>
    public readonly ref struct HdrHistogramFactory
    {
        private readonly PicolloHistogramOptions _options;

        private HdrHistogramFactory(PicolloHistogramOptions options)
        {
            _options = options;
        }

        /// <summary>
        /// The largest relative distance between a value and the midpoint of its bucket: from 1e-6 to below 1; at most
        /// 0.1 is used. Smaller errors take more memory: 0.001 takes 0.7 MB over all values, 1e-6 takes 579 MB. See
        /// <see cref="EstimateFootprint"/>.
        /// </summary>
        public HdrHistogramFactory WithRelativeError(double value) =>
            new HdrHistogramFactory(_options with { RelativeError = Arguments.RelativeError(value, 1e-6, nameof(value)) });

        /// <summary>0 to 5 decimal digits, with HdrHistogram's buckets, instead of a relative error.</summary>
        public HdrHistogramFactory WithSignificantDigits(int digits)
        {
            if (digits < 0 || digits > 5)
                throw new ArgumentOutOfRangeException(nameof(digits), digits, "There are layouts of 0 to 5 digits.");
            return new HdrHistogramFactory(_options with { SignificantDigits = digits == 0 ? (uint)Constants.ZeroDigits : (uint)digits });
        }

        /// <summary>32-bit counters: half the memory. A counter that wraps is reported as a lost count.</summary>
        public HdrHistogramFactory WithUInt32Storage(bool enabled = true) => WithCounterBits(enabled ? 32u : 64u);

        /// <summary>64-bit counters, the default.</summary>
        public HdrHistogramFactory WithUInt64Storage() => WithCounterBits(64);

        /// <summary>The smallest value to record; smaller ones are counted as underflow.</summary>
        public HdrHistogramFactory WithMinTrackableValue(ulong value) =>
            new HdrHistogramFactory(_options with { MinTrackable = value });

        /// <summary>The largest value to record; larger ones are counted as overflow.</summary>
        public HdrHistogramFactory WithMaxTrackableValue(ulong value)
        {
            if (value == 0)
                throw new ArgumentOutOfRangeException(nameof(value), value, "A histogram of nothing but zero has no use.");
            return new HdrHistogramFactory(_options with { MaxTrackable = value });
        }

        /// <summary>
        /// Counts up to the largest value that fits the array of an HdrHistogram with this maximum: 8,191 for 5,000 and
        /// 3 digits.
        /// </summary>
        public HdrHistogramFactory WithWholeArray(bool enabled = true) => WithFlag(Constants.HistogramWholeArray, enabled);

        /// <summary>
        /// HdrHistogram's lowest discernible value: values are counted in units of the largest power of two in it, so that those below
        /// a block of units take fewer counters. Recording takes longer with a unit.
        /// </summary>
        public HdrHistogramFactory WithUnit(ulong value)
        {
            if (value == 0)
                throw new ArgumentOutOfRangeException(nameof(value), value, "A unit is at least 1.");
            return new HdrHistogramFactory(_options with { Unit = value });
        }

        /// <summary>Without it the histogram takes a third of the memory, and <see cref="Reset"/> fails.</summary>
        public HdrHistogramFactory WithLiveReset(bool enabled = true) => WithFlag(Constants.HistogramNoLiveReset, !enabled);

        /// <summary>The default: any number of recording threads, and an atomic addition per record.</summary>
        public HdrHistogramFactory WithInterlocked(bool enabled = true) => WithMode(RecordMode.Interlocked, enabled);

        /// <summary>
        /// One recording thread at a time: a plain addition, which the compiler inlines. Two threads that record at
        /// once lose counts silently.
        /// </summary>
        /// <param name="enabled">False for the default mode.</param>
        public HdrHistogramFactory WithSingleWriter(bool enabled = true) => WithMode(RecordMode.SingleWriter, enabled);

        /// <summary>
        /// Many recording threads at high rates: a plain addition into per-thread counters, which outlive the thread
        /// and go to the next one.
        /// </summary>
        /// <param name="enabled">False for the default mode.</param>
        /// <param name="accumulateInterval">Accepted for compatibility; reading always sees everything recorded.</param>
        public HdrHistogramFactory WithThreadLocal(bool enabled = true, TimeSpan? accumulateInterval = null) =>
            WithMode(RecordMode.ThreadLocal, enabled);

        /// <summary>
        /// Many recording threads at high rates, in any number: a plain addition into counters of the current CPU, on
        /// Linux on x86-64; elsewhere an atomic addition. Needs dense storage of 64 bits.
        /// </summary>
        /// <param name="enabled">False for the default mode.</param>
        public HdrHistogramFactory WithPerCpu(bool enabled = true) => WithMode(RecordMode.PerCpu, enabled);

        /// <summary>Counters are allocated in small chunks on first touch.</summary>
        /// <param name="maxBytes">A limit on the memory; counts that do not fit are lost. 0: none.</param>
        public HdrHistogramFactory WithSparseStorage(ulong maxBytes = 0)
        {
            PicolloHistogramOptions options = _options;
            options.Storage = Constants.StorageSparse;
            options.MaxBytes = maxBytes;
            return new HdrHistogramFactory(options);
        }

        /// <summary>Makes the histogram.</summary>
        /// <exception cref="InvalidOperationException">Two modes, or digits and a relative error.</exception>
        /// <exception cref="ArgumentOutOfRangeException">The minimum or the unit is too large for the
        /// maximum.</exception>
        /// <exception cref="PicolloException">The library does not offer this combination.</exception>
        public HdrHistogram Create()
        {
            PicolloHistogramOptions options = Native();
            int status = NativeMethods.picollo_histogram_create(&options, out HistogramHandle handle);
            PicolloError error;
            if (status != 0 && NativeMethods.picollo_histogram_explain(&options, &error) != 0)
                Outcome.Check(status, &error);
            Outcome.Check(status);
            return new HdrHistogram(handle, (RecordMode)options.Mode, options.Storage != 0);
        }

        /// <summary>The layout of the future histogram. Fails like <see cref="Create"/>.</summary>
        public HdrLayout GetLayout()
        {
            PicolloHistogramOptions options = Native();
            PicolloLayout layout;
            Outcome.Check(NativeMethods.picollo_layout_of_options(&options, &layout));
            return new HdrLayout(in layout);
        }

        /// <summary>The memory of the future histogram. Fails like <see cref="Create"/>.</summary>
        public HdrFootprint EstimateFootprint()
        {
            PicolloHistogramOptions options = Native();
            HdrFootprint footprint;
            Outcome.Check(NativeMethods.picollo_histogram_estimate(&options, &footprint));
            return footprint;
        }

        /// <summary>The options that the library refuses, and why; empty if the options are valid.</summary>
        public string Explain()
        {
            PicolloHistogramOptions options = Native();
            PicolloError error;
            int status = NativeMethods.picollo_histogram_explain(&options, &error);
            return status == 0 ? "" : Utf8.FromField(error.Message, PicolloError.MessageLength);
        }

        internal PicolloHistogramOptions Native()
        {
            Loader.Ensure();
            if ((_options.Mode & Conflict) != 0)
                throw new InvalidOperationException(
                    "Only one of interlocked, single-writer, thread-local and per-CPU can be had.");
            if (_options.RelativeError != 0 && _options.SignificantDigits != 0)
                throw new InvalidOperationException(
                    "Significant digits and a relative error are two ways to say the same: only one of them can be had.");
            if (_options.MaxTrackable != 0 && _options.MinTrackable >= _options.MaxTrackable)
                throw new ArgumentOutOfRangeException(
                    "minTrackableValue", _options.MinTrackable,
                    $"The smallest trackable value, {_options.MinTrackable}, is not below the largest, {_options.MaxTrackable}.");
            if (_options.MaxTrackable != 0 && _options.Unit > _options.MaxTrackable)
                throw new ArgumentOutOfRangeException(
                    "unit", _options.Unit, $"The unit is above the largest trackable value, {_options.MaxTrackable}.");
            PicolloHistogramOptions options = _options;
            options.Mode &= ~Chosen;
            options.StructSize = (uint)sizeof(PicolloHistogramOptions);
            return options;
        }

        private const uint Conflict = 0x80000000;

        /// <summary>Marks a mode as chosen, because the default is also a mode.</summary>
        private const uint Chosen = 0x40000000;

        private HdrHistogramFactory WithMode(RecordMode mode, bool enabled)
        {
            PicolloHistogramOptions options = _options;
            uint chosen = (uint)mode | Chosen;
            if (enabled)
                options.Mode = options.Mode == 0 || options.Mode == chosen ? chosen : Conflict;
            else if (options.Mode == chosen)
                options.Mode = 0;
            return new HdrHistogramFactory(options);
        }

        private HdrHistogramFactory WithFlag(int flag, bool set) =>
            new HdrHistogramFactory(_options with { Flags = set ? _options.Flags | (uint)flag : _options.Flags & ~(uint)flag });

        private HdrHistogramFactory WithCounterBits(uint bits) =>
            new HdrHistogramFactory(_options with { CounterBits = bits });
    }
}
