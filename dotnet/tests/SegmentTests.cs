using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using Picollo.Metrics;

namespace Picollo.Tests
{
    /// <summary>What is published in a segment is what viewers read.</summary>
    public static class SegmentTests
    {
        private static void InADirectory(Action<string> test)
        {
            if (!Directory.Exists("/dev/shm"))
                throw new SkippedException("there is no directory in memory");
            string place = $"/dev/shm/picollo-cs-{Process.GetCurrentProcess().Id}";
            Directory.CreateDirectory(place);
            // Others may not write to it, whatever files are made with here.
            Process.Start("chmod", "700 " + place).WaitForExit();
            try
            {
                test(place);
            }
            finally
            {
                Directory.Delete(place, true);
            }
        }

        private static Segment Make(string place, string name) =>
            new Segment(new SegmentOptions { Name = name, Directory = place, MaxBytes = 8 << 20 });

        private static MetricOptions Request(string route)
        {
            var metric = new MetricOptions { Name = "request", Unit = "ns", Help = "How long they take" };
            metric.Labels["route"] = route;
            return metric;
        }

        [Test]
        public static void WhatIsPublishedIsViewed() => InADirectory(place =>
        {
            HdrHistogram latency;
            MetricCounter requests;
            SegmentViewer viewer;
            using (Segment segment = Make(place, "checkout"))
            {
                latency = segment.GetHistogram(Request("/pay"));
                requests = segment.GetCounter(new MetricOptions { Name = "requests" });
                viewer = SegmentViewer.Open(segment.Path);
                Check.Equal(segment.Path, viewer.Path);
            }
            // The object is gone; what it gave out is not.
            var threads = Enumerable.Range(0, 4).Select(_ => new Thread(() =>
            {
                for (ulong i = 1; i <= 1000; i++)
                    latency.Record(i);
                requests.Add(1000);
            })).ToArray();
            foreach (Thread thread in threads)
                thread.Start();
            foreach (Thread thread in threads)
                thread.Join();

            SegmentInfo info = viewer.GetInfo();
            Check.Equal("checkout", info.Name);
            Check.True(info.IsLive && info.Entries == 2 && info.Refused == 0 && info.Memory < info.Capacity, "info");
            Check.Equal((uint)Process.GetCurrentProcess().Id, info.Pid);
            Check.True(Math.Abs((DateTime.UtcNow - info.CreatedUtc).TotalHours) < 1 && info.Program.Length > 0, "made");
            Check.Equal("request{route=\"/pay\"} requests", string.Join(" ", viewer.Entries));
            SegmentEntry entry = viewer.Entries[0];
            Check.True(entry.Kind == SegmentEntryKind.Histogram && entry.Unit == "ns" && entry.WriterPid == null, "entry");
            Check.Equal("How long they take", entry.Help);
            Check.Equal(1.0, entry.Divisor);
            Check.True(entry.Bytes > 0 && Math.Abs((DateTime.UtcNow - entry.CreatedUtc).TotalHours) < 1, "entry");

            HdrHistogramSnapshot snapshot = viewer.GetSnapshot(0);
            Check.Equal(4000ul, snapshot.TotalCount);
            Check.Equal(latency.GetPercentileValue(50), snapshot.GetPercentileValue(50));
            Check.Equal(4000ul, viewer.GetCount(1));
            latency.Record(7, 3);
            viewer.Update(0, snapshot, true);
            Check.Equal(3ul, snapshot.TotalCount);
            viewer.Update(0, snapshot, false);
            Check.Equal(4003ul, snapshot.TotalCount);
            Check.Fails(PicolloStatus.Unsupported, () => snapshot.Update(true));
            Check.Fails(PicolloStatus.InvalidArgument, () => viewer.GetSnapshot(1));
            Check.Fails(PicolloStatus.InvalidArgument, () => viewer.GetSnapshot(-1));
            Check.Fails(PicolloStatus.InvalidArgument, () => viewer.GetCount(0));
            viewer.Dispose();
            Check.Throws<ObjectDisposedException>(() => viewer.Refresh());
            Check.Equal(4003ul, snapshot.TotalCount);
        });

