import type { Program } from "./Program.ts"
import { meteoraDammV2 } from "./meteora/dammV2.ts"
import { meteoraDbc } from "./meteora/dbc.ts"
import { meteoraDlmm } from "./meteora/dlmm.ts"
import { pumpCurve } from "./pump/curve.ts"
import { pumpSwap } from "./pump/pumpSwap.ts"
import { raydiumAmmV4 } from "./raydium/ammV4.ts"
import { raydiumClmm } from "./raydium/clmm.ts"
import { raydiumCpmm } from "./raydium/cpmm.ts"
import { whirlpool } from "./orca/whirlpool.ts"

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
