/**
 * Instructions and event of Orca Whirlpool: whirlpools, instructions/{swap,two_hop_swap}.rs, their v2, and the
 * `Traded` event.
 */
import { eventLayout, inLog, swapAmounts } from "../layout/anchorEvents.ts"
import { hopLayout, taggedHops } from "../layout/hops.ts"
import { taggedLiquidity } from "../layout/liquidityCalls.ts"
import { ANCHOR_SWAP, ANCHOR_SWAP_V2, tagOf } from "../layout/anchor.ts"
import { readU64 } from "../layout/bytes.ts"
import { bool, hex, pack, u128, u64, u8 } from "../layout/pack.ts"
import type { SwapDecoder } from "../interface/SwapDecoder.ts"
import { whirlpool } from "./whirlpool.ts"
import { whirlpoolGrid } from "./whirlpoolTicks.ts"

const TWO_HOP_SWAP = "c360ed6c44a2dbe6"
const TWO_HOP_SWAP_V2 = "ba8fd11dfe02c275"

/** The last accounts of `swap` and `swap_v2`. */
const swapAccountsTail = [
  "tokenOwnerAccountA",
  "tokenVaultA",
  "tokenOwnerAccountB",
  "tokenVaultB",
  "tickArray0",
  "tickArray1",
  "tickArray2",
  "oracle"
] as const

/** Accounts of `swap`. */
export const whirlpoolSwapAccounts = ["tokenProgram", "tokenAuthority", "whirlpool", ...swapAccountsTail] as const

/** Accounts of `swap_v2`. */
export const whirlpoolSwapV2Accounts = [
  "tokenProgramA",
  "tokenProgramB",
  "memoProgram",
  "tokenAuthority",
  "whirlpool",
  "tokenMintA",
  "tokenMintB",
  ...swapAccountsTail
] as const

/** Accounts of `two_hop_swap`, up to the last vault. */
const twoHopSwapAccounts = [
  "tokenProgram",
  "tokenAuthority",
  "whirlpoolOne",
  "whirlpoolTwo",
  "tokenOwnerAccountOneA",
  "tokenVaultOneA",
  "tokenOwnerAccountOneB",
  "tokenVaultOneB",
  "tokenOwnerAccountTwoA",
  "tokenVaultTwoA",
  "tokenOwnerAccountTwoB",
  "tokenVaultTwoB"
] as const

/** Accounts of `two_hop_swap_v2`, up to the last vault. The token in between goes from vault to vault. */
const twoHopSwapV2Accounts = [
  "whirlpoolOne",
  "whirlpoolTwo",
  "tokenMintInput",
  "tokenMintIntermediate",
  "tokenMintOutput",
  "tokenProgramInput",
  "tokenProgramIntermediate",
  "tokenProgramOutput",
  "tokenOwnerAccountInput",
  "tokenVaultOneInput",
  "tokenVaultOneIntermediate",
  "tokenVaultTwoIntermediate",
  "tokenVaultTwoOutput",
  "tokenOwnerAccountOutput"
] as const

const swapData = (
  swap: { readonly second: boolean; readonly aToB: boolean },
  amounts: { readonly specified: bigint; readonly threshold: bigint; readonly isInput: boolean }
): Uint8Array =>
  pack(
    hex(swap.second ? ANCHOR_SWAP_V2 : ANCHOR_SWAP),
    u64(amounts.specified),
    u64(amounts.threshold),
    u128(swap.aToB ? whirlpoolGrid.lowestSqrtPrice : whirlpoolGrid.highestSqrtPrice),
    bool(amounts.isInput),
    bool(swap.aToB),
    ...(swap.second ? [u8(0)] : [])
  )

/** Data of an exact-input `swap` or `swap_v2`. Its price limit is the program's final price. */
export const encodeWhirlpoolSwap = (swap: {
  readonly second: boolean
  readonly amountIn: bigint
  readonly minimumOut: bigint
  readonly aToB: boolean
}): Uint8Array => swapData(swap, { specified: swap.amountIn, threshold: swap.minimumOut, isInput: true })

/** Data of an exact-output `swap` or `swap_v2`. Its price limit is the program's final price. */
export const encodeWhirlpoolSwapOut = (swap: {
  readonly second: boolean
  readonly amountOut: bigint
  readonly maximumIn: bigint
  readonly aToB: boolean
}): Uint8Array => swapData(swap, { specified: swap.amountOut, threshold: swap.maximumIn, isInput: false })

/** Event `Traded`. Both amounts include their transfer fees. */
export const whirlpoolTraded = eventLayout("e1ca49af932ba096", [
  ["pool", "address"],
  ["aToB", "bool"],
  ["sqrtPriceBefore", "u128"],
  ["sqrtPriceAfter", "u128"],
  ["inputAmount", "u64"],
  ["outputAmount", "u64"],
  ["inputTransferFee", "u64"],
  ["outputTransferFee", "u64"],
  ["lpFee", "u64"],
  ["protocolFee", "u64"]
])

const amountsOf = swapAmounts(whirlpoolTraded, "inputAmount", "outputAmount")
const TRANSFER_FEE_AT = whirlpoolTraded.offsetOf("inputTransferFee")

/**
 * Instructions of providers: increase_liquidity.rs, decrease_liquidity.rs, their v2, and v2/reposition_liquidity_v2.rs.
 * Fees are collected by instructions of their own.
 */
const liquidity = taggedLiquidity(
  [["2e9cf3760dcdfbb2", "a026d06f685b2c01"], { pool: 0, vaults: [7, 8] }],
  [["851d59df45eeb00a", "3a7fbc3e4f52c460", "effb097cd2c6352b"], { pool: 0, vaults: [11, 12] }],
  [["bfa9e00b83139efd"], { pool: 0, vaults: [12, 13] }]
)

/** Decodes swaps on Orca's concentrated pools, including two-hop swaps. */
export const whirlpoolSwaps: SwapDecoder = {
  dex: whirlpool.dex,
  programId: whirlpool.programId,
  hops: taggedHops(
    [[tagOf(ANCHOR_SWAP)], [hopLayout(whirlpoolSwapAccounts, "whirlpool", "tokenVaultA", "tokenVaultB")]],
    [[tagOf(ANCHOR_SWAP_V2)], [hopLayout(whirlpoolSwapV2Accounts, "whirlpool", "tokenVaultA", "tokenVaultB")]],
    [
      [tagOf(TWO_HOP_SWAP)],
      [
        hopLayout(twoHopSwapAccounts, "whirlpoolOne", "tokenVaultOneA", "tokenVaultOneB"),
        hopLayout(twoHopSwapAccounts, "whirlpoolTwo", "tokenVaultTwoA", "tokenVaultTwoB")
      ]
    ],
    [
      [tagOf(TWO_HOP_SWAP_V2)],
      [
        hopLayout(twoHopSwapV2Accounts, "whirlpoolOne", "tokenVaultOneInput", "tokenVaultOneIntermediate"),
        hopLayout(twoHopSwapV2Accounts, "whirlpoolTwo", "tokenVaultTwoIntermediate", "tokenVaultTwoOutput")
      ]
    ]
  ),
  liquidity,
  logged: inLog((event, body) => {
    const amounts = body.length < TRANSFER_FEE_AT + 8 ? null : amountsOf(event, body)
    return amounts === null ? null : { ...amounts, amountIn: amounts.amountIn - readU64(body, TRANSFER_FEE_AT) }
  })
}
