/** Exports spans to an OpenTelemetry collector. */
import { Config, ConfigProvider, Effect, Layer, Option, Random, Tracer } from "effect"
import { shareSetting } from "../domain/countSetting.ts"
import { OtlpSerialization, OtlpTracer } from "effect/observability"

/** Share of traces to export when `OTEL_TRACES_SAMPLER_ARG` is not set. */
const RATIO = 0.05

const endpoint = (name: string) => Config.option(Config.URL(name))

/**
 * Settings: `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` (nothing is exported without one),
 * and `OTEL_TRACES_SAMPLER_ARG`, the share of traces to keep, from 0 to 1.
 */
export const settings = Config.all({
  all: endpoint("OTEL_EXPORTER_OTLP_ENDPOINT"),
  traces: endpoint("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
  ratio: shareSetting("OTEL_TRACES_SAMPLER_ARG", RATIO)
})

/** A tracer that keeps a random share of the traces. The root decides, and its children follow. */
const sampling = (inner: Tracer.Tracer, ratio: number, next: () => number): Tracer.Tracer =>
  Tracer.make({
    span: (options) =>
      inner.span(Option.isNone(options.parent) ? { ...options, sampled: options.sampled && next() < ratio } : options),
    ...(inner.context !== undefined && { context: inner.context })
  })

const sampled = (ratio: number) =>
  Layer.effect(
    Tracer.Tracer,
    Effect.gen(function* () {
      const random = yield* Random.Random
      return sampling(yield* Effect.tracer, ratio, () => random.nextDoubleUnsafe())
    })
  )

/** Makes an endpoint alone enough to turn the export on: OpenTelemetry would also require `OTEL_TRACES_EXPORTER`. */
const exporter = ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ OTEL_TRACES_EXPORTER: "otlp" }))

/**
 * Exports spans over OTLP/HTTP in JSON when an endpoint is set. The other standard variables work too. Spans carry the
 * URLs of requests, but none of their headers.
 */
export const layer = Layer.unwrap(
  Effect.map(settings, ({ all, ratio, traces }) =>
    Option.isNone(all) && Option.isNone(traces)
      ? Layer.empty
      : sampled(ratio).pipe(
          Layer.provide(OtlpTracer.layerFromConfig({ resource: { serviceName: "fathom" } })),
          Layer.provide([OtlpSerialization.layerJson, exporter])
        )
  )
)
