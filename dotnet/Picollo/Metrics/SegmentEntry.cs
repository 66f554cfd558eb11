using System;
using System.Collections.Generic;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>What an entry of a segment is.</summary>
    public enum SegmentEntryKind
    {
        /// <summary>A histogram.</summary>
        Histogram = Constants.EntryHistogram,

        /// <summary>A number that only grows.</summary>
        Counter = Constants.EntryCounter
    }

    /// <summary>What is published in a segment under one name.</summary>
    public sealed unsafe class SegmentEntry
    {
        internal SegmentEntry(in PicolloSegmentEntry native, int index)
        {
            Index = index;
            Kind = (SegmentEntryKind)native.Kind;
            Name = Utf8.FromNative(native.Name);
            Unit = Utf8.FromNative(native.Unit);
            Help = Utf8.FromNative(native.Help);
            Divisor = native.Divisor;
            CreatedUtc = Time.FromUnixNanos(native.CreatedUnixNanos);
            Bytes = native.Bytes;
            IsRetired = native.IsRetired != 0;
            WriterPid = native.WriterPid == 0 ? null : (uint?)native.WriterPid;
            var labels = new Dictionary<string, string>(StringComparer.Ordinal);
            for (ulong i = 0; i < native.LabelsLength; i++)
                labels[Utf8.FromNative(native.Labels[i].Name)] = Utf8.FromNative(native.Labels[i].Value);
            Labels = labels;
        }

        /// <summary>Which one it is, for calls of the viewer.</summary>
        public int Index { get; }

        /// <summary>Histogram or counter.</summary>
        public SegmentEntryKind Kind { get; }

        /// <summary>What it is called.</summary>
        public string Name { get; }

        /// <summary>The unit of its values as recorded; may be empty.</summary>
        public string Unit { get; }

        /// <summary>What it means; may be empty.</summary>
        public string Help { get; }

        /// <summary>What tells those of one name apart.</summary>
        public IReadOnlyDictionary<string, string> Labels { get; }

        /// <summary>Values are divided by this where they are exported.</summary>
        public double Divisor { get; }

        /// <summary>Since when there are counts.</summary>
        public DateTime CreatedUtc { get; }

        /// <summary>Bytes of memory that it takes.</summary>
        public ulong Bytes { get; }

        /// <summary>Of a histogram with a single writer: the process, as it sees itself.</summary>
        public uint? WriterPid { get; }

        /// <summary>
        /// Whether the program has taken it out since this viewer first saw it. What was counted before can still be read.
        /// </summary>
        public bool IsRetired { get; }

        /// <inheritdoc/>
        public override string ToString()
        {
            var labels = new List<string>();
            foreach (KeyValuePair<string, string> label in Labels)
                labels.Add($"{label.Key}=\"{label.Value}\"");
            return labels.Count == 0 ? Name : $"{Name}{{{string.Join(",", labels)}}}";
        }
    }

    /// <summary>What a segment says of itself.</summary>
    public sealed unsafe class SegmentInfo
    {
        internal SegmentInfo(PicolloSegmentInfo* native)
        {
            Name = Utf8.FromField(native->Name, PicolloSegmentInfo.NameLength);
            Program = Utf8.FromField(native->Program, PicolloSegmentInfo.ProgramLength);
            Pid = native->Pid;
            IsLive = native->IsLive != 0;
            CreatedUtc = Time.FromUnixNanos(native->CreatedUnixNanos);
            Entries = native->Entries;
            Refused = native->Refused;
            Memory = native->Memory;
            Capacity = native->Capacity;
        }

        /// <summary>What it is called.</summary>
        public string Name { get; }

        /// <summary>The program that made it.</summary>
        public string Program { get; }

        /// <summary>The process that made it, as it saw itself.</summary>
        public uint Pid { get; }

        /// <summary>Whether a process has it; false when all have ended.</summary>
        public bool IsLive { get; }

        /// <summary>When it was made.</summary>
        public DateTime CreatedUtc { get; }

        /// <summary>Entries that can be read.</summary>
        public ulong Entries { get; }

        /// <summary>How often an entry was refused because something was full.</summary>
        public ulong Refused { get; }

        /// <summary>Bytes of memory that the file takes.</summary>
        public ulong Memory { get; }

        /// <summary>Bytes that it may come to take.</summary>
        public ulong Capacity { get; }
    }

    internal static class Time
    {
        internal static DateTime FromUnixNanos(ulong nanos) =>
            new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddTicks((long)(nanos / 100));
    }
}
