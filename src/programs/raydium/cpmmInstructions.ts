/** Instructions and event of Raydium CPMM: raydium-cp-swap, programs/cp-swap/src/{instructions/swap_base_input,states/events}.rs. */
import { hopLayout } from "../accountOrder.ts"
import { ANCHOR_SWAP_EVENT } from "../anchor.ts"
import { readU64 } from "../math/bytes.ts"
import { bool, hex, key, pack, recordEncoder, u64 } from "../math/pack.ts"
import { type SwapDecoder, tagAt, taggedHops, tagOf } from "../SwapDecoder.ts"
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

/** Amounts of the event, and the bytes up to the last of them. */
const eventOffsets = { inputAmount: 56, outputAmount: 64 } as const
const EVENT_SIZE = 72

/** Event of a swap. The input is net of its transfer fee, the output includes its own. Vault balances are those before it. */
export const encodeCpmmSwapEvent = recordEncoder(ANCHOR_SWAP_EVENT, {
  pool: key,
  inputVaultBefore: u64,
  outputVaultBefore: u64,
  inputAmount: u64,
  outputAmount: u64,
  inputTransferFee: u64,
  outputTransferFee: u64,
  baseInput: bool
})

const hops = [hopLayout(cpmmSwapAccounts, "poolState", "inputVault", "outputVault")]
const SWAP_EVENT = tagOf(ANCHOR_SWAP_EVENT)

/** Swaps of Raydium's CPMM. */
export const raydiumCpmmSwaps: SwapDecoder = {
  dex: raydiumCpmm.dex,
  programId: raydiumCpmm.programId,
  hops: taggedHops(
    new Map([
      [tagOf(SWAP_BASE_INPUT), hops],
      [tagOf(SWAP_BASE_OUTPUT), hops]
    ])
  ),
  logged: (payload) =>
    tagAt(payload, 0) === SWAP_EVENT && payload.length >= EVENT_SIZE
      ? {
          amountIn: readU64(payload, eventOffsets.inputAmount),
          amountOut: readU64(payload, eventOffsets.outputAmount),
          traderLamports: null
        }
      : null
}
