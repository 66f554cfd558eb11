using System.Runtime.InteropServices;

namespace Picollo.Native
{
    // As in NativeStructs.cs: doubles and metrics.

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloDoubleOptions
    {
        public uint StructSize;
        public uint Flags;
        public double RelativeError;
        public ulong MaxBytes;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloDoubleStatistics
    {
        public ulong Count;
        public ulong NotFinite;
        public ulong Lost;
        public double Sum;
        public double Min;
        public double Max;
        public double Mean;
        public double Stddev;
        public double RelativeError;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloDoubleBucket
    {
        public double Lower;
        public double Upper;
        public double Midpoint;
        public ulong Count;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloDoublePercentile
    {
        public double Rank;
        public double Value;
        public ulong TargetCount;
        public PicolloDoubleBucket Bucket;
    }

    /// <summary>The sixteen percentiles of a summary of doubles. C# has no fixed buffer of structs.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct DoubleSummaryPercentiles
    {
        public const int Count = 16;

        public PicolloDoublePercentile P0;
        public PicolloDoublePercentile P1;
        public PicolloDoublePercentile P5;
        public PicolloDoublePercentile P10;
        public PicolloDoublePercentile P25;
        public PicolloDoublePercentile P50;
        public PicolloDoublePercentile P75;
        public PicolloDoublePercentile P90;
        public PicolloDoublePercentile P925;
        public PicolloDoublePercentile P95;
        public PicolloDoublePercentile P975;
        public PicolloDoublePercentile P99;
        public PicolloDoublePercentile P999;
        public PicolloDoublePercentile P9999;
        public PicolloDoublePercentile P99999;
        public PicolloDoublePercentile P100;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloDoubleSummary
    {
        public PicolloDoubleStatistics Statistics;
        public DoubleSummaryPercentiles Percentiles;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct PicolloLabel
    {
        public byte* Name;
        public byte* Value;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct PicolloMetricOptions
    {
        public uint StructSize;
        public uint Flags;
        public double Divisor;
        public ulong LabelsLength;
        public ulong CreatedUnixNanos;
        public byte* Name;
        public byte* Help;
        public byte* Unit;
        public PicolloLabel* Labels;
    }
}
