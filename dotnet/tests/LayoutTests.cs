using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

namespace Picollo.Tests
{
    /// <summary>The structs of the binding against what a C compiler makes of the header.</summary>
    public static class LayoutTests
    {
        /// <summary>What the binding does not use; a struct that is new in the header has to be put here or bound.</summary>
        private static readonly string[] s_notBound =
        {
            "picollo_scope" // Scopes measure in managed code, by Stopwatch: a call into the library would take longer.
        };

        private static string[][] Report()
        {
            string path = Environment.GetEnvironmentVariable("PICOLLO_LAYOUT");
            if (path == null)
                throw new SkippedException("PICOLLO_LAYOUT does not name the output of the C probe");
            return File.ReadAllLines(path).Select(line => line.Split(' ')).ToArray();
        }

        private static Dictionary<string, Type> Structs() =>
            typeof(PicolloException).Assembly.GetTypes()
                .Where(type => type.Namespace == "Picollo.Native" && type.IsValueType && type.Name.StartsWith("Picollo"))
                .ToDictionary(type => CName(type.Name));

        private static string CName(string name) => Regex.Replace(name, "(?<!^)([A-Z])", "_$1").ToLowerInvariant();

        private static int SizeOf(Type type)
        {
            if (type.IsPointer)
                return IntPtr.Size;
            return type == typeof(bool) ? 1 : Marshal.SizeOf(type);
        }

        [Test]
        public static void EveryStructHasTheSizeThatCGivesIt()
        {
            string[][] report = Report().Where(line => line[0] == "struct").ToArray();
            Dictionary<string, Type> structs = Structs();
            foreach (string[] line in report)
            {
                if (structs.TryGetValue(line[1], out Type type))
                    Check.Equal(int.Parse(line[2]), Marshal.SizeOf(type), line[1]);
                else
                    Check.True(s_notBound.Contains(line[1]), $"{line[1]} of the header has no counterpart");
            }
            foreach (string name in structs.Keys)
                Check.True(report.Any(line => line[1] == name), $"{name} is not in the header");
            Check.True(report.Length >= 6, "the report is short");
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
                    string[] line = fields.SingleOrDefault(other => other[2] == CName(field.Name));
                    Check.True(line != null, $"{pair.Key} has no field {CName(field.Name)}");
                    string what = $"{pair.Key}.{line[2]}";
                    Check.Equal(int.Parse(line[3]), (int)Marshal.OffsetOf(pair.Value, field.Name), what + ": offset");
                    Check.Equal(int.Parse(line[4]), SizeOf(field.FieldType), what + ": size");
                }
            }
        }

        [Test]
        public static void EveryStatusHasItsNumber()
        {
            string[][] report = Report().Where(line => line[0] == "status").ToArray();
            foreach (string[] line in report)
            {
                string name = line[1] == "PICOLLO_OK" ? "ok" : line[1].Substring("PICOLLO_ERR_".Length).ToLowerInvariant();
                var status = (PicolloStatus)int.Parse(line[2]);
                Check.Equal(name, CName(status.ToString()), line[2]);
            }
            Check.Equal(Enum.GetValues(typeof(PicolloStatus)).Length, report.Length, "number of statuses");
        }
    }
}
