import { Context, Effect, Layer } from "effect"
import type { Address } from "../domain/Address.ts"
import type { IdentityRecord, IdentityStoreUnavailable } from "../domain/wallets/WalletIdentity.ts"

/** Who wallets are, by what several sources say, each of which speaks for itself. */
export class IdentityStore extends Context.Service<
  IdentityStore,
  {
    /** What is said of these wallets, in the order of the sources' names; those of whom nothing is said are not in it. */
    of(
      wallets: ReadonlyArray<Address>
    ): Effect.Effect<ReadonlyMap<Address, ReadonlyArray<IdentityRecord>>, IdentityStoreUnavailable>
    /** What a source says from now on, in place of everything it said before. Of two records of one wallet the last counts. */
    replace(source: string, records: ReadonlyArray<IdentityRecord>): Effect.Effect<void, IdentityStoreUnavailable>
  }
>()("fathom/wallets/IdentityStore") {
  /** Identities held in memory, for tests and for those who embed us. */
  static readonly layerMemory: Layer.Layer<IdentityStore> = Layer.sync(IdentityStore, () => {
    const sources = new Map<string, ReadonlyMap<Address, IdentityRecord>>()

    const said = (wallet: Address): ReadonlyArray<IdentityRecord> =>
      Array.from(sources.keys())
        .toSorted()
        .flatMap((source) => sources.get(source)?.get(wallet) ?? [])

    return IdentityStore.of({
      of: (wallets) =>
        Effect.sync(
          () => new Map(wallets.map((wallet) => [wallet, said(wallet)] as const).filter(([, of]) => of.length > 0))
        ),
      replace: (source, records) =>
        Effect.sync(() => void sources.set(source, new Map(records.map((record) => [record.wallet, record]))))
    })
  })
}
