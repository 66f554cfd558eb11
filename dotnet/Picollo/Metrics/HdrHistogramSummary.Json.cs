#if NET8_0_OR_GREATER
using System;
using System.Text.Json;
using System.Text.Json.Serialization;
using Picollo.Native;

namespace Picollo.Metrics
{
    [JsonConverter(typeof(HdrHistogramSummaryConverter))]
    public sealed partial class HdrHistogramSummary
    {
        internal void WriteTo(Utf8JsonWriter writer)
        {
            writer.WriteStartObject();
            writer.WriteNumber("total_count", _native.TotalCount);
            writer.WriteNumber("underflow_count", _native.UnderflowCount);
            writer.WriteNumber("overflow_count", _native.OverflowCount);
            writer.WriteNumber("lost_count", _native.LostCount);
            WriteNumber(writer, "mean", _native.Mean);
            WriteNumber(writer, "stddev", _native.Stddev);
            WriteNumber(writer, "relative_error", _native.RelativeError);
            writer.WriteNumber("min_trackable", _native.MinTrackable);
            writer.WriteNumber("max_trackable", _native.MaxTrackable);
            writer.WriteNumber("timestamp_unix_nanos", _native.TimestampUnixNanos);
            writer.WriteString("value_selection", s_selections[Math.Min(_native.ValueSelection, (uint)s_selections.Length - 1)]);
            if (IsApproximate)
                writer.WriteBoolean("approximate", true);
            writer.WriteStartArray("percentiles");
            foreach (Percentile percentile in _percentiles)
                percentile.WriteTo(writer);
            writer.WriteEndArray();
            writer.WriteEndObject();
        }

        internal static HdrHistogramSummary ReadFrom(JsonElement json)
        {
            var summary = new HdrHistogramSummary();
            ref PicolloSummary native = ref summary._native;
            native.TotalCount = json.GetProperty("total_count").GetUInt64();
            native.UnderflowCount = json.GetProperty("underflow_count").GetUInt64();
            native.OverflowCount = json.GetProperty("overflow_count").GetUInt64();
            native.LostCount = json.GetProperty("lost_count").GetUInt64();
            native.Mean = ReadNumber(json.GetProperty("mean"));
            native.Stddev = ReadNumber(json.GetProperty("stddev"));
            native.RelativeError = ReadNumber(json.GetProperty("relative_error"));
            native.MinTrackable = json.GetProperty("min_trackable").GetUInt64();
            native.MaxTrackable = json.GetProperty("max_trackable").GetUInt64();
            native.TimestampUnixNanos = json.GetProperty("timestamp_unix_nanos").GetUInt64();
            int selection = Array.IndexOf(s_selections, json.GetProperty("value_selection").GetString());
            if (selection < 0)
                throw new FormatException("There is no such selection of values.");
            native.ValueSelection = (uint)selection;
            if (json.TryGetProperty("approximate", out JsonElement approximate) && approximate.GetBoolean())
                native.Flags |= Constants.SummaryApproximate;
            JsonElement percentiles = json.GetProperty("percentiles");
            if (percentiles.GetArrayLength() != summary._percentiles.Length)
                throw new FormatException($"A summary has {summary._percentiles.Length} percentiles.");
            int index = 0;
            foreach (JsonElement percentile in percentiles.EnumerateArray())
                summary._percentiles[index++] = Percentile.ReadFrom(percentile);
            summary.KeepForTexts();
            return summary;
        }

        // By the library's numbers.
        private static readonly string[] s_selections = { "midpoint", "lower", "upper" };

        internal static void WriteNumber(Utf8JsonWriter writer, string name, double value)
        {
            if (double.IsFinite(value))
                writer.WriteNumber(name, value);
            else
                writer.WriteNull(name);
        }

        private static double ReadNumber(JsonElement json) => json.ValueKind == JsonValueKind.Null ? double.NaN : json.GetDouble();

