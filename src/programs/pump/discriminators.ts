/** Instructions that have the same name in the curve program and in PumpSwap, and other parts that both share. */
import type { Address } from "../../domain/Address.ts"
import { pack, u64, u8, utf8 } from "../layout/pack.ts"
import type { DeriveAddress } from "../interface/Program.ts"
import { tagOf } from "../layout/anchor.ts"

export const BUY = tagOf("66063d1201daebea")
export const SELL = tagOf("33e685a4017f83ad")
export const BUY_V2 = tagOf("b817ee6167c5d33d")
export const SELL_V2 = tagOf("5df6823ce7e940b2")
export const BUY_EXACT_QUOTE_IN_V2 = tagOf("c2ab1c46684d5b2f")

/** Data of a purchase by exact input. It does not track the trader's volume. */
export const encodeBuyExactIn = (tag: bigint, quote: bigint, minimumOut: bigint): Uint8Array =>
  pack(u64(tag), u64(quote), u64(minimumOut), u8(0))

/** Data of a trade with two amounts: what is exact, and the limit of the other one. */
export const encodeTrade = (tag: bigint, exact: bigint, limit: bigint): Uint8Array =>
  pack(u64(tag), u64(exact), u64(limit))

/** Data of `sell`: exact tokens, minimum quote. */
export const encodeSell = (tokens: bigint, minimumOut: bigint): Uint8Array => encodeTrade(SELL, tokens, minimumOut)

/** The account that counts a program's total volume. */
export const globalVolumeOf = (program: Address, derive: DeriveAddress): Address =>
  derive(program, [utf8("global_volume_accumulator")])
