using System.Globalization;

namespace Picollo.PerfEvent;

/// <summary>Counters of a process with all its threads, this one or another, as sums.</summary>
/// <remarks>
/// It has a session for each thread that existed when this was opened. Threads and processes that those start later are
/// included. A thread that starts while the others are being opened may be missed. Readings are by system call, on any
/// thread, one thread after the other.
/// </remarks>
public sealed class PerfEventProcess : IDisposable
{
    private readonly List<PerfEventCounterSession> _sessions = new List<PerfEventCounterSession>();
    private readonly string[] _names;

    /// <summary>Starts counting.</summary>
    /// <param name="processId">The process; 0: this one. Another user's process needs a privilege.</param>
    /// <param name="counters">
    /// Names of events, as for <see cref="PerfEventCounterSession.PerfEventCounterSessionFactory.WithCounter(string)"/>.
    /// </param>
    /// <exception cref="ArgumentException">There is no such process, or nothing to count.</exception>
    /// <exception cref="PicolloException">A counter cannot be opened; the message explains what to do.</exception>
    public PerfEventProcess(int processId, params string[] counters)
    {
        ArgumentNullException.ThrowIfNull(counters);
        if (counters.Length == 0)
            throw new ArgumentException("There is nothing to count: name at least one event.", nameof(counters));
        if (processId < 0)
            throw new ArgumentOutOfRangeException(nameof(processId), processId, "A process has a number of 0 or more; 0 is this one.");
        _names = (string[])counters.Clone();
        try
        {
            foreach (int thread in Threads(processId))
                Open(thread);
        }
        catch
        {
            Dispose();
            throw;
        }
        if (_sessions.Count == 0)
            throw new ArgumentException("The process ended meanwhile.", nameof(processId));
    }

    /// <summary>The names of the counters, in the order of values.</summary>
    public IReadOnlyList<string> Names => Array.AsReadOnly(_names);

    /// <summary>How many threads there were at the beginning.</summary>
    public int ThreadCount => _sessions.Count;

    /// <summary>Reads all counters of all threads, and adds them up.</summary>
    /// <param name="values">The sums, in the order of <see cref="Names"/>. Others stay unchanged.</param>
    /// <param name="deltas">True: since the previous reading. False: since the beginning.</param>
    /// <exception cref="ArgumentException">There are fewer elements than counters.</exception>
    /// <remarks>
    /// A sum has the flags of all its parts, and the status of the first that did not count. Threads that did not run
    /// meanwhile are ignored. If no thread ran, the status is <see cref="PicolloStatus.NotCounted"/>.
    /// </remarks>
    public void Read(Span<PerfEventCounterValue> values, bool deltas)
    {
        if (values.Length < _names.Length)
            throw new ArgumentException($"There is room for fewer values than the {_names.Length} counters.", nameof(values));
        var one = new PerfEventCounterValue[_names.Length];
        for (int i = 0; i < _sessions.Count; i++)
        {
            _sessions[i].Read(PerfReadMode.SystemCall);
            _sessions[i].Readings(one, deltas);
            for (int counter = 0; counter < one.Length; counter++)
                if (i == 0 || IsIdle(in values[counter]))
                    values[counter] = one[counter];
                else if (!IsIdle(in one[counter]))
                    values[counter] += one[counter];
        }
    }

    /// <summary>Whether the thread did not run at all: then it adds nothing, and is no reason for doubt.</summary>
    private static bool IsIdle(in PerfEventCounterValue value) =>
        value.Status == PicolloStatus.NotCounted && value.TimeEnabled == 0;

    /// <summary>Closes the counters.</summary>
    public void Dispose() => _sessions.ForEach(session => session.Dispose());

    private void Open(int thread)
    {
        try
        {
            _sessions.Add(PerfEventCounterSession.Factory.WithTarget(thread, -1).WithInherit().WithCounters(_names).Create());
        }
        catch (PicolloException ended) when (ended.OsErrno == NoSuchProcess)
        {
            // The thread ended meanwhile.
        }
    }

    private const int NoSuchProcess = 3;

    private static List<int> Threads(int processId)
    {
        string process = processId == 0 ? "self" : processId.ToString(CultureInfo.InvariantCulture);
        var threads = new List<int>();
        try
        {
            foreach (string path in Directory.GetDirectories($"/proc/{process}/task"))
                threads.Add(int.Parse(Path.GetFileName(path), CultureInfo.InvariantCulture));
        }
        catch (DirectoryNotFoundException)
        {
            throw new ArgumentException($"There is no process {processId}.", nameof(processId));
        }
        return threads;
    }
}
