using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>A line of a log, but for its histogram.</summary>
    public readonly struct HdrLogInterval
    {
        internal HdrLogInterval(double startSeconds, double endSeconds, double max, string tag)
        {
            StartSeconds = startSeconds;
            EndSeconds = endSeconds;
            Max = max;
            Tag = tag;
        }

        /// <summary>When the interval begins, in seconds since 1970, or since whatever the times of the log count from.</summary>
        public double StartSeconds { get; }

        /// <summary>When it ends.</summary>
        public double EndSeconds { get; }

        /// <summary>The largest value in millions, as the log has it; NaN where it is no number. The histogram knows better.</summary>
        public double Max { get; }

        /// <summary>What tells histograms of the same time apart; "" without one.</summary>
        public string Tag { get; }
    }

    /// <summary>An interval of a log with its histogram.</summary>
    public readonly struct HdrLogEntry
    {
        internal HdrLogEntry(HdrLogInterval interval, HdrHistogramSnapshot snapshot)
        {
            Interval = interval;
            Snapshot = snapshot;
        }

        /// <summary>The times and the tag.</summary>
        public HdrLogInterval Interval { get; }

        /// <summary>The counts; the reader of the log owns them from here on.</summary>
        public HdrHistogramSnapshot Snapshot { get; }
    }

    /// <summary>Reads logs of histograms (.hlog), the format of HdrHistogram's log tools.</summary>
    /// <remarks>
    /// A line that cannot be read is an exception of its own: the next call goes on after it. Any thread may call; calls take turns.
    /// </remarks>
    public sealed unsafe class HdrLogReader : IDisposable
    {
        private readonly object _gate = new object();
        private readonly LogReaderHandle _handle;
        private HdrLogInterval _interval;

        private HdrLogReader(byte[] text)
        {
            Loader.Ensure();
            _handle = LogReaderHandle.Create(text);
        }

        /// <summary>Reads a file, all of it at once.</summary>
        public static HdrLogReader Open(string path) => new HdrLogReader(File.ReadAllBytes(path));

        /// <summary>Reads a stream from where it stands to its end, all of it at once.</summary>
        /// <param name="input">Of bytes: UTF-8, or UTF-16 with its mark.</param>
        /// <param name="leaveOpen">False to dispose it now that it was read.</param>
        public static HdrLogReader Open(Stream input, bool leaveOpen = false)
        {
            if (input == null)
                throw new ArgumentNullException(nameof(input));
            try
            {
                using (var all = new MemoryStream())
                {
                    input.CopyTo(all);
                    return new HdrLogReader(all.ToArray());
                }
            }
            finally
            {
                if (!leaveOpen)
                    input.Dispose();
            }
        }

        /// <summary>Reads text.</summary>
        public static HdrLogReader Parse(string text)
        {
            if (text == null)
                throw new ArgumentNullException(nameof(text));
            return new HdrLogReader(Encoding.UTF8.GetBytes(text));
        }

        /// <summary>Reads the bytes of a log, of which it makes a copy.</summary>
        public static HdrLogReader Parse(ReadOnlySpan<byte> text) => new HdrLogReader(text.ToArray());

        /// <summary>The interval that was read last.</summary>
        public HdrLogInterval Interval
        {
            get
            {
                lock (_gate)
                    return _interval;
            }
        }

        /// <summary>The number of the line that was read last, from 1 on.</summary>
        public long LineNumber
        {
            get
            {
                ulong bytes, line;
                lock (_gate)
                    Outcome.Check(NativeMethods.picollo_log_reader_position(Live(), &bytes, &line));
                return (long)line;
            }
        }

        /// <summary>When the log starts, in seconds since 1970; NaN while it is not known. After the first interval it is.</summary>
        public double StartSeconds => Times(false);

        /// <summary>What is added to the timestamps of the log, in seconds; NaN while it is not known.</summary>
        public double BaseSeconds => Times(true);

        /// <summary>The most counters that snapshots may have from here on; 0: as <see cref="HdrHistogramSnapshot.Decode(ReadOnlySpan{byte}, ulong)"/>.</summary>
        public void SetMaxCounters(ulong maxCounters)
        {
            lock (_gate)
                Outcome.Check(NativeMethods.picollo_log_reader_set_max_counters(Live(), maxCounters));
        }

        /// <summary>Reads the next interval, without its histogram: to pick by tag and time. See <see cref="GetSnapshot"/>.</summary>
        /// <returns>False at the end of the log.</returns>
        /// <exception cref="PicolloException">The line is no interval. Reading goes on after it.</exception>
        public bool Read()
        {
            PicolloLogInterval interval;
            lock (_gate)
            {
                int status = NativeMethods.picollo_log_reader_next(Live(), &interval);
                if (status == (int)PicolloStatus.End)
                    return false;
                Outcome.Check(status);
                string tag = Utf8.FromField(interval.Tag, PicolloLogInterval.TagLength);
                // Longer ones are cut there, between characters, of which the longest have four bytes.
                if (Encoding.UTF8.GetByteCount(tag) > PicolloLogInterval.TagLength - 5)
                    tag = NativeText.Read((buffer, capacity, length) =>
                        NativeMethods.picollo_log_reader_tag(_handle, buffer, capacity, length));
                _interval = new HdrLogInterval(interval.StartSeconds, interval.EndSeconds, interval.Max, tag);
                return true;
            }
        }

        /// <summary>Decodes the histogram of the interval that was read last. May be done again.</summary>
        /// <exception cref="PicolloException">It is broken, or no interval was read.</exception>
        public HdrHistogramSnapshot GetSnapshot()
        {
            lock (_gate)
            {
                Outcome.Check(NativeMethods.picollo_log_reader_decode(Live(), out SnapshotHandle snapshot));
                return new HdrHistogramSnapshot(snapshot)
                {
                    StartSeconds = _interval.StartSeconds,
                    EndSeconds = _interval.EndSeconds,
                    Tag = _interval.Tag
                };
            }
        }

        /// <summary>All intervals from here to the end, with their histograms.</summary>
        /// <exception cref="PicolloException">A line cannot be read. A new enumeration goes on after it.</exception>
        public IEnumerable<HdrLogEntry> ReadAll()
        {
            while (Read())
                yield return new HdrLogEntry(Interval, GetSnapshot());
        }

        /// <summary>Ends the reading. Snapshots stay.</summary>
        public void Dispose()
        {
            lock (_gate)
                _handle.Dispose();
        }

        private double Times(bool ofBase)
        {
            double start, added;
            lock (_gate)
                Outcome.Check(NativeMethods.picollo_log_reader_times(Live(), &start, &added));
            return ofBase ? added : start;
        }

        private LogReaderHandle Live()
        {
            if (_handle.IsClosed)
                throw new ObjectDisposedException(nameof(HdrLogReader));
            return _handle;
        }
    }
}
