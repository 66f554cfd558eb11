using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using Picollo.Metrics;

namespace Picollo.Tests
{
    /// <summary>Logs from streams and into them, in any encoding, as others write them, and cut where they hurt.</summary>
    public static class LogStreamTests
    {
        /// <summary>17 and 400, as HdrHistogram.NET encodes them: without the checksum at the end.</summary>
        private const string FromDotNet = "HISTFAAAAB9YhZNpmSzMwMDAygABzFCaEUIJd9h/gLAUmX6zMgEA";

        /// <summary>5000 in a histogram of Java's with 3 digits, whose lowest discernible value is 1024.</summary>
        private const string WithAUnit = "HISTFAAAACB4nJNpmSzMwMDAxAABzBCKBUw6ALH9B4gIOxMAQyACyA==";

        private static string Line(double start, string tag) => FormattableString.Invariant($"Tag={tag},{start:0.000},1.000,0.000,{FromDotNet}\n");

        private static HdrLogEntry[] Entries(byte[] text)
        {
            using (HdrLogReader reader = HdrLogReader.Open(new MemoryStream(text)))
                return reader.ReadAll().ToArray();
        }

        private static byte[] Marked(Encoding encoding, string text) => encoding.GetPreamble().Concat(encoding.GetBytes(text)).ToArray();

        private static readonly Encoding[] s_encodings = { new UTF8Encoding(true), Encoding.Unicode, Encoding.BigEndianUnicode };

        [Test]
        public static void AnyEncodingOfStreams()
        {
            string log = "#[Histogram log format version 1.3]\n" + Line(0.5, "é") + Line(1.5, "B");
            foreach (Encoding encoding in s_encodings)
            {
                HdrLogEntry[] entries = Entries(Marked(encoding, log));
                Check.True(entries.Select(e => e.Interval.Tag).SequenceEqual(new[] { "é", "B" }), encoding.WebName);
                Check.Equal(400ul, entries[1].Snapshot.Max, encoding.WebName);
                Check.Equal(1, Entries(Marked(encoding, Line(1, "A"))).Length, encoding.WebName + ", no header");
                Check.Equal(0, Entries(encoding.GetPreamble()).Length, encoding.WebName + ", the mark alone");
            }
            Check.Equal(0, Entries(new byte[0]).Length);
            Check.Equal(0, Entries(new byte[] { 0xff }).Length, "half a mark at the end is not there yet");
        }

        /// <summary>Whatever is missing at the end of a running writer's log, what is there is read, and nothing is invented.</summary>
        [Test]
        public static void CutAnywhere()
        {
            string log = Line(0.5, "A") + Line(1.5, "\U0001f40c");
            foreach (Encoding encoding in s_encodings)
            {
                byte[] whole = Marked(encoding, log);
                int first = Marked(encoding, Line(0.5, "A")).Length, before = 0;
                for (int cut = encoding.GetPreamble().Length; cut <= whole.Length; cut++)
                {
                    byte[] part = new byte[cut];
                    Array.Copy(whole, part, cut);
                    HdrLogEntry[] entries = Entries(part);
                    Check.True(entries.Length >= before, $"{encoding.WebName}, cut at {cut}: what was there is gone");
                    Check.True(cut >= first || entries.Length <= 1, $"{encoding.WebName}, cut at {cut}: too much");
                    Check.True(entries.All(e => e.Snapshot.TotalCount == 2 && e.Snapshot.Max == 400), $"{encoding.WebName}, cut at {cut}");
                    before = entries.Length;
                }
                Check.Equal(2, before, encoding.WebName);
            }
        }

        /// <summary>A histogram decodes without its padding, but that is to come, as the rest of any line.</summary>
        [Test]
        public static void CutBeforeThePadding()
        {
            string log = FormattableString.Invariant($"0.5,1,0,{WithAUnit}");
            foreach (Encoding encoding in s_encodings)
            {
                for (int cut = 1; cut <= 3; cut++)
                    Check.Equal(0, Entries(Marked(encoding, log.Substring(0, log.Length - cut))).Length, $"{encoding.WebName}, {cut} missing");
                Check.Equal(1, Entries(Marked(encoding, log)).Length, encoding.WebName);
            }
        }

