using System.Diagnostics;

namespace Picollo.Tests;

/// <summary>Which measurements are counted together, and the maximum number of histograms.</summary>
public static class TagTests
{
    private static KeyValuePair<string, object> Tag(string key, object value) => Listened.Tag(key, value);

    private enum Color
    {
        Red,
        Green
    }

    [Test]
    public static void OrderDoesNotMatterAndTypesDo()
    {
        using var listened = new Listened();
        Histogram<int> histogram = listened.Meter.CreateHistogram<int>("x");
        histogram.Record(1, Tag("a", 1), Tag("b", 2));
        histogram.Record(1, Tag("b", 2), Tag("a", 1));
        histogram.Record(1, Tag("a", "1"), Tag("b", 2));
        histogram.Record(1, Tag("a", 1L), Tag("b", 2));
        histogram.Record(1, Tag("a", 1));
        histogram.Record(1);
        histogram.Record(1, Tag("A", 1));
        histogram.Record(1, Tag("a", null));
        histogram.Record(1, Tag("a", ""));
        // If two tags have one key, the last counts.
        histogram.Record(1, Tag("a", 7), Tag("b", 2), Tag("a", 1));
        histogram.Record(1, Tag("a", 7), Tag("b", 2), Tag("a", 1));
        histogram.Record(1, Tag(null, 1));
        histogram.Record(1, default(KeyValuePair<string, object>));
        Check.Equal(
            "{a=1,b=2} 4; {a=1,b=2} 1; {a=1,b=2} 1; {a=1} 1;  1; {A=1} 1; {a=} 1; {a=} 1; {=1} 1; {=} 1",
            string.Join("; ", listened.Listener.Histograms.Select(one => $"{one.ToString().Substring(1)} {one.Count}")));
        Check.Equal(4ul, listened.Listener.Find("x", Tag("b", 2), Tag("a", 1)).Count);
        Check.True(listened.Listener.Find("x", Tag("b", 2)) == null && listened.Listener.Find("y") == null, "none");
        Check.Equal(0ul, listened.Listener.Refused);
    }

    [Test]
    public static void ValuesOfEveryType()
    {
        using var listened = new Listened();
        Histogram<int> histogram = listened.Meter.CreateHistogram<int>("x");
        Func<object>[] makes =
        {
            () => new string('a', 3), () => true, () => false, () => 5, () => (byte)5, () => 'c', () => 2.5, () => double.NaN, () => 2.5m,
            () => Color.Green, () => new DateTime(2026, 1, 1), () => null, () => new[] { 1, 2 }, () => new object[] { "a", null, true },
            () => new Uri("http://localhost/"), () => Guid.Empty, () => new Version(1, 2), () => TimeSpan.FromSeconds(1)
        };
        for (int round = 0; round < 5; round++)
            foreach (Func<object> make in makes)
                // Equal, but never the same object; compared by text unless the type is a number, text or time.
                histogram.Record(1, Tag("v", make()), Tag(new string('k', 1), 1));
        Check.Equal(makes.Length, listened.Listener.Histograms.Count, string.Join(", ", listened.Listener.Histograms));
        foreach (MeteredHistogram one in listened.Listener.Histograms)
            Check.Equal(5ul, one.Count, one.ToString());
        string all = string.Join(" ", listened.Listener.Histograms);
        Check.True(all.Contains("v=[1,2]") && all.Contains("v=[a,,true]") && all.Contains("v=Green") && all.Contains("v=http://localhost/"), all);
        Check.Equal(0ul, listened.Listener.Refused);
    }

