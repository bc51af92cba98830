import { swapDecoders } from "../../programs/registry.ts"

const quotable: ReadonlyMap<string, boolean> = new Map(
  swapDecoders.map((decoder) => [decoder.dex, decoder.quotable ?? true])
)

/** True when the venue's pools can be quoted, false for a closed AMM; null for an aggregator or an unknown venue. */
export const quotableDex = (dex: string | null): boolean | null => (dex === null ? null : (quotable.get(dex) ?? null))
