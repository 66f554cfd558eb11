namespace Picollo.Metrics;

/// <summary>Counters of one word for many threads, if interlocked additions are too slow.</summary>
/// <remarks>
/// The caller owns the words: fields or elements of arrays, initially zero, used only through these methods while
/// several threads use them. For exact counters, see <see cref="Interlocked"/> and <see cref="MetricOptions.Striped"/>.
/// 32-bit words count modulo 2³².
/// </remarks>
public static unsafe class SharedCounter
{
    /// <summary>By default scalable counters are exact up to 2¹³ = 8192.</summary>
    public const int DefaultThresholdBits = Constants.ScalableThresholdBits;

    /// <summary>
    /// Counts events exactly up to 2^thresholdBits, then in steps of 2^k with probability 2^-k: the busier the counter,
    /// the less threads contend for it. The expected count is exact, its standard deviation 0.9 % with 13 bits.
    /// </summary>
    public static void AddScalable(ref ulong counter, ulong count = 1, int thresholdBits = DefaultThresholdBits)
    {
        uint bits = Threshold(thresholdBits);
        fixed (ulong* word = &counter)
            NativeMethods.picollo_scalable_counter_add_n64(word, count, bits);
    }

    /// <summary>Like <see cref="AddScalable(ref ulong, ulong, int)"/>, in 32 bits.</summary>
    public static void AddScalable(ref uint counter, ulong count = 1, int thresholdBits = DefaultThresholdBits)
    {
        uint bits = Threshold(thresholdBits);
        fixed (uint* word = &counter)
            NativeMethods.picollo_scalable_counter_add_n32(word, count, bits);
    }

    /// <summary>
    /// Counts like a scalable counter, in steps of at most 2^capBits, so that the relative error falls at high counts.
    /// </summary>
    public static void AddCapped(
        ref ulong counter, ulong count = 1, int capBits = 10, int thresholdBits = DefaultThresholdBits)
    {
        uint bits = Threshold(thresholdBits), cap = Cap(capBits);
        fixed (ulong* word = &counter)
            NativeMethods.picollo_capped_counter_add64(word, count, bits, cap);
    }

    /// <summary>Like <see cref="AddCapped(ref ulong, ulong, int, int)"/>, in 32 bits.</summary>
    public static void AddCapped(
        ref uint counter, ulong count = 1, int capBits = 10, int thresholdBits = DefaultThresholdBits)
    {
        uint bits = Threshold(thresholdBits), cap = Cap(capBits);
        fixed (uint* word = &counter)
            NativeMethods.picollo_capped_counter_add32(word, count, bits, cap);
    }

    /// <summary>Counts events exactly as long as threads do not collide; otherwise like a scalable counter.</summary>
    public static void AddSensing(ref ulong counter, ulong count = 1, int thresholdBits = DefaultThresholdBits)
    {
        uint bits = Threshold(thresholdBits);
        fixed (ulong* word = &counter)
            NativeMethods.picollo_sensing_counter_add64(word, count, bits);
    }

    /// <summary>Like <see cref="AddSensing(ref ulong, ulong, int)"/>, in 32 bits.</summary>
    public static void AddSensing(ref uint counter, ulong count = 1, int thresholdBits = DefaultThresholdBits)
    {
        uint bits = Threshold(thresholdBits);
        fixed (uint* word = &counter)
            NativeMethods.picollo_sensing_counter_add32(word, count, bits);
    }

    /// <summary>Reads a counter while others count.</summary>
    public static ulong Read(ref ulong counter)
    {
        fixed (ulong* word = &counter)
            return (ulong)Volatile.Read(ref *(long*)word);
    }

    /// <summary>Reads a counter of 32 bits while others count.</summary>
    public static uint Read(ref uint counter) => Volatile.Read(ref counter);

    // For a value out of range, the library would use its default.
    private static uint Threshold(int bits)
    {
        if (bits < 1 || bits > 31)
            throw new ArgumentOutOfRangeException("thresholdBits", bits, "A threshold has 1 to 31 bits.");
        Loader.Ensure();
        return (uint)bits;
    }

    private static uint Cap(int bits)
    {
        if (bits < 0 || bits > 31)
            throw new ArgumentOutOfRangeException("capBits", bits, "A cap has 0 to 31 bits.");
        return (uint)bits;
    }
}
