using System;
using System.Runtime.InteropServices;

namespace Picollo.Native
{
    // Doubles, arrays, registries and shared counters.
    internal static unsafe partial class NativeMethods
    {
        [DllImport(Library)]
        internal static extern int picollo_double_histogram_create(
            PicolloDoubleOptions* options, out DoubleHistogramHandle histogram);

        [DllImport(Library)]
        internal static extern void picollo_double_histogram_free(IntPtr histogram);

        // The first value of a magnitude allocates: so all of these keep the transition.
        [DllImport(Library)]
        internal static extern void picollo_double_histogram_record(IntPtr histogram, double value);

        [DllImport(Library)]
        internal static extern void picollo_double_histogram_record_n(IntPtr histogram, double value, ulong count);

        [DllImport(Library)]
        internal static extern void picollo_double_histogram_record_batch(IntPtr histogram, double* values, UIntPtr length);

        [DllImport(Library)]
        internal static extern int picollo_double_histogram_collect(
            DoubleHistogramHandle histogram, double* quantiles, UIntPtr length, double* values,
            PicolloDoubleStatistics* statistics);

        [DllImport(Library)]
        internal static extern int picollo_double_histogram_add(DoubleHistogramHandle histogram, DoubleSnapshotHandle other);

        [DllImport(Library)]
        internal static extern int picollo_double_histogram_footprint(DoubleHistogramHandle histogram, UIntPtr* bytes);

        [DllImport(Library)]
        internal static extern int picollo_double_snapshot_create(out DoubleSnapshotHandle snapshot);

        [DllImport(Library)]
        internal static extern void picollo_double_snapshot_free(IntPtr snapshot);

        [DllImport(Library)]
        internal static extern int picollo_double_snapshot_update(
            DoubleSnapshotHandle snapshot, DoubleHistogramHandle histogram, uint collect);

        [DllImport(Library)]
        internal static extern int picollo_double_snapshot_statistics(
            DoubleSnapshotHandle snapshot, PicolloDoubleStatistics* statistics);

        [DllImport(Library)]
        internal static extern int picollo_double_snapshot_quantiles(
            DoubleSnapshotHandle snapshot, double* quantiles, UIntPtr length, double* values);

        [DllImport(Library)]
        internal static extern int picollo_double_snapshot_summary(DoubleSnapshotHandle snapshot, PicolloDoubleSummary* summary);

        [DllImport(Library)]
        internal static extern int picollo_double_snapshot_buckets(
            DoubleSnapshotHandle snapshot, PicolloDoubleBucket* buckets, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_double_snapshot_merge(DoubleSnapshotHandle into, DoubleSnapshotHandle other);

        [DllImport(Library)]
        internal static extern int picollo_double_summary_format(
            PicolloDoubleSummary* summary, byte* title, uint format, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern int picollo_histogram_array_create(
            PicolloHistogramOptions* options, UIntPtr length, out HistogramArrayHandle array);

        [DllImport(Library)]
        internal static extern void picollo_histogram_array_free(IntPtr array);

        [DllImport(Library)]
        internal static extern int picollo_histogram_array_at(
            HistogramArrayHandle array, UIntPtr index, out HistogramHandle histogram);

        /// <summary>For dense histograms: neither allocates nor waits.</summary>
        [DllImport(Library)]
#if NET5_0_OR_GREATER
        [SuppressGCTransition]
#endif
        internal static extern void picollo_histogram_array_record(IntPtr array, UIntPtr index, ulong value);

        /// <summary>For all others.</summary>
        [DllImport(Library, EntryPoint = "picollo_histogram_array_record")]
        internal static extern void picollo_histogram_array_record_may_allocate(IntPtr array, UIntPtr index, ulong value);

        [DllImport(Library)]
        internal static extern int picollo_histogram_array_footprint(HistogramArrayHandle array, UIntPtr* bytes);

        [DllImport(Library)]
        internal static extern int picollo_registry_create(out RegistryHandle registry);

        [DllImport(Library)]
        internal static extern void picollo_registry_free(IntPtr registry);

        [DllImport(Library)]
        internal static extern int picollo_registry_add(
            RegistryHandle registry, HistogramHandle histogram, PicolloMetricOptions* metric, ulong* bounds, UIntPtr length,
            ulong* id);

        [DllImport(Library)]
        internal static extern int picollo_registry_add_double(
            RegistryHandle registry, DoubleHistogramHandle histogram, PicolloMetricOptions* metric, double* bounds,
            UIntPtr length, ulong* id);

        [DllImport(Library)]
        internal static extern int picollo_registry_remove(RegistryHandle registry, ulong id);

        [DllImport(Library)]
        internal static extern int picollo_registry_update(RegistryHandle registry);

        [DllImport(Library)]
        internal static extern int picollo_registry_write_openmetrics(
            RegistryHandle registry, byte* buffer, UIntPtr capacity, UIntPtr* length);

        [DllImport(Library)]
        internal static extern void picollo_scalable_counter_add_n32(uint* counter, ulong count, uint thresholdBits);

        [DllImport(Library)]
        internal static extern void picollo_scalable_counter_add_n64(ulong* counter, ulong count, uint thresholdBits);

        [DllImport(Library)]
        internal static extern void picollo_capped_counter_add32(uint* counter, ulong count, uint thresholdBits, uint capBits);

        [DllImport(Library)]
        internal static extern void picollo_capped_counter_add64(ulong* counter, ulong count, uint thresholdBits, uint capBits);

        [DllImport(Library)]
        internal static extern void picollo_sensing_counter_add32(uint* counter, ulong count, uint thresholdBits);

        [DllImport(Library)]
        internal static extern void picollo_sensing_counter_add64(ulong* counter, ulong count, uint thresholdBits);

        [DllImport(Library)]
        internal static extern int picollo_striped_counter_create(out StripedCounterHandle counter);

        [DllImport(Library)]
        internal static extern void picollo_striped_counter_free(IntPtr counter);

        [DllImport(Library)]
        internal static extern void picollo_striped_counter_add(IntPtr counter, ulong count);

        [DllImport(Library)]
        internal static extern int picollo_striped_counter_read(StripedCounterHandle counter, ulong* count);
    }
}
