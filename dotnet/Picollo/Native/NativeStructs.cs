using System.Runtime.InteropServices;

namespace Picollo.Native
{
    // The structs of include/picollo.h, field by field: a C name such as timestamp_unix_nanos is TimestampUnixNanos here. The
    // tests compare every size and offset with what a C compiler makes of the header.

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct PicolloError
    {
        public const int MessageLength = 496;

        public int Status;
        public int OsErrno;
        public int EventIndex;
        public uint Reserved;
        public fixed byte Message[MessageLength];
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloHistogramOptions
    {
        public uint StructSize;
        public uint Mode;
        public uint Storage;
        public uint CounterBits;
        public double RelativeError;
        public uint SignificantDigits;
        public uint Flags;
        public ulong MinTrackable;
        public ulong MaxTrackable;
        public ulong MaxBytes;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct PicolloRecorder
    {
        public ulong Length;
        public ulong FirstIndex;
        public uint BlockScale;
        public uint CounterBits;
        public void* Counters;
        public void* Histogram;
        public void* Owner;
        public void* Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloBucket
    {
        public ulong Lower;
        public ulong Upper;
        public ulong Step;
        public ulong Count;
        public ulong StorageIndex;
        public ulong LogicalIndex;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloPercentile
    {
        public double Rank;
        public ulong Value;
        public ulong TargetCount;
        public PicolloBucket Bucket;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloCounts
    {
        public ulong Total;
        public ulong Underflow;
        public ulong Overflow;
        public ulong Lost;
    }

    /// <summary>The sixteen percentiles of a summary. C# has no fixed buffer of structs.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct SummaryPercentiles
    {
        public const int Count = 16;

        public PicolloPercentile P0;
        public PicolloPercentile P1;
        public PicolloPercentile P5;
        public PicolloPercentile P10;
        public PicolloPercentile P25;
        public PicolloPercentile P50;
        public PicolloPercentile P75;
        public PicolloPercentile P90;
        public PicolloPercentile P925;
        public PicolloPercentile P95;
        public PicolloPercentile P975;
        public PicolloPercentile P99;
        public PicolloPercentile P999;
        public PicolloPercentile P9999;
        public PicolloPercentile P99999;
        public PicolloPercentile P100;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloSummary
    {
        public ulong TotalCount;
        public ulong UnderflowCount;
        public ulong OverflowCount;
        public ulong LostCount;
        public double Mean;
        public double Stddev;
        public double RelativeError;
        public ulong MinTrackable;
        public ulong MaxTrackable;
        public ulong TimestampUnixNanos;
        public uint ValueSelection;
        public uint Flags;
        public SummaryPercentiles Percentiles;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct PicolloEvent
    {
        public const int UnitLength = 16;
        public const int NameLength = 128;

        public ulong Config;
        public ulong Config1;
        public ulong Config2;
        public ulong Config3;
        public double Scale;
        public uint Type;
        public uint BpType;
        public uint Modifiers;
        public uint Reserved;
        public fixed byte Unit[UnitLength];
        public fixed byte Name[NameLength];
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct PicolloPerfInfo
    {
        public const int ExplanationLength = 480;

        public uint PmuAvailable;
        public uint UserReadAvailable;
        public uint FixedCounters;
        public uint ProgrammableCounters;
        public int Paranoid;
        public uint Hypervisor;
        public fixed byte Explanation[ExplanationLength];
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloSessionOptions
    {
        public uint StructSize;
        public uint Flags;
        public double RelativeError;
        public int Thread;
        public int Cpu;
        public uint CounterBits;
        public uint Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct PicolloReading
    {
        public ulong Value;
        public ulong Raw;
        public ulong TimeEnabled;
        public ulong TimeRunning;
        public uint Flags;
        public int Status;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct PicolloEventInfo
    {
        public const int MessageLength = 248;

        public ulong NotCountedCount;
        public ulong OverheadFast;
        public ulong OverheadSyscall;
        public int Status;
        public int OsErrno;
        public uint Group;
        public uint Flags;
        public fixed byte Message[MessageLength];
    }
}
