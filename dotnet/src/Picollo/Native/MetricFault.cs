using Picollo.Metrics;

namespace Picollo.Native;

/// <summary>
/// Explains which part of a metric a registry refused: the library decides, but has one status for all.
/// </summary>
internal static class MetricFault
{
    private const string Names = "letters, digits, underscores, dots, hyphens and slashes, and no digit first";
    private const int MaxBounds = 500;
    private const int ExemplarCharacters = 128;

    /// <param name="status">The library's status.</param>
    /// <param name="metric">The metric that it was given.</param>
    /// <param name="bounds">The histogram's bounds; null for none.</param>
    internal static void Check(int status, MetricOptions metric, IEnumerable<double>? bounds = null)
    {
        if (status == (int)PicolloStatus.InvalidArgument)
            Throw(OfOptions(metric) ?? OfBounds(bounds ?? new double[0], metric.Divisor) ?? OfOthers(metric));
        Outcome.Check(status);
    }

    internal static void CheckNumber(int status, ulong id)
    {
        if (status == (int)PicolloStatus.InvalidArgument)
            Throw($"No metric of the registry has the number {id}.");
        Outcome.Check(status);
    }

    internal static void Check(int status, ulong id, MetricExemplar[] exemplars)
    {
        if (status == (int)PicolloStatus.InvalidArgument)
            Throw(exemplars.Select(OfExemplar).FirstOrDefault(fault => fault != null)
                ?? $"No metric of the registry has the number {id}, or its divisor makes a value infinite.");
        Outcome.Check(status);
    }

    private static void Throw(string fault) => throw new PicolloException(PicolloStatus.InvalidArgument, fault, 0, -1);

    private static string? OfOptions(MetricOptions metric)
    {
        string name = metric.Name ?? "", unit = metric.Unit ?? "";
        if (!(metric.Divisor > 0) || double.IsInfinity(metric.Divisor))
            return FormattableString.Invariant($"Divisor, {metric.Divisor}, is a finite number above 0.");
        if (!IsName(name, ":.-/"))
            return $"Name, \"{name}\", is of {Names}; colons are allowed too.";
        if (unit.Length != 0 && (!IsName(unit, ":") || !HasUnit(name, unit)))
            return $"Unit, \"{unit}\", is of letters, digits, underscores and colons, and the name, \"{name}\", ends with it, after an underscore.";
        return OfLabels(metric.Labels) ?? (metric.Summary && metric.Labels.ContainsKey("quantile")
            ? "Labels: a summary has none called \"quantile\", which is its own." : null);
    }

    private static bool HasUnit(string name, string unit)
    {
        string plain = Plain(name);
        return plain.EndsWith("_" + unit, StringComparison.Ordinal) || plain.EndsWith("_" + unit + "_total", StringComparison.Ordinal);
    }

    private static string? OfLabels(IDictionary<string, string>? labels)
    {
        var known = new HashSet<string>(StringComparer.Ordinal);
        foreach (string name in labels?.Keys ?? new string[0])
        {
            string plain = Plain(name);
            if (!IsName(name, ".-/") || plain == "le" || plain.StartsWith("__", StringComparison.Ordinal))
                return $"Labels: a name is of {Names}, without two underscores in front, and not \"le\": \"{name}\" is none.";
            if (!known.Add(plain))
                return $"Labels: \"{plain}\" comes twice; to Prometheus dots, hyphens and slashes are underscores.";
        }
        return null;
    }

    private static string? OfBounds(IEnumerable<double> bounds, double divisor)
    {
        double before = double.NegativeInfinity;
        int count = 0;
        foreach (double bound in bounds)
        {
            double written = bound / divisor;
            if (!(written > before) || double.IsInfinity(written))
                return FormattableString.Invariant(
                    $"bounds: they are finite and ascend, also when they are divided by {divisor}: {bound} does not.");
            before = written;
            count++;
        }
        return count > MaxBounds ? $"bounds: there are at most {MaxBounds}, not {count}." : null;
    }

    private static string OfOthers(MetricOptions metric) =>
        $"\"{metric.Name}\": the registry has a metric of this name and these labels, or one of this name of another kind, Help or Unit, or "
        + "one that writes this name, as x writes x_count, x_total and x_created, and a.b writes a_b.";

    private static string? OfExemplar(MetricExemplar exemplar)
    {
        if (double.IsNaN(exemplar.Value) || double.IsInfinity(exemplar.Value))
            return FormattableString.Invariant($"Value of an exemplar, {exemplar.Value}, is a finite number.");
        var labels = new List<KeyValuePair<string, string>>(exemplar.Labels ?? new Dictionary<string, string>());
        if (!string.IsNullOrEmpty(exemplar.TraceId))
            labels.Add(new KeyValuePair<string, string>("trace_id", exemplar.TraceId!));
        if (!string.IsNullOrEmpty(exemplar.SpanId))
            labels.Add(new KeyValuePair<string, string>("span_id", exemplar.SpanId!));
        int characters = labels.Sum(label => label.Key.Length + (label.Value?.Length ?? 0));
        if (characters > ExemplarCharacters)
            return $"Labels of an exemplar have {ExemplarCharacters} characters at most, with trace and span, not {characters}.";
        IDictionary<string, string> given = exemplar.Labels ?? new Dictionary<string, string>();
        return OfLabels(given) ?? (labels.Count(label => label.Key == "trace_id") > 1 || labels.Count(label => label.Key == "span_id") > 1
            ? "Labels of an exemplar have no \"trace_id\" or \"span_id\" beside TraceId and SpanId." : null);
    }

    private static string Plain(string name) => name.Replace('.', '_').Replace('-', '_').Replace('/', '_');

    private static bool IsName(string name, string also)
    {
        foreach (char one in name)
            if (!char.IsAsciiLetterOrDigit(one) && one != '_' && !also.Contains(one))
                return false;
        return name.Length != 0 && !char.IsAsciiDigit(name[0]);
    }
}
