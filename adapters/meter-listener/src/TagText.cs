using System.Collections;
using System.Globalization;
using System.Text;

namespace Picollo.Metrics;

/// <summary>Converts values of tags to values of labels.</summary>
internal static class TagText
{
    /// <summary>OpenTelemetry's form: without culture, lower-case true and false, lists in brackets.</summary>
    internal static string Of(object? value)
    {
        switch (value)
        {
            case null:
                return "";
            case string text:
                return text;
            case bool flag:
                return flag ? "true" : "false";
            case IFormattable number:
                return number.ToString(null, CultureInfo.InvariantCulture);
            case Array list:
                var texts = new StringBuilder("[");
                foreach (object? one in (IEnumerable)list)
                    texts.Append(texts.Length == 1 ? "" : ",").Append(Of(one));
                return texts.Append(']').ToString();
            default:
                return value.ToString() ?? "";
        }
    }
}
