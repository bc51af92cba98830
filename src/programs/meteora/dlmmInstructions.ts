/** Swaps of Meteora DLMM as instructions and events. Layout: dlmm-sdk, idls/dlmm.json. */
import { hopLayout, taggedHops } from "../layout/hops.ts"
import { taggedLiquidity } from "../layout/liquidityCalls.ts"
import { eventLayout, swapAmounts } from "../layout/anchorEvents.ts"
import { pack, u32, u64 } from "../layout/pack.ts"
import { encodeSwap, SWAP, SWAP_2 } from "./discriminators.ts"
import { meteoraDlmm } from "./dlmm.ts"
import type { SwapDecoder } from "../interface/SwapDecoder.ts"
import { tagOf } from "../layout/anchor.ts"

const SWAP_EXACT_OUT = tagOf("fa49652126cf4bb8")
const SWAP_EXACT_OUT_2 = tagOf("2bd7f784893cf351")
const SWAP_WITH_PRICE_IMPACT = tagOf("38ade6d0ade49ccd")
const SWAP_WITH_PRICE_IMPACT_2 = tagOf("4a62c0d6b1334b33")

const beforeMemo = [
  "lbPair",
  "binArrayBitmapExtension",
  "reserveX",
  "reserveY",
  "userTokenIn",
  "userTokenOut",
  "tokenXMint",
  "tokenYMint",
  "oracle",
  "hostFeeIn",
  "user",
  "tokenXProgram",
  "tokenYProgram"
] as const

/**
 * Accounts of `swap` and of `swap2`. The bin arrays follow. For an optional account that is left out, the program
 * itself is passed.
 */
export const dlmmSwapAccounts = [...beforeMemo, "eventAuthority", "program"] as const
export const dlmmSwap2Accounts = [...beforeMemo, "memoProgram", "eventAuthority", "program"] as const

const hops = [hopLayout(dlmmSwapAccounts, "lbPair", "reserveX", "reserveY")]

/** Takes liquidity out of some bins and puts it into others, so that one mint may go in and the other come out. */
const REBALANCE_LIQUIDITY = "5c04b0c177b95309"

/** The data of `swap`, or of `swap2` without accounts for transfer hooks. */
export const encodeDlmmSwap = (second: boolean, amountIn: bigint, minimumOut: bigint): Uint8Array =>
  second ? pack(u64(SWAP_2), u64(amountIn), u64(minimumOut), u32(0)) : encodeSwap(amountIn, minimumOut)

/** Event `Swap`. `amountIn` is what the trader sent, before a transfer fee. `amountOut` is what the pair paid. */
export const dlmmSwapEvent = eventLayout("516ce3becdd00ac4", [
  ["lbPair", "address"],
  ["from", "address"],
  ["startBinId", "i32"],
  ["endBinId", "i32"],
  ["amountIn", "u64"],
  ["amountOut", "u64"],
  ["swapForY", "bool"],
  ["fee", "u64"],
  ["protocolFee", "u64"],
  ["feeRate", "u128"],
  ["hostFee", "u64"]
])

/** Deposits by amount, weight and strategy, and withdrawals, in their first and second version. */
const bothMints = [
  "b59d59438fb63448",
  "e4a24e1c46db7473",
  "1c8cee63e7a21595",
  "d13b3f5b6fc899e4",
  "0703967f94283dc8",
  "03dd95da6f8d76d5",
  "5055d14818ceb16c",
  "e6d7527ff165e392",
  "1a526698f04a691a",
  "cc02c391359191cd",
  "0a333d2370691855"
]
/** Deposits of one mint. */
const oneMint = ["5e9b6797465fdca5", "2905eeaf64e106cd", "a1c26754ab47fa9a", "2133a3c975627de7"]

/** Instructions of providers. Fees are claimed by instructions of their own, or when liquidity is rebalanced. */
const liquidity = taggedLiquidity(
  [bothMints, { pool: 1, vaults: [5, 6] }],
  [oneMint, { pool: 1, vaults: [4] }],
  [[REBALANCE_LIQUIDITY], { pool: 1, vaults: [5, 6], paysFees: true }]
)

/** Decodes swaps on DLMM pairs: by exact input, by exact output, and within a price impact. */
export const meteoraDlmmSwaps: SwapDecoder = {
  dex: meteoraDlmm.dex,
  programId: meteoraDlmm.programId,
  hops: taggedHops([
    [SWAP, SWAP_2, SWAP_EXACT_OUT, SWAP_EXACT_OUT_2, SWAP_WITH_PRICE_IMPACT, SWAP_WITH_PRICE_IMPACT_2],
    hops
  ]),
  exchanges: [tagOf(REBALANCE_LIQUIDITY)],
  liquidity,
  selfCall: swapAmounts(dlmmSwapEvent, "amountIn", "amountOut"),
  reportsSent: true
}
