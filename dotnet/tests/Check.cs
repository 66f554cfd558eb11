namespace Picollo.Tests;

/// <summary>The assertions of tests.</summary>
internal static class Check
{
    internal static void True(bool condition, string what)
    {
        if (!condition)
            throw new Exception(what);
    }

    internal static void Equal<T>(T expected, T actual, string what = "")
    {
        if (!EqualityComparer<T>.Default.Equals(expected, actual))
            throw new Exception($"{what}: expected <{expected}>, found <{actual}>");
    }

    /// <summary>Within a relative distance of the expected value.</summary>
    internal static void Near(double expected, double actual, double proportion, string what = "")
    {
        if (!(Math.Abs(actual - expected) <= proportion * Math.Abs(expected)))
            throw new Exception($"{what}: expected {expected} ± {proportion * 100} %, found {actual}");
    }

    /// <summary>An exception of exactly this type.</summary>
    internal static T Throws<T>(Action action, string what = "") where T : Exception
    {
        try
        {
            action();
        }
        catch (Exception exception)
        {
            if (exception.GetType() == typeof(T))
                return (T)exception;
            throw new Exception($"{what}: expected {typeof(T).Name}, found {exception}");
        }
        throw new Exception($"{what}: expected {typeof(T).Name}, and nothing was thrown");
    }

    /// <summary>A failure of the library with this status, and with a message.</summary>
    internal static PicolloException Fails(PicolloStatus status, Action action, string what = "")
    {
        PicolloException exception = Throws<PicolloException>(action, what);
        Equal(status, exception.Status, what + " " + exception.Message);
        True(exception.Message.Length > 10, $"{what}: the message says nothing: {exception.Message}");
        return exception;
    }
}

/// <summary>The example data of the documentation.</summary>
internal static class Example
{
    internal static ulong[] First => Values(1, 100000, 1990, 1500, 40);

    internal static ulong[] Second => Values(2, 150000, 1800, 1700, 36);

    private static ulong[] Values(ulong seed, int length, ulong start, ulong spread, ulong divisor)
    {
        var values = new ulong[length];
        ulong x = seed;
        for (int i = 0; i < length; i++)
        {
            x = unchecked(x * 6364136223846793005 + 1442695040888963407);
            ulong cube = (x >> 20) % 64;
            values[i] = start + (x >> 40) % spread + cube * cube * cube / divisor;
        }
        return values;
    }
}
