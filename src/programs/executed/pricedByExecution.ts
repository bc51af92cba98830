import type { Mint } from "../../domain/Address.ts"
import type { Unpriceable } from "../interface/Program.ts"

/** What decoding says of a pool that only its program can price. */
export const pricedByExecution = (mints: readonly [Mint, Mint]): Unpriceable => ({
  reason: "unsupported",
  detail: "only its program, executed, knows its price",
  mints
})
