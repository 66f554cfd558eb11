namespace Picollo.Native;

/// <summary>Native memory for the duration of a call.</summary>
internal sealed unsafe class NativeBlocks : IDisposable
{
    private readonly List<IntPtr> _blocks = new List<IntPtr>();

    internal IntPtr Allocate(int size)
    {
        IntPtr block = Marshal.AllocHGlobal(Math.Max(size, 1));
        _blocks.Add(block);
        return block;
    }

    /// <summary>A copy of a text; null for null.</summary>
    internal byte* Text(string? text, string parameter)
    {
        byte[]? bytes = Utf8.ToNativeOrNull(text, parameter);
        if (bytes == null)
            return null;
        IntPtr copy = Allocate(bytes.Length);
        Marshal.Copy(bytes, 0, copy, bytes.Length);
        return (byte*)copy;
    }

    /// <summary>Copies of names and values; none for null.</summary>
    internal PicolloLabel* Labels(IDictionary<string, string>? labels, string parameter, out int length)
    {
        int count = labels?.Count ?? 0;
        var copies = (PicolloLabel*)Allocate(checked(count * sizeof(PicolloLabel)));
        length = 0;
        if (labels != null)
            foreach (KeyValuePair<string, string> label in labels)
            {
                if (length == count)
                    throw new InvalidOperationException("The labels were changed meanwhile.");
                copies[length].Name = Text(label.Key, parameter);
                copies[length++].Value = Text(label.Value, parameter);
            }
        return copies;
    }

    public void Dispose()
    {
        foreach (IntPtr block in _blocks)
            Marshal.FreeHGlobal(block);
        _blocks.Clear();
    }
}
