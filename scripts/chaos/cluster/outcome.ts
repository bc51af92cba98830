/** The comparison of a service that stands still with the chain, and the firings of its alerts. */
import { Effect, Schedule } from "effect"
import { compare, questionsOf, type ServiceAccess, stateQuestionsOf } from "../repair/answers.ts"
import { query } from "../service.ts"
import { areEqual, differing, hashesOf, isSwap, lineOf, readAnswers, readNode, readStore } from "./blockHashes.ts"
import { readClickHouse, viewsOf } from "./clickHouse.ts"
import type { CreatedAlert } from "./load.ts"
import { type Scene, slotOf } from "./scene.ts"

const SAMPLE_TOKENS = 5
const SAMPLE_WALLETS = 3
/** Of the widths, currencies and windows one each: all are made of the same blocks. */
const OTHERS = /resolution=(?:5m|1h|1d)|denom=sol|window=(?:5m|6h|24h|all)/u
/** Each process counts holders only for the tokens it was asked for. */
const OF_PROCESS = /\/holders\//u
/** Time that every process has to reach the last block. */
const CAUGHT_UP_WITHIN = "2 minutes"
/** Times to look for what is being written or loaded, a second apart. */
const LOOKS = 60

/**
 * Halts the chain, and returns its last slot once every process has it, with the places of processes that never reach
 * it.
 */
const halt = Effect.fnUntraced(function* ({ chain, running }: Scene) {
  yield* chain.command({ healthy: { halted: true } })
  const last = yield* chain.newest
  const reached = yield* Effect.forEach(
    running,
    ({ baseUrl }) =>
      slotOf(baseUrl).pipe(
        Effect.repeat({ until: (slot) => slot >= last, schedule: Schedule.spaced("200 millis") }),
        Effect.timeoutOption(CAUGHT_UP_WITHIN)
      ),
    { concurrency: "unbounded" }
  )
  return { last, behind: reached.flatMap((slot, place) => (slot._tag === "None" ? [place] : [])) }
})

const askedAt = ({ keys, running }: Scene, place: number, key: number): ServiceAccess => ({
  baseUrl: running[place]?.baseUrl ?? "",
  secret: keys.free[key % keys.free.length] ?? ""
})

/** Compares the windows, bars, wallets and quotes of two processes. */
const compareViews = (scene: Scene, place: number, reference: number) => {
  // A key of its own for each: wallet reads of a key are limited.
  const [one, other] = [askedAt(scene, reference, 2 * place), askedAt(scene, place, 2 * place + 1)]
  const { wallets } = scene.active
  const mints = scene.active.mints.slice(0, SAMPLE_TOKENS)
  const questions = Object.values(questionsOf(mints, wallets.slice(0, SAMPLE_WALLETS)))
    .flat()
    .filter(({ path }) => !OTHERS.test(path))
    .concat(stateQuestionsOf(mints))
  return Effect.promise(() => compare([one, other], questions)).pipe(
    Effect.map(({ compared, found }) => ({ compared, found: found.filter((each) => !OF_PROCESS.test(each.at)) })),
    // Between two answers a window may move on.
    Effect.repeat({ until: ({ found }) => found.length === 0, times: 3, schedule: Schedule.spaced("2 seconds") })
  )
}

/** Compares every block since the begin of the run, at every process and in the store, with a direct reading of the node. */
export const judge = Effect.fnUntraced(function* (scene: Scene, note: (line: string) => Effect.Effect<void>) {
  const { begun, chain, clickHouse, parts, running } = scene
  const { behind, last } = yield* halt(scene)
  const trades = yield* Effect.promise(() => readNode(chain.rpcUrl, begun, last))
  const expected = hashesOf(trades.map(lineOf))
  const swaps = trades.filter(isSwap)
  const expectedSwaps = hashesOf(swaps.map(lineOf))
  const mints = Array.from(new Set(swaps.map(({ mint }) => mint)))
  const lines =
    clickHouse === null ? readStore(parts.database.url, begun, last) : readClickHouse(clickHouse, begun, last)
  const stored = yield* lines.pipe(
    Effect.map((lines) => differing(expected, hashesOf(lines))),
    Effect.repeat({
      until: ({ missing, other }) => missing + other === 0,
      times: LOOKS,
      schedule: Schedule.spaced("1 second")
    })
  )
  const storedViews = clickHouse === null ? null : yield* viewsOf(clickHouse)
  yield* note(`  ${JSON.stringify({ stored, storedViews })}`)
  const reference = running.findIndex(({ role }) => role === "api")
  const replicas = yield* Effect.forEach(
    running.map((each, place) => ({ ...each, place })).filter(({ place }) => !behind.includes(place)),
    Effect.fnUntraced(function* ({ place, role }) {
      const blocks = yield* Effect.promise(() => readAnswers(askedAt(scene, place, place), mints, begun)).pipe(
        Effect.map((lines) => differing(expectedSwaps, hashesOf(lines))),
        // Blocks that were missed are read again, and memory is made anew with them.
        Effect.repeat({ until: areEqual, times: 10, schedule: Schedule.spaced("3 seconds") })
      )
      const views = yield* compareViews(scene, place, reference)
      const found = {
        process: `${role}-${place}`,
        ...blocks,
        views: { compared: views.compared, differences: views.found.length, first: views.found.slice(0, 3) }
      }
      yield* note(`  ${JSON.stringify(found)}`)
      return found
    })
  )
  const names = behind.map((place) => `${running[place]?.role}-${place}`)
  return { blocks: last - begun + 1, trades: trades.length, behind: names, stored, storedViews, replicas }
})

const FIRED = `
  select alert_id as id, count(*)::int as fired from alert_events where trade is null group by alert_id
`

/** Firings on trades of wallets, those of an alert that fired before, and those of a trade that fired it before. */
const FIRED_ON_TRADES = `
  select count(*)::int as fired,
    (count(*) - count(distinct alert_id))::int as again,
    (count(*) - count(distinct (alert_id, trade ->> 'signature', trade ->> 'index')))::int as twice
  from alert_events where trade is not null
`

interface TradeFirings {
  readonly fired: number
  readonly again: number
  readonly twice: number
}

const NO_FIRINGS: TradeFirings = { fired: 0, again: 0, twice: 0 }

/**
 * Firings of the alerts that were acknowledged: each fires once, and an alert on a wallet once for each trade. An alert that was
 * created after a copy of PostgreSQL which came back is gone.
 */
export const alertsOf = Effect.fnUntraced(function* ({ parts, undone }: Scene, all: ReadonlyArray<CreatedAlert>) {
  const created = all
    .filter(({ atMs }) => !undone.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs))
    .map(({ id }) => id)
  const firings = Effect.map(
    query<{ id: string; fired: number }>(parts.database.url, FIRED),
    (rows) => new Map(rows.map(({ fired, id }) => [id, fired]))
  )
  const fired = yield* Effect.repeat(firings, {
    until: (found) => created.every((id) => found.has(id)),
    times: LOOKS,
    schedule: Schedule.spaced("1 second")
  })
  const [trades = NO_FIRINGS] = yield* query<TradeFirings>(parts.database.url, FIRED_ON_TRADES)
  return {
    acknowledged: created.length,
    undone: all.length - created.length,
    trades,
    lost: created.filter((id) => !fired.has(id)).length,
    twice: Array.from(fired.values()).filter((times) => times > 1).length
  }
})
