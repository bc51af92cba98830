/** What every swap decoder gives: which instructions swap, through which pools, and what the program says of it. */
import { readU64 } from "./math/bytes.ts"
import type { Address } from "../domain/Address.ts"

/** One pool that a swap instruction goes through. */
export interface Hop {
  readonly pool: Address
  /** The pool's two token accounts. Where the quote side is lamports, the first holds the tokens and the second nothing. */
  readonly vaults: readonly [Address, Address]
  /** Where the quote side is lamports: who trades, and who takes the fee, whose accounts change without an instruction. */
  readonly native?: { readonly trader: Address; readonly feeRecipient: Address | null }
  /** A place where a hop may be: the accounts alone do not tell, so that only what moved does. */
  readonly perhaps?: boolean
}

/** What the program's event says of one hop. */
export interface SwapReport {
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** What the trader paid or received in lamports, every fee included; null when not said. */
  readonly traderLamports: bigint | null
}

/** One swap program. All members are pure. */
export interface SwapDecoder {
  /** Venue label of its pools, as quotes have it. */
  readonly dex: string
  readonly programId: Address
  /** The pools this instruction swaps through, in order; empty when it is no swap. */
  readonly hops: (data: Uint8Array, accounts: ReadonlyArray<Address>) => ReadonlyArray<Hop>
  /** What an event that the program sends to itself says; null when it is no swap. Bytes after the two tags of 8. */
  readonly selfCall?: (event: bigint, body: Uint8Array) => SwapReport | null
  /** What a log line's base64 payload says; null when it is no swap. */
  readonly logged?: (payload: Uint8Array) => SwapReport | null
  /** Whether the event's amounts are the trade, because fees travel or stay with what moves. Otherwise they only confirm. */
  readonly reportDecides?: boolean
}

/** An eight-byte tag of instruction or event, from its 16 hex digits. */
export const tagOf = (hex: string): bigint => Buffer.from(hex, "hex").readBigUInt64LE()

/** The tag that data begins with; -1 for data too short to have one. */
export const tagAt = (data: Uint8Array, offset: number): bigint =>
  data.length < offset + 8 ? -1n : readU64(data, offset)

/** Where an instruction's accounts are: the pool and its two vaults. */
export interface HopLayout {
  readonly pool: number
  readonly vaultA: number
  readonly vaultB: number
}

const NO_HOPS: ReadonlyArray<Hop> = []

const hopAt = (accounts: ReadonlyArray<Address>, layout: HopLayout): Hop | null => {
  const pool = accounts[layout.pool]
  const vaultA = accounts[layout.vaultA]
  const vaultB = accounts[layout.vaultB]
  return pool === undefined || vaultA === undefined || vaultB === undefined ? null : { pool, vaults: [vaultA, vaultB] }
}

/** The hops at these places; none when an account is missing. */
export const hopsAt = (accounts: ReadonlyArray<Address>, layouts: ReadonlyArray<HopLayout>): ReadonlyArray<Hop> => {
  const hops = layouts.map((layout) => hopAt(accounts, layout))
  return hops.every((hop) => hop !== null) ? hops : NO_HOPS
}

/** Decodes instructions that are told apart by their first eight bytes. */
export const taggedHops =
  (layouts: ReadonlyMap<bigint, ReadonlyArray<HopLayout>>): SwapDecoder["hops"] =>
  (data, accounts) => {
    const layout = layouts.get(tagAt(data, 0))
    return layout === undefined ? NO_HOPS : hopsAt(accounts, layout)
  }
