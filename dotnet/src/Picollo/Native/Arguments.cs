namespace Picollo.Native;

/// <summary>Checks arguments before library calls. The library checks what only it can judge.</summary>
internal static class Arguments
{
    internal static void Rank(double value, string name) => Within(value, 100, name, "A rank");

    internal static void Quantile(double value, string name) => Within(value, 1, name, "A quantile");

    internal static void Ranks(ReadOnlySpan<double> values, int room, string name, string roomName) =>
        AllWithin(values, 100, room, name, roomName, "A rank");

    internal static void Quantiles(ReadOnlySpan<double> values, int room, string name, string roomName) =>
        AllWithin(values, 1, room, name, roomName, "A quantile");

    private static void Within(double value, double most, string name, string what)
    {
        if (!(value >= 0 && value <= most))
            throw new ArgumentOutOfRangeException(name, value, $"{what} is within 0 to {most}.");
    }

    private static void AllWithin(ReadOnlySpan<double> values, double most, int room, string name, string roomName, string what)
    {
        if (room < values.Length)
            throw new ArgumentException("There is not enough room for all results.", roomName);
        foreach (double value in values)
            Within(value, most, name, what);
    }

    internal static void BetweenZeroAndOne(double value, string name)
    {
        if (!(value > 0 && value < 1))
            throw new ArgumentOutOfRangeException(name, value, "It lies between 0 and 1, neither included.");
    }

    /// <summary>A relative error. The library would clamp smaller ones; above 0.1 it is more precise.</summary>
    internal static double RelativeError(double value, double least, string name) =>
        value >= least && value < 1
            ? value
            : throw new ArgumentOutOfRangeException(name, value, FormattableString.Invariant(
                $"A relative error is a proportion, from {least:0.######} to below 1: 0.01 is 1 %."));

    internal static void NotNegative(double value, string name)
    {
        if (!(value >= 0 && value <= double.MaxValue))
            throw new ArgumentOutOfRangeException(name, value, "It is a finite number, 0 or more.");
    }

    /// <summary>A log's tag: one field of a comma-separated line.</summary>
    internal static void Tag(string? value, string name)
    {
        foreach (char character in value ?? "")
            if (character == ',' || char.IsWhiteSpace(character) || char.IsControl(character))
                throw new ArgumentException(
                    $"A tag is without commas, white space and control characters: \"{value}\" has one.", name);
    }

    internal static void AtLeastOne(long value, string name)
    {
        if (value < 1)
            throw new ArgumentOutOfRangeException(name, value, "There is at least one.");
    }

    /// <summary>A member of an enumeration with consecutive numbers from 0.</summary>
    internal static void Member(int value, int last, string name)
    {
        if (value < 0 || value > last)
            throw new ArgumentOutOfRangeException(name, value, "There is no such member of the enumeration.");
    }
}
