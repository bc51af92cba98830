/** LP tokens in the account of a pool. */
import type { LpTokens } from "../Program.ts"
import { readAddress, readU64 } from "./bytes.ts"

/** The LP tokens at these offsets, as a field of a pool; none while none are issued. */
export const lpTokensAt = (data: Uint8Array, mintAt: number, issuedAt: number): { readonly lp?: LpTokens } => {
  const issued = readU64(data, issuedAt)
  return issued === 0n ? {} : { lp: { mint: readAddress(data, mintAt), issued } }
}