        [Test]
        public static void BrokenCharacters()
        {
            foreach (Encoding encoding in new[] { Encoding.Unicode, Encoding.BigEndianUnicode })
            {
                byte[] high = encoding.GetBytes("\U0001f40c").Take(2).ToArray();
                byte[] alone = encoding.GetPreamble().Concat(encoding.GetBytes("#")).Concat(high).Concat(encoding.GetBytes("\nTag=x"))
                    .Concat(high).Concat(encoding.GetBytes(Line(1, "y").Substring(4))).ToArray();
                HdrLogEntry entry = Entries(alone).Single();
                Check.Equal("x\ufffdy", entry.Interval.Tag, "a lone surrogate");
            }
            // No UTF-8: the line fails by itself.
            byte[] bad = Encoding.UTF8.GetBytes(Line(1, "?") + Line(2, "B"));
            bad[4] = 0xff;
            using (HdrLogReader reader = HdrLogReader.Open(new MemoryStream(bad)))
            {
                Check.Fails(PicolloStatus.Corrupt, () => reader.Read());
                Check.True(reader.Read(), "the line after it");
                Check.Equal("B", reader.Interval.Tag);
            }
            // Joined files.
            string joined = Line(1, "A") + "\ufeff#[Histogram log format version 1.3]\n\ufeff" + Line(2, "B");
            foreach (Encoding encoding in s_encodings)
                Check.True(Entries(Marked(encoding, joined)).Select(e => e.Interval.Tag).SequenceEqual(new[] { "A", "B" }), encoding.WebName);
        }

        [Test]
        public static void MarksAndSurrogatesInside()
        {
            Check.Equal("A\ufeffB", Entries(Encoding.UTF8.GetBytes(Line(1, "A\ufeffB"))).Single().Interval.Tag, "part of a tag");
            using (HdrLogReader reader = HdrLogReader.Parse("1\ufeff.5,1.0,0.0," + FromDotNet + "\n" + Line(2, "B")))
            {
                Check.Fails(PicolloStatus.Corrupt, () => reader.Read(), "no part of a number");
                Check.True(reader.Read() && reader.Interval.Tag == "B", "the line after it");
            }
            // Strings of .NET may hold halves of characters.
            using (HdrLogReader reader = HdrLogReader.Parse(Line(1, "A\ud800")))
                Check.True(reader.Read() && reader.Interval.Tag == "A\ufffd", "read");
            var text = new StringWriter();
            using (var writer = new HdrLogWriter(text))
                writer.Write(HdrHistogram.Factory.WithSignificantDigits(3).Create(), 1, 1, "\udc00B");
            using (HdrLogReader reader = HdrLogReader.Parse(text.ToString()))
                Check.True(reader.Read() && reader.Interval.Tag == "\ufffdB", "written");
        }

        /// <summary>What is written here, and what reads it, does not know cultures.</summary>
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
        public static void StartsOfAnyCulture()
        {
            foreach (string start in new[] { "1441812279,474", "1441812279.474", "1441812279\u066b474" })
                using (HdrLogReader reader = HdrLogReader.Parse($"#[StartTime: {start} (seconds since epoch), then]\n{Line(0.5, "A")}"))
                {
                    Check.True(reader.Read(), start);
                    Check.Equal(1441812279.474, reader.StartSeconds, start);
                    Check.Equal(1441812279.974, reader.Interval.StartSeconds, start);
                }
        }

