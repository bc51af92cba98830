import { Context, Effect, Layer } from "effect"
import type { Address } from "../domain/Address.ts"

/**
 * Every wallet that any account tracks, in memory, for those who see each block. A wallet is here before its account is
 * told that it is tracked; one that nobody tracks any more may stay for some seconds.
 */
export class WatchList extends Context.Service<
  WatchList,
  {
    /** Whether anybody tracks the wallet. */
    has(wallet: Address): boolean
    /** The list as it is now. It changes under its reader: copy what has to stay. */
    wallets(): ReadonlySet<Address>
    /** Puts a wallet on the list. For the store that keeps it true. */
    add(wallet: Address): void
    /** Puts others in place of the whole list. What was added after `since`, a `mark()`, stays. */
    replace(wallets: Iterable<Address>, since: number): void
    /** A moment in the life of the list. */
    mark(): number
  }
>()("fathom/tracker/WatchList") {
  static readonly layer: Layer.Layer<WatchList> = Layer.effect(
    WatchList,
    Effect.sync(() => {
      let listed = new Set<Address>()
      let moment = 0
      // When each wallet was last added; what the store says from before that moment does not take it away.
      const added = new Map<Address, number>()

      return WatchList.of({
        has: (wallet) => listed.has(wallet),
        wallets: () => listed,
        add: (wallet) => {
          added.set(wallet, ++moment)
          listed.add(wallet)
        },
        replace: (wallets, since) => {
          const next = new Set(wallets)
          for (const [wallet, at] of added) {
            if (at > since) {
              next.add(wallet)
            } else {
              added.delete(wallet)
            }
          }
          listed = next
        },
        mark: () => moment
      })
    })
  )
}
