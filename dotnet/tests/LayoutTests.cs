using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

namespace Picollo.Tests;

/// <summary>Compares the binding's structs and functions with a C compiler's view of the header.</summary>
public static class LayoutTests
{
    /// <summary>Functions that nothing calls, and why; a new one in the header must be called or added here.</summary>
    private static readonly Dictionary<string, string> s_notCalled = new Dictionary<string, string>
    {
        { "picollo_histogram_(required_size|init_in|attach)", "managed code cannot promise that memory outlives what is in it" },
        { "picollo_snapshot_(required_size|init_in)", "the same" },
        { "picollo_seed_identities", "for builds without an operating system" },
        { "picollo_histogram_summary", "read from a snapshot, which is kept and allocates once" },
        { "picollo_histogram_format", "the same" },
        { "picollo_(clock|scope)_.*", "Stopwatch, without a call" },
        { "picollo_counter_read(32|64)", "Volatile.Read, without a call" },
        { "picollo_benchmark_done_after", "a benchmark of delegates runs to its end, by the library's clock" },
        { "picollo_session_open", "each name is parsed by itself, so that the exception can say which parameter it came from" },
        { "picollo_histogram_retain", "objects share a SafeHandle" }
    };

    private static string[][] Report()
    {
        string path = Environment.GetEnvironmentVariable("PICOLLO_LAYOUT");
        if (path == null)
            throw new SkippedException("PICOLLO_LAYOUT does not name the output of the C probe");
        return File.ReadAllLines(path).Select(line => line.Split(' ')).ToArray();
    }

    /// <summary>By the C name: the binding's internal structs, and those that users get.</summary>
    private static Dictionary<string, Type> Structs()
    {
        Type[] types = typeof(PicolloException).Assembly.GetTypes().Where(type => type.IsValueType).ToArray();
        var structs = new Dictionary<string, Type>();
        foreach (string[] line in Report().Where(line => line[0] == "struct"))
            if (types.SingleOrDefault(type => type.Name == line[3]) is Type own)
                structs.Add(line[1], own);
        foreach (Type type in types.Where(type => type.Namespace == "Picollo.Native" && type.Name.StartsWith("Picollo")))
            Check.True(structs.ContainsValue(type), $"{type.Name} is not in the header");
        return structs;
    }

    private static int SizeOf(Type type)
    {
        if (type.IsPointer)
            return IntPtr.Size;
        return type == typeof(bool) ? 1 : Marshal.SizeOf(type.IsEnum ? Enum.GetUnderlyingType(type) : type);
    }

    [Test]
    public static void EveryStructHasTheSizeThatCGivesIt()
    {
        Dictionary<string, string> report =
            Report().Where(line => line[0] == "struct").ToDictionary(line => line[1], line => line[2]);
        foreach (KeyValuePair<string, Type> pair in Structs())
            Check.Equal(int.Parse(report[pair.Key]), Marshal.SizeOf(pair.Value), pair.Key);
        Check.True(Structs().Count > 30, "there are few structs");
    }

    [Test]
    public static void EveryFieldIsWhereCHasIt()
    {
        string[][] report = Report().Where(line => line[0] == "field").ToArray();
        foreach (KeyValuePair<string, Type> pair in Structs())
        {
            string[][] fields = report.Where(line => line[1] == pair.Key).ToArray();
            FieldInfo[] own = pair.Value.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic);
            Check.Equal(fields.Length, own.Length, pair.Key + ": number of fields");
            foreach (FieldInfo field in own)
            {
                string[] line = fields.SingleOrDefault(other => other[5] == field.Name);
                Check.True(line != null, $"{pair.Key} has no field {field.Name}");
                string what = $"{pair.Key}.{line[2]}";
                Check.Equal(int.Parse(line[3]), (int)Marshal.OffsetOf(pair.Value, field.Name), what + ": offset");
                Check.Equal(int.Parse(line[4]), SizeOf(field.FieldType), what + ": size");
            }
        }
    }

    [Test]
    public static void EveryFunctionIsCalledOrListed()
    {
        string[] exported = Report().Where(line => line[0] == "function").Select(line => line[1]).ToArray();
        Check.True(exported.Length > 100, "the report is short");
        var called = new HashSet<string>(Report().Where(line => line[0] == "called").Select(line => line[1]));
        foreach (string name in exported)
        {
            bool excused = s_notCalled.Keys.Any(pattern => Regex.IsMatch(name, "^(" + pattern + ")$"));
            string fault = excused ? $"{name} is called after all" : $"{name} is not called";
            Check.True(called.Contains(name) != excused, fault);
        }
        foreach (string pattern in s_notCalled.Keys)
            Check.True(exported.Any(name => Regex.IsMatch(name, "^(" + pattern + ")$")), $"{pattern} is not in the header");
        foreach (string name in called)
            Check.True(exported.Contains(name), $"{name} is not in the header");
    }

    private static string[][] Constants() => Report().Where(line => line[0] == "constant").ToArray();

    [Test]
    public static void EveryConstantHasItsNumber()
    {
        // C separates digits that begin a word.
        Dictionary<string, long> report = Constants().ToDictionary(line => line[2].Replace("_", ""), line => long.Parse(line[3]));
        FieldInfo[] own = typeof(PicolloException).Assembly.GetType("Picollo.Native.Constants")
            .GetFields(BindingFlags.Static | BindingFlags.NonPublic);
        foreach (FieldInfo field in own)
            Check.Equal(report["PICOLLO" + field.Name.ToUpperInvariant()], Convert.ToInt64(field.GetRawConstantValue()), field.Name);
        Check.True(own.Length > 40, "there are few constants");
    }
}
