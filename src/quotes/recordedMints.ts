import { Effect } from "effect"
import { mintsNamedBy } from "../amm/mintOffsets.ts"
import { programs } from "../amm/programs.ts"
import { type Mint, SOL } from "../domain/Address.ts"
import { ChainFeed, type ChainUnavailable } from "../solana/ChainFeed.ts"

/** Every mint but SOL that a pool of a recording names, in order of address. For recordings only: it reads whole programs. */
export const recordedMints: Effect.Effect<ReadonlyArray<Mint>, ChainUnavailable, ChainFeed> = Effect.gen(function* () {
  const feed = yield* ChainFeed
  const mints = new Set<Mint>()
  for (const program of programs) {
    const { accounts } = yield* feed.accountsOf({ programId: program.programId, matches: [] })
    for (const account of accounts.values()) {
      for (const mint of account !== null && program.isPool(account) ? mintsNamedBy(program, account.data) : []) {
        mints.add(mint)
      }
    }
  }
  mints.delete(SOL)
  return Array.from(mints).toSorted()
})
