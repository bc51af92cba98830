import { Context, Effect, Layer } from "effect"
import type { Address } from "../domain/Address.ts"
import type { IdentityRecord, IdentityStoreUnavailable } from "../domain/wallets/WalletIdentity.ts"

/** Identity records of wallets by source. Records of different sources are independent. */
export class IdentityStore extends Context.Service<
  IdentityStore,
  {
    /** Records of these wallets, ordered by source name; wallets without records are left out. */
    of(
      wallets: ReadonlyArray<Address>
    ): Effect.Effect<ReadonlyMap<Address, ReadonlyArray<IdentityRecord>>, IdentityStoreUnavailable>
    /** Replaces all records of a source. Of two records of one wallet the last is kept. */
    replace(source: string, records: ReadonlyArray<IdentityRecord>): Effect.Effect<void, IdentityStoreUnavailable>
  }
>()("fathom/wallets/IdentityStore") {
  /** Identities held in memory. */
  static readonly layerMemory: Layer.Layer<IdentityStore> = Layer.sync(IdentityStore, () => {
    const sources = new Map<string, ReadonlyMap<Address, IdentityRecord>>()

    const recordsOf = (wallet: Address): ReadonlyArray<IdentityRecord> =>
      Array.from(sources.keys())
        .toSorted()
        .flatMap((source) => sources.get(source)?.get(wallet) ?? [])

    return IdentityStore.of({
      of: (wallets) =>
        Effect.sync(
          () => new Map(wallets.map((wallet) => [wallet, recordsOf(wallet)] as const).filter(([, of]) => of.length > 0))
        ),
      replace: (source, records) =>
        Effect.sync(() => void sources.set(source, new Map(records.map((record) => [record.wallet, record]))))
    })
  })
}
