"""Prometheus' Protocol Buffers as PyPI's ``protobuf`` reads them, validated."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Tuple

import pytest

pytest.importorskip("google.protobuf", reason="protobuf is not installed")

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, unknown_fields  # noqa: E402
from google.protobuf.internal.decoder import _DecodeVarint32 as varint  # noqa: E402

#: Of io.prometheus.client: name, number, type, repeated.
FIELDS: Dict[str, List[Tuple[str, int, str, bool]]] = {
    "Timestamp": [("seconds", 1, "int64", False), ("nanos", 2, "int32", False)],
    "LabelPair": [("name", 1, "string", False), ("value", 2, "string", False)],
    "Exemplar": [("label", 1, "LabelPair", True), ("value", 2, "double", False), ("timestamp", 3, "Timestamp", False)],
    "Gauge": [("value", 1, "double", False)],
    "Counter": [("value", 1, "double", False), ("exemplar", 2, "Exemplar", False), ("created", 3, "Timestamp", False)],
    "BucketSpan": [("offset", 1, "sint32", False), ("length", 2, "uint32", False)],
    "Bucket": [
        ("cumulative_count", 1, "uint64", False),
        ("upper_bound", 2, "double", False),
        ("exemplar", 3, "Exemplar", False),
    ],
    "Histogram": [
        ("sample_count", 1, "uint64", False),
        ("sample_sum", 2, "double", False),
        ("bucket", 3, "Bucket", True),
        ("schema", 5, "sint32", False),
        ("zero_threshold", 6, "double", False),
        ("zero_count", 7, "uint64", False),
        ("negative_span", 9, "BucketSpan", True),
        ("negative_delta", 10, "sint64", True),
        ("positive_span", 12, "BucketSpan", True),
        ("positive_delta", 13, "sint64", True),
        ("created", 15, "Timestamp", False),
        ("exemplars", 16, "Exemplar", True),
    ],
    "Quantile": [("quantile", 1, "double", False), ("value", 2, "double", False)],
    "Summary": [
        ("sample_count", 1, "uint64", False),
        ("sample_sum", 2, "double", False),
        ("quantile", 3, "Quantile", True),
        ("created", 4, "Timestamp", False),
    ],
    "Metric": [
        ("label", 1, "LabelPair", True),
        ("gauge", 2, "Gauge", False),
        ("counter", 3, "Counter", False),
        ("summary", 4, "Summary", False),
        ("timestamp_ms", 6, "int64", False),
        ("histogram", 7, "Histogram", False),
    ],
    "MetricFamily": [
        ("name", 1, "string", False),
        ("help", 2, "string", False),
        ("type", 3, "int32", False),
        ("metric", 4, "Metric", True),
        ("unit", 5, "string", False),
    ],
}


def _messages() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="metrics.proto", package="prometheus", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in FIELDS.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            added = message.field.add(name=field, number=number, label=label)
            if kind in FIELDS:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".prometheus.{kind}"
            else:
                added.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("prometheus.MetricFamily"))


MetricFamily = _messages()


def families(raw: bytes) -> Dict[str, Any]:
    found, at = {}, 0
    while at < len(raw):
        length, at = varint(raw, at)
        family = MetricFamily.FromString(raw[at : at + length])
        at += length
        assert not len(unknown_fields.UnknownFieldSet(family)), family
        found[family.name] = family
    assert at == len(raw)
    return found


def buckets(spans: Any, deltas: Any) -> Dict[int, int]:
    """By Prometheus' numbers."""
    found, number, count, rest = {}, 0, 0, list(deltas)
    for span in spans:
        number += span.offset
        for _ in range(span.length):
            count += rest.pop(0)
            assert count > 0
            found[number] = count
            number += 1
    assert not rest
    return found


def check_native(histogram: Any) -> Tuple[Dict[int, int], Dict[int, int]]:
    negative = buckets(histogram.negative_span, histogram.negative_delta)
    positive = buckets(histogram.positive_span, histogram.positive_delta)
    assert -4 <= histogram.schema <= 8 and histogram.zero_threshold == 2.0**-128
    assert histogram.sample_count == histogram.zero_count + sum(negative.values()) + sum(positive.values())
    return negative, positive


def quantile(positive: Dict[int, int], zero: int, schema: int, q: float) -> Tuple[float, float]:
    """The ends of the bucket of an observation, by nearest rank."""
    rank = max(1, math.ceil(q * (zero + sum(positive.values()))))
    if rank <= zero:
        return 0.0, 0.0
    rank -= zero
    for number, count in sorted(positive.items()):
        rank -= count
        if rank <= 0:
            return 2.0 ** ((number - 1) / 2**schema), 2.0 ** (number / 2**schema)
    raise AssertionError("there are fewer observations")
