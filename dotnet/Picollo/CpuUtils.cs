using System;
using System.Runtime.InteropServices;
using Picollo.Native;

namespace Picollo
{
    /// <summary>Work of known length, and the thread's number.</summary>
    public static class CpuUtils
    {
        /// <summary>
        /// Runs blocks of 256 dependent additions: 256 cycles each, whatever the compiler thinks. To check clocks and counters against.
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

        /// <summary>The operating system's number of the calling thread, for <c>WithTarget</c>; -1 where there is none.</summary>
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

        [DllImport("libc")]
        private static extern int gettid();
    }
}
