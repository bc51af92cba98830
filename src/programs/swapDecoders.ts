import type { Address } from "../domain/Address.ts"
import { meteoraDammV2Swaps } from "./meteora/dammV2Instructions.ts"
import { meteoraDbcSwaps } from "./meteora/dbcInstructions.ts"
import { meteoraDlmmSwaps } from "./meteora/dlmmInstructions.ts"
import { pumpCurveSwaps } from "./pump/curveInstructions.ts"
import { pumpSwapSwaps } from "./pump/pumpSwapInstructions.ts"
import { raydiumAmmV4Swaps } from "./raydium/ammV4Instructions.ts"
import { raydiumClmmSwaps } from "./raydium/clmmInstructions.ts"
import { raydiumCpmmSwaps } from "./raydium/cpmmInstructions.ts"
import type { SwapDecoder } from "./SwapDecoder.ts"
import { whirlpoolSwaps } from "./orca/whirlpoolInstructions.ts"

/** Every program whose swaps are decoded: one line a venue. */
export const swapDecoders: ReadonlyArray<SwapDecoder> = [
  raydiumAmmV4Swaps,
  raydiumCpmmSwaps,
  raydiumClmmSwaps,
  whirlpoolSwaps,
  meteoraDlmmSwaps,
  meteoraDammV2Swaps,
  meteoraDbcSwaps,
  pumpSwapSwaps,
  pumpCurveSwaps
]

/** The same by program address. */
export const swapDecoderOf: ReadonlyMap<Address, SwapDecoder> = new Map(
  swapDecoders.map((program) => [program.programId, program])
)