        /// <summary>As HdrHistogram.NET writes them in the culture of its thread.</summary>
        [Test]
        public static void NumbersOfAnyCulture()
        {
            foreach (string numbers in new[] { "1,500,2,000,0,001", "1\u066b500,2\u066b000,0\u066b001", "1.500,2.000,0.001", "\u200e1.500,\u061c2.000,0.001" })
                foreach (string tag in new[] { "", "Tag=A," })
                {
                    HdrLogEntry entry = Entries(Encoding.UTF8.GetBytes($"{tag}{numbers},{FromDotNet}\n")).Single();
                    Check.Equal(1.5, entry.Interval.StartSeconds, numbers);
                    Check.Equal(3.5, entry.Interval.EndSeconds, numbers);
                    Check.Equal(400ul, entry.Snapshot.Max, numbers);
                }
        }

        /// <summary>A missing checksum is HdrHistogram.NET's; a part of one, or less than its length in front, is a fault.</summary>
        [Test]
        public static void TrailersOfStreams()
        {
            byte[] bytes = Convert.FromBase64String(FromDotNet);
            Check.Equal(2ul, HdrHistogramSnapshot.Decode(bytes).TotalCount);
            byte[] java = Convert.FromBase64String(WithAUnit);
            Check.Equal(1ul, HdrHistogramSnapshot.Decode(java).TotalCount);
            foreach (byte[] whole in new[] { bytes, java })
                for (int cut = 0; cut < whole.Length; cut++)
                {
                    int length = cut;
                    Check.Fails(PicolloStatus.Corrupt, () => HdrHistogramSnapshot.Decode(new ReadOnlySpan<byte>(whole, 0, length)), $"cut at {cut}");
                }
            for (int missing = 1; missing <= 4; missing++)
            {
                byte[] cut = java.Take(java.Length - missing).ToArray();
                cut[7] -= (byte)missing;
                if (missing == 4)
                    Check.Equal(1ul, HdrHistogramSnapshot.Decode(cut).TotalCount);
                else
                    Check.Fails(PicolloStatus.Corrupt, () => HdrHistogramSnapshot.Decode(cut), $"{missing} bytes of the checksum missing");
            }
        }

        [Test]
        public static void UnitsOfLayouts()
        {
            HdrHistogramSnapshot snapshot = HdrHistogramSnapshot.DecodeBase64(WithAUnit);
            HdrLayout layout = snapshot.GetLayout();
            Check.Equal(1024ul, layout.Unit);
            Check.Equal(3, layout.SignificantDigits);
            Bucket bucket = snapshot.BucketsWithValues.Single();
            Check.Equal(4096ul, bucket.Lower);
            Check.Equal(5119ul, bucket.Upper);
            Check.Equal(1024ul, snapshot.Copy().GetLayout().Unit);
            Check.Equal(1ul, HdrHistogram.Create().GetLayout().Unit);
            Check.Equal(1ul, HdrHistogram.Factory.WithSignificantDigits(2).WithMinTrackableValue(1 << 20).GetLayout().Unit);
            Check.Equal(1ul, default(HdrLayout).Unit);
        }

