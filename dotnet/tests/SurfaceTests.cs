using System.Reflection;
using System.Text.RegularExpressions;

namespace Picollo.Tests;

/// <summary>
/// Covers every public member that takes a non-null object or a member of an enumeration. For null, or a number that is
/// no member, it must throw before anything happens, and name the argument.
/// </summary>
public static class SurfaceTests
{
    private static readonly HdrHistogram s_histogram = Recorded();

    private static readonly Lazy<Segment> s_segment = new Lazy<Segment>(() => new Segment(new SegmentOptions { Name = "surface" }));

    private static HdrHistogram Recorded()
    {
        HdrHistogram histogram = HdrHistogram.Factory.WithSignificantDigits(3).Create();
        histogram.Record(5, 10);
        return histogram;
    }

    private static HdrHistogramSnapshot Timed()
    {
        HdrHistogramSnapshot snapshot = s_histogram.GetSnapshot();
        snapshot.StartSeconds = snapshot.EndSeconds = 1;
        return snapshot;
    }

    private static DoubleSnapshot Doubles()
    {
        DoubleHistogram histogram = DoubleHistogram.Create();
        histogram.Record(5);
        return histogram.Peek();
    }

    /// <summary>The objects that methods are called on, and their arguments.</summary>
    private static readonly Dictionary<Type, Func<object>> s_make = new Dictionary<Type, Func<object>>
    {
        { typeof(HdrHistogram), () => Recorded() },
        { typeof(HdrHistogramSnapshot), () => Timed() },
        { typeof(ReadOnlyHdrHistogram), () => s_histogram },
        { typeof(HdrHistogramSummary), () => s_histogram.GetSummary() },
        { typeof(HdrRecorder), () => s_histogram.GetRecorder() },
        { typeof(HdrLayout), () => s_histogram.GetLayout() },
        { typeof(Percentile), () => s_histogram.GetPercentile(50) },
        { typeof(Bucket), () => s_histogram.GetBucket(5) },
        { typeof(DoubleHistogram), () => DoubleHistogram.Create() },
        { typeof(DoubleSnapshot), () => Doubles() },
        { typeof(DoubleSummary), () => Doubles().GetSummary() },
        { typeof(HdrComparison), () => s_histogram.Compare(s_histogram.GetSnapshot()) },
        { typeof(MetricRegistry), () => new MetricRegistry() },
        { typeof(ExemplarCollector), () => new ExemplarCollector(s_histogram) },
        { typeof(MetricOptions), () => new MetricOptions { Name = "x" } },
        { typeof(MetricExemplar), () => new MetricExemplar() },
        { typeof(MetricCounter), () => new MetricRegistry().AddCounter(new MetricOptions { Name = "x" }) },
        { typeof(MetricGauge), () => new MetricRegistry().AddGauge(new MetricOptions { Name = "x" }) },
        { typeof(Segment), () => s_segment.Value },
        { typeof(HdrLogWriter), () => new HdrLogWriter(new StringWriter()) },
        { typeof(HdrLogReader), () => HdrLogReader.Parse("#[Histogram log format version 1.3]\n") },
        { typeof(PerfEventCounterSession), () => PerfEventCounterSession.Factory.WithCounter("task-clock").Create() },
        { typeof(PerfEventKnownCounters), () => PerfEventCounterSession.Factory.WithCounter("task-clock").Create().Counters },
        { typeof(Benchmark), () => Benchmark.Run(() => { }, () => { }, new BenchmarkOptions { BudgetSeconds = 0.01 }) },
        { typeof(Action), () => (Action)(() => { }) },
        { typeof(string), () => "x" },
        { typeof(TextWriter), () => new StringWriter() },
        { typeof(Stream), () => new MemoryStream() },
        { typeof(IReadOnlyList<ReadOnlyHdrHistogram>), () => new ReadOnlyHdrHistogram[] { s_histogram } },
        { typeof(double[]), () => new[] { 0.5 } },
        { typeof(ulong[]), () => new ulong[] { 1 } },
        { typeof(MetricExemplar[]), () => new MetricExemplar[0] },
        { typeof(double), () => 0.5 },
        { typeof(ulong), () => 1ul },
        { typeof(int), () => 1 },
        { typeof(DateTime), () => new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc) },
        { typeof(TimeSpan), () => TimeSpan.FromSeconds(1) }
    };

    private static bool IsRefStruct(Type type) => type.IsByRefLike || type.IsPointer;

    private static object Valid(ParameterInfo parameter)
    {
        if (parameter.HasDefaultValue && parameter.DefaultValue != null)
            return parameter.ParameterType.IsEnum
                ? Enum.ToObject(parameter.ParameterType, parameter.DefaultValue) : parameter.DefaultValue;
        if (s_make.TryGetValue(parameter.ParameterType, out Func<object> make))
            return make();
        return parameter.ParameterType.IsValueType ? Activator.CreateInstance(parameter.ParameterType) : null;
    }

    /// <summary>Members that describe an object or end its use, or work without its native memory; and steps that need a factor.</summary>
    private static readonly Regex s_lasting = new Regex(
        "^(Dispose|ToString|Equals|GetHashCode|Flush|Get(Tick|Nano|Micro|Milli)Scope|GetLogarithmicSteps|"
        + "[gs]et_(StartSeconds|EndSeconds|Tag|Interval|Counters|Pid|Cpu))$");

    /// <summary>Members with spans, which reflection cannot pass, are called by name.</summary>
    [Test]
    public static void EveryMemberThrowsAfterDisposal()
    {
        var faults = new List<string>();
        int called = 0;
        foreach (Type type in s_make.Keys.Where(type => type.Assembly == typeof(HdrHistogram).Assembly && typeof(IDisposable).IsAssignableFrom(type)
            && type != typeof(ReadOnlyHdrHistogram) && type != typeof(Segment)))
            foreach (MethodInfo method in type.GetMethods(BindingFlags.Public | BindingFlags.Instance).Where(one =>
                one.DeclaringType.Assembly == type.Assembly && !s_lasting.IsMatch(one.Name) && !one.ContainsGenericParameters
                && !one.GetParameters().Any(parameter => IsRefStruct(parameter.ParameterType) || parameter.IsOut) && !IsRefStruct(one.ReturnType)))
            {
                var target = (IDisposable)s_make[type]();
                object[] arguments = method.GetParameters().Select(Valid).ToArray();
                target.Dispose();
                target.Dispose();
                called++;
                try
                {
                    // Lists are lazy.
                    (method.Invoke(target, arguments) as System.Collections.IEnumerable)?.Cast<object>().Count();
                    faults.Add($"{type.Name}.{method}: nothing was thrown");
                }
                catch (ObjectDisposedException)
                {
                }
                catch (TargetInvocationException outer)
                {
                    if (!(outer.InnerException is ObjectDisposedException))
                        faults.Add($"{type.Name}.{method}: {outer.InnerException}");
                }
            }
        Check.True(faults.Count == 0, "\n" + string.Join("\n", faults));
        Check.True(called > 100, $"only {called} members");
    }

    [Test]
    public static void EverySpanThrowsAfterDisposal()
    {
        HdrHistogram histogram = Recorded();
        DoubleHistogram doubles = DoubleHistogram.Create();
        DoubleSnapshot snapshot = Doubles();
        PerfEventCounterSession session = PerfEventCounterSession.Factory.WithCounter("task-clock").Create();
        foreach (IDisposable one in new IDisposable[] { histogram, doubles, snapshot, session })
            one.Dispose();
        foreach (Action use in new Action[]
        {
            () => histogram.Record(new ulong[1]), () => histogram.GetPercentiles(new double[1], new Percentile[1]),
            () => histogram.GetPercentileValues(new double[1], new ulong[1]), () => histogram.TryEncode(new byte[1], out _),
            () => histogram.GetInterpolatedPercentileValues(new double[1], new ulong[1]), () => doubles.Record(new double[1]),
            () => doubles.Collect(new double[1], new double[1]), () => snapshot.GetQuantiles(new double[1], new double[1]),
            () => session.Readings(new PerfEventCounterValue[1], true), () => session.ReadDeltas(new ulong[1]),
            () => Check.Equal(session.Counters[0].Delta, session.Counters[0].Current), () => Check.Equal("", session.Counters[0].Message)
        })
            Check.Throws<ObjectDisposedException>(use);
    }

    [Test]
    public static void EveryArgumentIsNamed()
    {
        var nullability = new NullabilityInfoContext();
        var faults = new List<string>();
        int checkedArguments = 0;
        TextWriter console = Console.Out;
        foreach (Type type in typeof(HdrHistogram).Assembly.GetExportedTypes().Where(type =>
            !typeof(Delegate).IsAssignableFrom(type) && !type.IsEnum && !type.IsInterface && !IsRefStruct(type)))
            foreach (MethodBase method in type.GetMethods(
                BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly)
                .Cast<MethodBase>().Concat(type.GetConstructors()))
            {
                ParameterInfo[] parameters = method.GetParameters();
                if (method.ContainsGenericParameters || parameters.Any(one => IsRefStruct(one.ParameterType) || one.IsOut)
                    || method.Name.StartsWith("op_") || method.Name == "Equals" || method.Name == "IsCounterSupported")
                    continue;
                for (int i = 0; i < parameters.Length; i++)
                {
                    ParameterInfo parameter = parameters[i];
                    bool isEnum = parameter.ParameterType.IsEnum;
                    if (!isEnum && (parameter.ParameterType.IsValueType || parameter.ParameterType.IsByRef
                        || nullability.Create(parameter).WriteState != NullabilityState.NotNull))
                        continue;
                    string what = $"{type.Name}.{method.Name}({string.Join(", ", parameters.Select(one => one.Name))}): {parameter.Name}";
                    object target = null;
                    if (!method.IsStatic && !method.IsConstructor)
                    {
                        if (!s_make.TryGetValue(type, out Func<object> make))
                        {
                            if (!type.IsValueType && type.GetConstructor(Type.EmptyTypes) == null)
                            {
                                faults.Add(what + ": nothing to call it on");
                                continue;
                            }
                            make = () => Activator.CreateInstance(type);
                        }
                        target = make();
                    }
                    object[] arguments = parameters.Select(Valid).ToArray();
                    arguments[i] = isEnum ? Enum.ToObject(parameter.ParameterType, 9999) : null;
                    checkedArguments++;
                    Console.SetOut(TextWriter.Null);
                    try
                    {
                        if (method is ConstructorInfo constructor)
                            constructor.Invoke(arguments);
                        else
                            method.Invoke(target, arguments);
                        faults.Add(what + ": nothing was thrown");
                    }
                    catch (TargetInvocationException outer)
                    {
                        var thrown = outer.InnerException as ArgumentException;
                        if (thrown == null || thrown.ParamName != parameter.Name)
                            faults.Add($"{what}: {outer.InnerException.GetType().Name} {thrown?.ParamName}: {outer.InnerException.Message}");
                    }
                    finally
                    {
                        Console.SetOut(console);
                    }
                }
            }
        Check.True(faults.Count == 0, "\n" + string.Join("\n", faults));
        Check.True(checkedArguments > 60, $"only {checkedArguments} arguments");
    }
}
