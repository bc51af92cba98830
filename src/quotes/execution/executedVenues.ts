/** Programs whose swaps are priced by executing them. */
import type { Address } from "../../domain/Address.ts"
import { type ClosedAmm, closedAmms } from "../../programs/executed/closedAmms.ts"
import { dammV1Accounts, meteoraDammV1, VAULT_PROGRAM } from "../../programs/executed/meteoraDammV1.ts"
import { TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { encodeSwap } from "../../programs/meteora/discriminators.ts"
import { reads, signs, writes } from "../../programs/transactions/Call.ts"
import type { Venue } from "./swapVenue.ts"

/** A venue without a formula here. */
export interface ExecutedVenue extends Venue {
  /** Further programs that a swap calls, besides those that every runtime has. */
  readonly calls: ReadonlyArray<Address>
}

const dammV1Venue: ExecutedVenue = {
  program: meteoraDammV1,
  calls: [VAULT_PROGRAM],
  swapNeeds: () => [],
  sides: ({ accounts, pool }) => {
    const known = dammV1Accounts(pool, accounts)
    return known === null
      ? null
      : { mintA: known.mintA, mintB: known.mintB, vaultA: known.a.tokens, vaultB: known.b.tokens }
  },
  vaultOwner: ({ pool }) => pool.address,
  swap: ({ accounts, pool }, { aToB, amount, from, to, trader }) => {
    const known = dammV1Accounts(pool, accounts)
    if (known === null) {
      return null
    }
    const { a, b, stake } = known
    return {
      accounts: [
        ...[pool.address, from, to, a.vault, b.vault, a.tokens, b.tokens, a.lpMint, b.lpMint, a.lp, b.lp].map(writes),
        writes(aToB ? a.fee : b.fee),
        signs(trader),
        reads(VAULT_PROGRAM),
        reads(TOKEN_PROGRAM),
        ...(stake === null ? [] : [reads(stake)])
      ],
      data: encodeSwap(amount, 0n)
    }
  }
}

const closedVenue = (amm: ClosedAmm): ExecutedVenue => {
  const poolAt = (address: Address) => amm.pools.find(({ pool }) => pool === address)
  return {
    program: amm,
    calls: [],
    swapNeeds: () => [],
    sides: ({ pool }) => {
      const known = poolAt(pool.address)
      return known === undefined
        ? null
        : { mintA: known.mintA, mintB: known.mintB, vaultA: known.vaultA, vaultB: known.vaultB }
    },
    vaultOwner: ({ pool }) => pool.address,
    swap: ({ pool }, { aToB, amount, exactOut, from, to, trader }) => {
      const known = poolAt(pool.address)
      const [a, b] = aToB ? [from, to] : [to, from]
      return known === undefined || exactOut ? null : amm.swap(known, { aToB, amount, trader, a, b })
    }
  }
}

/** Every venue that is priced by execution alone. */
export const executedVenues: ReadonlyArray<ExecutedVenue> = [dammV1Venue, ...closedAmms.map(closedVenue)]
