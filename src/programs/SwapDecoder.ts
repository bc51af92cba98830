/** The interface of a swap decoder: instructions that swap, the pools they go through, and the amounts in the program's events. */
import { readU64 } from "./math/bytes.ts"
import type { Address } from "../domain/Address.ts"

/** One pool that a swap instruction goes through. */
export interface Hop {
  readonly pool: Address
  /**
   * The pool's two token accounts. Where the quote side is lamports, the first holds the tokens and the second nothing. Null
   * where only the movements determine them: the trader pays first.
   */
  readonly vaults: readonly [Address, Address] | null
  /** Set where the quote side is lamports: trader and fee recipient, whose balances change without an instruction. */
  readonly native?: { readonly trader: Address; readonly feeRecipient: Address | null }
  /** Account of a referrer, whom the pool pays a share of its fee; absent where the instruction names none. */
  readonly referral?: Address
  /** True when the accounts alone do not determine the hop, so that it counts only if tokens moved through it. */
  readonly perhaps?: boolean
}

/** Amounts of one hop in the program's event: what the pool received, after a transfer fee unless `reportsSent`, and what it paid, before one. */
export interface SwapReport {
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** Lamports that the trader paid or received, every fee included; null when the event does not state them. */
  readonly traderLamports: bigint | null
}

/** One swap program. All members are pure. */
export interface SwapDecoder {
  /** Venue label of its pools, as quotes have it. */
  readonly dex: string
  readonly programId: Address
  /** False for a program whose prices are not public: its pools have legs and are never quoted. True where absent. */
  readonly quotable?: boolean
  /** The pools this instruction swaps through, in order; empty when it is no swap. */
  readonly hops: (data: Uint8Array, accounts: ReadonlyArray<Address>) => ReadonlyArray<Hop>
  /** Reads an event that the program sends to itself; null when it is no swap. `body` follows the two discriminators. */
  readonly selfCall?: (event: bigint, body: Uint8Array) => SwapReport | null
  /** Reads the base64 payload of a log line; null when it is no swap. */
  readonly logged?: (payload: Uint8Array) => SwapReport | null
  /** True when the event's input is what the trader sent, a transfer fee included. */
  readonly reportsSent?: boolean
  /** True when the event's amounts are the trade, because token movements include fees. Otherwise they only confirm it. */
  readonly reportDecides?: boolean
}

/** The discriminator of an instruction or event as u64, from its 16 hex digits. */
export const tagOf = (hex: string): bigint => Buffer.from(hex, "hex").readBigUInt64LE()

/** The discriminator at an offset; -1 for data too short to have one. */
export const tagAt = (data: Uint8Array, offset: number): bigint =>
  data.length < offset + 8 ? -1n : readU64(data, offset)

/** Indexes of a pool and its two vaults among the accounts of an instruction. */
export interface HopLayout {
  readonly pool: number
  readonly vaultA: number
  readonly vaultB: number
  /** Absent for programs without referrers. */
  readonly referral?: number
}

const NO_HOPS: ReadonlyArray<Hop> = []

const hopAt = (accounts: ReadonlyArray<Address>, layout: HopLayout): Hop | null => {
  const referral = layout.referral === undefined ? undefined : accounts[layout.referral]
  const pool = accounts[layout.pool]
  const vaultA = accounts[layout.vaultA]
  const vaultB = accounts[layout.vaultB]
  return pool === undefined || vaultA === undefined || vaultB === undefined
    ? null
    : { pool, vaults: [vaultA, vaultB], ...(referral !== undefined && { referral }) }
}

/** The hops at these indexes; none when an account is missing. */
export const hopsAt = (accounts: ReadonlyArray<Address>, layouts: ReadonlyArray<HopLayout>): ReadonlyArray<Hop> => {
  const hops = layouts.map((layout) => hopAt(accounts, layout))
  return hops.every((hop) => hop !== null) ? hops : NO_HOPS
}

/** Hops of instructions that differ by their discriminator. */
export const taggedHops =
  (layouts: ReadonlyMap<bigint, ReadonlyArray<HopLayout>>): SwapDecoder["hops"] =>
  (data, accounts) => {
    const layout = layouts.get(tagAt(data, 0))
    return layout === undefined ? NO_HOPS : hopsAt(accounts, layout)
  }
