import type { BalanceChange, Transfer } from "../../api/schemas/Trade.ts"
import type { BlockTransaction } from "../../chain/decoding/TradeBlock.ts"
import type { Address } from "../../domain/Address.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { placeOf, PLACES } from "./tapeTrades.ts"

/** The most transfers of one transaction. */
const MOST_TRANSFERS = PLACES / 4 - 16

/**
 * The other owner of all transfers that make up a move; null when there are several, or when they are not the whole move:
 * units were minted, burned or moved by a trade, or a transfer fee kept a part from the receiver.
 */
const counterpartyOf = (
  { delta, mint, owner }: Pick<BalanceChange, "delta" | "mint" | "owner">,
  transfers: ReadonlyArray<Transfer>
): Address | null => {
  let counterparty: Address | null = null
  let sum = 0n
  for (const { amount, from, mint: moved, native, to } of transfers) {
    if (native || moved !== mint || (from !== owner && to !== owner)) {
      continue
    }
    const other = from === owner ? to : from
    if (counterparty !== null && counterparty !== other) {
      return null
    }
    counterparty = other
    sum += from === owner ? -amount : amount
  }
  return delta === sum ? counterparty : null
}

/** The moves of one transaction as trades of role `transfer`, without a price. */
export const tapeTransfersOf = (
  transaction: Pick<BlockTransaction, "index" | "moves" | "signature" | "transfers">,
  { slot, timeMs }: { readonly slot: number; readonly timeMs: number }
): ReadonlyArray<TapeTrade> =>
  transaction.moves.slice(0, MOST_TRANSFERS).map((move, at) => {
    const { after, before, decimals, delta, mint, owner } = move
    const counterparty = counterpartyOf(move, transaction.transfers)
    return {
      role: "transfer",
      signature: transaction.signature,
      slot,
      index: placeOf({ indexInBlock: transaction.index, index: PLACES - 1 - at }),
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
      ...(counterparty !== null && { counterparty }),
      pool: null,
      dex: null,
      launchpad: null
    }
  })
