using System;

namespace Picollo.Samples
{
    public static class Program
    {
        public static int Main(string[] arguments)
        {
            string name = arguments.Length == 0 ? "" : arguments[0];
            switch (name)
            {
                case "quick-start":
                    QuickStart.Run();
                    return 0;
                case "getting-started":
                    GettingStarted.Run();
                    return 0;
                case "known-work":
                    KnownWork.Run();
                    return 0;
                case "sorted-or-not":
                    SortedOrNot.Run();
                    return 0;
                case "live-monitor":
                    LiveMonitor.Run(arguments.Length > 1 ? double.Parse(arguments[1]) : 10);
                    return 0;
                case "published":
                    Published.Run(arguments.Length > 1 ? double.Parse(arguments[1]) : 10);
                    return 0;
                case "clock-resolution":
                    ClockResolution.Run();
                    return 0;
                default:
                    Console.Error.WriteLine(
                        "usage: Samples quick-start | getting-started | known-work | sorted-or-not | live-monitor [SECONDS] | "
                        + "published [SECONDS] | clock-resolution");
                    return 2;
            }
        }
    }
}
