//! The exposition formats.

use super::family::Family;
use super::otlp::{self, Otlp};
use super::output::Output;
use super::text::{self, Dialect};

/// A format of expositions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Exposition {
    /// OpenMetrics text, 1.0.
    #[default]
    OpenMetrics = 0,
    /// Prometheus' text, 0.0.4.
    PrometheusText = 1,
    /// Prometheus' Protocol Buffers: messages `MetricFamily`, each after its length.
    PrometheusProtobuf = 2,
    /// OpenTelemetry's protocol in Protocol Buffers, with cumulative counts: an `ExportMetricsServiceRequest`.
    Otlp = 3,
}

picollo_core::seam::from_code!(Exposition { OpenMetrics, PrometheusText, PrometheusProtobuf, Otlp });

impl Exposition {
    /// The number of formats.
    pub(super) const NUMBER: usize = 4;

    /// The content type of the format for HTTP.
    pub const fn content_type(self) -> &'static str {
        match self {
            Exposition::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Exposition::PrometheusText => "text/plain; version=0.0.4; charset=utf-8",
            Exposition::PrometheusProtobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
            Exposition::Otlp => "application/x-protobuf",
        }
    }

    /// Writes metrics that were taken at the given time.
    pub(super) fn write(self, families: &[Family], time_unix_nanos: u64, out: &mut Output) {
        let dialect = match self {
            Exposition::OpenMetrics => Dialect::OpenMetrics,
            Exposition::PrometheusText => Dialect::Prometheus,
            Exposition::PrometheusProtobuf => return super::prometheus::write(families, out),
            Exposition::Otlp => {
                return otlp::write(families, &Otlp { time_unix_nanos, ..Otlp::default() }, out);
            }
        };
        // Outputs do not fail.
        let _ = text::write(families, dialect, out);
    }
}
