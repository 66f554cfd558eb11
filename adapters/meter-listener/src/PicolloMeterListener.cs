namespace Picollo.Metrics;

/// <summary>
/// Records every histogram of <see cref="System.Diagnostics.Metrics"/>, of the program, its libraries and the runtime, with Picollo: one
/// histogram for each set of tags.
/// </summary>
/// <remarks>
/// Any thread may call any member. A measurement takes no lock and allocates nothing once its tags are known. No
/// failure causes an exception in the measuring program: see <see cref="Refused"/>.
/// </remarks>
public sealed class PicolloMeterListener : IDisposable
{
    private readonly MeterListenerOptions _options;
    private readonly bool _ownsRegistry;
    private readonly Publication _publication;
    private readonly MeterListener _listener = new MeterListener();
    private readonly object _gate = new object();
    private readonly Dictionary<string, InstrumentState> _states = new Dictionary<string, InstrumentState>(StringComparer.Ordinal);
    private readonly List<MeteredHistogram> _histograms = new List<MeteredHistogram>();
    private int _isStarted;

    /// <summary>Makes a listener, which listens after <see cref="Start"/>.</summary>
    /// <param name="options">Copied; null for the defaults.</param>
    /// <exception cref="PicolloException">
    /// <see cref="PicolloStatus.InvalidArgument"/>: the registry has another listener, or a metric whose name is <c>picollo_meters_lost</c>.
    /// </exception>
    public PicolloMeterListener(MeterListenerOptions? options = null)
    {
        _options = (options ?? new MeterListenerOptions()).Copy();
        _ownsRegistry = _options.Registry == null;
        _publication = new Publication(_options.Registry ?? new MetricRegistry(), _options.AppendsUnits);
        _listener.InstrumentPublished = Publish;
        // Without it, Dispose of .NET 8 leaves all instruments enabled, and their measurements continue to arrive.
        _listener.MeasurementsCompleted = static (_, _) => { };
        // Every possible type: without a callback, measurements are not received.
        _listener.SetMeasurementEventCallback<double>(static (_, value, tags, state) => ((InstrumentState)state!).Record(value, tags));
        _listener.SetMeasurementEventCallback<float>(static (_, value, tags, state) => ((InstrumentState)state!).Record((double)value, tags));
        _listener.SetMeasurementEventCallback<decimal>(static (_, value, tags, state) => ((InstrumentState)state!).Record((double)value, tags));
        _listener.SetMeasurementEventCallback<long>(static (_, value, tags, state) => ((InstrumentState)state!).Record(value, tags));
        _listener.SetMeasurementEventCallback<int>(static (_, value, tags, state) => ((InstrumentState)state!).Record((long)value, tags));
        _listener.SetMeasurementEventCallback<short>(static (_, value, tags, state) => ((InstrumentState)state!).Record((long)value, tags));
        _listener.SetMeasurementEventCallback<byte>(static (_, value, tags, state) => ((InstrumentState)state!).Record((long)value, tags));
    }

    /// <summary>
    /// Shows the histograms to Prometheus and others: <see cref="MetricRegistry.Scrape"/>. It is the registry of the
    /// options, or the listener's own, which stays unchanged when the listener is disposed.
    /// </summary>
    public MetricRegistry Registry => _publication.Registry;

    /// <summary>The histograms so far, in the order of their first measurements.</summary>
    public IReadOnlyList<MeteredHistogram> Histograms
    {
        get
        {
            lock (_gate)
                return _histograms.ToArray();
        }
    }

    /// <summary>Measurements below zero, which are in no histogram.</summary>
    public ulong Negative => _publication.Negative.Value;

    /// <summary>Measurements of NaN, which are in no histogram.</summary>
    public ulong NotANumber => _publication.NotANumber.Value;

    /// <summary>
    /// Instruments beyond the limit, measurements without memory or with tags whose texts threw, and histograms that
    /// are not in the registry, because it was disposed or has another metric with that name.
    /// </summary>
    public ulong Refused => _publication.Refused.Value;

    /// <summary>Starts listening, to existing and future instruments. May be called again.</summary>
    /// <returns>This listener.</returns>
    public PicolloMeterListener Start()
    {
        if (Interlocked.Exchange(ref _isStarted, 1) == 0)
            _listener.Start();
        return this;
    }