        /// <summary>A sum as HdrHistogram's Add would have it: nothing is out of its range, and coarse counts go to low ends.</summary>
        [Test]
        public static void SumsInTheLayoutOfTheFirst()
        {
            HdrHistogramSnapshot first = HdrHistogramSnapshot.DecodeBase64(FromDotNet);
            HdrLayout layout = first.GetLayout().WithRange(0, ulong.MaxValue);
            HdrHistogramSnapshot sum = HdrHistogramSnapshot.Create(layout), middle = HdrHistogramSnapshot.Create(layout);
            Check.True(sum.TotalCount == 0 && layout.MaxTrackableValue == ulong.MaxValue, "empty, over the widest range");
            Check.True(sum.Merge(first, MergePlacement.LowEnds).IsExact, "the same buckets");
            HdrHistogramSnapshot coarse = HdrHistogramSnapshot.DecodeBase64(WithAUnit);
            Check.Equal(1ul, sum.Merge(coarse, MergePlacement.LowEnds).Refined);
            Check.Equal(4096ul, sum.GetBucket(sum.Max).Lower, "the low end of 4096 to 5119");
            middle.Merge(coarse, MergePlacement.Midpoint);
            Check.Equal(4608ul, middle.GetBucket(middle.Max).Lower, "its midpoint");
            HdrHistogram histogram = HdrHistogram.Create();
            histogram.Add(coarse, MergePlacement.LowEnds);
            Check.Equal(4096ul, histogram.BucketsWithValues.Single().Lower);
            Check.Throws<ArgumentOutOfRangeException>(() => sum.Merge(first, (MergePlacement)3));
            Check.Throws<ArgumentOutOfRangeException>(() => histogram.Add(first, (MergePlacement)(-1)));
            Check.Fails(PicolloStatus.InvalidArgument, () => coarse.GetLayout().WithRange(0, 1023), "below the unit");
            Check.Fails(PicolloStatus.InvalidArgument, () => layout.WithRange(5, 5));
            Check.Fails(PicolloStatus.InvalidArgument, () => HdrHistogramSnapshot.Create(default));
            Check.Equal(1024ul, HdrHistogramSnapshot.Create(coarse.GetLayout().WithRange(0, 1 << 20)).GetLayout().Unit);
        }

        [Test]
        public static void RatiosOfDoubles()
        {
            // Cookie, digits and range of a DoubleHistogram in front of an ordinary encoding, whose ratio is a double: 0.5.
            byte[] bytes = new byte[] { 0x0c, 0x72, 0x12, 0x4e, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2 }
                .Concat(HdrHistogramSnapshot.DecodeBase64(FromDotNet).Encode(SnapshotEncoding.HdrV2)).ToArray();
            bytes[16 + 33] = 0xe0;
            HdrHistogramSnapshot snapshot = HdrHistogramSnapshot.Decode(bytes);
            Check.Equal(400ul, snapshot.Max);
            Check.Equal(0.5, snapshot.ValueRatio);
            Check.Equal(0.5, snapshot.Copy().ValueRatio);
            Check.Equal(1.0, HdrHistogramSnapshot.DecodeBase64(FromDotNet).ValueRatio);
        }

        /// <summary>HdrHistogram's of no digits at all: two buckets in the first block, and each that follows is a power of two.</summary>
        [Test]
        public static void NoDigits()
        {
            // Cookie, length of the counts, offset, digits, lowest, highest, ratio; then the counts of 0 to 2.
            byte[] bytes = { 0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 255,
                0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 2, 4, 6 };
            HdrHistogramSnapshot snapshot = HdrHistogramSnapshot.Decode(bytes);
            Check.Equal(1ul, snapshot.GetLayout().BlockSize);
            Check.Equal(0.5, snapshot.RelativeError);
            Check.True(snapshot.BucketsWithValues.Select(b => (b.Lower, b.Upper, b.Count)).SequenceEqual(
                new[] { (0ul, 0ul, 1ul), (1ul, 1ul, 2ul), (2ul, 3ul, 3ul) }), "buckets");
            Check.True(bytes.SequenceEqual(snapshot.Encode(SnapshotEncoding.HdrV2)), "and written again");
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
            Check.Throws<ArgumentNullException>(() => HdrLogReader.Open((Stream)null));
            Check.Throws<ArgumentNullException>(() => new HdrLogWriter((Stream)null));
        }

        /// <summary>A snapshot knows where it comes from, and goes there again.</summary>
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
                Check.Throws<ArgumentNullException>(() => writer.Write(null));
            }
            HdrLogEntry[] entries = Entries(Encoding.UTF8.GetBytes(text.ToString()));
            Check.True(entries.Select(e => e.Interval.Tag).SequenceEqual(new[] { "A", "", "" }), "tags");
            Check.True(entries.Select(e => e.Interval.StartSeconds).SequenceEqual(new[] { 1.5, 3, 3 }), "starts");
            Check.True(entries.Select(e => e.Interval.EndSeconds).SequenceEqual(new[] { 2.5, 4, 4 }), "ends");
        }
    }
}
