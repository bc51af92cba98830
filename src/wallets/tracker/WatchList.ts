import { Context, Effect, Layer } from "effect"
import type { Address } from "../../domain/Address.ts"
import { secondOf } from "./overview.ts"

/** A tracked wallet and the time from which an account tracks it. */
export interface Watch {
  readonly wallet: Address
  readonly addedAtMs: number
}

/**
 * Every tracked wallet of all accounts, in memory. A wallet is listed before the call that adds it returns; a removed one
 * may stay for some seconds.
 */
export class WatchList extends Context.Service<
  WatchList,
  {
    /** True if any account tracks the wallet. */
    has(wallet: Address): boolean
    /** Seconds from which accounts track the wallet, in milliseconds; one entry per second. */
    sincesOf(wallet: Address): ReadonlySet<number>
    /** Count of tracked wallets. */
    size(): number
    /** Every tracked wallet. */
    wallets(): Iterable<Address>
    /** A number that grows whenever a wallet or a second may have come or gone. */
    revision(): number
    /** Other wallets of the owner of a tracked wallet, as far as they were read. */
    linksOf(wallet: Address): ReadonlyArray<Address>
    /** True for a tracked wallet and for other wallets of its owner. */
    follows(wallet: Address): boolean
    /** A number that grows whenever links have changed. */
    linksRevision(): number
    /** Replaces the links of these wallets. Wallets that are no longer tracked lose their links. */
    link(links: ReadonlyMap<Address, ReadonlyArray<Address>>): void
    /** Adds a wallet. Called by the store only. */
    add(watch: Watch): void
    /** Replaces the list. Wallets added after `since`, a `mark()`, stay. */
    replace(watches: Iterable<Watch>, since: number): void
    /** Counter of additions, for `replace`. */
    mark(): number
  }
>()("fathom/wallets/tracker/WatchList") {
  static readonly layer: Layer.Layer<WatchList> = Layer.effect(
    WatchList,
    Effect.sync(() => {
      let listed = new Map<Address, Set<number>>()
      let additions = 0
      let replacements = 0
      // Oldest first. A `replace` with rows read before an addition must not remove it.
      let added: Array<{ readonly watch: Watch; readonly at: number }> = []

      const links = new Map<Address, ReadonlyArray<Address>>()
      let linked = new Set<Address>()
      let relinked = 0

      const setLinks = (wallet: Address, of: ReadonlyArray<Address>): boolean => {
        const isSame = String(links.get(wallet) ?? []) === String(of)
        if (of.length === 0) {
          links.delete(wallet)
        } else {
          links.set(wallet, of)
        }
        return !isSame
      }

      const put = (list: Map<Address, Set<number>>, { addedAtMs, wallet }: Watch) =>
        list.set(wallet, (list.get(wallet) ?? new Set<number>()).add(secondOf(addedAtMs)))

      return WatchList.of({
        has: (wallet) => listed.has(wallet),
        sincesOf: (wallet) => listed.get(wallet) ?? NOT_TRACKED,
        size: () => listed.size,
        wallets: () => listed.keys(),
        revision: () => additions + replacements,
        linksOf: (wallet) => links.get(wallet) ?? [],
        follows: (wallet) => listed.has(wallet) || linked.has(wallet),
        linksRevision: () => relinked,
        link: (read) => {
          const gone = Array.from(links.keys()).filter((wallet) => !listed.has(wallet))
          const next = [...read, ...gone.map((wallet) => [wallet, []] as const)]
          const changed = next.filter(([wallet, of]) => setLinks(wallet, listed.has(wallet) ? of : []))
          if (changed.length > 0) {
            relinked++
            linked = new Set(Array.from(links.values()).flat())
          }
        },
        add: (watch) => {
          added.push({ watch, at: ++additions })
          put(listed, watch)
        },
        replace: (watches, since) => {
          added = added.filter(({ at }) => at > since)
          replacements++
          listed = new Map()
          for (const watch of watches) {
            put(listed, watch)
          }
          added.forEach(({ watch }) => put(listed, watch))
        },
        mark: () => additions
      })
    })
  )
}

const NOT_TRACKED: ReadonlySet<number> = new Set()
