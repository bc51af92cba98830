/** Decoded trades for tests, as a decoder yields them. */
import { type Address, SOL } from "../../../src/domain/Address.ts"
import { Signature } from "../../../src/domain/Signature.ts"
import type { Leg, NetTrade } from "../../../src/api/schemas/Trade.ts"
import type { BlockTransaction } from "../../../src/chain/decoding/TradeBlock.ts"
import bs58 from "bs58"
import { address, mintOf, walletOf } from "./tape.ts"

export const poolOf = (n: number): Address => address(3, n)

/** A purchase of a million units for a tenth of a SOL, with these changes. */
export const leg = (given: Partial<Leg> = {}): Leg => ({
  signature: Signature.make(bs58.encode(new Uint8Array(64).fill(7))),
  slot: 1,
  blockTime: null,
  indexInBlock: 0,
  outer: 0,
  inner: null,
  feeLamports: 5000n,
  wallet: walletOf(1),
  side: "buy",
  token: { mint: mintOf(1), amount: 1_000_000n, decimals: 6 },
  quote: { mint: SOL, amount: 100_000_000n, decimals: 9 },
  index: 0,
  pool: poolOf(1),
  dex: "raydium-cpmm",
  confirmed: null,
  transferFees: null,
  ...given
})

/** The net trade of the wallet of a leg, over these legs. */
export const netOf = (
  { confirmed: _confirmed, transferFees: _fees, ...trade }: Leg,
  legs: ReadonlyArray<number>
): NetTrade => ({
  ...trade,
  index: 0,
  legs,
  held: { token: null, quote: null },
  fees: [],
  priorityLamports: null
})

/** A decoded transaction without trades, with these changes. */
export const transactionOf = (given: Partial<BlockTransaction>): BlockTransaction => ({
  signature: Signature.make(bs58.encode(new Uint8Array(64).fill(7))),
  index: 0,
  legs: [],
  nets: [],
  transfers: [],
  changes: [],
  moves: [],
  unresolved: 0,
  ...given
})
