import { swapDecoders } from "../programs/registry.ts"

const quotable: ReadonlyMap<string, boolean> = new Map(
  swapDecoders.map((decoder) => [decoder.dex, decoder.quotable ?? true])
)

/** True for a venue whose pools can be quoted, false for a closed AMM; null for an aggregator, and where no venue is known. */
export const quotableDex = (dex: string | null): boolean | null => (dex === null ? null : (quotable.get(dex) ?? null))
