using System.Diagnostics;
using System.Reflection;

namespace Picollo.Tests;

/// <summary>Marks a test: a public static method without parameters.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class TestAttribute : Attribute
{
}

/// <summary>A test that cannot run here.</summary>
public sealed class SkippedException : Exception
{
    public SkippedException(string why) : base(why)
    {
    }
}

/// <summary>Runs all tests of this assembly, or those whose name contains an argument. A run without tests fails.</summary>
public static class Runner
{
    /// <summary>The argument that only makes the first library call.</summary>
    internal const string LoadOnly = "--load";

    private static int Load()
    {
        try
        {
            Picollo.Metrics.HdrHistogram.Create().Dispose();
            Console.WriteLine("loaded");
            return 0;
        }
        catch (DllNotFoundException exception)
        {
            Console.WriteLine(exception.Message);
            return 1;
        }
    }

    public static int Main(string[] arguments)
    {
        if (arguments.Length == 1 && arguments[0] == LoadOnly)
            return Load();
        int passed = 0, failed = 0;
        var tests = typeof(Runner).Assembly.GetTypes()
            .OrderBy(type => type.Name, StringComparer.Ordinal)
            .SelectMany(type => type.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly))
            .Where(method => method.GetCustomAttribute<TestAttribute>() != null);
        foreach (MethodInfo test in tests)
        {
            string name = test.DeclaringType.Name + "." + test.Name;
            if (arguments.Length != 0 && !arguments.Any(name.Contains))
                continue;
            var watch = Stopwatch.StartNew();
            TextWriter console = Console.Out;
            var captured = new StringWriter();
            // The output of the manual's blocks matters only if they fail.
            if (test.DeclaringType.Name == "DocSnippets")
                Console.SetOut(captured);
            try
            {
                try
                {
                    test.Invoke(null, null);
                }
                finally
                {
                    Console.SetOut(console);
                }
                passed++;
                if (watch.ElapsedMilliseconds > 1000)
                    Console.WriteLine($"slow: {name} took {watch.ElapsedMilliseconds} ms");
            }
            catch (Exception outer)
            {
                Exception failure = outer is TargetInvocationException ? outer.InnerException : outer;
                if (failure is SkippedException)
                {
                    Console.WriteLine($"SKIPPED {name}: {failure.Message}");
                    continue;
                }
                failed++;
                Console.WriteLine($"FAILED {name}: {failure}\n{captured}");
            }
        }
        Console.WriteLine($"{passed} passed, {failed} failed");
        return failed == 0 && passed > 0 ? 0 : 1;
    }
}
