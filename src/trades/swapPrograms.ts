import type { Address } from "../domain/Address.ts"
import { meteoraDammV2Swaps } from "./meteoraDammV2Swaps.ts"
import { meteoraDbcSwaps } from "./meteoraDbcSwaps.ts"
import { meteoraDlmmSwaps } from "./meteoraDlmmSwaps.ts"
import { pumpCurveSwaps } from "./pumpCurveSwaps.ts"
import { pumpSwapSwaps } from "./pumpSwapSwaps.ts"
import { raydiumAmmV4Swaps } from "./raydiumAmmV4Swaps.ts"
import { raydiumClmmSwaps } from "./raydiumClmmSwaps.ts"
import { raydiumCpmmSwaps } from "./raydiumCpmmSwaps.ts"
import type { SwapProgram } from "./SwapProgram.ts"
import { whirlpoolSwaps } from "./whirlpoolSwaps.ts"

/** Every program whose swaps are decoded: one line a venue. */
export const swapPrograms: ReadonlyArray<SwapProgram> = [
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
export const swapProgramOf: ReadonlyMap<Address, SwapProgram> = new Map(
  swapPrograms.map((program) => [program.programId, program])
)
