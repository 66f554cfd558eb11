using System;
using System.Runtime.InteropServices;

namespace Picollo.Native
{
    /// <summary>The C ABI, as in include/picollo.h, which documents each function.</summary>
    /// <remarks>
    /// Handles travel as SafeHandles, which the runtime keeps alive for the call. The record functions take bare pointers:
    /// their callers keep the owner alive themselves, which costs nothing. Where the call can neither allocate nor wait, .NET 5
    /// and later leave out the transition of the garbage collector (5 ns of 8).
    /// </remarks>
    internal static unsafe partial class NativeMethods
    {
        internal const string Library = "picollo";

        internal const uint AbiVersion = 1;
        internal const uint InlineVersion = 1;

        [DllImport(Library)]
        internal static extern uint picollo_abi_version();

        [DllImport(Library)]
        internal static extern byte* picollo_version();

        [DllImport(Library)]
        internal static extern byte* picollo_status_str(int status);

        // Histograms.

        [DllImport(Library)]
        internal static extern int picollo_histogram_create(PicolloHistogramOptions* options, out HistogramHandle histogram);

        [DllImport(Library)]
        internal static extern void picollo_histogram_free(IntPtr histogram);

        /// <summary>For dense histograms: neither allocates nor waits.</summary>
        [DllImport(Library)]
#if NET5_0_OR_GREATER
        [SuppressGCTransition]
#endif
        internal static extern void picollo_histogram_record(IntPtr histogram, ulong value);

        /// <summary>For all others: the first touch of a chunk or a shard allocates.</summary>
        [DllImport(Library, EntryPoint = "picollo_histogram_record")]
        internal static extern void picollo_histogram_record_may_allocate(IntPtr histogram, ulong value);

        [DllImport(Library)]
        internal static extern void picollo_histogram_record_n(IntPtr histogram, ulong value, ulong count);

        [DllImport(Library)]
        internal static extern void picollo_histogram_record_batch(IntPtr histogram, ulong* values, UIntPtr length);

        [DllImport(Library)]
        internal static extern void picollo_histogram_record_corrected(IntPtr histogram, ulong value, ulong expectedInterval);

        [DllImport(Library)]
        internal static extern int picollo_histogram_record_in_range(IntPtr histogram, ulong value, ulong min, ulong max);

        [DllImport(Library)]
        internal static extern int picollo_histogram_reset(HistogramHandle histogram);

        [DllImport(Library)]
        internal static extern int picollo_histogram_footprint(HistogramHandle histogram, UIntPtr* bytes);

        [DllImport(Library)]
        internal static extern int picollo_histogram_recorder(IntPtr histogram, uint inlineVersion, PicolloRecorder* recorder);

        [DllImport(Library)]
        internal static extern void picollo_recorder_release(PicolloRecorder* recorder);

        // Snapshots and summaries.

        [DllImport(Library)]
        internal static extern int picollo_snapshot_create(HistogramHandle histogram, out SnapshotHandle snapshot);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_update(SnapshotHandle snapshot, uint deltas);

        [DllImport(Library)]
        internal static extern void picollo_snapshot_free(IntPtr snapshot);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_counts(SnapshotHandle snapshot, PicolloCounts* counts);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_percentiles(
            SnapshotHandle snapshot, double* ranks, UIntPtr length, uint valueSelection, PicolloPercentile* percentiles);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_percentile_values(
            SnapshotHandle snapshot, double* ranks, UIntPtr length, uint valueSelection, ulong* values);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_rank_of_value(
            SnapshotHandle snapshot, ulong value, uint interpolate, double* rank);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_bucket_of(SnapshotHandle snapshot, ulong value, PicolloBucket* bucket);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_buckets(
            SnapshotHandle snapshot, uint nonEmptyOnly, PicolloBucket* buckets, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_summary(SnapshotHandle snapshot, uint valueSelection, PicolloSummary* summary);

        [DllImport(Library)]
        internal static extern int picollo_summary_format(
            PicolloSummary* summary, byte* title, uint format, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_summary_format_diff(
            PicolloSummary* a, PicolloSummary* b, byte* title, byte* nameA, byte* nameB, uint format, byte* buffer,
            UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_percentile_format(
            PicolloPercentile* percentile, byte* buffer, UIntPtr capacity, UIntPtr* length);

        // Performance counters.

        [DllImport(Library)]
        internal static extern int picollo_event_parse(byte* spec, PicolloEvent* parsed, PicolloError* error);

        [DllImport(Library)]
        internal static extern int picollo_perf_probe(PicolloPerfInfo* info, PicolloError* error);

        [DllImport(Library)]
        internal static extern int picollo_session_create(
            PicolloSessionOptions* options, PicolloEvent* events, UIntPtr length, out SessionHandle session, PicolloError* error);

        [DllImport(Library)]
        internal static extern void picollo_session_free(IntPtr session);

        [DllImport(Library)]
        internal static extern int picollo_session_event(IntPtr session, UIntPtr index, PicolloEvent* described);

        [DllImport(Library)]
        internal static extern int picollo_session_event_info(IntPtr session, UIntPtr index, PicolloEventInfo* info);

        [DllImport(Library)]
        internal static extern int picollo_session_enable(IntPtr session, PicolloError* error);

        [DllImport(Library)]
        internal static extern int picollo_session_disable(IntPtr session, PicolloError* error);

        [DllImport(Library)]
        internal static extern int picollo_session_calibrate(IntPtr session, PicolloError* error);

        [DllImport(Library)]
        internal static extern int picollo_session_read(IntPtr session, uint how, PicolloError* error);

        [DllImport(Library)]
        internal static extern int picollo_session_record(IntPtr session, uint deltas);

        [DllImport(Library)]
        internal static extern int picollo_session_readings(
            IntPtr session, uint deltas, PicolloReading* readings, UIntPtr length);

        [DllImport(Library)]
        internal static extern int picollo_session_reset(IntPtr session, PicolloError* error);

        [DllImport(Library)]
        internal static extern int picollo_session_histogram(
            IntPtr session, UIntPtr index, out HistogramHandle histogram);

        [DllImport(Library)]
        internal static extern void picollo_work_add_chain_256(ulong repetitions);
    }
}
