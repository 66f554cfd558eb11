namespace Picollo.Metrics;

/// <summary>Shows histograms in a registry, under allowed and unused names and labels.</summary>
internal sealed class Publication
{
    // The name by which a registry distinguishes metrics, with Prometheus' underscores.
    private sealed record Family(string Name, string Help, string Unit);

    private readonly object _gate = new object();
    private readonly bool _appendsUnits;
    private readonly Dictionary<string, Family> _families = new Dictionary<string, Family>(StringComparer.Ordinal);
    private readonly HashSet<string> _shown = new HashSet<string>(StringComparer.Ordinal);
    private readonly List<ulong> _ids = new List<ulong>();
    private readonly MetricCounter[] _lost;
    private bool _isEnded;

    internal const string Lost = "picollo_meters_lost";

    internal Publication(MetricRegistry registry, bool appendsUnits)
    {
        Registry = registry;
        _appendsUnits = appendsUnits;
        _lost = new[] { "negative", "not_a_number", "refused" }.Select(reason => registry.AddCounter(new MetricOptions
        {
            Name = Lost,
            Help = "Measurements and instruments that are in no histogram",
            Labels = new Dictionary<string, string> { { "reason", reason } }
        })).ToArray();
        _ids.AddRange(_lost.Select(counter => counter.Id));
    }

    internal MetricRegistry Registry { get; }

    internal MetricCounter Negative => _lost[0];

    internal MetricCounter NotANumber => _lost[1];

    internal MetricCounter Refused => _lost[2];

    /// <summary>Shows one more histogram.</summary>
    /// <exception cref="Exception">The registry refused it, or was disposed.</exception>
    internal void Add(Instrument instrument, MeteredHistogram set)
    {
        lock (_gate)
        {
            if (_isEnded)
                return;
            string unit = _appendsUnits ? Units.Exposed(set.Unit) : "";
            string name = Names.Metric(instrument.Name, unit), plain = Names.Plain(name);
            // The first metric with a name determines its help and its unit.
            if (!_families.TryGetValue(plain, out Family? family))
                family = new Family(name, instrument.Description ?? "", Names.EndsWith(plain, unit) ? unit : "");
            Dictionary<string, string> labels = Names.Labels(instrument, set.TagArray);
            // Sets that differ only in types, or in characters that names may not have.
            string key = Key(plain, labels);
            for (int other = 2; _shown.Contains(key); other++)
            {
                labels[Names.Set] = other.ToString(System.Globalization.CultureInfo.InvariantCulture);
                key = Key(plain, labels);
            }
            _ids.Add(Registry.Add(set.Histogram, new MetricOptions
            {
                Name = family.Name, Help = family.Help, Unit = family.Unit, Divisor = set.Scale, Labels = labels
            }));
            _families[plain] = family;
            _shown.Add(key);
        }
    }

    /// <summary>Ends publishing; removes all histograms if the registry belongs to somebody else.</summary>
    internal void End(bool removes)
    {
        lock (_gate)
        {
            _isEnded = true;
            if (removes)
                foreach (ulong id in _ids)
                    try
                    {
                        Registry.Remove(id);
                    }
                    catch (Exception gone) when (gone is ObjectDisposedException or PicolloException)
                    {
                        // Its owner disposed it.
                    }
            _ids.Clear();
        }
    }

    private static string Key(string plain, Dictionary<string, string> labels) =>
        plain + "\0" + string.Join("\0", labels.Select(label => Names.Plain(label.Key) + "\0" + label.Value).OrderBy(text => text, StringComparer.Ordinal));
}
