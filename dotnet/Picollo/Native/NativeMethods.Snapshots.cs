using System;
using System.Runtime.InteropServices;

namespace Picollo.Native
{
    // Layouts, steps, merging, encodings, logs, comparisons and benchmarks.
    internal static unsafe partial class NativeMethods
    {
        [DllImport(Library)]
        internal static extern int picollo_layout_of_options(PicolloHistogramOptions* options, PicolloLayout* layout);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_layout(SnapshotHandle snapshot, PicolloLayout* layout);

        [DllImport(Library)]
        internal static extern int picollo_layout_bucket_of(PicolloLayout* layout, ulong value, PicolloBucket* bucket);

        [DllImport(Library)]
        internal static extern int picollo_histogram_estimate(PicolloHistogramOptions* options, PicolloFootprint* footprint);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_count_between(
            SnapshotHandle snapshot, ulong lowest, ulong highest, ulong* count);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_linear_steps(
            SnapshotHandle snapshot, ulong width, PicolloStep* steps, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_logarithmic_steps(
            SnapshotHandle snapshot, ulong first, double factor, PicolloStep* steps, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_percentile_steps(
            SnapshotHandle snapshot, uint ticksPerHalfDistance, PicolloStep* steps, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_interpolated_percentiles(
            SnapshotHandle snapshot, double* ranks, UIntPtr length, ulong* values);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_merge_reported(
            SnapshotHandle into, SnapshotHandle other, uint spread, PicolloMerged* merged);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_subtract(SnapshotHandle from, SnapshotHandle other, PicolloMerged* merged);

        [DllImport(Library)]
        internal static extern int picollo_histogram_add_reported(
            HistogramHandle histogram, SnapshotHandle other, uint spread, PicolloMerged* merged);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_copy(SnapshotHandle snapshot, out SnapshotHandle copy);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_corrected(
            SnapshotHandle snapshot, ulong expectedInterval, out SnapshotHandle corrected);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_encode(
            SnapshotHandle snapshot, uint encoding, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_encode_base64(
            SnapshotHandle snapshot, uint encoding, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_decode(
            byte* bytes, UIntPtr length, ulong maxCounters, out SnapshotHandle snapshot);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_format_hgrm(
            SnapshotHandle snapshot, uint ticksPerHalfDistance, double valueScale, uint csv, byte* buffer, UIntPtr capacity,
            UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_log_reader_create(byte* text, UIntPtr length, out LogReaderHandle reader);

        [DllImport(Library)]
        internal static extern int picollo_log_reader_set_max_counters(LogReaderHandle reader, ulong maxCounters);

        [DllImport(Library)]
        internal static extern int picollo_log_reader_next_interval(LogReaderHandle reader, PicolloLogInterval* interval);

        [DllImport(Library)]
        internal static extern int picollo_log_reader_decode(LogReaderHandle reader, out SnapshotHandle snapshot);

        [DllImport(Library)]
        internal static extern int picollo_log_reader_tag(
            LogReaderHandle reader, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_log_reader_position(LogReaderHandle reader, ulong* bytes, ulong* line);

        [DllImport(Library)]
        internal static extern int picollo_log_reader_times(LogReaderHandle reader, double* start, double* origin);

        [DllImport(Library)]
        internal static extern void picollo_log_reader_free(IntPtr reader);

        [DllImport(Library)]
        internal static extern int picollo_log_format_header(
            double startSeconds, byte* comment, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_log_format_interval(
            SnapshotHandle snapshot, double startSeconds, double lengthSeconds, byte* tag, byte* buffer, UIntPtr capacity,
            UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_quantile_interval(
            SnapshotHandle snapshot, double quantile, double confidence, PicolloQuantileInterval* interval);

        [DllImport(Library)]
        internal static extern int picollo_compare(
            SnapshotHandle a, SnapshotHandle b, PicolloCompareOptions* options, PicolloComparison* comparison);

        [DllImport(Library)]
        internal static extern int picollo_compare_blocks(
            double* a, double* b, UIntPtr length, PicolloCompareOptions* options, PicolloBlockComparison* comparison);

        [DllImport(Library)]
        internal static extern int picollo_comparison_format(
            PicolloComparison* comparison, PicolloSummary* a, PicolloSummary* b, byte* title, byte* nameA, byte* nameB,
            uint format, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_benchmark_create(
            PicolloBenchmarkOptions* options, PicolloEvent* events, UIntPtr length, out BenchmarkHandle benchmark,
            PicolloError* error);

        [DllImport(Library)]
        internal static extern void picollo_benchmark_free(IntPtr benchmark);

        [DllImport(Library)]
        internal static extern int picollo_benchmark_next(BenchmarkHandle benchmark, uint* which, ulong* repetitions);

        [DllImport(Library)]
        internal static extern int picollo_benchmark_done(BenchmarkHandle benchmark);

        [DllImport(Library)]
        internal static extern int picollo_benchmark_get_result(BenchmarkHandle benchmark, PicolloBenchmarkResult* result);

        [DllImport(Library)]
        internal static extern int picollo_benchmark_get_counter(
            BenchmarkHandle benchmark, UIntPtr index, PicolloBenchmarkCounter* counter);

        [DllImport(Library)]
        internal static extern int picollo_benchmark_histogram(
            BenchmarkHandle benchmark, uint which, out HistogramHandle histogram);

        [DllImport(Library)]
        internal static extern int picollo_benchmark_format_markdown(
            BenchmarkHandle benchmark, byte* title, byte* nameA, byte* nameB, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_format_sparkline(
            SnapshotHandle snapshot, uint columns, uint ascii, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_snapshot_format_chart(
            SnapshotHandle snapshot, uint picture, byte* title, byte* unit, uint columns, uint rows, uint ascii, byte* buffer,
            UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_pictures_format_svg(
            IntPtr* snapshots, byte** titles, UIntPtr length, uint picture, byte* title, byte* unit,
            PicolloPictureOptions* options, byte* buffer, UIntPtr capacity, UIntPtr* outLength);

        [DllImport(Library)]
        internal static extern int picollo_report_format_html(
            IntPtr* snapshots, byte** titles, UIntPtr length, byte* title, byte* unit, byte* buffer, UIntPtr capacity,
            UIntPtr* outLength);
    }
}
