/** What a ledger remembers of a wallet as text: its trades, and the events of its owner. */
import type { Address, Mint } from "../../domain/Address.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import { amountsAsText, type Text, tradeOfText } from "../../market/model/tradeText.ts"
import type { LedgerTrade } from "../ledger.ts"
import type { Lots } from "../lots.ts"
import type { WalletEvent } from "../ownerLinks.ts"
import type { Codec } from "./PackedLog.ts"
import type { OwnerEvents, PositionEvent } from "./WalletLedger.ts"

/** Trades of a wallet. What their log has anyway is left out. */
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
    amountsAsText([
      [role, signature, slot, index, mint, side, amount, decimals],
      [lamports, priceUsd, volumeUsdNanos, pool, dex, launchpad, solUsdNanos],
      others
    ]),
  read: (text, timeMs) => {
    const [token, value, others]: TradeRow = JSON.parse(text)
    const [role, signature, slot, index, mint, side, amount, decimals] = token
    const [lamports, priceUsd, volumeUsdNanos, pool, dex, launchpad, solUsdNanos] = value
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

type Row<Keys extends ReadonlyArray<keyof TapeTrade>> = { readonly [K in keyof Keys]: Text<TapeTrade[Keys[K]]> }
type TradeRow = readonly [
  Row<["role", "signature", "slot", "index", "mint", "side", "amount", "decimals"]>,
  Row<["lamports", "priceUsd", "volumeUsdNanos", "pool", "dex", "launchpad", "solUsdNanos"]>,
  Text<
    Pick<
      TapeTrade,
      "counterparty" | "feeLamports" | "feeUsdNanos" | "held" | "otherToken" | "priorityLamports" | "tipLamports"
    >
  >
]

const UNCHANGED = 0

type Amount = string | null
/** Without a fee when nothing was paid. */
type LedgerRow = readonly [LedgerTrade["side"], string, number | null, Amount, Amount?]
type EventRow = readonly [
  wallet: Address | null,
  mint: Mint,
  decimals: number | null,
  balance: readonly [string, string] | typeof UNCHANGED | null,
  trades: ReadonlyArray<LedgerRow>,
  arrived?: Text<Lots>
]

const rowOf = ({ amount, decimals, feeUsdNanos, side, volumeUsdNanos }: LedgerTrade) =>
  feeUsdNanos === undefined
    ? [side, amount, decimals, volumeUsdNanos]
    : [side, amount, decimals, volumeUsdNanos, feeUsdNanos]

const amountOf = (text: Amount): bigint | null => (text === null ? null : BigInt(text))

const tradeOfRow = ([side, amount, decimals, volume, fee]: LedgerRow, timeMs: number): LedgerTrade => ({
  side,
  amount: BigInt(amount),
  decimals,
  volumeUsdNanos: amountOf(volume),
  timeMs,
  ...(fee !== undefined && { feeUsdNanos: amountOf(fee) })
})

const balanceOf = (balance: EventRow[3]): PositionEvent["balance"] =>
  balance === UNCHANGED
    ? "unchanged"
    : balance === null
      ? null
      : { before: BigInt(balance[0]), after: BigInt(balance[1]) }

const lotsOf = ({ costNanos, inherited, known, received, unpriced }: Text<Lots>): Lots => ({
  known: BigInt(known),
  costNanos: BigInt(costNanos),
  inherited: BigInt(inherited),
  received: BigInt(received),
  unpriced: BigInt(unpriced)
})

/** Transactions of the owner of a wallet. All events of a transaction, and their trades, have its time. */
export const transactionsOf = (own: Address): Codec<OwnerEvents> => ({
  write: (together) =>
    amountsAsText(
      together.map(({ event: { arrived, balance, decimals, mint, trades }, wallet }) => {
        const span = balance === "unchanged" ? UNCHANGED : balance === null ? null : [balance.before, balance.after]
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
