#if !NET5_0_OR_GREATER
using System;
using System.Collections.Generic;
using System.Threading;
using System.Runtime.CompilerServices;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>
    /// Where calls of the library cost more than the runtime's look-up of a thread's static: the recorders that a thread holds of
    /// thread-local histograms, found by the histogram's slot.
    /// </summary>
    /// <remarks>
    /// The histogram itself is not referred to, so that threads do not keep histograms alive. What a thread that has ended leaves is given
    /// back by the next thread that records for the first time: the collector, which would find it too, knows nothing of native memory and
    /// may not run for hours. Its finaliser is for the last threads. What belongs to a histogram that is no more goes at the thread's next
    /// look-up that fails.
    /// </remarks>
    internal sealed unsafe class ThreadRecorders
    {
        // Ids of the histograms that live, by slot; 0 where none does. Guarded by s_gate, but for reads of single elements.
        private static readonly object s_gate = new object();
        private static long[] s_ids = new long[8];
        private static long s_lastId;

        // Every thread that has recorders, until it is seen to have ended. Guarded by itself.
        private static readonly List<Owner> s_owners = new List<Owner>();

        // By slot. What recording needs is apart from what releasing needs, and 16 bytes a slot.
        private Entry[] _entries = new Entry[0];
        private PicolloRecorder[] _natives = new PicolloRecorder[0];

        internal struct Entry
        {
            internal long Id;
            internal void* Counters;
        }

        // A short weak reference: what the finaliser is about to see, nobody else does.
        private struct Owner
        {
            internal Thread Thread;
            internal WeakReference<ThreadRecorders> Recorders;
        }

        // A class of its own without initialisers: reading a thread's static is then a load or two, without a check.
        internal static class Mine
        {
            [ThreadStatic]
            internal static Entry[]? t_entries;

            [ThreadStatic]
            internal static ThreadRecorders? t_recorders;
        }

        private ThreadRecorders()
        {
            var own = new Owner { Thread = Thread.CurrentThread, Recorders = new WeakReference<ThreadRecorders>(this) };
            lock (s_owners)
            {
                int kept = 0;
                for (int i = 0; i < s_owners.Count; i++)
                {
                    Owner other = s_owners[i];
                    if (other.Thread.IsAlive)
                    {
                        s_owners[kept++] = other;
                        continue;
                    }
                    // What the thread wrote before it ended is seen from here on.
                    Thread.MemoryBarrier();
                    if (other.Recorders.TryGetTarget(out ThreadRecorders ended))
                        ended.ReleaseAll();
                }
                s_owners.RemoveRange(kept, s_owners.Count - kept);
                s_owners.Add(own);
            }
        }

        /// <summary>The thread has ended.</summary>
        ~ThreadRecorders()
        {
            ReleaseAll();
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

        /// <summary>Records the first value of a thread, and what its counters cannot take.</summary>
        /// <param name="slot">The histogram's.</param>
        /// <param name="id">The histogram's.</param>
        /// <param name="histogram">The histogram.</param>
        /// <param name="value">What to record.</param>
        /// <param name="layout">The histogram's, filled in here.</param>
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Record(int slot, long id, IntPtr histogram, ulong value, ref InlineCells layout)
        {
            ThreadRecorders mine = Mine.t_recorders ?? (Mine.t_recorders = new ThreadRecorders());
            if (slot >= mine._entries.Length)
            {
                int length = Math.Max(slot + 1, mine._entries.Length * 2);
                Array.Resize(ref mine._natives, length);
                Array.Resize(ref mine._entries, length);
                Mine.t_entries = mine._entries;
            }
            if (mine._entries[slot].Id != id)
            {
                mine.ReleaseStale();
                mine.Take(slot, id, histogram, ref layout);
            }
            // Out of range, a full cell, no memory for a shard, or the first value of the thread.
            if (mine._entries[slot].Id != id || !layout.TryRecordIn(mine._entries[slot].Counters, value))
                NativeMethods.picollo_histogram_record_may_allocate(histogram, value);
        }

        private void Take(int slot, long id, IntPtr histogram, ref InlineCells layout)
        {
            Release(slot);
            PicolloRecorder native;
            // Without memory for a shard, the library still counts what the exported function is given.
            if (NativeMethods.picollo_histogram_recorder(histogram, Constants.InlineVersion, &native) != 0)
                return;
            // Written once, and before this thread has an entry: whoever reads it has been here.
            lock (s_gate)
                if (!layout.IsKnown)
                    layout = new InlineCells(in native);
            _natives[slot] = native;
            _entries[slot] = new Entry { Id = id, Counters = native.Counters };
        }

        private void ReleaseAll()
        {
            for (int slot = 0; slot < _entries.Length; slot++)
                Release(slot);
            GC.SuppressFinalize(this);
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
#endif
