/** Memory, processor time and event-loop delay of this process. */
import { Effect } from "effect"
import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import { Readings } from "./Readings.ts"

/** How often the event loop's delay is sampled, in milliseconds. This is also the resolution of the result. */
const RESOLUTION_MS = 10
const NANOS = 1e9
/** A system without a limit reports one that no machine has. */
const NO_LIMIT = 2 ** 50

/** The delay in seconds, less the resolution, which the timer itself waits. */
const seconds = (nanos: number) => Math.max(0, nanos / NANOS - RESOLUTION_MS / 1000)

/** The event loop's delay since the last collection. The first collection covers the time since the start. */
const loopDelay = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => histogram.disable())
  ),
  (histogram) => () => {
    const statistics = { p50: histogram.percentile(50), p99: histogram.percentile(99), max: histogram.max }
    histogram.reset()
    return Object.entries(statistics).map(([statistic, nanos]) => ({ value: seconds(nanos), labels: { statistic } }))
  }
)

/** Reports memory, processor time, event-loop delay and start time until the scope closes. */
export const processReadings = Effect.gen(function* () {
  const readings = yield* Readings
  const delay = yield* loopDelay
  const gauge = (name: string, help: string, read: Parameters<typeof readings.report>[1]) =>
    readings.report({ name, help, kind: "gauge" }, read)

  yield* gauge("process_start_time_seconds", "Start of the process, seconds since the Unix epoch.", () =>
    Math.round(performance.timeOrigin / 1000)
  )
  yield* readings.report(
    { name: "process_cpu_seconds_total", help: "Processor time of user and system, all threads.", kind: "counter" },
    () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1e6
    }
  )
  yield* gauge("process_resident_memory_bytes", "Resident memory, worker threads included.", () =>
    process.memoryUsage.rss()
  )
  yield* gauge(
    "process_memory_limit_bytes",
    "Memory that the container allows all of its processes; absent without a limit.",
    () => {
      const limit = process.constrainedMemory()
      return limit > 0 && limit < NO_LIMIT ? limit : null
    }
  )
  yield* gauge("nodejs_heap_bytes", "Heap of the main thread by state, and memory outside it.", () => {
    const { arrayBuffers, external, heapTotal, heapUsed } = process.memoryUsage()
    const states = { used: heapUsed, total: heapTotal, external, array_buffers: arrayBuffers }
    return Object.entries(states).map(([state, value]) => ({ value, labels: { state } }))
  })
  yield* gauge("nodejs_eventloop_delay_seconds", "Delay of the event loop since the last collection.", delay)
})
