using System.Runtime.InteropServices;

namespace Picollo.Native
{
    // As in NativeStructs.cs: layouts, steps, merging, logs and comparisons.

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloLayout
    {
        public ulong MinTrackable;
        public ulong MaxTrackable;
        public ulong FirstIndex;
        public ulong Length;
        public double RelativeError;
        public uint BlockScale;
        public uint SignificantDigits;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloFootprint
    {
        public ulong Counters;
        public ulong InitialBytes;
        public ulong StepBytes;
        public ulong MaxBytes;
        public ulong SnapshotBytes;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloStep
    {
        public ulong From;
        public ulong To;
        public ulong AddedCount;
        public ulong CumulativeCount;
        public double Rank;
        public double RankLevel;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloMerged
    {
        public ulong Refined;
        public ulong Underflow;
        public ulong Overflow;
        public ulong Lost;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct PicolloLogInterval
    {
        public const int TagLength = 232;

        public double StartSeconds;
        public double EndSeconds;
        public double Max;
        public fixed byte Tag[TagLength];
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloCompareOptions
    {
        public uint StructSize;
        public uint Flags;
        public double Quantile;
        public double Confidence;
        public double RelativeThreshold;
        public double AbsoluteThreshold;
        public double Power;
        public double Resolution;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloQuantileInterval
    {
        public double Quantile;
        public double Confidence;
        public double Coverage;
        public ulong TotalCount;
        public ulong TargetCount;
        public ulong Value;
        public ulong Lower;
        public ulong Upper;
        public ulong LowerMidpoint;
        public ulong UpperMidpoint;
        public ulong LowerCount;
        public ulong UpperCount;
        public ulong BucketWidth;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloComparison
    {
        public PicolloQuantileInterval A;
        public PicolloQuantileInterval B;
        public double Difference;
        public double DifferenceLower;
        public double DifferenceUpper;
        public double BucketWidth;
        public double Margin;
        public double SmallestDetectable;
        public double MannWhitneyU;
        public double MannWhitneyZ;
        public double MannWhitneyP;
        public double CommonLanguage;
        public double CliffsDelta;
        public double KsDistance;
        public double KsP;
        public double CohensD;
        public uint Verdict;
        public uint Flags;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloBlockComparison
    {
        public ulong BlockCount;
        public double Confidence;
        public double Coverage;
        public double MedianA;
        public double MedianB;
        public double Difference;
        public double DifferenceLower;
        public double DifferenceUpper;
        public double Margin;
        public double SmallestDetectable;
        public double Lag1;
        public double Inflation;
        public uint Verdict;
        public uint Flags;
        public double Resolution;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloBenchmarkOptions
    {
        public uint StructSize;
        public uint Flags;
        public uint MinBlocks;
        public uint MaxBlocks;
        public ulong Repetitions;
        public double BudgetSeconds;
        public double WarmUpSeconds;
        public double SampleSeconds;
        public double Precision;
        public double Confidence;
        public double RelativeThreshold;
        public double ResolutionSeconds;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloBenchmarkResult
    {
        public PicolloBlockComparison Blocks;
        public double OverheadA;
        public double OverheadB;
        public ulong RepetitionsA;
        public ulong RepetitionsB;
        public ulong SampleCount;
        public ulong Elapsed;
        public double OverheadErrorA;
        public double OverheadErrorB;
        public ulong EmptyCount;
        public uint Flags;
        public uint Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloBenchmarkCounter
    {
        public double A;
        public double B;
        public int Status;
        public uint Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloPictureOptions
    {
        public uint StructSize;
        public uint Theme;
        public uint Width;
        public uint Height;
    }
}
