using System;
using System.Runtime.InteropServices;
using System.Text;
using Picollo.Native;

namespace Picollo.Metrics
{
    /// <summary>A figure derived from counts of events, as instructions per cycle, with the interval that holds the true one.</summary>
    public readonly struct Figure
    {
        private readonly PicolloFigureEstimate _native;

        private Figure(in PicolloFigureEstimate native)
        {
            _native = native;
        }

        /// <summary>
        /// Estimates a figure of many scopes, which may be of unequal sizes: the formula of the sums of events.
        /// <c>Figure.Of("ipc", new[] { "instructions", "cycles" }, counts)</c>
        /// </summary>
        /// <param name="formula">A formula, or the name of a built-in figure.</param>
        /// <param name="events">The names of the columns.</param>
        /// <param name="values">A row for each scope, with a column for each event; NaN where one was not counted.</param>
        /// <param name="confidence">Of the interval, between 0 and 1.</param>
        /// <exception cref="ArgumentException">The values do not fill rows.</exception>
        /// <exception cref="PicolloException">The formula is none, an event was counted in no scope, or it would be divided by zero.</exception>
        public static unsafe Figure Of(string formula, string[] events, ReadOnlySpan<double> values, double confidence = 0.95)
        {
            if (events == null)
                throw new ArgumentNullException(nameof(events));
            if (events.Length == 0 || values.Length % events.Length != 0)
                throw new ArgumentException("The values do not fill rows of as many as there are events.", nameof(values));
            Loader.Ensure();
            PicolloFigureEstimate estimate;
            PicolloError error;
            fixed (byte* text = Utf8.ToNative(formula, nameof(formula)))
            fixed (byte* names = Utf8.ToNative(string.Join(" ", events), nameof(events)))
            fixed (double* start = &MemoryMarshal.GetReference(values))
            {
                UIntPtr scopes = (UIntPtr)(uint)(values.Length / events.Length);
                Outcome.Check(NativeMethods.picollo_figure_compute(text, names, start, scopes, confidence, &estimate, &error), &error);
            }
            return new Figure(in estimate);
        }

        /// <summary>Estimates a figure of the slowest scopes, and of the rest: whether it holds where it is slow.</summary>
        /// <param name="formula">A formula, or the name of a built-in figure.</param>
        /// <param name="events">The names of the columns.</param>
        /// <param name="values">A row for each scope, with a column for each event; NaN where one was not counted.</param>
        /// <param name="durations">What each scope took, in any unit; NaN: it is in neither.</param>
        /// <param name="share">How many of the scopes are slow, between 0 and 1: at least one, and also those that took exactly as long.</param>
        /// <param name="confidence">Of the intervals, between 0 and 1.</param>
        /// <exception cref="ArgumentException">The values do not fill rows, or there is another number of durations.</exception>
        /// <exception cref="PicolloException">As of <see cref="Of"/>; also where all scopes took equally long.</exception>
        public static unsafe (Figure Tail, Figure Others) OfTail(
            string formula, string[] events, ReadOnlySpan<double> values, ReadOnlySpan<double> durations, double share = 0.01,
            double confidence = 0.95)
        {
            if (events == null)
                throw new ArgumentNullException(nameof(events));
            if (events.Length == 0 || values.Length % events.Length != 0)
                throw new ArgumentException("The values do not fill rows of as many as there are events.", nameof(values));
            if (durations.Length != values.Length / events.Length)
                throw new ArgumentException("There are as many durations as scopes.", nameof(durations));
            Loader.Ensure();
            PicolloFigureEstimate tail, rest;
            PicolloError error;
            fixed (byte* text = Utf8.ToNative(formula, nameof(formula)))
            fixed (byte* names = Utf8.ToNative(string.Join(" ", events), nameof(events)))
            fixed (double* start = &MemoryMarshal.GetReference(values))
            fixed (double* times = &MemoryMarshal.GetReference(durations))
            {
                UIntPtr scopes = (UIntPtr)(uint)durations.Length;
                int status = NativeMethods.picollo_figure_compute_tail(
                    text, names, start, times, scopes, share, confidence, &tail, &rest, &error);
                Outcome.Check(status, &error);
            }
            return (new Figure(in tail), new Figure(in rest));
        }

        /// <summary>The built-in figures as text: <c>NAME [UNIT] = FORMULA</c> in a line each, with lines that explain it.</summary>
        public static unsafe string BuiltIn
        {
            get
            {
                Loader.Ensure();
                UIntPtr length;
                NativeMethods.picollo_figures_format(null, UIntPtr.Zero, &length);
                var buffer = new byte[(int)length + 1];
                fixed (byte* start = buffer)
                    Outcome.Check(NativeMethods.picollo_figures_format(start, (UIntPtr)(uint)buffer.Length, &length));
                return Encoding.UTF8.GetString(buffer, 0, (int)length);
            }
        }

        /// <summary>The formula of the sums, never the mean of the scopes' own figures.</summary>
        public double Value => _native.Value;

        /// <summary>The lower end of the interval; NaN where there are too few scopes.</summary>
        public double Lower => _native.Lower;

        /// <summary>The upper end of the interval; NaN where there are too few scopes.</summary>
        public double Upper => _native.Upper;

        /// <summary>How many scopes are in it.</summary>
        public ulong Scopes => _native.Scopes;

        /// <summary>In some scopes an event was not counted: they are left out.</summary>
        public bool IsPartial => (_native.Flags & Constants.FigurePartial) != 0;
    }
}
