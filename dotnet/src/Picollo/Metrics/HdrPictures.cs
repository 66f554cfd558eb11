namespace Picollo.Metrics;

public abstract unsafe partial class ReadOnlyHdrHistogram
{
    /// <summary>
    /// The density on one line, from the smallest observation to P99.9. Higher values, of which up to a thousand
    /// observations have none, would leave no room for the rest.
    /// </summary>
    /// <param name="columns">Characters to write, at most 240.</param>
    /// <param name="ascii">Shades of ASCII instead of Unicode's blocks.</param>
    public string FormatSparkline(int columns = 40, bool ascii = false)
    {
        Arguments.AtLeastOne(columns, nameof(columns));
        return Write((snapshot, buffer, capacity, length) => NativeMethods.picollo_snapshot_format_chart(
            snapshot, Constants.PictureSparkline, null, null, (uint)columns, 0, ascii ? 1u : 0u, buffer, capacity, length));
    }

    /// <summary>A chart of a few lines, with axes and labels, for a terminal.</summary>
    /// <param name="picture">Percentiles or density.</param>
    /// <param name="title">Null for none.</param>
    /// <param name="unit">The unit of the values: with <c>ns</c> or the like, labels are times. Null for none.</param>
    /// <param name="columns">Columns of the plot, at most 240.</param>
    /// <param name="rows">Rows of the plot, at most 100.</param>
    /// <param name="ascii">Only ASCII, except in title and unit.</param>
    public string FormatChart(
        Picture picture = Picture.Density, string? title = null, string? unit = null, int columns = 64, int rows = 10,
        bool ascii = false)
    {
        Arguments.AtLeastOne(columns, nameof(columns));
        Arguments.AtLeastOne(rows, nameof(rows));
        // A heat map is a picture, but terminals cannot show it.
        Arguments.Member((int)picture, (int)Picture.Density, nameof(picture));
        byte[]? nativeTitle = Utf8.ToNativeOrNull(title, nameof(title)), nativeUnit = Utf8.ToNativeOrNull(unit, nameof(unit));
        return Write((snapshot, buffer, capacity, length) =>
        {
            fixed (byte* titleText = nativeTitle, unitText = nativeUnit)
                return NativeMethods.picollo_snapshot_format_chart(
                    snapshot, (uint)picture, titleText, unitText, (uint)columns, (uint)rows, ascii ? 1u : 0u, buffer, capacity, length);
        });
    }
}

/// <summary>Pictures of one or more histograms or snapshots, as SVG and as a report that is one HTML file.</summary>
/// <remarks>They have no external references, and run no script.</remarks>
public static unsafe class HdrPictures
{
    private delegate string Draw(IntPtr snapshots, IntPtr titles, UIntPtr length);

    /// <summary>A picture as an SVG document, which is also an element of HTML.</summary>
    /// <param name="counts">What to show.</param>
    /// <param name="picture">How to show it.</param>
    /// <param name="titles">One for each, any of which may be null; or null for none.</param>
    /// <param name="title">Null for none.</param>
    /// <param name="unit">As for <see cref="ReadOnlyHdrHistogram.FormatChart"/>.</param>
    /// <param name="theme">Light or dark.</param>
    /// <param name="width">In CSS pixels, 200 to 4000.</param>
    /// <param name="height">In CSS pixels, 150 to 4000.</param>
    public static string FormatSvg(
        IReadOnlyList<ReadOnlyHdrHistogram> counts, Picture picture, IReadOnlyList<string?>? titles = null, string? title = null,
        string? unit = null, PictureTheme theme = PictureTheme.Auto, int width = 720, int height = 400)
    {
        Arguments.Member((int)picture, (int)Picture.HeatMap, nameof(picture));
        Arguments.Member((int)theme, (int)PictureTheme.Dark, nameof(theme));
        Arguments.AtLeastOne(width, nameof(width));
        Arguments.AtLeastOne(height, nameof(height));
        byte[]? nativeTitle = Utf8.ToNativeOrNull(title, nameof(title)), nativeUnit = Utf8.ToNativeOrNull(unit, nameof(unit));
        return With(counts, titles, (snapshots, names, drawn) => NativeText.Read((buffer, capacity, length) =>
        {
            var options = new PicolloPictureOptions
            {
                StructSize = (uint)sizeof(PicolloPictureOptions), Theme = (uint)theme, Width = (uint)width, Height = (uint)height
            };
            fixed (byte* titleText = nativeTitle, unitText = nativeUnit)
                return NativeMethods.picollo_pictures_format_svg(
                    (IntPtr*)snapshots, (byte**)names, drawn, (uint)picture, titleText, unitText, &options, buffer, capacity, length);
        }));
    }

    /// <summary>A report as an HTML document: tables, pictures, comparisons with the first, and the counts for programs.</summary>
    /// <param name="counts">What to report; three or more get a heat map.</param>
    /// <param name="titles">One for each, any of which may be null; or null for none.</param>
    /// <param name="title">Null for none.</param>
    /// <param name="unit">As for <see cref="ReadOnlyHdrHistogram.FormatChart"/>.</param>
    public static string FormatReport(
        IReadOnlyList<ReadOnlyHdrHistogram> counts, IReadOnlyList<string?>? titles = null, string? title = null, string? unit = null)
    {
        byte[]? nativeTitle = Utf8.ToNativeOrNull(title, nameof(title)), nativeUnit = Utf8.ToNativeOrNull(unit, nameof(unit));
        return With(counts, titles, (snapshots, names, drawn) => NativeText.Read((buffer, capacity, length) =>
        {
            fixed (byte* titleText = nativeTitle, unitText = nativeUnit)
                return NativeMethods.picollo_report_format_html(
                    (IntPtr*)snapshots, (byte**)names, drawn, titleText, unitText, buffer, capacity, length);
        }));
    }

    /// <summary>Locks all of them, and passes their native snapshots and titles.</summary>
    private static string With(IReadOnlyList<ReadOnlyHdrHistogram> counts, IReadOnlyList<string?>? titles, Draw draw)
    {
        ArgumentNullException.ThrowIfNull(counts);
        // Others may change the list meanwhile.
        ReadOnlyHdrHistogram[] all = counts.ToArray();
        if (titles != null && titles.Count != all.Length)
            throw new ArgumentException("There are as many titles as histograms, or none.", nameof(titles));
        Loader.Ensure();
        int entered = 0, held = 0;
        var handles = new SnapshotHandle[all.Length];
        using (var blocks = new NativeBlocks())
            lock (ReadOnlyHdrHistogram.s_pairing)
                try
                {
                    var snapshots = (IntPtr*)blocks.Allocate(handles.Length * sizeof(IntPtr));
                    byte** names = titles == null ? null : (byte**)blocks.Allocate(handles.Length * sizeof(byte*));
                    for (int i = 0; i < handles.Length; i++)
                    {
                        ReadOnlyHdrHistogram one = all[i] ?? throw new ArgumentNullException(nameof(counts));
                        Monitor.Enter(one.Gate);
                        entered++;
                        handles[i] = one.Current();
                        bool added = false;
                        handles[i].DangerousAddRef(ref added);
                        held++;
                        snapshots[i] = handles[i].DangerousGetHandle();
                        if (names != null)
                            names[i] = blocks.Text(titles![i], nameof(titles));
                    }
                    return draw((IntPtr)snapshots, (IntPtr)names, (UIntPtr)(uint)handles.Length);
                }
                finally
                {
                    for (int i = 0; i < held; i++)
                        handles[i].DangerousRelease();
                    for (int i = 0; i < entered; i++)
                        Monitor.Exit(all[i].Gate);
                }
    }
}
