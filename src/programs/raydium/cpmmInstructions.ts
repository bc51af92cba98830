/** Instructions and event of Raydium CPMM: raydium-cp-swap, programs/cp-swap/src/{instructions/swap_base_input,states/events}.rs. */
import { eventLayout, inLog, swapAmounts } from "../layout/anchorEvents.ts"
import { hopLayout, taggedHops } from "../layout/hops.ts"
import { taggedLiquidity } from "../layout/liquidityCalls.ts"
import { ANCHOR_SWAP_EVENT, tagOf } from "../layout/anchor.ts"
import { hex, pack, u64 } from "../layout/pack.ts"
import type { SwapDecoder } from "../interface/SwapDecoder.ts"
import { raydiumCpmm } from "./cpmm.ts"

const SWAP_BASE_INPUT = "8fbe5adac41e33de"
const SWAP_BASE_OUTPUT = "37d96256a34ab4ad"

/** Accounts of `swap_base_input` and `swap_base_output`. */
export const cpmmSwapAccounts = [
  "payer",
  "authority",
  "ammConfig",
  "poolState",
  "inputTokenAccount",
  "outputTokenAccount",
  "inputVault",
  "outputVault",
  "inputTokenProgram",
  "outputTokenProgram",
  "inputTokenMint",
  "outputTokenMint",
  "observationState"
] as const

/** Data of `swap_base_input`. */
export const encodeCpmmSwap = (amountIn: bigint, minimumOut: bigint): Uint8Array =>
  pack(hex(SWAP_BASE_INPUT), u64(amountIn), u64(minimumOut))

/**
 * Event of a swap. The input is without its transfer fee, the output includes its own. Vault balances are from before
 * the swap.
 */
export const cpmmSwapEvent = eventLayout(ANCHOR_SWAP_EVENT, [
  ["pool", "address"],
  ["inputVaultBefore", "u64"],
  ["outputVaultBefore", "u64"],
  ["inputAmount", "u64"],
  ["outputAmount", "u64"],
  ["inputTransferFee", "u64"],
  ["outputTransferFee", "u64"],
  ["baseInput", "bool"]
])

/** Instructions of providers: initialize.rs, initialize_with_permission.rs, deposit.rs and withdraw.rs. */
const liquidity = taggedLiquidity(
  [["f223c68952e1f2b6", "b712469c946da122"], { pool: 2, vaults: [6, 7] }],
  [["afaf6d1f0d989bed"], { pool: 3, vaults: [10, 11], opens: true }],
  [["3f37fe4131b25979"], { pool: 4, vaults: [11, 12], opens: true }]
)

/** Decodes swaps on Raydium's CPMM. */
export const raydiumCpmmSwaps: SwapDecoder = {
  dex: raydiumCpmm.dex,
  programId: raydiumCpmm.programId,
  hops: taggedHops([
    [tagOf(SWAP_BASE_INPUT), tagOf(SWAP_BASE_OUTPUT)],
    [hopLayout(cpmmSwapAccounts, "poolState", "inputVault", "outputVault")]
  ]),
  liquidity,
  logged: inLog(swapAmounts(cpmmSwapEvent, "inputAmount", "outputAmount"))
}
