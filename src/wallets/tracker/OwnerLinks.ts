import { Clock, Duration, Effect, Layer, Schedule } from "effect"
import type { Address } from "../../domain/Address.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { noteFailure, SourceMonitor, stateByAge } from "../../operations/SourceMonitor.ts"
import { IdentityStore } from "../IdentityStore.ts"
import { WatchList } from "./WatchList.ts"

/**
 * Reads the other wallets of the owners of tracked wallets into the watch list. A new wallet is read within a second,
 * all others every 30 s, because identities may have been replaced. Links stay as they are while identities are
 * unavailable.
 */
export const layer: Layer.Layer<never, never, IdentityStore | WatchList> = Layer.effectDiscard(
  Effect.gen(function* () {
    const identities = yield* IdentityStore
    const list = yield* WatchList
    const known = new Set<Address>()
    const seen: { revision: number; allAtMs: number | null } = { revision: -1, allAtMs: null }

    const readLinks = Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const isAll = seen.allAtMs === null || nowMs - seen.allAtMs >= Duration.toMillis(ALL_EVERY)
      const revision = list.revision()
      if (!isAll && revision === seen.revision) {
        return
      }
      if (isAll) {
        known.clear()
      }
      const wallets = Array.from(list.wallets()).filter((wallet) => !known.has(wallet))
      for (let from = 0; from < wallets.length; from += AT_ONCE) {
        const some = wallets.slice(from, from + AT_ONCE)
        const links = yield* identities.linkedTo(some)
        list.link(new Map(some.map((wallet) => [wallet, links.get(wallet) ?? []])))
        some.forEach((wallet) => known.add(wallet))
      }
      seen.revision = revision
      seen.allAtMs = isAll ? nowMs : seen.allAtMs
    })

    yield* readLinks.pipe(
      Effect.tapError((failure) => noteFailure(SOURCE, failure)),
      keepGoing("Reading wallets of one owner"),
      Effect.repeat(Schedule.spaced(NEW_EVERY)),
      keepRunning("Reading wallets of one owner", SOURCE),
      Effect.forkScoped({ startImmediately: true })
    )
    yield* (yield* SourceMonitor).report(SOURCE, (nowMs) => stateByAge(seen.allAtMs, SILENT_MS, nowMs))
  })
)

const SOURCE = "owner_links"
const NEW_EVERY = Duration.seconds(1)
const ALL_EVERY = Duration.seconds(30)
/** Links are stale when they were not all read for this long. */
const SILENT_MS = 90_000
/** Wallets in one read. */
const AT_ONCE = 1000
