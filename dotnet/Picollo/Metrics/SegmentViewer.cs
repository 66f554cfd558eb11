using System;
using System.Collections.Generic;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>Reads a segment from outside, while its program runs or after it ended. Never writes to it. On Linux.</summary>
    /// <remarks>Any thread may call anything; calls on one viewer take turns. Snapshots live on when it is disposed.</remarks>
    public sealed unsafe class SegmentViewer : IDisposable
    {
        private readonly object _gate = new object();
        private readonly ViewerHandle _handle;
        private List<SegmentEntry> _entries = new List<SegmentEntry>();

        private SegmentViewer(ViewerHandle handle)
        {
            _handle = handle;
            TakeEntries();
        }

        /// <summary>Opens the segment at a path.</summary>
        /// <exception cref="PicolloException">Names the file and the reason.</exception>
        public static SegmentViewer Open(string path)
        {
            Loader.Ensure();
            PicolloError error;
            ViewerHandle handle;
            fixed (byte* start = Text(path, nameof(path)))
                Outcome.Check(NativeMethods.picollo_viewer_open(start, out handle, &error), &error);
            return new SegmentViewer(handle);
        }

        /// <summary>
        /// Opens the segment that a text means: a path, a process, a segment's name, or a program's. Of several of these the one that lives.
        /// </summary>
        /// <exception cref="PicolloException"><see cref="PicolloStatus.InvalidArgument"/>: there is none, or there are several.</exception>
        public static SegmentViewer Find(string target)
        {
            Loader.Ensure();
            PicolloError error;
            ViewerHandle handle;
            fixed (byte* start = Text(target, nameof(target)))
                Outcome.Check(NativeMethods.picollo_viewer_find(start, out handle, &error), &error);
            return new SegmentViewer(handle);
        }

        /// <summary>The paths of all segments of this user, also of those that have ended.</summary>
        public static IReadOnlyList<string> List()
        {
            Loader.Ensure();
            string paths = NativeText.Read((buffer, capacity, length) =>
                NativeMethods.picollo_viewer_list(buffer, capacity, length));
            return paths.Split(new[] { '\n' }, StringSplitOptions.RemoveEmptyEntries);
        }

        /// <summary>Where the segment is.</summary>
        public string Path
        {
            get
            {
                lock (_gate)
                {
                    ViewerHandle viewer = Live();
                    return NativeText.Read((buffer, capacity, length) =>
                        NativeMethods.picollo_viewer_path(viewer, buffer, capacity, length));
                }
            }
        }

        /// <summary>What is published, as of the last look: when it was opened, or <see cref="Refresh"/>.</summary>
        public IReadOnlyList<SegmentEntry> Entries
        {
            get
            {
                lock (_gate)
                    return _entries.ToArray();
            }
        }

        /// <summary>Which entries are left out, since they cannot be believed or are of another version, and why: each on a line.</summary>
        public string Faults
        {
            get
            {
                lock (_gate)
                {
                    ViewerHandle viewer = Live();
                    return NativeText.Read((buffer, capacity, length) =>
                        NativeMethods.picollo_viewer_faults(viewer, buffer, capacity, length));
                }
            }
        }

        /// <summary>Looks for entries that have come since. Those that there were keep their positions.</summary>
        public void Refresh()
        {
            PicolloError error;
            lock (_gate)
            {
                Outcome.Check(NativeMethods.picollo_viewer_refresh(Live(), &error), &error);
                TakeEntries();
            }
        }

        /// <summary>What the segment says of itself, now.</summary>
        public SegmentInfo GetInfo()
        {
            PicolloSegmentInfo info;
            PicolloError error;
            lock (_gate)
                Outcome.Check(NativeMethods.picollo_viewer_info(Live(), &info, &error), &error);
            return new SegmentInfo(&info);
        }

        /// <summary>
        /// Takes the counts of a histogram. Its <see cref="HdrHistogramSnapshot.Update(bool)"/> knows no histogram, and fails: update it
        /// by <see cref="Update"/>.
        /// </summary>
        /// <param name="index">Of the entry.</param>
        /// <exception cref="PicolloException">
        /// <see cref="PicolloStatus.InvalidArgument"/>: the entry is no histogram, or there is none.
        /// </exception>
        public HdrHistogramSnapshot GetSnapshot(int index)
        {
            IntPtr made = IntPtr.Zero;
            lock (_gate)
                Take(index, false, ref made);
            return new HdrHistogramSnapshot(new SnapshotHandle(made));
        }

        /// <summary>Takes the counts of now into a snapshot of this or another viewer of the segment.</summary>
        /// <param name="index">Of the entry.</param>
        /// <param name="snapshot">What to fill.</param>
        /// <param name="deltas">True: what was recorded since the previous update of this snapshot. False: everything.</param>
        public void Update(int index, HdrHistogramSnapshot snapshot, bool deltas)
        {
            if (snapshot == null)
                throw new ArgumentNullException(nameof(snapshot));
            lock (_gate)
                lock (snapshot.Gate)
                {
                    SnapshotHandle handle = snapshot.Current();
                    IntPtr same = handle.DangerousGetHandle();
                    Take(index, deltas, ref same);
                    GC.KeepAlive(handle);
                }
        }

        /// <summary>Reads a counter.</summary>
        /// <param name="index">Of the entry.</param>
        /// <exception cref="PicolloException">
        /// <see cref="PicolloStatus.InvalidArgument"/>: the entry is no counter, or there is none.
        /// </exception>
        public ulong GetCount(int index)
        {
            ulong count;
            PicolloError error;
            lock (_gate)
                Outcome.Check(NativeMethods.picollo_viewer_counter(Live(), Position(index), &count, &error), &error);
            return count;
        }

        /// <summary>Closes the viewer.</summary>
        public void Dispose()
        {
            lock (_gate)
                _handle.Dispose();
        }

        private void Take(int index, bool deltas, ref IntPtr snapshot)
        {
            PicolloError error;
            uint since = deltas ? (uint)Constants.SincePrevious : Constants.SinceReset;
            int status, tries = 0;
            do
                status = NativeMethods.picollo_viewer_snapshot(Live(), Position(index), since, ref snapshot, &error);
            while (Outcome.Again(status, ref tries));
            Outcome.Check(status, &error);
        }

        private void TakeEntries()
        {
            UIntPtr length;
            Outcome.Check(NativeMethods.picollo_viewer_length(Live(), &length));
            var entries = new List<SegmentEntry>((int)length);
            for (int i = 0; i < (int)length; i++)
            {
                PicolloSegmentEntry entry;
                Outcome.Check(NativeMethods.picollo_viewer_entry(Live(), (UIntPtr)i, &entry));
                bool isKnown = i < _entries.Count && _entries[i].IsRetired == (entry.IsRetired != 0);
                entries.Add(isKnown ? _entries[i] : new SegmentEntry(in entry, i));
            }
            _entries = entries;
        }

        /// <summary>What is no position is beyond the last one, which the library refuses.</summary>
        private static UIntPtr Position(int index) => index < 0 ? (UIntPtr)uint.MaxValue : (UIntPtr)index;

        private static byte[] Text(string text, string parameter) =>
            Utf8.ToNative(text ?? throw new ArgumentNullException(parameter), parameter);

        private ViewerHandle Live()
        {
            if (_handle.IsClosed)
                throw new ObjectDisposedException(nameof(SegmentViewer));
            return _handle;
        }
    }
}
