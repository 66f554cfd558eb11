namespace Picollo;

/// <summary>The native library that does the work.</summary>
public static class PicolloLibrary
{
    /// <summary>Its version, such as 1.2.3.</summary>
    public static string Version => Loader.Version;
}
