using System;
using System.Runtime.CompilerServices;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>The recorders that a thread holds of thread-local histograms, found by the histogram's slot.</summary>
    /// <remarks>
    /// The histogram itself is not referred to, so that threads do not keep histograms alive. When a thread ends, the collector
    /// finds this object, and its finaliser gives the recorders back. What belongs to a histogram that is no more goes at the
    /// thread's next look-up that fails.
    /// </remarks>
    internal sealed unsafe class ThreadRecorders
    {
        // Ids of the histograms that live, by slot; 0 where none does. Guarded by s_gate, but for reads of single elements.
        private static readonly object s_gate = new object();
        private static long[] s_ids = new long[8];
        private static long s_lastId;

        // By slot. What recording needs is apart from what releasing needs, and 48 bytes a slot.
        private Entry[] _entries = new Entry[0];
        private PicolloRecorder[] _natives = new PicolloRecorder[0];

        private struct Entry
        {
            internal long Id;
            internal InlineCells Cells;
        }

        // A class of its own without initialisers: reading a thread's static is then a load or two, without a check.
        private static class Mine
        {
            [ThreadStatic]
            internal static ThreadRecorders t_recorders;
        }

        private ThreadRecorders()
        {
        }

        /// <summary>The thread has ended.</summary>
        ~ThreadRecorders()
        {
            for (int slot = 0; slot < _entries.Length; slot++)
                Release(slot);
        }

        /// <summary>A slot and an id for a new histogram.</summary>
        internal static int Register(out long id)
        {
            lock (s_gate)
            {
                int slot = Array.IndexOf(s_ids, 0);
                if (slot < 0)
                {
                    slot = s_ids.Length;
                    long[] larger = new long[slot * 2];
                    Array.Copy(s_ids, larger, slot);
                    s_ids = larger;
                }
                id = ++s_lastId;
                s_ids[slot] = id;
                return slot;
            }
        }

        /// <summary>The histogram records no more. Harmless when repeated.</summary>
        internal static void Unregister(int slot, long id)
        {
            lock (s_gate)
                if (s_ids[slot] == id)
                    s_ids[slot] = 0;
        }

        /// <summary>Records into the calling thread's counters of a histogram.</summary>
        /// <remarks>
        /// Not inlined: where a profile calls a block rare, .NET 8 leaves the thread's static in it to a helper that takes 190 ns. The
        /// beginning of a method is never rare.
        /// </remarks>
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Record(int slot, long id, IntPtr histogram, ulong value)
        {
            ThreadRecorders mine = Mine.t_recorders;
            if (mine != null)
            {
                Entry[] entries = mine._entries;
                if ((uint)slot < (uint)entries.Length)
                {
                    ref Entry entry = ref entries[slot];
                    if (entry.Id == id && entry.Cells.TryRecord(value))
                        return;
                }
            }
            RecordSlowly(slot, id, histogram, value);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void RecordSlowly(int slot, long id, IntPtr histogram, ulong value)
        {
            ThreadRecorders mine = Mine.t_recorders ?? (Mine.t_recorders = new ThreadRecorders());
            if (slot >= mine._entries.Length)
            {
                int length = Math.Max(slot + 1, mine._entries.Length * 2);
                Array.Resize(ref mine._natives, length);
                Array.Resize(ref mine._entries, length);
            }
            if (mine._entries[slot].Id != id)
            {
                mine.ReleaseStale();
                mine.Take(slot, id, histogram);
            }
            // Out of range, a full cell, or the first value of the thread.
            if (!mine._entries[slot].Cells.TryRecord(value))
                NativeMethods.picollo_histogram_record_may_allocate(histogram, value);
        }

        private void Take(int slot, long id, IntPtr histogram)
        {
            Release(slot);
            PicolloRecorder native;
            // Without memory for a shard, the library still counts what the exported function is given.
            if (NativeMethods.picollo_histogram_recorder(histogram, Constants.InlineVersion, &native) != 0)
                return;
            _natives[slot] = native;
            _entries[slot] = new Entry { Id = id, Cells = new InlineCells(in native) };
        }

        private void ReleaseStale()
        {
            long[] ids;
            lock (s_gate)
                ids = s_ids;
            for (int slot = 0; slot < _entries.Length; slot++)
                if (slot >= ids.Length || ids[slot] != _entries[slot].Id)
                    Release(slot);
        }

        private void Release(int slot)
        {
            if (_entries[slot].Id == 0)
                return;
            PicolloRecorder native = _natives[slot];
            _entries[slot] = default;
            _natives[slot] = default;
            NativeMethods.picollo_recorder_release(&native);
        }
    }
}
