/**
 * An instruction's account order, as one list of names. Decoders take their indexes from it, and the simulator builds
 * its account lists from it.
 */
import type { Address } from "../../domain/Address.ts"
import type { Hop, SwapDecoder } from "../interface/SwapDecoder.ts"
import { tagAt } from "./anchor.ts"

/** Where a pool and its two vaults are among an instruction's accounts. */
export interface HopLayout {
  readonly pool: number
  readonly vaultA: number
  readonly vaultB: number
  /** Absent for programs without referrers. */
  readonly referral?: number
}

/** Puts named accounts into the order that the instruction takes them. */
export const inAccountOrder = <Name extends string, A>(
  order: ReadonlyArray<Name>,
  accounts: Readonly<Record<Name, A>>
): ReadonlyArray<A> => order.map((name) => accounts[name])

/** Finds the indexes of a pool, its two vaults and, if named, a referrer's account. */
export const hopLayout = <Name extends string>(
  order: ReadonlyArray<Name>,
  pool: NoInfer<Name>,
  vaultA: NoInfer<Name>,
  vaultB: NoInfer<Name>,
  referral?: NoInfer<Name>
): HopLayout => ({
  pool: order.indexOf(pool),
  vaultA: order.indexOf(vaultA),
  vaultB: order.indexOf(vaultB),
  ...(referral !== undefined && { referral: order.indexOf(referral) })
})

const NO_HOPS: ReadonlyArray<Hop> = []

const hopAt = (accounts: ReadonlyArray<Address>, layout: HopLayout): Hop | null => {
  const pool = accounts[layout.pool]
  const vaultA = accounts[layout.vaultA]
  const vaultB = accounts[layout.vaultB]
  if (pool === undefined || vaultA === undefined || vaultB === undefined) {
    return null
  }
  const referral = layout.referral === undefined ? undefined : accounts[layout.referral]
  return referral === undefined ? { pool, vaults: [vaultA, vaultB] } : { pool, vaults: [vaultA, vaultB], referral }
}

/** The hops at these indexes; empty when an account is missing. */
export const hopsAt = (accounts: ReadonlyArray<Address>, layouts: ReadonlyArray<HopLayout>): ReadonlyArray<Hop> => {
  const hops: Array<Hop> = []
  for (const layout of layouts) {
    const hop = hopAt(accounts, layout)
    if (hop === null) {
      return NO_HOPS
    }
    hops.push(hop)
  }
  return hops
}

/** Decodes an instruction's hops by its discriminator. All discriminators of a group have the same hops. */
export const taggedHops = (
  ...groups: ReadonlyArray<readonly [tags: ReadonlyArray<bigint>, hops: ReadonlyArray<HopLayout>]>
): SwapDecoder["hops"] => {
  const layouts = new Map(groups.flatMap(([tags, hops]) => tags.map((tag) => [tag, hops] as const)))
  return (data, accounts) => {
    const layout = layouts.get(tagAt(data, 0))
    return layout === undefined ? NO_HOPS : hopsAt(accounts, layout)
  }
}
