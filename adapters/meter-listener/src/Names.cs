using System.Text;

namespace Picollo.Metrics;

/// <summary>Converts arbitrary names of instruments and tags to names that registries allow.</summary>
internal static class Names
{
    /// <summary>The label that distinguishes sets whose labels are equal as texts: 2, 3, …</summary>
    internal const string Set = "picollo_set";

    /// <summary>
    /// Keeps letters, digits, underscores, colons, dots, hyphens, slashes; the rest become underscores. Appends the
    /// unit.
    /// </summary>
    internal static string Metric(string name, string unit)
    {
        string allowed = Allowed(name, ":.-/");
        return unit.Length == 0 || EndsWith(Plain(allowed), unit) ? allowed : allowed + "_" + unit;
    }

    /// <summary>The name in Prometheus' form.</summary>
    internal static string Plain(string name) => name.Replace('.', '_').Replace('-', '_').Replace('/', '_');

    internal static bool EndsWith(string plain, string unit) =>
        unit.Length != 0 && plain.Length > unit.Length + 1 && plain.EndsWith("_" + unit, StringComparison.Ordinal);

    /// <summary>
    /// Tags of a measurement, and those of its instrument and meter that it does not override; the meter as
    /// <c>otel_scope_name</c> and <c>otel_scope_version</c>. Values of tags whose names become equal are joined, as in
    /// OpenTelemetry.
    /// </summary>
    internal static Dictionary<string, string> Labels(Instrument instrument, KeyValuePair<string, object?>[] tags)
    {
        var labels = new Dictionary<string, string>(StringComparer.Ordinal);
        var plainNames = new HashSet<string>(StringComparer.Ordinal);
        void Add(IEnumerable<KeyValuePair<string, object?>> some)
        {
            var groups = some.GroupBy(tag => Plain(Label(tag.Key)), tag => tag).ToList();
            foreach (var group in groups.Where(group => !plainNames.Contains(group.Key)))
                labels[Label(group.First().Key)] = string.Join(";", group.Select(tag => TagText.Of(tag.Value)));
            plainNames.UnionWith(groups.Select(group => group.Key));
        }
        Add(tags);
        Add(instrument.Tags ?? Enumerable.Empty<KeyValuePair<string, object?>>());
        Add(instrument.Meter.Tags ?? Enumerable.Empty<KeyValuePair<string, object?>>());
        Add(new[]
        {
            new KeyValuePair<string, object?>("otel_scope_name", instrument.Meter.Name),
            new KeyValuePair<string, object?>("otel_scope_version", instrument.Meter.Version)
        }.Where(scope => !string.IsNullOrEmpty((string?)scope.Value)));
        return labels;
    }

    private static string Label(string? name)
    {
        string allowed = Allowed(name ?? "", ".-/");
        string plain = Plain(allowed);
        // The bound of a bucket, and names that Prometheus reserves.
        return plain is "le" or Set ? allowed + "_" : plain.StartsWith("__", StringComparison.Ordinal) ? "tag" + allowed : allowed;
    }

    private static string Allowed(string name, string also)
    {
        var allowed = new StringBuilder(name.Length + 1);
        foreach (char one in name)
            allowed.Append(char.IsAsciiLetterOrDigit(one) || one == '_' || also.Contains(one, StringComparison.Ordinal) ? one : '_');
        if (allowed.Length == 0 || char.IsAsciiDigit(allowed[0]))
            allowed.Insert(0, '_');
        return allowed.ToString();
    }
}