        /// <summary>What the library writes texts from is its own copy of the percentiles.</summary>
        private unsafe void KeepForTexts()
        {
            fixed (PicolloSummary* native = &_native)
            {
                var all = (PicolloPercentile*)&native->Percentiles;
                for (int i = 0; i < _percentiles.Length; i++)
                    all[i] = _percentiles[i].Native;
            }
        }
    }

    public readonly partial struct Percentile
    {
        internal ref readonly PicolloPercentile Native => ref System.Runtime.CompilerServices.Unsafe.AsRef(in _native);

        internal void WriteTo(Utf8JsonWriter writer)
        {
            writer.WriteStartObject();
            HdrHistogramSummary.WriteNumber(writer, "rank", _native.Rank);
            if (_native.TargetCount == 0)
                writer.WriteNull("value");
            else
                writer.WriteNumber("value", _native.Value);
            writer.WriteNumber("target_count", _native.TargetCount);
            writer.WriteNumber("running_count_before", _before);
            if (_native.Bucket.Step == 0)
                writer.WriteNull("bucket");
            else
            {
                writer.WriteStartObject("bucket");
                writer.WriteNumber("lower", _native.Bucket.Lower);
                writer.WriteNumber("upper", _native.Bucket.Upper);
                writer.WriteNumber("step", _native.Bucket.Step);
                writer.WriteNumber("count", _native.Bucket.Count);
                writer.WriteNumber("storage_index", _native.Bucket.StorageIndex);
                writer.WriteNumber("logical_index", _native.Bucket.LogicalIndex);
                writer.WriteEndObject();
            }
            writer.WriteEndObject();
        }

        internal static Percentile ReadFrom(JsonElement json)
        {
            var native = new PicolloPercentile
            {
                Rank = json.GetProperty("rank").GetDouble(), TargetCount = json.GetProperty("target_count").GetUInt64()
            };
            JsonElement value = json.GetProperty("value"), bucket = json.GetProperty("bucket");
            if (value.ValueKind != JsonValueKind.Null)
                native.Value = value.GetUInt64();
            if (bucket.ValueKind != JsonValueKind.Null)
                native.Bucket = new PicolloBucket
                {
                    Lower = bucket.GetProperty("lower").GetUInt64(),
                    Upper = bucket.GetProperty("upper").GetUInt64(),
                    Step = bucket.GetProperty("step").GetUInt64(),
                    Count = bucket.GetProperty("count").GetUInt64(),
                    StorageIndex = bucket.GetProperty("storage_index").GetUInt64(),
                    LogicalIndex = bucket.GetProperty("logical_index").GetUInt64()
                };
            // The library's own text does not have it.
            ulong before = json.TryGetProperty("running_count_before", out JsonElement count) ? count.GetUInt64() : 0;
            // The value is what was written, whatever the default selection is now.
            return new Percentile(in native, before, EquivalentValueSelection.Midpoint);
        }
    }

    /// <summary>
    /// A summary as <see cref="HdrHistogramSummary.Format"/> writes it as <see cref="TextFormat.Json"/>, without a title and with the
    /// running counts; NaN is null. Reads both.
    /// </summary>
    internal sealed class HdrHistogramSummaryConverter : JsonConverter<HdrHistogramSummary>
    {
        public override HdrHistogramSummary Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
        {
            using JsonDocument document = JsonDocument.ParseValue(ref reader);
            try
            {
                return HdrHistogramSummary.ReadFrom(document.RootElement);
            }
            catch (Exception inner) when (inner is FormatException || inner is InvalidOperationException
                || inner is System.Collections.Generic.KeyNotFoundException)
            {
                throw new JsonException("That is no summary: " + inner.Message, inner);
            }
        }

        public override void Write(Utf8JsonWriter writer, HdrHistogramSummary value, JsonSerializerOptions options) =>
            value.WriteTo(writer);
    }
}
#endif
