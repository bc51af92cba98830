/** Metrics in the text format of Prometheus, version 0.0.4. */
import { Clock, Context, Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { Readings } from "./Readings.ts"

/**
 * All metrics of this process: everything counted with `Metric`, and every reading at this moment. Readings go into a
 * copy of the registry, so that a label that is gone leaves no series behind.
 */
export const prometheusText: Effect.Effect<string> = Effect.gen(function* () {
  const { collect } = yield* Readings
  const registry = Context.make(Metric.MetricRegistry, new Map(yield* Metric.MetricRegistry))
  for (const { help, kind, name, samples } of collect(yield* Clock.currentTimeMillis)) {
    for (const { labels, value } of samples) {
      const options = { description: help, ...(labels !== undefined && { attributes: labels }) }
      const metric = kind === "counter" ? Metric.counter(name, options) : Metric.gauge(name, options)
      metric.updateUnsafe(value, registry)
    }
  }
  return PrometheusMetrics.formatUnsafe(registry)
})
