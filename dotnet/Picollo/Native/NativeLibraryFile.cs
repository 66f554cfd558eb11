namespace Picollo.Native;

/// <summary>Whether a library that did not load is there at all: for what is said about it.</summary>
internal static class NativeLibraryFile
{
    private static readonly string[] s_names = { "libpicollo.so", "libpicollo.so.0" };

    /// <summary>The first file that the loader could have taken; null: there is none.</summary>
    /// <param name="chosen">The file that was asked for by name, the only one then; null or empty: none was.</param>
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
                    // What no path can have in it.
                }
        return null;
    }

    private static IEnumerable<string> Directories()
    {
        yield return AppContext.BaseDirectory;
        // Where a package's library lies in an application that was not published for one machine.
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