    [Test]
    public static void FloodsAreBounded()
    {
        const int Limit = 50, Flood = 100_000;
        using var listened = new Listened(options => options.TagSets = Limit);
        Histogram<int> histogram = listened.Meter.CreateHistogram<int>("x");
        for (int i = 0; i < 2 * Limit; i++)
            histogram.Record(1, Tag("user", i));
        GC.Collect();
        long managed = GC.GetTotalMemory(true);
        using Process process = Process.GetCurrentProcess();
        long before = process.WorkingSet64;
        for (int i = 0; i < Flood; i++)
            histogram.Record(1, Tag("user", 1000 + i), Tag("path", "/" + i));
        process.Refresh();
        long grown = process.WorkingSet64 - before;
        Check.Equal(Limit + 1, listened.Listener.Histograms.Count);
        Check.True(grown < 20 << 20, $"{grown} bytes more");
        Check.True(GC.GetTotalMemory(true) - managed < 1 << 20, $"{GC.GetTotalMemory(true) - managed} managed bytes more");
        MeteredHistogram overflow = listened.Listener.Histograms.Single(one => one.IsOverflow);
        Check.Equal((ulong)(Limit + Flood), overflow.Count);
        Check.Equal((ulong)(2 * Limit + Flood), listened.Total);
        // Existing ones are still counted separately.
        histogram.Record(1, Tag("user", 3));
        Check.Equal(2ul, listened.Listener.Find("x", Tag("user", 3)).Count);
        Check.Equal((ulong)(Limit + Flood), overflow.Count);
        Check.True(listened.Scrape().Contains($"x_count{{otel_metric_overflow=\"true\",otel_scope_name=\"{listened.Meter.Name}\"}} {Limit + Flood}\n"),
            listened.Scrape());
    }

    /// <summary>Eight tags have 40,320 orders, in one set; none is kept beyond a limit.</summary>
    [Test]
    public static void OrdersAreBounded()
    {
        using var listened = new Listened(options => options.TagSets = 10);
        Histogram<int> histogram = listened.Meter.CreateHistogram<int>("x");
        var random = new Random(1);
        KeyValuePair<string, object>[] tags = Enumerable.Range(0, 8).Select(i => Tag("k" + i, i)).ToArray();
        long before = 0;
        for (int round = 0; round < 40_000; round++)
        {
            histogram.Record(1, tags);
            for (int i = tags.Length - 1; i > 0; i--)
            {
                int other = random.Next(i + 1);
                (tags[i], tags[other]) = (tags[other], tags[i]);
            }
            if (round == 1000)
                before = GC.GetTotalMemory(true);
        }
        Check.Equal(40_000ul, listened.Only.Count);
        Check.True(GC.GetTotalMemory(true) - before < 1 << 20, "managed memory");
    }

    [Test]
    public static void InstrumentsAreBounded()
    {
        using var listened = new Listened(options => options.Instruments = 10);
        // Each part of a program may have a meter with the same name; their instruments are one.
        using (var twin = new Meter(listened.Meter.Name))
            for (int i = 0; i < 30; i++)
                foreach (Meter meter in new[] { listened.Meter, twin })
                    meter.CreateHistogram<int>("x" + i).Record(i);
        Check.Equal(10, listened.Listener.Histograms.Count);
        Check.Equal(20ul, listened.Total);
        Check.Equal(40ul, listened.Listener.Refused);
    }

    private sealed class Hostile
    {
        private readonly Func<string> _text;

        internal Hostile(Func<string> text) => _text = text;

        public override string ToString() => _text();

        public override bool Equals(object other) => throw new InvalidOperationException("Equals");

        public override int GetHashCode() => throw new InvalidOperationException("GetHashCode");
    }

    private struct HostileNumber : IFormattable
    {
        public string ToString(string format, IFormatProvider provider) => null;

        public override bool Equals(object other) => throw new InvalidOperationException("Equals");

        public override int GetHashCode() => throw new InvalidOperationException("GetHashCode");
    }

