/** Mints that a recording of pools names. */
import { Effect } from "effect"
import { mintsNamedBy } from "../programs/math/mintOffsets.ts"
import { plainMint } from "../programs/math/plainMint.ts"
import { programs } from "../programs/registry.ts"
import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import { type Address, type Mint, SOL } from "../domain/Address.ts"
import { ChainFeed, type ChainUnavailable } from "../solana/accounts/ChainFeed.ts"

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
 * Mints that a recording's pools name and its accounts do not hold, as plain mints of the Token program. Recorders often
 * leave mints out, because a swap without a transfer fee does not depend on them. They have no lamports, unlike any account
 * of a chain, which marks their supply as unknown.
 */
export const standInMints = (accounts: ReadonlyMap<Address, OnChainAccount>): ReadonlyArray<OnChainAccount> =>
  Array.from(mintsOf(accounts.values()))
    .filter((mint) => !accounts.has(mint))
    .map((mint) => ({ ...plainMint(mint), lamports: 0n }))

/** Every mint but SOL that a pool of a recording names, in order of address. For recordings only: it reads whole programs. */
export const recordedMints: Effect.Effect<ReadonlyArray<Mint>, ChainUnavailable, ChainFeed> = Effect.gen(function* () {
  const feed = yield* ChainFeed
  const found = yield* Effect.forEach(programs, ({ programId }) => feed.accountsOf({ programId, matches: [] }))
  const mints = mintsOf(found.flatMap(({ accounts }) => Array.from(accounts.values())))
  return Array.from(mints)
    .filter((mint) => mint !== SOL)
    .toSorted()
})
