using System.Diagnostics;

namespace Picollo.Tests;

/// <summary>The errors if the library is missing, or exists but cannot be loaded: each in a separate process.</summary>
public static class LoaderTests
{
    private static string Run(string library, string path)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath)
        {
            RedirectStandardOutput = true, RedirectStandardError = true
        };
        // Under the runtime's own program, or as a separate program.
        if (Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet")
        {
            start.ArgumentList.Add("exec");
            start.ArgumentList.Add(typeof(LoaderTests).Assembly.Location);
        }
        start.ArgumentList.Add(Runner.LoadOnly);
        start.Environment["LD_LIBRARY_PATH"] = path;
        if (library != null)
            start.Environment["PICOLLO_LIBRARY"] = library;
        else
            start.Environment.Remove("PICOLLO_LIBRARY");
        using Process process = Process.Start(start);
        string said = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return said;
    }

    [Test]
    public static void NotFoundAndNotLoadable()
    {
        string directory = Directory.CreateTempSubdirectory("picollo").FullName;
        try
        {
            string broken = Path.Combine(directory, "libpicollo.so");
            string none = Run(null, directory);
            Check.True(none.Contains("libpicollo.so was not found") && none.Contains("PICOLLO_LIBRARY"), none);
            File.WriteAllText(broken, "no library");
            foreach (string said in new[] { Run(null, directory), Run(broken, "") })
            {
                Check.True(said.Contains(broken + " was found and could not be loaded") && said.Contains("glibc"), said);
                // The loader's own message.
                Check.True(said.Contains("too short") || said.Contains("invalid ELF"), said);
            }
            string absent = Path.Combine(directory, "absent.so");
            string named = Run(absent, directory);
            Check.True(named.Contains("was not found") && named.Contains(absent), named);
        }
        finally
        {
            Directory.Delete(directory, true);
        }
    }
}