        [Test]
        public static void TheSameNameIsTheSameHistogram() => InADirectory(place =>
        {
            using (Segment segment = Make(place, "same"))
            using (Segment other = Segment.Attach(segment.Path))
            using (SegmentViewer viewer = SegmentViewer.Find(segment.Path))
            {
                Check.Equal(0, viewer.Entries.Count);
                HdrHistogram one = segment.GetHistogram(Request("/pay")), two = other.GetHistogram(Request("/pay"));
                segment.GetHistogram(Request("/buy"));
                one.Record(100);
                two.Record(100);
                one.Dispose();
                Check.Equal(2ul, two.TotalCount);
                viewer.Refresh();
                Check.Equal("/pay /buy", string.Join(" ", viewer.Entries.Select(entry => entry.Labels["route"])));
                Check.Fails(PicolloStatus.Unsupported, two.Reset);
                Check.Fails(PicolloStatus.Incompatible,
                    () => segment.GetHistogram(Request("/pay"), HdrHistogram.Factory.WithRelativeError(0.1)));
                Check.Fails(PicolloStatus.Incompatible, () => segment.GetCounter(Request("/pay")));
                StripedCounter striped = segment.GetStripedCounter(new MetricOptions { Name = "striped" });
                striped.Add(7);
                segment.GetStripedCounter(new MetricOptions { Name = "striped" }).Add();
                Check.Equal(8ul, striped.Value);
                viewer.Refresh();
                Check.Equal(8ul, viewer.GetCount(2));
                Check.Fails(PicolloStatus.Incompatible, () => segment.GetCounter(new MetricOptions { Name = "striped" }));
                segment.Retire(new MetricOptions { Name = "striped" });
                Check.Fails(PicolloStatus.Unsupported,
                    () => segment.GetHistogram(Request("/x"), HdrHistogram.Factory.WithThreadLocal()));
                segment.Retire(Request("/buy"));
                Check.Fails(PicolloStatus.InvalidArgument, () => segment.Retire(Request("/buy")));
                viewer.Refresh();
                Check.Equal("False True True", string.Join(" ", viewer.Entries.Select(entry => entry.IsRetired)));
                Check.Equal("", viewer.Faults);
                ulong bytes = Segment.Estimate(HdrHistogram.Factory.WithPerCpu());
                HdrHistogram shards = segment.GetHistogram(Request("/shards"), HdrHistogram.Factory.WithPerCpu());
                shards.Record(9);
                viewer.Refresh();
                Check.Equal(bytes, viewer.Entries[3].Bytes);
                Check.True(Segment.Estimate(interlocked: true) < bytes, "fewer sets of counters");
                Check.Equal(1ul, viewer.GetSnapshot(3).TotalCount);
            }
        });

        [Test]
        public static void ResetsWhereAskedFor() => InADirectory(place =>
        {
            using (var segment = new Segment(new SegmentOptions { Name = "r", Directory = place, MaxBytes = 8 << 20, LiveReset = true }))
            using (SegmentViewer viewer = SegmentViewer.Open(segment.Path))
            {
                HdrHistogram histogram = segment.GetHistogram(Request("/"));
                histogram.Record(5, 3);
                histogram.Reset();
                histogram.Record(6);
                viewer.Refresh();
                Check.Equal(1ul, viewer.GetSnapshot(0).TotalCount);
                Check.True(Segment.Estimate(liveReset: true) > 2 * Segment.Estimate(interlocked: true), "three times the memory");
            }
        });

        [Test]
        public static void ASingleWriterIsItsThreads() => InADirectory(place =>
        {
            using (Segment segment = Make(place, "single"))
            {
                HdrHistogram own = segment.GetHistogram(Request("/"), HdrHistogram.Factory.WithSingleWriter());
                for (int i = 0; i < 1000; i++)
                    own.Record(5);
                PicolloException refused = null;
                var thread = new Thread(() => refused = Check.Fails(PicolloStatus.Incompatible,
                    () => segment.GetHistogram(Request("/"), HdrHistogram.Factory.WithSingleWriter())));
                thread.Start();
                thread.Join();
                Check.True(refused != null && refused.Message.Contains("another thread"), "another thread");
                using (SegmentViewer viewer = SegmentViewer.Open(segment.Path))
                {
                    Check.Equal(1000ul, viewer.GetSnapshot(0).TotalCount);
                    Check.Equal((uint?)Process.GetCurrentProcess().Id, viewer.Entries[0].WriterPid);
                }
            }
        });

        [Test]
        public static void RefusalsSayWhy() => InADirectory(place =>
        {
            PicolloException refused = Check.Fails(PicolloStatus.InvalidArgument, () => new Segment("a/b"));
            Check.True(refused.Message.Contains("letters"), refused.Message);
            Check.Throws<ArgumentNullException>(() => new Segment((SegmentOptions)null));
            Check.Throws<ArgumentNullException>(() => SegmentViewer.Open(null));
            Check.Fails(PicolloStatus.Os, () => SegmentViewer.Open(place + "/nothing"));
            Check.Fails(PicolloStatus.Permission, () => SegmentViewer.Open("/dev/null"));
            Check.Fails(PicolloStatus.InvalidArgument, () => SegmentViewer.Find("nobody-is-called-so"));
            Check.Fails(PicolloStatus.Os, () => Segment.Attach(place + "/nothing.1.2"));
            Check.Fails(PicolloStatus.Permission,
                () => new Segment(new SegmentOptions { Name = "x", Directory = "/dev/null" }));
            Segment segment = Make(place, "ended");
            segment.Dispose();
            Check.Throws<ObjectDisposedException>(() => segment.GetHistogram(Request("/")));
            // Wherever segments are by default; those of the test are elsewhere.
            Check.True(SegmentViewer.List().All(path => path.StartsWith("/", StringComparison.Ordinal)), "paths");
        });
    }
}
