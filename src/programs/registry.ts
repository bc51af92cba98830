import type { Address } from "../domain/Address.ts"
import type { Program } from "./interface/Program.ts"
import type { SwapDecoder } from "./interface/SwapDecoder.ts"
import { closedAmmSwaps } from "./charted/closedAmms.ts"
import { closedAmms } from "./executed/closedAmms.ts"
import { meteoraDammV1 } from "./executed/meteoraDammV1.ts"
import { meteoraDammV2 } from "./meteora/dammV2.ts"
import { meteoraDammV2Swaps } from "./meteora/dammV2Instructions.ts"
import { meteoraDbc } from "./meteora/dbc.ts"
import { meteoraDbcSwaps } from "./meteora/dbcInstructions.ts"
import { meteoraDlmm } from "./meteora/dlmm.ts"
import { meteoraDlmmSwaps } from "./meteora/dlmmInstructions.ts"
import { pumpCurve } from "./pump/curve.ts"
import { pumpCurveSwaps } from "./pump/curveInstructions.ts"
import { pumpSwap } from "./pump/pumpSwap.ts"
import { pumpSwapSwaps } from "./pump/pumpSwapInstructions.ts"
import { raydiumAmmV4 } from "./raydium/ammV4.ts"
import { raydiumAmmV4Swaps } from "./raydium/ammV4Instructions.ts"
import { raydiumClmm } from "./raydium/clmm.ts"
import { raydiumClmmSwaps } from "./raydium/clmmInstructions.ts"
import { raydiumCpmm } from "./raydium/cpmm.ts"
import { raydiumCpmmSwaps } from "./raydium/cpmmInstructions.ts"
import { raydiumLaunchLab } from "./raydium/launchLab.ts"
import { unprovenAmmSwaps } from "./charted/unprovenAmms.ts"
import { whirlpool } from "./orca/whirlpool.ts"
import { whirlpoolSwaps } from "./orca/whirlpoolInstructions.ts"

/** Every AMM program with its prices and its swap decoder, one line per venue. */
const venues: ReadonlyArray<{ readonly program: Program; readonly decoder: SwapDecoder }> = [
  { program: raydiumAmmV4, decoder: raydiumAmmV4Swaps },
  { program: raydiumCpmm, decoder: raydiumCpmmSwaps },
  { program: pumpSwap, decoder: pumpSwapSwaps },
  { program: pumpCurve, decoder: pumpCurveSwaps },
  { program: raydiumClmm, decoder: raydiumClmmSwaps },
  { program: whirlpool, decoder: whirlpoolSwaps },
  { program: meteoraDlmm, decoder: meteoraDlmmSwaps },
  { program: meteoraDammV2, decoder: meteoraDammV2Swaps },
  { program: meteoraDbc, decoder: meteoraDbcSwaps }
]

/** All programs whose pools are priced. */
export const programs: ReadonlyArray<Program> = venues.map(({ program }) => program)

/**
 * All programs whose pools are followed: priced programs, and programs whose accounts say how close a curve is to
 * graduation.
 */
export const followedPrograms: ReadonlyArray<Program> = [...programs, raydiumLaunchLab]

/** All programs whose pools are priced by running the program, where this process runs programs. */
export const executedPrograms: ReadonlyArray<Program> = [meteoraDammV1, ...closedAmms]

/** All programs whose swaps are decoded. Programs that are never quoted come last. */
export const swapDecoders: ReadonlyArray<SwapDecoder> = [
  ...venues.map(({ decoder }) => decoder),
  ...closedAmmSwaps,
  ...unprovenAmmSwaps
]

/** Swap decoders by program address. */
export const swapDecoderOf: ReadonlyMap<Address, SwapDecoder> = new Map(
  swapDecoders.map((decoder) => [decoder.programId, decoder])
)
