/** The time in which a service recovers from a fault. */
import { Effect, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { cpus } from "node:os"
import { SOL } from "../../../src/domain/Address.ts"
import { ask, at, quotePath } from "../repair/answers.ts"
import { createAlert } from "./load.ts"
import { type Scene, slotOf } from "./scene.ts"

/** Time after which a service that has not recovered is given up. */
const GIVEN_UP_MS = 120_000
const LOOK_EVERY = "100 millis"

/** Times to recover in milliseconds; null where it was given up. */
export interface Recovery {
  /** Until every process has a block that the chain made after the fault. */
  readonly blocksMs: number | null
  /** Until a request through the balancer is answered 200. */
  readonly requestsMs: number | null
  /** Until a new alert is created and has fired. */
  readonly alertsMs: number | null
  /** Until every process has quoted from account state that the chain wrote after the fault. */
  readonly quotesMs: number | null
  /** Quotes that were asked for meanwhile, at all processes, and those that were refused as stale. */
  readonly quotes: QuoteLooks
  /** Part of the machine's processor time that was used meanwhile, by all of its programs, from 0 to 1. */
  readonly busy: number
}

/** Quotes that were asked for, and those that were refused because the state was too old. */
export interface QuoteLooks {
  asked: number
  stale: number
}

/** Processor time of the machine since its start, in milliseconds. */
interface ProcessorTime {
  readonly idle: number
  readonly used: number
}

const processorTime = (): ProcessorTime => {
  const times = cpus().map((each) => each.times)
  const sum = (read: (time: (typeof times)[number]) => number) => times.reduce((all, time) => all + read(time), 0)
  return { idle: sum(({ idle }) => idle), used: sum(({ irq, nice, sys, user }) => irq + nice + sys + user) }
}

/** The used part of the processor time between two readings, in hundredths; 0 where none has passed. */
export const busyBetween = (before: ProcessorTime, after: ProcessorTime): number => {
  const [idle, used] = [after.idle - before.idle, after.used - before.used]
  return idle + used > 0 ? Math.round((100 * used) / (idle + used)) / 100 : 0
}

const took = <A>(work: Effect.Effect<A>) => {
  const begunMs = performance.now()
  return Effect.timeoutOption(
    Effect.map(work, () => Math.round(performance.now() - begunMs)),
    GIVEN_UP_MS
  ).pipe(Effect.map((done) => (done._tag === "Some" ? done.value : null)))
}

/** Tokens that are quoted in turn. One of them trades in nearly every slot. */
const QUOTED = 5

/** True for a quote from account state of a later slot than this one. */
export const isQuoteSince = (slot: number, { content, status }: Awaited<ReturnType<typeof ask>>): boolean => {
  const stateSlot = at(content, "stateSlot")
  return status === 200 && typeof stateSlot === "number" && stateSlot > slot
}

/** Paths of quotes of the tokens that trade most. */
export const quotedPaths = ({ active }: Scene): ReadonlyArray<string> =>
  active.mints
    .filter((mint) => mint !== SOL)
    .slice(0, QUOTED)
    .map((mint) => quotePath(SOL, mint))

/** Waits until the process quotes one of the tokens that trade from account state of a later slot. */
const quotesSince = (scene: Scene, baseUrl: string, slot: number, looks: QuoteLooks) => {
  const paths = quotedPaths(scene)
  let turn = 0
  const next = Effect.promise(async () => {
    const answer = await ask(
      { baseUrl, secret: scene.keys.free[0] ?? "" },
      { path: paths[turn++ % paths.length] ?? "" }
    )
    looks.asked += 1
    looks.stale += at(answer.content, "error", "code") === "state_stale" ? 1 : 0
    return answer
  })
  return Effect.repeat(next, {
    until: (answer) => isQuoteSince(slot, answer),
    schedule: Schedule.spaced(LOOK_EVERY)
  })
}

/** Waits until the processes, without the victims, have a newer block and newer quotes, requests are answered, and an alert fires. */
export const recovered = Effect.fnUntraced(function* (scene: Scene, victims: ReadonlyArray<number>) {
  const asked = { baseUrl: scene.url, secret: scene.keys.free[0] ?? "" }
  const begun = processorTime()
  const after = yield* scene.chain.newest
  const hasBlock = (baseUrl: string) =>
    Effect.repeat(slotOf(baseUrl), { until: (slot) => slot > after, schedule: Schedule.spaced(LOOK_EVERY) })
  const left = scene.running.filter((_, place) => !victims.includes(place))
  const ofAll = (work: (baseUrl: string) => Effect.Effect<unknown>) =>
    Effect.forEach(left, ({ baseUrl }) => work(baseUrl), { concurrency: "unbounded", discard: true })
  const blocks = ofAll(hasBlock)
  const looks: QuoteLooks = { asked: 0, stale: 0 }
  const quotes = ofAll((baseUrl) => quotesSince(scene, baseUrl, after, looks))
  const requests = Effect.repeat(
    Effect.promise(() => ask(asked, { path: "/api/v1/alerts?limit=1" })),
    { until: ({ status }) => status === 200, schedule: Schedule.spaced(LOOK_EVERY) }
  )
  const alerts = Effect.gen(function* () {
    const name = randomUUID()
    const { id } = yield* Effect.repeat(
      Effect.promise(() => createAlert(asked, SOL, name)),
      { until: (answer) => answer.id !== null, schedule: Schedule.spaced(LOOK_EVERY) }
    )
    yield* Effect.repeat(
      Effect.promise(() => ask(asked, { path: `/api/v1/alerts/${id}` })),
      {
        until: ({ content }) => at(content, "data", "status") === "triggered",
        schedule: Schedule.spaced(LOOK_EVERY)
      }
    )
  })
  const times = yield* Effect.all(
    { blocksMs: took(blocks), requestsMs: took(requests), alertsMs: took(alerts), quotesMs: took(quotes) },
    { concurrency: "unbounded" }
  )
  const recovery: Recovery = { ...times, quotes: looks, busy: busyBetween(begun, processorTime()) }
  return recovery
})

/** The longest of the times; null where one was given up. */
export const longest = (recoveries: ReadonlyArray<Recovery>): number | null =>
  recoveries
    .flatMap(({ alertsMs, blocksMs, quotesMs, requestsMs }) => [alertsMs, blocksMs, quotesMs, requestsMs])
    .reduce((most, ms) => (most === null || ms === null ? null : Math.max(most, ms)), 0)
