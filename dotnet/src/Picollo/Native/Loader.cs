using System.Reflection;

namespace Picollo.Native;

/// <summary>Finds the library and checks its ABI version.</summary>
internal static class Loader
{
    private static string? s_version;
    private static int s_resolving;

    /// <summary>The library's version.</summary>
    internal static string Version
    {
        get
        {
            Ensure();
            return s_version!;
        }
    }

    /// <summary>Every member that may make the first library call calls this. Later calls cost a load.</summary>
    /// <exception cref="DllNotFoundException">There is no library, or it has another ABI.</exception>
    internal static void Ensure()
    {
        if (Volatile.Read(ref s_version) == null)
            Load();
    }

    private static unsafe void Load()
    {
        if (Interlocked.Exchange(ref s_resolving, 1) == 0)
            NativeLibrary.SetDllImportResolver(typeof(Loader).Assembly, Resolve);
        uint abi;
        try
        {
            abi = NativeMethods.picollo_abi_version();
        }
        catch (DllNotFoundException inner)
        {
            string? chosen = Environment.GetEnvironmentVariable("PICOLLO_LIBRARY");
            string? present = NativeLibraryFile.Find(chosen);
            if (present != null)
                throw new DllNotFoundException(
                    $"{present} was found and could not be loaded: {inner.Message} Is it for this processor and C library (glibc, not "
                    + "musl), and is glibc as new as it asks for?", inner);
            if (!string.IsNullOrEmpty(chosen))
                throw new DllNotFoundException($"PICOLLO_LIBRARY names {chosen}, which was not found.", inner);
            throw new DllNotFoundException(
                "libpicollo.so was not found. Put it beside the program, install it, put its directory on LD_LIBRARY_PATH, or "
                + "set PICOLLO_LIBRARY to the file. `make stage` leaves it in target/stage/lib.", inner);
        }
        if (abi != Constants.AbiVersion)
            throw new DllNotFoundException(
                $"The libpicollo that was found has ABI version {abi}; this assembly needs {Constants.AbiVersion}.");
        Volatile.Write(ref s_version, Utf8.FromNative(NativeMethods.picollo_version()));
    }

    /// <summary>Tries PICOLLO_LIBRARY; else the usual search, then the name without a development link.</summary>
    private static IntPtr Resolve(string name, Assembly assembly, DllImportSearchPath? path)
    {
        if (name != NativeMethods.Library)
            return IntPtr.Zero;
        string? chosen = Environment.GetEnvironmentVariable("PICOLLO_LIBRARY");
        if (!string.IsNullOrEmpty(chosen))
            return NativeLibrary.Load(chosen);
        if (NativeLibrary.TryLoad(name, assembly, path, out IntPtr found)
            || NativeLibrary.TryLoad(NativeMethods.Soname, assembly, path, out found))
            return found;
        return IntPtr.Zero;
    }
}
