using System.Diagnostics;

namespace Picollo;

/// <summary>Known work, and the preparation of a benchmark's thread.</summary>
public static class CpuUtils
{
    /// <summary>
    /// Runs blocks of 256 dependent additions: 256 cycles each, for every compiler. It tests clocks and counters.
    /// </summary>
    public static void AddChain256(int blocks)
    {
        Loader.Ensure();
        if (blocks > 0)
            NativeMethods.picollo_work_add_chain_256((ulong)blocks);
    }

    /// <summary>Runs blocks of 512 dependent additions.</summary>
    public static void AddChain512(int blocks)
    {
        Loader.Ensure();
        if (blocks > 0)
            NativeMethods.picollo_work_add_chain_256(2 * (ulong)blocks);
    }

    /// <summary>The operating system's id of the calling thread, for <c>WithTarget</c>; -1 if it has none.</summary>
    public static int GetOsThreadId()
    {
        try
        {
            return gettid();
        }
        catch (EntryPointNotFoundException)
        {
            return -1;
        }
        catch (DllNotFoundException)
        {
            return -1;
        }
    }

    /// <summary>The processor that the calling thread runs on at this moment.</summary>
    public static int GetCpu() => sched_getcpu();

    /// <summary>The calling thread in <see cref="Process.Threads"/>; null if it is not found.</summary>
    public static ProcessThread? GetCurrentProcessThread()
    {
        int id = GetOsThreadId();
        foreach (ProcessThread thread in Process.GetCurrentProcess().Threads)
            if (thread.Id == id)
                return thread;
        return null;
    }

    /// <summary>Keeps the processor busy for a tenth of a second, until its clock frequency has risen.</summary>
    /// <returns>Dependent additions per second, in the second half: the clock frequency, if undisturbed.</returns>
    public static double WarmupCpu()
    {
        const int Blocks = 1000;
        AddChain256(Blocks);
        double best = 0;
        var whole = Stopwatch.StartNew();
        while (whole.ElapsedMilliseconds < 100)
        {
            long start = Stopwatch.GetTimestamp();
            AddChain256(Blocks);
            double seconds = (Stopwatch.GetTimestamp() - start) / (double)Stopwatch.Frequency;
            if (whole.ElapsedMilliseconds >= 50)
                best = Math.Max(best, Blocks * 256.0 / seconds);
        }
        return best;
    }

    /// <summary>
    /// Keeps the calling thread on one processor, and lowers the priority of the process's other threads (nice 10).
    /// </summary>
    /// <param name="coreId">The processor's number.</param>
    /// <returns>False, without a change, if the process may not run there or there is no such processor.</returns>
    /// <remarks>This is permanent: lowering niceness again needs a privilege.</remarks>
    public static unsafe bool PrepareBenchmarkThread(int coreId)
    {
        const int Words = 16;
        if (!OperatingSystem.IsLinux() || coreId < 0 || coreId >= Words * 64)
            return false;
        ulong* mask = stackalloc ulong[Words];
        for (int i = 0; i < Words; i++)
            mask[i] = 0;
        mask[coreId / 64] = 1ul << (coreId % 64);
        if (sched_setaffinity(0, (UIntPtr)(Words * 8), mask) != 0)
            return false;
        int own = GetOsThreadId();
        foreach (string task in Directory.GetDirectories("/proc/self/task"))
            // Niceness belongs to each thread. A thread that has ended meanwhile needs none.
            if (int.TryParse(Path.GetFileName(task), out int id) && id != own)
                setpriority(0, id, 10);
        return true;
    }

    [DllImport("libc")]
    private static extern int gettid();

    [DllImport("libc")]
    private static extern int sched_getcpu();

    [DllImport("libc")]
    private static extern unsafe int sched_setaffinity(int thread, UIntPtr size, ulong* mask);

    [DllImport("libc")]
    private static extern int setpriority(int which, int who, int priority);
}
