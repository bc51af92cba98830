/**
 * Swaps on Meteora's bonding curve as instructions and events. Layout: dynamic-bonding-curve,
 * src/{instructions/swap,event}.rs.
 */
import { hopLayout, taggedHops } from "../layout/hops.ts"
import { eventLayout, swapAmounts } from "../layout/anchorEvents.ts"
import { meteoraDbc } from "./dbc.ts"
import { EVT_SWAP, EVT_SWAP_2, SWAP, SWAP_2 } from "./discriminators.ts"
import type { SwapDecoder } from "../interface/SwapDecoder.ts"
import { tagOf } from "../layout/anchor.ts"

const SWAP_2_WITH_TRANSFER_HOOK = tagOf("b75d992818e6c297")
const EVT_SWAP_2_WITH_TRANSFER_HOOK = tagOf("863ba8785e3372e7")

/** Accounts of `swap` and `swap2`. For a referral account that is left out, the program itself is passed. */
export const dbcSwapAccounts = [
  "poolAuthority",
  "config",
  "pool",
  "inputTokenAccount",
  "outputTokenAccount",
  "baseVault",
  "quoteVault",
  "baseMint",
  "quoteMint",
  "payer",
  "tokenBaseProgram",
  "tokenQuoteProgram",
  "referralTokenAccount",
  "eventAuthority",
  "program"
] as const

const hops = [hopLayout(dbcSwapAccounts, "pool", "baseVault", "quoteVault", "referralTokenAccount")]

const evtSwap = eventLayout(EVT_SWAP, [
  ["pool", "address"],
  ["config", "address"],
  ["tradeDirection", "u8"],
  ["hasReferral", "bool"],
  ["amountIn", "u64"],
  ["minimumAmountOut", "u64"],
  ["actualInputAmount", "u64"],
  ["outputAmount", "u64"],
  ["nextSqrtPrice", "u128"],
  ["tradingFee", "u64"],
  ["protocolFee", "u64"],
  ["referralFee", "u64"],
  ["actualAmountIn", "u64"]
])

/** Event `EvtSwap2`. Direction 0 sells the base token. */
export const dbcSwapEvent = eventLayout(EVT_SWAP_2, [
  ["pool", "address"],
  ["config", "address"],
  ["tradeDirection", "u8"],
  ["hasReferral", "bool"],
  ["amount0", "u64"],
  ["amount1", "u64"],
  ["swapMode", "u8"],
  ["includedFeeInputAmount", "u64"],
  ["excludedFeeInputAmount", "u64"],
  ["amountLeft", "u64"],
  ["outputAmount", "u64"],
  ["nextSqrtPrice", "u128"],
  ["tradingFee", "u64"],
  ["protocolFee", "u64"],
  ["referralFee", "u64"],
  ["quoteReserveAmount", "u64"],
  ["migrationThreshold", "u64"],
  ["currentTimestamp", "u64"]
])

const readEvtSwap = swapAmounts(evtSwap, "actualAmountIn", "outputAmount")
const readEvtSwap2 = swapAmounts(dbcSwapEvent, "includedFeeInputAmount", "outputAmount")
const readHookedSwap = swapAmounts(
  dbcSwapEvent,
  "includedFeeInputAmount",
  "outputAmount",
  EVT_SWAP_2_WITH_TRANSFER_HOOK
)

/** Decodes swaps on Meteora's bonding curves. Each swap emits both events, the older one first. */
export const meteoraDbcSwaps: SwapDecoder = {
  dex: meteoraDbc.dex,
  programId: meteoraDbc.programId,
  hops: taggedHops([[SWAP, SWAP_2, SWAP_2_WITH_TRANSFER_HOOK], hops]),
  selfCall: (event, body) => readEvtSwap(event, body) ?? readEvtSwap2(event, body) ?? readHookedSwap(event, body)
}
