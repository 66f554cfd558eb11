namespace Picollo.Native;

/// <summary>Checks whether a library that did not load exists, for the error message.</summary>
internal static class NativeLibraryFile
{
    private static readonly string[] s_names = { "libpicollo.so", NativeMethods.Soname };

    /// <summary>The first file that the loader could have used; null without one.</summary>
    /// <param name="chosen">The file requested by name, and then the only candidate; null or empty if none was.</param>
    internal static string? Find(string? chosen)
    {
        if (!string.IsNullOrEmpty(chosen))
            return File.Exists(chosen) ? chosen : null;
        foreach (string directory in Directories())
            foreach (string name in s_names)
                try
                {
                    string path = Path.Combine(directory, name);
                    if (File.Exists(path))
                        return path;
                }
                catch (ArgumentException)
                {
                    // The path has invalid characters.
                }
        return null;
    }

    private static IEnumerable<string> Directories()
    {
        yield return AppContext.BaseDirectory;
        // The place of a package's library in an application that was not published for one platform.
        if (AppContext.GetData("NATIVE_DLL_SEARCH_DIRECTORIES") is string known)
            foreach (string directory in known.Split(Path.PathSeparator))
                yield return directory;
        foreach (string directory in (Environment.GetEnvironmentVariable("LD_LIBRARY_PATH") ?? "").Split(':'))
            if (directory.Length != 0)
                yield return directory;
        foreach (string directory in new[] { "/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu" })
            yield return directory;
    }
}
