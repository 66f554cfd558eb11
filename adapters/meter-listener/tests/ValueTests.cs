namespace Picollo.Tests;

/// <summary>Conversion of numbers and units.</summary>
public static class ValueTests
{
    private static void One<T>(Listened listened, T value, double expected) where T : struct
    {
        string name = typeof(T).Name;
        listened.Meter.CreateHistogram<T>(name).Record(value);
        MeteredHistogram histogram = listened.Listener.Find(name);
        Check.True(histogram != null && histogram.Count == 1, name + " is counted");
        Check.Near(expected, histogram.GetPercentileValue(50), 0.01, name);
    }

    [Test]
    public static void EveryTypeOfNumber()
    {
        using var listened = new Listened();
        One<byte>(listened, 200, 200);
        One<short>(listened, 12345, 12345);
        One<int>(listened, 1 << 30, 1 << 30);
        One<long>(listened, 1L << 60, 1L << 60);
        One<float>(listened, 0.25f, 0.25);
        One<double>(listened, 1234.5678, 1234.5678);
        One<decimal>(listened, 0.125m, 0.125);
        Check.Equal(7, listened.Listener.Histograms.Count);
    }

    [Test]
    public static void TimesBecomeNanoseconds()
    {
        var units = new Dictionary<string, double>
        {
            { "d", 86400e9 }, { "h", 3600e9 }, { "min", 60e9 }, { "s", 1e9 }, { "seconds", 1e9 }, { "ms", 1e6 }, { "us", 1e3 },
            { "µs", 1e3 }, { "ns", 1 }, { "By", 1 }, { "KiBy", 1024 }, { "MBy", 1e6 }, { "TiBy", 1099511627776 },
            // Unknown units, and those that fit nothing, are counted in millionths.
            { "1", 1e6 }, { "%", 1e6 }, { "{request}", 1e6 }, { "", 1e6 }, { "parsec \"\n\\", 1e6 }, { "S", 1e6 }, { "m", 1e6 }
        };
        using var listened = new Listened();
        foreach (KeyValuePair<string, double> unit in units)
        {
            listened.Meter.CreateHistogram<double>("x" + unit.Key, unit.Key).Record(250);
            listened.Meter.CreateHistogram<int>("y" + unit.Key, unit.Key).Record(250);
            MeteredHistogram histogram = listened.Listener.Find("x" + unit.Key), integers = listened.Listener.Find("y" + unit.Key);
            Check.Equal(unit.Value, histogram.Scale, unit.Key);
            Check.Equal(1.0, integers.Scale, unit.Key);
            Check.Near(250, histogram.GetPercentileValue(50), 0.01, unit.Key);
            Check.Near(250, integers.GetPercentileValue(50), 0.01, unit.Key);
            Check.Equal(unit.Key, histogram.Unit);
        }
        listened.Meter.CreateHistogram<double>("no unit", null).Record(1e-6);
        Check.Near(1e-6, listened.Listener.Find("no unit").GetPercentileValue(50), 1e-9, "a millionth");
        // Each is in the registry, under a valid name.
        Check.Equal(0ul, listened.Listener.Refused);
        string text = listened.Scrape();
        Check.Equal(2 * units.Count + 1, text.Split('\n').Count(line => line.Contains("_count{")), text);
    }

    [Test]
    public static void SmallNumbersAreRounded()
    {
        using var listened = new Listened();
        Histogram<double> seconds = listened.Meter.CreateHistogram<double>("x", "s");
        foreach (double value in new[] { 0.4e-9, 0.6e-9, 1.4e-9, 1.5e-9, 0.0, -0.0, double.Epsilon })
            seconds.Record(value);
        HdrHistogramSnapshot snapshot = listened.Only.GetSnapshot();
        Check.Equal("4 2 1", string.Join(" ", new ulong[] { 0, 1, 2 }.Select(nanos => snapshot.GetBucket(nanos).Count)));
        Check.Equal(7ul, listened.Only.Count);
        seconds.Record(7e-9);
        snapshot.Update(deltas: true);
        Check.Equal("1 7", $"{snapshot.TotalCount} {snapshot.GetPercentileValue(50)}", "an interval");
    }

