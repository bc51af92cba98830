/** Finds the mints that a recording's pools name. */
import { Effect } from "effect"
import { mintsNamedBy } from "../../programs/layout/poolFields.ts"
import { plainMint } from "../../programs/layout/tokenAccount.ts"
import { programs } from "../../programs/registry.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { ChainFeed } from "../../chain/ChainFeed.ts"
import type { ChainUnavailable } from "../../chain/ChainUnavailable.ts"

const mintsOf = (accounts: Iterable<OnChainAccount | null>): ReadonlySet<Mint> => {
  const mints = new Set<Mint>()
  for (const account of accounts) {
    const program = account === null ? undefined : programs.find(({ isPool }) => isPool(account))
    for (const mint of account === null || program === undefined ? [] : mintsNamedBy(program, account.data)) {
      mints.add(mint)
    }
  }
  return mints
}

/**
 * Stand-ins for mints that the pools of a recording name but its accounts lack: plain mints of the Token program.
 * Recorders often leave mints out, because a swap without a transfer fee does not depend on them. Unlike any account
 * on a chain, a stand-in has no lamports; this marks its supply as unknown.
 */
export const standInMints = (accounts: ReadonlyMap<Address, OnChainAccount>): ReadonlyArray<OnChainAccount> =>
  Array.from(mintsOf(accounts.values()))
    .filter((mint) => !accounts.has(mint))
    .map((mint) => ({ ...plainMint(mint), lamports: 0n }))

/**
 * Every mint that a recording's pools name, except SOL, ordered by address. Only for recordings, because it reads whole
 * programs.
 */
export const recordedMints: Effect.Effect<ReadonlyArray<Mint>, ChainUnavailable, ChainFeed> = Effect.gen(function* () {
  const feed = yield* ChainFeed
  const found = yield* Effect.forEach(programs, ({ programId }) => feed.accountsOf({ programId, matches: [] }))
  const mints = mintsOf(found.flatMap(({ accounts }) => Array.from(accounts.values())))
  return Array.from(mints)
    .filter((mint) => mint !== SOL)
    .toSorted()
})
