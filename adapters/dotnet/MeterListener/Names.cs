using System.Text;

namespace Picollo.Metrics;

/// <summary>Names of instruments and tags, which may be anything, as names that registries allow.</summary>
internal static class Names
{
    /// <summary>The label that tells sets apart whose labels are the same as texts: 2, 3, …</summary>
    internal const string Set = "picollo_set";

    /// <summary>
    /// Letters, digits, underscores, colons, dots, hyphens and slashes stay; all else becomes an underscore. With the unit at the end.
    /// </summary>
    internal static string Metric(string name, string unit)
    {
        string allowed = Allowed(name, ":.-/");
        return unit.Length == 0 || EndsWith(Plain(allowed), unit) ? allowed : allowed + "_" + unit;
    }

    /// <summary>As Prometheus has it.</summary>
    internal static string Plain(string name) => name.Replace('.', '_').Replace('-', '_').Replace('/', '_');

    internal static bool EndsWith(string plain, string unit) =>
        unit.Length != 0 && plain.Length > unit.Length + 1 && plain.EndsWith("_" + unit, StringComparison.Ordinal);

    /// <summary>
    /// Tags of a measurement, and those of its instrument and meter where it has no such ones; the meter as <c>otel_scope_name</c> and
    /// <c>otel_scope_version</c>. Values of tags whose names become the same are joined, as OpenTelemetry does.
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
        // The bound of a bucket; and what Prometheus keeps for itself.
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
