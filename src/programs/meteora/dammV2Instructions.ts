/**
 * Swaps of Meteora DAMM v2 as instructions and events. Layout: damm-v2,
 * programs/cp-amm/src/{instructions/swap,event}.rs.
 */
import { hopLayout, taggedHops } from "../layout/hops.ts"
import { taggedLiquidity } from "../layout/liquidityCalls.ts"
import { eventLayout, swapAmounts } from "../layout/anchorEvents.ts"
import { meteoraDammV2 } from "./dammV2.ts"
import { EVT_SWAP, EVT_SWAP_2, SWAP, SWAP_2 } from "./discriminators.ts"
import type { SwapDecoder } from "../interface/SwapDecoder.ts"

/** Accounts of `swap` and `swap2`. For a referral account that is left out, the program itself is passed. */
export const dammV2SwapAccounts = [
  "poolAuthority",
  "pool",
  "inputTokenAccount",
  "outputTokenAccount",
  "tokenAVault",
  "tokenBVault",
  "tokenAMint",
  "tokenBMint",
  "payer",
  "tokenAProgram",
  "tokenBProgram",
  "referralTokenAccount",
  "eventAuthority",
  "program"
] as const

const hops = [hopLayout(dammV2SwapAccounts, "pool", "tokenAVault", "tokenBVault", "referralTokenAccount")]

const evtSwap = eventLayout(EVT_SWAP, [
  ["pool", "address"],
  ["tradeDirection", "u8"],
  ["hasReferral", "bool"],
  ["amountIn", "u64"],
  ["minimumAmountOut", "u64"],
  ["outputAmount", "u64"],
  ["nextSqrtPrice", "u128"],
  ["lpFee", "u64"],
  ["protocolFee", "u64"],
  ["partnerFee", "u64"],
  ["referralFee", "u64"],
  ["actualAmountIn", "u64"]
])

/** Event `EvtSwap2`. Direction 0 sells token A. */
export const dammV2SwapEvent = eventLayout(EVT_SWAP_2, [
  ["pool", "address"],
  ["tradeDirection", "u8"],
  ["collectFeeMode", "u8"],
  ["hasReferral", "bool"],
  ["amount0", "u64"],
  ["amount1", "u64"],
  ["swapMode", "u8"],
  ["includedFeeInputAmount", "u64"],
  ["excludedFeeInputAmount", "u64"],
  ["amountLeft", "u64"],
  ["outputAmount", "u64"],
  ["nextSqrtPrice", "u128"],
  ["claimingFee", "u64"],
  ["protocolFee", "u64"],
  ["compoundingFee", "u64"],
  ["referralFee", "u64"],
  ["includedTransferFeeAmountIn", "u64"],
  ["includedTransferFeeAmountOut", "u64"],
  ["excludedTransferFeeAmountOut", "u64"],
  ["currentTimestamp", "u64"],
  ["reserveAAmount", "u64"],
  ["reserveBAmount", "u64"]
])

const readEvtSwap = swapAmounts(evtSwap, "actualAmountIn", "outputAmount")
const readEvtSwap2 = swapAmounts(dammV2SwapEvent, "includedFeeInputAmount", "outputAmount")

/** Instructions of providers. Fees of positions are claimed by an instruction of their own. */
const liquidity = taggedLiquidity(
  [["b59d59438fb63448"], { pool: 0, vaults: [4, 5] }],
  [["5055d14818ceb16c", "0a333d2370691855"], { pool: 1, vaults: [5, 6] }],
  [["5fb40aac54aee828"], { pool: 6, vaults: [10, 11], opens: true }],
  [["14a1f118bdddb402"], { pool: 5, vaults: [9, 10], opens: true }],
  [["955248c5fdfc440f"], { pool: 7, vaults: [11, 12], opens: true }]
)

/** Decodes swaps of Meteora's DAMM v2. */
export const meteoraDammV2Swaps: SwapDecoder = {
  dex: meteoraDammV2.dex,
  programId: meteoraDammV2.programId,
  hops: taggedHops([[SWAP, SWAP_2], hops]),
  liquidity,
  selfCall: (event, body) => readEvtSwap(event, body) ?? readEvtSwap2(event, body)
}
