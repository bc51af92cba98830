/** The side of a trade: which of its two mints is the quote. */
import { type Mint, SOL } from "../../domain/Address.ts"
import type { Quantity } from "../../api/schemas/Trade.ts"
import { DOLLARS } from "../../domain/stables.ts"

/** Rank among `DOLLARS`. The first dollar has the highest rank, so it is the quote before the others. */
const dollarRank: ReadonlyMap<Mint, number> = new Map(DOLLARS.toReversed().map((mint, i) => [mint, i + 2]))

const rankOf = (mint: Mint): number => dollarRank.get(mint) ?? (mint === SOL ? 1 : 0)

/** Side, token and quote of a swap. When neither mint is a quote mint, the input is the quote. */
export const sidesOf = (
  gave: Quantity,
  got: Quantity
): { readonly side: "buy" | "sell"; readonly token: Quantity; readonly quote: Quantity } =>
  rankOf(got.mint) > rankOf(gave.mint)
    ? { side: "sell", token: gave, quote: got }
    : { side: "buy", token: got, quote: gave }
