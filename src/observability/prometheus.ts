/** Metrics in the text format of Prometheus, version 0.0.4. */
import { Context, Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { Reading } from "../health/Readings.ts"

/** Readings as metrics of a registry of their own, so that a label that is gone leaves no series behind. */
const textOf = (readings: ReadonlyArray<Reading>): string => {
  const context = Context.make(Metric.MetricRegistry, new Map())
  for (const { help, kind, name, samples } of readings) {
    for (const { labels, value } of samples) {
      const options = { description: help, ...(labels !== undefined && { attributes: labels }) }
      const metric = kind === "counter" ? Metric.counter(name, options) : Metric.gauge(name, options)
      metric.updateUnsafe(value, context)
    }
  }
  return PrometheusMetrics.formatUnsafe(context)
}

/** The readings, and the metrics that the process counts itself. */
export const prometheusText = (readings: ReadonlyArray<Reading>): Effect.Effect<string> =>
  Effect.map(PrometheusMetrics.format(), (counted) => textOf(readings) + counted)
