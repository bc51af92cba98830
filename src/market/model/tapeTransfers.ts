import type { BlockTransaction } from "../../chain/decoding/TradeBlock.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { placeOf, PLACES } from "./tapeTrades.ts"

/** The most transfers of one transaction. */
const MOST_TRANSFERS = PLACES / 4 - 16

/** The moves of one transaction as trades of role `transfer`, without a price. */
export const tapeTransfersOf = (
  { index, moves, signature }: Pick<BlockTransaction, "index" | "moves" | "signature">,
  { slot, timeMs }: { readonly slot: number; readonly timeMs: number }
): ReadonlyArray<TapeTrade> =>
  moves.slice(0, MOST_TRANSFERS).map(({ after, before, decimals, delta, mint, owner }, at) => ({
    role: "transfer",
    signature,
    slot,
    index: placeOf({ indexInBlock: index, index: PLACES - 1 - at }),
    timeMs,
    wallet: owner,
    mint,
    side: delta > 0n ? "buy" : "sell",
    amount: delta > 0n ? delta : -delta,
    decimals,
    lamports: null,
    solUsdNanos: null,
    priceUsd: null,
    volumeUsdNanos: null,
    held: { before, after },
    pool: null,
    dex: null,
    launchpad: null
  }))