    /// <summary>Reads observable gauges, if gauges are listened to: call it once per scrape, or per second.</summary>
    /// <exception cref="AggregateException">The exceptions of their callbacks. All others were read.</exception>
    public void Observe() => _listener.RecordObservableInstruments();

    /// <summary>The histogram of an instrument with these tags, in any order, in the first such meter; or
    /// null.</summary>
    public MeteredHistogram? Find(string instrumentName, params KeyValuePair<string, object?>[] tags)
    {
        ArgumentNullException.ThrowIfNull(instrumentName);
        ArgumentNullException.ThrowIfNull(tags);
        KeyValuePair<string, object?>[] sorted = tags.OrderBy(tag => tag.Key, StringComparer.Ordinal).ToArray();
        return Histograms.FirstOrDefault(one =>
            one.InstrumentName == instrumentName && !one.IsOverflow && TagSets.AreSame(sorted, one.TagArray));
    }

    /// <summary>
    /// Stops listening. The measurements stay readable, but are removed from a registry that was passed in.
    /// Measurements in progress on other threads may still arrive.
    /// </summary>
    public void Dispose()
    {
        _listener.Dispose();
        _publication.End(removes: !_ownsRegistry);
    }

    internal void Lose(bool isNaN) => (isNaN ? _publication.NotANumber : _publication.Negative).Add();

    internal void Refuse() => _publication.Refused.Add();

    internal void Publish(InstrumentState state, MeteredHistogram set)
    {
        lock (_gate)
            _histograms.Add(set);
        _publication.Add(state.Instrument, set);
    }

    // Runs when the program makes an instrument.
    private void Publish(Instrument instrument, MeterListener listener)
    {
        try
        {
            if (!IsOfKind(instrument) || (_options.Filter != null && !_options.Filter(instrument)))
                return;
            InstrumentState? state = StateOf(instrument);
            if (state == null)
                Refuse();
            else
                listener.EnableMeasurementEvents(instrument, state);
        }
#pragma warning disable CA1031 // any exception of the filter
        catch (Exception)
        {
            Refuse();
        }
#pragma warning restore CA1031
    }

    private bool IsOfKind(Instrument instrument)
    {
        Type type = instrument.GetType();
        // By its name, as .NET 8 does not have Gauge<T>.
        string name = type.IsGenericType ? type.Name : "";
        return name == "Histogram`1" || (_options.Gauges && name is "ObservableGauge`1" or "Gauge`1");
    }

    /// <summary>
    /// One for each name, unit and meter, as each part of a program may make its own; null if there are too many.
    /// </summary>
    private InstrumentState? StateOf(Instrument instrument)
    {
        double scale = ScaleOf(instrument);
        string key = string.Join("\0", instrument.Meter.Name, instrument.Meter.Version, Text(instrument.Meter.Tags), instrument.Name,
            Text(instrument.Tags), instrument.Unit, scale.ToString("R", System.Globalization.CultureInfo.InvariantCulture));
        lock (_gate)
        {
            if (_states.TryGetValue(key, out InstrumentState? state))
                return state;
            if (_states.Count >= _options.Instruments)
                return null;
            return _states[key] = new InstrumentState(this, instrument, scale, _options);
        }
    }

    private static string Text(IEnumerable<KeyValuePair<string, object?>>? tags) =>
        string.Join("\u0001", (tags ?? Enumerable.Empty<KeyValuePair<string, object?>>()).Select(tag => tag.Key + "\u0002" + TagText.Of(tag.Value)));

    private double ScaleOf(Instrument instrument)
    {
        double? asked = null;
        try
        {
            asked = _options.Scale?.Invoke(instrument);
        }
#pragma warning disable CA1031 // any exception: none may reach the program that makes an instrument
        catch (Exception)
        {
            Refuse();
        }
#pragma warning restore CA1031
        if (asked > 0 && double.IsFinite(asked.Value))
            return asked.Value;
        Type[] numbers = instrument.GetType().GetGenericArguments();
        bool hasFractions = numbers[0] == typeof(double) || numbers[0] == typeof(float) || numbers[0] == typeof(decimal);
        return hasFractions ? Units.ScaleOf(instrument.Unit) : 1;
    }
}