    [Test]
    public static void NothingIsLostSilently()
    {
        using var listened = new Listened();
        Histogram<double> doubles = listened.Meter.CreateHistogram<double>("doubles", "s");
        Histogram<float> floats = listened.Meter.CreateHistogram<float>("floats");
        Histogram<long> longs = listened.Meter.CreateHistogram<long>("longs");
        Histogram<decimal> decimals = listened.Meter.CreateHistogram<decimal>("decimals", "h");
        foreach (double value in new[] { -1e-300, -1, double.NegativeInfinity, double.NaN, double.PositiveInfinity, 9.3e9, 9.2e9, double.MaxValue })
            doubles.Record(value);
        floats.Record(float.NaN);
        floats.Record(float.PositiveInfinity);
        longs.Record(-1);
        longs.Record(long.MinValue);
        longs.Record(long.MaxValue);
        decimals.Record(decimal.MaxValue);
        decimals.Record(decimal.MinValue);
        Check.Equal(6ul, listened.Listener.Negative);
        Check.Equal(2ul, listened.Listener.NotANumber);
        Check.Equal(0ul, listened.Listener.Refused);
        Check.Equal(4ul, listened.Listener.Find("doubles").Count);
        Check.Equal(3ul, listened.Listener.Find("doubles").GetSnapshot().OverflowCount);
        Check.Equal(1ul, listened.Listener.Find("longs").Count);
        Check.Equal(1ul, listened.Listener.Find("decimals").Count);
        string text = listened.Scrape();
        foreach (string line in new[]
        {
            "picollo_meters_lost_total{reason=\"negative\"} 6", "picollo_meters_lost_total{reason=\"not_a_number\"} 2",
            $"doubles_seconds_bucket{{otel_scope_name=\"{listened.Meter.Name}\",le=\"+Inf\"}} 4",
            $"doubles_seconds_count{{otel_scope_name=\"{listened.Meter.Name}\"}} 4"
        })
            Check.True(text.Split('\n').Contains(line), line + " in\n" + text);
    }

    [Test]
    public static void AScaleOfOnesOwn()
    {
        using (var listened = new Listened(options => options.Scale = instrument => instrument.Name switch
        {
            "thousandths" => 1000, "coarse" => 0.001, "nothing" => null, "nan" => double.NaN, "negative" => -1, "infinite" => double.PositiveInfinity,
            _ => throw new InvalidOperationException("a scale that throws")
        }))
        {
            foreach (string name in new[] { "thousandths", "coarse", "nothing", "nan", "negative", "infinite", "throws" })
            {
                listened.Meter.CreateHistogram<double>(name, "s").Record(5000);
                listened.Meter.CreateHistogram<long>(name + " of integers", "s");
                MeteredHistogram histogram = listened.Listener.Find(name);
                Check.Equal(name == "thousandths" ? 1000 : name == "coarse" ? 0.001 : 1e9, histogram.Scale, name);
                Check.Near(5000, histogram.GetPercentileValue(50), 0.01, name);
            }
            // A throwing one is reported, and does no harm.
            Check.True(listened.Listener.Refused >= 1, "throws");
        }
        using (var listened = new Listened(options => options.Scale = _ => 10))
        {
            listened.Meter.CreateHistogram<int>("x").Record(7);
            listened.Meter.CreateHistogram<int>("x").Record(-7);
            Check.Equal(1ul, listened.Only.GetSnapshot().GetBucket(70).Count, "integers too, where asked for");
            Check.Equal(1ul, listened.Listener.Negative);
        }
    }

    [Test]
    public static void GaugesWhenAskedForAndCountersNever()
    {
        foreach (bool gauges in new[] { false, true })
            using (var listened = new Listened(options => options.Gauges = gauges))
            {
                double depth = 3;
                listened.Meter.CreateObservableGauge("depth", () => new Measurement<double>(depth, Listened.Tag("queue", "a")));
                listened.Meter.CreateObservableGauge("failing", () => depth < 4 ? 1 : throw new InvalidOperationException("a callback"));
                listened.Meter.CreateObservableCounter("counter", () => 5);
                listened.Meter.CreateObservableUpDownCounter("up and down", () => 5);
                listened.Meter.CreateCounter<int>("count").Add(5);
                listened.Meter.CreateUpDownCounter<int>("count up and down").Add(5);
                listened.Listener.Observe();
                depth = 5;
                if (gauges)
                    Check.Throws<AggregateException>(listened.Listener.Observe);
                else
                    listened.Listener.Observe();
                Check.Equal(gauges ? "depth{queue=a} 2, failing 1" : "",
                    string.Join(", ", listened.Listener.Histograms.Select(one => $"{one} {one.Count}").OrderBy(text => text)));
                if (gauges)
                    Check.Near(5, listened.Listener.Find("depth", Listened.Tag("queue", "a")).GetPercentileValue(100), 0.01);
            }
    }

    [Test]
    public static void OptionsAreChecked()
    {
        foreach (Action<MeterListenerOptions> wrong in new Action<MeterListenerOptions>[]
        {
            options => options.TagSets = 0, options => options.TagSets = 1_000_001, options => options.Instruments = -1,
            options => options.RelativeError = double.NaN, options => options.RelativeError = 2, options => options.RelativeError = 0
        })
            Check.Equal("value", Check.Throws<ArgumentOutOfRangeException>(() => wrong(new MeterListenerOptions())).ParamName);
        using var listened = new Listened(options => options.RelativeError = 0.001);
        Check.Equal("instrumentName", Check.Throws<ArgumentNullException>(() => listened.Listener.Find(null)).ParamName);
        Check.Equal("tags", Check.Throws<ArgumentNullException>(() => listened.Listener.Find("x", null)).ParamName);
        listened.Meter.CreateHistogram<int>("x").Record(1_000_001);
        Check.Near(1_000_001, listened.Only.GetPercentileValue(50), 0.001);
        Check.Equal("rank", Check.Throws<ArgumentOutOfRangeException>(() => listened.Only.GetPercentileValue(101)).ParamName);
    }
}
