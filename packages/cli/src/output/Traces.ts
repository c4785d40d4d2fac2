/**
 * Traces, sent to an OpenTelemetry collector if one is configured (OTLP over HTTP, as JSON); the collector's other standard
 * variables (OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME and so on) are read too. Without a collector no span is created
 * at all.
 */
import { ConfigProvider, Layer, References } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"

export const layer = (endpoint: string | null): Layer.Layer<never> => {
  if (endpoint === null) return Layer.succeed(References.TracerEnabled, false)
  // Without the first, naming a collector would not enable traces.
  const env = {
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_SERVICE_NAME: "data-cabinet",
    ...(process.env as Record<string, string>),
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  }
  return OtlpTracer.layerFromConfig().pipe(
    Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
    Layer.orDie,
  )
}
