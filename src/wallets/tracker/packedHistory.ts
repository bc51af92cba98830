/** How a ledger keeps its trades and transactions as text. */
import type { Address, Mint } from "../../domain/Address.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import { amountOfText, type Text, tradeOfText } from "../../market/model/tradeText.ts"
import type { LedgerTrade } from "../ledger.ts"
import type { Lots } from "../lots.ts"
import type { OwnerEvents, PositionEvent, WalletEvent } from "../ownerLinks.ts"
import type { Codec } from "./PackedLog.ts"

/** Trades of a wallet, without their wallet and time: the ledger has the wallet, the log has the time. */
export const tradesOf = (wallet: Address): Codec<TapeTrade> => ({
  write: ({
    amount,
    decimals,
    dex,
    index,
    lamports,
    launchpad,
    mint,
    pool,
    priceUsd,
    role,
    side,
    signature,
    slot,
    solUsdNanos,
    timeMs: _time,
    volumeUsdNanos,
    wallet: _wallet,
    ...others
  }) =>
    jsonOf([
      [role, signature, slot, index, mint, side, amount, decimals],
      [lamports, priceUsd, volumeUsdNanos, pool, dex, launchpad, solUsdNanos],
      others
    ]),
  read: (text, timeMs) => {
    const [identity, worth, others]: TradeRow = JSON.parse(text)
    const [role, signature, slot, index, mint, side, amount, decimals] = identity
    const [lamports, priceUsd, volumeUsdNanos, pool, dex, launchpad, solUsdNanos] = worth
    return tradeOfText({
      role,
      signature,
      slot,
      index,
      timeMs,
      wallet,
      mint,
      side,
      amount,
      decimals,
      lamports,
      priceUsd,
      volumeUsdNanos,
      pool,
      dex,
      launchpad,
      solUsdNanos,
      ...others
    })
  }
})

type Identity = ["role", "signature", "slot", "index", "mint", "side", "amount", "decimals"]
type Worth = ["lamports", "priceUsd", "volumeUsdNanos", "pool", "dex", "launchpad", "solUsdNanos"]
type Row<Keys extends ReadonlyArray<keyof TapeTrade>> = { readonly [K in keyof Keys]: Text<TapeTrade[Keys[K]]> }
type TradeRow = readonly [
  Row<Identity>,
  Row<Worth>,
  Text<Omit<TapeTrade, Identity[number] | Worth[number] | "timeMs" | "wallet">>
]

/** The last element is the fee. It is left out when nothing was paid. */
type LedgerRow = readonly [LedgerTrade["side"], string, number | null, Text<bigint | null>, Text<bigint | null>?]
type EventRow = readonly [
  wallet: Address | null,
  mint: Mint,
  decimals: number | null,
  balance: readonly [before: string, after: string] | "unchanged" | null,
  trades: ReadonlyArray<LedgerRow>,
  arrived?: Text<Lots>
]

const rowOf = ({ amount, decimals, feeUsdNanos, side, volumeUsdNanos }: LedgerTrade) =>
  feeUsdNanos === undefined
    ? [side, amount, decimals, volumeUsdNanos]
    : [side, amount, decimals, volumeUsdNanos, feeUsdNanos]

const tradeOfRow = ([side, amount, decimals, volume, fee]: LedgerRow, timeMs: number): LedgerTrade => ({
  side,
  amount: BigInt(amount),
  decimals,
  volumeUsdNanos: amountOfText(volume),
  timeMs,
  ...(fee !== undefined && { feeUsdNanos: amountOfText(fee) })
})

const balanceOf = (balance: EventRow[3]): PositionEvent["balance"] =>
  balance === "unchanged" || balance === null ? balance : { before: BigInt(balance[0]), after: BigInt(balance[1]) }

const lotsOf = ({ costNanos, inherited, known, received, unpriced }: Text<Lots>): Lots => ({
  known: BigInt(known),
  costNanos: BigInt(costNanos),
  inherited: BigInt(inherited),
  received: BigInt(received),
  unpriced: BigInt(unpriced)
})

/**
 * Transactions of a wallet's owner, without times: events and trades have the time of their transaction. The wallet itself
 * is written as null.
 */
export const transactionsOf = (own: Address): Codec<OwnerEvents> => ({
  write: (together) =>
    jsonOf(
      together.map(({ event: { arrived, balance, decimals, mint, trades }, wallet }) => {
        const span = balance === "unchanged" || balance === null ? balance : [balance.before, balance.after]
        const row = [wallet === own ? null : wallet, mint, decimals, span, trades.map(rowOf)]
        return arrived === undefined ? row : [...row, arrived]
      })
    ),
  read: (text, timeMs) => {
    const rows: ReadonlyArray<EventRow> = JSON.parse(text)
    return rows.map(([wallet, mint, decimals, balance, trades, arrived]): WalletEvent<PositionEvent> => ({
      wallet: wallet ?? own,
      event: {
        mint,
        timeMs,
        decimals,
        trades: trades.map((row) => tradeOfRow(row, timeMs)),
        balance: balanceOf(balance),
        ...(arrived !== undefined && { arrived: lotsOf(arrived) })
      }
    }))
  }
})
