import { Context, Effect, Layer } from "effect"
import type { Address } from "../domain/Address.ts"
import { secondOf } from "./overview.ts"

/** That some account tracks a wallet, and since when. */
export interface Watch {
  readonly wallet: Address
  readonly addedAtMs: number
}

/**
 * Every wallet that any account tracks, in memory, for those who see each block. A wallet is here before its account is
 * told that it is tracked; one that nobody tracks any more may stay for some seconds.
 */
export class WatchList extends Context.Service<
  WatchList,
  {
    /** Whether anybody tracks the wallet. */
    has(wallet: Address): boolean
    /** From which seconds on accounts track the wallet, in milliseconds: one for all who began in the same second. */
    sincesOf(wallet: Address): ReadonlySet<number>
    /** How many wallets are tracked. */
    size(): number
    /** Puts a wallet on the list. For the store that keeps it true. */
    add(watch: Watch): void
    /** Puts others in place of the whole list. What was added after `since`, a `mark()`, stays. */
    replace(watches: Iterable<Watch>, since: number): void
    /** A moment in the life of the list. */
    mark(): number
  }
>()("fathom/tracker/WatchList") {
  static readonly layer: Layer.Layer<WatchList> = Layer.effect(
    WatchList,
    Effect.sync(() => {
      let listed = new Map<Address, Set<number>>()
      let moment = 0
      // What was added when; what the store says from before that moment does not take it away. The oldest is first.
      let added: Array<{ readonly watch: Watch; readonly at: number }> = []

      const put = (list: Map<Address, Set<number>>, { addedAtMs, wallet }: Watch) =>
        list.set(wallet, (list.get(wallet) ?? new Set<number>()).add(secondOf(addedAtMs)))

      return WatchList.of({
        has: (wallet) => listed.has(wallet),
        sincesOf: (wallet) => listed.get(wallet) ?? NEVER,
        size: () => listed.size,
        add: (watch) => {
          added.push({ watch, at: ++moment })
          put(listed, watch)
        },
        replace: (watches, since) => {
          added = added.filter(({ at }) => at > since)
          listed = new Map()
          for (const watch of watches) {
            put(listed, watch)
          }
          added.forEach(({ watch }) => put(listed, watch))
        },
        mark: () => moment
      })
    })
  )
}

const NEVER: ReadonlySet<number> = new Set()
