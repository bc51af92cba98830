import { Context, Effect, Layer } from "effect"
import type { Address } from "../domain/Address.ts"
import type { IdentityRecord, IdentityStoreUnavailable } from "../api/schemas/WalletIdentity.ts"

/** How many other wallets of one owner are read. */
export const MOST_LINKED = 16

/** Identity records of wallets by source. Records of different sources are independent. */
export class IdentityStore extends Context.Service<
  IdentityStore,
  {
    /** Records of these wallets, ordered by source name; wallets without records are left out. */
    of(
      wallets: ReadonlyArray<Address>
    ): Effect.Effect<ReadonlyMap<Address, ReadonlyArray<IdentityRecord>>, IdentityStoreUnavailable>
    /**
     * The other wallets to which a source gives the same owner, ordered by address, at most 16 for one wallet. Wallets
     * without any are left out.
     */
    linkedTo(
      wallets: ReadonlyArray<Address>
    ): Effect.Effect<ReadonlyMap<Address, ReadonlyArray<Address>>, IdentityStoreUnavailable>
    /** Replaces all records of a source. When two records are of one wallet, the last is kept. */
    replace(source: string, records: ReadonlyArray<IdentityRecord>): Effect.Effect<void, IdentityStoreUnavailable>
  }
>()("fathom/wallets/IdentityStore") {
  static readonly layerMemory: Layer.Layer<IdentityStore> = Layer.sync(IdentityStore, () => {
    const sources = new Map<string, ReadonlyMap<Address, IdentityRecord>>()

    const recordsOf = (wallet: Address): ReadonlyArray<IdentityRecord> =>
      Array.from(sources.keys())
        .toSorted()
        .flatMap((source) => sources.get(source)?.get(wallet) ?? [])

    const linksOf = (wallet: Address): ReadonlyArray<Address> => {
      const linked = Array.from(sources.values()).flatMap((records) => {
        const owner = records.get(wallet)?.owner ?? null
        return owner === null ? [] : Array.from(records.values()).filter((other) => other.owner === owner)
      })
      const others = new Set(linked.map((other) => other.wallet).filter((other) => other !== wallet))
      return Array.from(others).toSorted().slice(0, MOST_LINKED)
    }

    return IdentityStore.of({
      linkedTo: (wallets) =>
        Effect.sync(
          () => new Map(wallets.map((wallet) => [wallet, linksOf(wallet)] as const).filter(([, of]) => of.length > 0))
        ),
      of: (wallets) =>
        Effect.sync(
          () => new Map(wallets.map((wallet) => [wallet, recordsOf(wallet)] as const).filter(([, of]) => of.length > 0))
        ),
      replace: (source, records) =>
        Effect.sync(() => void sources.set(source, new Map(records.map((record) => [record.wallet, record]))))
    })
  })
}
