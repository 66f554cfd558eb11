using System.Globalization;
using System.Text;

namespace Picollo.Tests;

/// <summary>Logs from and to streams, in any encoding, as others write them, and truncated at bad places.</summary>
public static class LogStreamTests
{
    /// <summary>17 and 400 in HdrHistogram.NET's encoding, without the checksum at the end.</summary>
    private const string FromDotNet = "HISTFAAAAB9YhZNpmSzMwMDAygABzFCaEUIJd9h/gLAUmX6zMgEA";

    private static string Line(double start, string tag) => FormattableString.Invariant($"Tag={tag},{start:0.000},1.000,0.000,{FromDotNet}\n");

    private static HdrLogEntry[] Entries(byte[] text)
    {
        using (HdrLogReader reader = HdrLogReader.Open(new MemoryStream(text)))
            return reader.ReadAll().ToArray();
    }

    [Test]
    public static void SurrogatesInside()
    {
        // .NET strings may contain halves of characters.
        using (HdrLogReader reader = HdrLogReader.Parse(Line(1, "A\ud800")))
            Check.True(reader.Read() && reader.Interval.Tag == "A\ufffd", "read");
        var text = new StringWriter();
        using (var writer = new HdrLogWriter(text))
            writer.Write(HdrHistogram.Factory.WithSignificantDigits(3).Create(), 1, 1, "\udc00B");
        using (HdrLogReader reader = HdrLogReader.Parse(text.ToString()))
            Check.True(reader.Read() && reader.Interval.Tag == "\ufffdB", "written");
    }

    /// <summary>Writing and reading are independent of cultures.</summary>
    [Test]
    public static void WrittenInACultureWithCommas()
    {
        HdrHistogram histogram = HdrHistogram.Factory.WithSignificantDigits(3).Create();
        histogram.Record(1000, 3);
        Func<string> write = () =>
        {
            var text = new StringWriter();
            using (var writer = new HdrLogWriter(text, leaveOpen: true))
            {
                writer.WriteHeader(1441812279.474);
                writer.Write(histogram, 0.25, 1.5);
            }
            histogram.WriteHgrm(text, 1, 1000);
            return text + histogram.GetLinearSteps(600)[1].ToString() + histogram.GetSummary() + histogram.GetBucket(1000);
        };
        string expected = write();
        CultureInfo before = CultureInfo.CurrentCulture;
        var commas = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        commas.NumberFormat.NumberDecimalSeparator = ",";
        commas.NumberFormat.NumberGroupSeparator = ".";
        commas.NumberFormat.NegativeSign = "\u2212";
        CultureInfo.CurrentCulture = commas;
        try
        {
            Check.Equal("0,5", 0.5.ToString(), "the culture");
            Check.Equal(expected, write());
        }
        finally
        {
            CultureInfo.CurrentCulture = before;
        }
        using (HdrLogReader reader = HdrLogReader.Parse(expected.Substring(0, expected.IndexOf("       Value"))))
            Check.Equal(1441812279.724, reader.ReadAll().Single().Interval.StartSeconds);
    }

    [Test]
    public static void WrittenToStreams()
    {
        HdrHistogram histogram = HdrHistogram.Factory.WithSignificantDigits(3).Create();
        histogram.Record(1000);
        var stream = new MemoryStream();
        using (var writer = new HdrLogWriter(stream, leaveOpen: true))
        {
            writer.WriteHeader(5.0);
            Check.Equal(0L, stream.Length, "kept back");
            writer.Flush();
            long header = stream.Length;
            Check.True(header > 0 && stream.ToArray()[0] == '#', "no mark");
            writer.Write(histogram, 0.5, 1, "A");
            writer.Flush();
            Check.True(stream.Length > header, "handed on");
        }
        Check.True(stream.CanWrite, "left open");
        Check.Equal("A", Entries(stream.ToArray()).Single().Interval.Tag);
        new HdrLogWriter(stream).Dispose();
        Check.True(!stream.CanWrite, "disposed");

        var input = new MemoryStream(Encoding.UTF8.GetBytes("junk\n" + Line(1, "A")));
        input.Position = 5;
        Check.True(HdrLogReader.Open(input, leaveOpen: true).Read() && input.CanRead, "from where it stands, and left open");
        HdrLogReader.Open(input);
        Check.True(!input.CanRead, "disposed");
    }

    /// <summary>A snapshot keeps its times and tag from a log, and can be written to one again.</summary>
    [Test]
    public static void TimesAndTagsStay()
    {
        HdrHistogramSnapshot read = Entries(Encoding.UTF8.GetBytes(Line(1.5, "A"))).Single().Snapshot;
        foreach (HdrHistogramSnapshot snapshot in new[] { read, read.Copy(), read.Corrected(100) })
        {
            Check.Equal("A", snapshot.Tag);
            Check.Equal(1.5, snapshot.StartSeconds);
            Check.Equal(2.5, snapshot.EndSeconds);
        }
        HdrHistogramSnapshot own = HdrHistogram.Factory.WithSignificantDigits(3).Create().GetSnapshot();
        Check.True(own.Tag == "" && double.IsNaN(own.StartSeconds) && double.IsNaN(own.EndSeconds), "none of its own");
        var text = new StringWriter();
        using (var writer = new HdrLogWriter(text))
        {
            writer.WriteHeader();
            writer.Write(read);
            Check.Throws<ArgumentException>(() => writer.Write(own));
            own.StartSeconds = 3;
            own.EndSeconds = 4;
            writer.Write(own);
            own.Tag = null;
            writer.Write(own);
        }
        HdrLogEntry[] entries = Entries(Encoding.UTF8.GetBytes(text.ToString()));
        Check.True(entries.Select(e => e.Interval.Tag).SequenceEqual(new[] { "A", "", "" }), "tags");
        Check.True(entries.Select(e => e.Interval.StartSeconds).SequenceEqual(new[] { 1.5, 3, 3 }), "starts");
        Check.True(entries.Select(e => e.Interval.EndSeconds).SequenceEqual(new[] { 2.5, 4, 4 }), "ends");
    }
}
