/**
 * Decodes swaps of AMMs that are charted and never quoted. A call moves tokens between the trader and two vaults,
 * which is all that a chart needs.
 */
import { Address } from "../../domain/Address.ts"
import type { Hop, SwapDecoder } from "../interface/SwapDecoder.ts"
import { tagAt, tagOf } from "../layout/anchor.ts"

/** Describes an AMM by its swap instructions. */
export interface ChartedAmm {
  readonly dex: string
  readonly programId: string
  /**
   * First bytes of a swap instruction: one or eight bytes as hex digits. Empty when price updates begin with the same
   * bytes.
   */
  readonly tags: ReadonlyArray<string>
  /** How many accounts a swap has, when the tag alone does not identify it. */
  readonly accounts?: number
  /** Index of the pool among the accounts. */
  readonly pool: number
  /** Indexes of the vaults among the accounts. Without them, the first payment counts as the trader's. */
  readonly vaults?: readonly [number, number]
}

const hasTag = (data: Uint8Array, tag: string): boolean =>
  tag.length === 2 ? data[0] === Number.parseInt(tag, 16) : tagAt(data, 0) === tagOf(tag)

const hopOf = (amm: ChartedAmm, accounts: ReadonlyArray<Address>): Hop | null => {
  const pool = accounts[amm.pool]
  if (pool === undefined) {
    return null
  }
  const [a, b] = (amm.vaults ?? []).map((index) => accounts[index])
  return { pool, vaults: a === undefined || b === undefined ? null : [a, b] }
}

/** Makes the decoder of an AMM that is not quoted. */
export const vaultSwaps = (amm: ChartedAmm): SwapDecoder => ({
  dex: amm.dex,
  programId: Address.make(amm.programId),
  quotable: false,
  tagBytes: (amm.tags[0]?.length ?? 2) / 2,
  hops: (data, accounts) => {
    const isSwap =
      (amm.accounts === undefined || accounts.length === amm.accounts) &&
      (amm.tags.length === 0 || amm.tags.some((tag) => hasTag(data, tag)))
    const hop = isSwap ? hopOf(amm, accounts) : null
    return hop === null ? [] : [hop]
  }
})
