/** Processor time and memory of the service, its threads and its database while some work goes on. */
import { Effect } from "effect"
import { threadSeconds, treeUse } from "../start/processTree.ts"

const round = (value: number, digits: number) => Number(value.toFixed(digits))

/** Numbers of the service's metrics without labels, or with one of these. */
const metricsOf = async (url: string): Promise<ReadonlyMap<string, number>> => {
  const text = await (await fetch(url)).text()
  return new Map(
    Array.from(text.matchAll(/^([a-z_]+(?:\{[^}]*\})?) (\S+)$/gmu), ([, name = "", value]) => [name, Number(value)])
  )
}

const SHOWN_CORES = 0.005
const SHOWN_MS = 0.5

/** Runs the work; cores are processor time a second of the clock. */
export const measureUse = Effect.fnUntraced(function* <A, E>(
  { metricsUrl, pid }: { readonly metricsUrl: string; readonly pid: number },
  work: Effect.Effect<A, E>
) {
  const metrics = Effect.promise(() => metricsOf(metricsUrl))
  const [before, threadsBefore, metricsBefore] = [treeUse(pid), threadSeconds(pid), yield* metrics]
  const begunMs = performance.now()
  const value = yield* work
  const seconds = (performance.now() - begunMs) / 1000
  const [after, threads, metricsAfter] = [treeUse(pid), threadSeconds(pid), yield* metrics]
  const grown = (name: string) => (metricsAfter.get(name) ?? 0) - (metricsBefore.get(name) ?? 0)
  const byThread = Object.entries(threads)
    .map(([name, used]) => [name, round((used - (threadsBefore[name] ?? 0)) / seconds, 3)] as const)
    .filter(([, cores]) => cores >= SHOWN_CORES)
  const blocks = grown("fathom_blocks_applied_total")
  const perSlot = Object.entries(threads)
    .map(([name, used]) => [name, round((1000 * (used - (threadsBefore[name] ?? 0))) / blocks, 1)] as const)
    .filter(([, ms]) => ms >= SHOWN_MS)
  const delay = (statistic: string) =>
    round(1000 * (metricsAfter.get(`nodejs_eventloop_delay_seconds{statistic="${statistic}"}`) ?? 0), 1)
  return {
    value,
    use: {
      seconds: round(seconds, 1),
      /** The newest slot of the market at the end; null before the first. */
      marketSlot: metricsAfter.get("fathom_market_slot") ?? null,
      blocksApplied: blocks,
      tradesApplied: grown("fathom_trades_applied_total"),
      cores: {
        service: round((after.serviceSeconds - before.serviceSeconds) / seconds, 3),
        database: round((after.databaseSeconds - before.databaseSeconds) / seconds, 3),
        threads: Object.fromEntries(byThread)
      },
      /** Milliseconds of processor time a slot, which do not depend on the rate that a busy machine reaches. */
      slotMs:
        blocks === 0
          ? null
          : {
              service: round((1000 * (after.serviceSeconds - before.serviceSeconds)) / blocks, 1),
              database: round((1000 * (after.databaseSeconds - before.databaseSeconds)) / blocks, 1),
              threads: Object.fromEntries(perSlot)
            },
      memoryMb: {
        service: Math.round(after.serviceMb),
        peak: Math.round(after.peakMb),
        database: Math.round(after.databaseMb)
      },
      eventLoopDelayMs: { p50: delay("p50"), p99: delay("p99"), most: delay("max") }
    }
  }
})
