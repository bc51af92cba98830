/** Keeps the index of watched alerts in step with the store, which other processes and owners change too. */
import { Effect } from "effect"
import type { AlertStep, AlertStoreUnavailable, SeenTrades } from "../api/schemas/Alert.ts"
import { keepTrying } from "../operations/keepRunning.ts"
import type { AlertIndex } from "./AlertIndex.ts"
import type { AlertStore } from "./AlertStore.ts"

/** Steps in one write, and alerts in one read. */
const BATCH_SIZE = 1000

const chunksOf = <Item>(items: ReadonlyArray<Item>): ReadonlyArray<ReadonlyArray<Item>> =>
  Array.from({ length: Math.ceil(items.length / BATCH_SIZE) }, (_, i) =>
    items.slice(i * BATCH_SIZE, (i + 1) * BATCH_SIZE)
  )

/** Calls the store until it answers, so that a crossing that could not be stored yet is kept. */
export const untilAnswered = <A>(call: Effect.Effect<A, AlertStoreUnavailable>): Effect.Effect<A> =>
  call.pipe(
    Effect.mapError(({ cause }) => cause),
    keepTrying("A call of the alert store", { source: "alerts" })
  )

type Store = Pick<AlertStore["Service"], "advance" | "fire" | "load" | "versions">

/** Each call waits until the store answers, then updates the index. */
export const makeStoredAlerts = (store: Store, index: AlertIndex) => {
  /** Reads these alerts again. */
  const reload = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    for (const chunk of chunksOf(ids)) {
      const held = index.versionsOf(chunk)
      const found = yield* untilAnswered(store.load(chunk))
      index.dropMissing(held, found)
      found.forEach((alert) => index.put(alert))
    }
  })

  /**
   * Reads every alert whose version differs from the version in the index. A version that was held before the store was
   * asked, and is newer than the store's, was lost when the store fell back to an older copy.
   */
  const catchUp = Effect.gen(function* () {
    const held = index.versionsOf(index.ids())
    const newest = yield* untilAnswered(store.versions)
    index.dropMissing(held, newest)
    newest.filter(({ id, version }) => (held.get(id) ?? 0) > version).forEach(({ id }) => index.drop(id))
    const changed = newest.filter(({ id, version }) => index.versionOf(id) !== version)
    yield* reload(changed.map(({ id }) => id))
  })

  /**
   * Stores steps. Alerts that the store did not advance were changed by their owner or another process, and are read
   * again.
   */
  const advance = Effect.fnUntraced(function* (steps: ReadonlyArray<AlertStep>) {
    for (const chunk of chunksOf(steps)) {
      const moved = yield* untilAnswered(store.advance(chunk))
      moved.forEach((alert) => index.put(alert))
      const left = new Set(chunk.map(({ id }) => id))
      moved.forEach(({ id }) => left.delete(id))
      yield* reload(Array.from(left))
    }
  })

  /** Stores the trades of wallets that alerts watch. */
  const fire = Effect.fnUntraced(function* (seen: ReadonlyArray<SeenTrades>) {
    for (const chunk of chunksOf(seen)) {
      const held = index.versionsOf(chunk.map(({ id }) => id))
      const moved = yield* untilAnswered(store.fire(chunk))
      moved.forEach((alert) => index.put(alert))
      index.dropMissing(held, moved)
    }
  })

  return { advance, catchUp, fire, reload }
}
