import type { Program } from "./Program.ts"
import { meteoraDammV2 } from "./meteoraDammV2.ts"
import { meteoraDbc } from "./meteoraDbc.ts"
import { meteoraDlmm } from "./meteoraDlmm.ts"
import { pumpCurve } from "./pumpCurve.ts"
import { pumpSwap } from "./pumpSwap.ts"
import { raydiumAmmV4 } from "./raydiumAmmV4.ts"
import { raydiumClmm } from "./raydiumClmm.ts"
import { raydiumCpmm } from "./raydiumCpmm.ts"
import { whirlpool } from "./whirlpool.ts"

/** Every AMM program this engine prices: one line a venue. */
export const programs: ReadonlyArray<Program> = [
  raydiumAmmV4,
  raydiumCpmm,
  pumpSwap,
  pumpCurve,
  raydiumClmm,
  whirlpool,
  meteoraDlmm,
  meteoraDammV2,
  meteoraDbc
]