    [Test]
    public static void NoExceptionReachesTheProgram()
    {
        using (var listened = new Listened())
        {
            Histogram<int> histogram = listened.Meter.CreateHistogram<int>("x");
            for (int i = 0; i < 3; i++)
                histogram.Record(1, Tag("a", new Hostile(() => throw new InvalidOperationException("ToString"))));
            Check.Equal(3ul, listened.Listener.Refused);
            histogram.Record(1, Tag("a", new Hostile(() => null)));
            histogram.Record(1, Tag("a", new Hostile(() => "text")));
            histogram.Record(1, Tag("a", new HostileNumber()));
            // An object that is asked for its text measures that, on the same instrument with other tags.
            for (int i = 0; i < 100; i++)
            {
                int number = i;
                histogram.Record(1, Tag("b", 1), Tag("a", new Hostile(() =>
                {
                    histogram.Record(1, Tag("inner", number), Tag("a", new Hostile(() => "inside")));
                    return "outside";
                })));
            }
            Check.Equal(3ul + 200, listened.Total);
            Check.Equal(100ul, listened.Listener.Find("x", Tag("a", "outside"), Tag("b", 1)).Count);
            Check.Equal(1ul, listened.Listener.Find("x", Tag("a", "inside"), Tag("inner", 57)).Count);
            Check.Equal(3ul, listened.Listener.Refused);
        }
        using (var listened = new Listened(options => options.Filter = _ => throw new InvalidOperationException("a filter")))
        {
            listened.Meter.CreateHistogram<int>("x").Record(1);
            Check.Equal(0ul, listened.Total);
            Check.True(listened.Listener.Refused >= 1, "refused");
        }
    }

    /// <summary>Ten threads find the same new sets at once, in different orders, while others read.</summary>
    [Test]
    public static void NothingIsLostWhenThreadsRace()
    {
        const int Threads = 10, Sets = 200, Rounds = 50;
        using var listened = new Listened(options => options.TagSets = Sets - 20);
        Histogram<double> histogram = listened.Meter.CreateHistogram<double>("x", "s");
        bool stop = false;
        var reader = new Thread(() =>
        {
            while (!Volatile.Read(ref stop))
            {
                listened.Scrape();
                listened.Listener.Histograms.LastOrDefault()?.ToString();
            }
        });
        reader.Start();
        Thread[] threads = Listened.Start(Threads, thread =>
        {
            for (int round = 0; round < Rounds; round++)
                for (int i = 0; i < Sets; i++)
                {
                    KeyValuePair<string, object> a = Tag("route", "/" + i), b = Tag("thread", i % 7);
                    if ((thread + round) % 2 == 0)
                        histogram.Record(0.001, a, b);
                    else
                        histogram.Record(0.001, b, a);
                }
        });
        Array.ForEach(threads, thread => thread.Join());
        Volatile.Write(ref stop, true);
        reader.Join();
        Check.Equal(Sets - 20 + 1, listened.Listener.Histograms.Count);
        foreach (MeteredHistogram one in listened.Listener.Histograms)
            Check.Equal((ulong)(Threads * Rounds * (one.IsOverflow ? 20 : 1)), one.Count, one.ToString());
        Check.Equal(0ul, listened.Listener.Refused);
    }

    [Test]
    public static void NothingIsAllocated()
    {
        using var listened = new Listened(options => options.TagSets = 4);
        Histogram<double> doubles = listened.Meter.CreateHistogram<double>("x", "s");
        Histogram<int> integers = listened.Meter.CreateHistogram<int>("y");
        KeyValuePair<string, object>[] known = { Tag("a", "b"), Tag("c", 5) }, other = { Tag("c", 5), Tag("a", "b") };
        var flood = new KeyValuePair<string, object>[200][];
        for (int i = 0; i < flood.Length; i++)
            flood[i] = new[] { Tag("z", i), Tag("a", i) };
        void Round(int i)
        {
            doubles.Record(0.1);
            doubles.Record(0.1, known);
            doubles.Record(-1, other);
            integers.Record(5, other);
            // Too many, and sorted each time.
            integers.Record(5, flood[i]);
        }
        for (int i = 0; i < 100; i++)
            Round(i);
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 100; i < 200; i++)
            Round(i);
        Check.Equal(0L, GC.GetAllocatedBytesForCurrentThread() - before);
    }
}
