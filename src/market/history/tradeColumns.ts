/** Trades as rows of ClickHouse, in both directions. */
import { Effect } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import { visitInTurns } from "../../domain/loopTime.ts"
import { type RowReader, RowWriter } from "../../storage/clickhouse/RowBinary.ts"
import { packSignature, packWallet, remembered, roleNumber, SIGNATURE_BYTES, unpackText } from "./tradeRows.ts"
import { lamportsOf, priceSolOf } from "../model/solWorth.ts"
import type { Role, TapeTrade } from "../model/TapeTrade.ts"

const WALLET_BYTES = 32
const ROLES: ReadonlyArray<Role> = ["pool", "wallet", "both", "transfer"]

/** The columns of a trade, in the order that `readTrade` expects. */
export const TRADE_COLUMNS = [
  "slot",
  "place",
  "at",
  "role",
  "signature",
  "wallet",
  "mint",
  "is_buy",
  "amount",
  "decimals",
  "lamports",
  "price_usd",
  "volume_usd_nanos",
  "pool",
  "dex",
  "launchpad",
  "sol_usd_nanos",
  "fee_usd_nanos",
  "fee_unknown",
  "held_before",
  "held_after",
  "fee_lamports",
  "priority_lamports",
  "tip_lamports",
  "other_mint",
  "other_amount",
  "other_decimals",
  "counterparty"
].join(", ")

/**
 * The columns of an inserted trade: the columns of a trade, its price and its other side in SOL, its chain and its
 * version.
 */
export const INSERT_COLUMNS = `${TRADE_COLUMNS}, price_sol, worth, chain, version`

interface RowSource {
  readonly chain: string
  readonly version: bigint
}

/** Makes the bytes of addresses and texts. It lasts for the rows of one insert, in which most of them come again. */
const makeBytes = () => {
  const utf8 = new TextEncoder()
  return {
    wallet: remembered(packWallet),
    signature: remembered(packSignature),
    text: remembered((text) => utf8.encode(text))
  }
}

const NO_BYTES = new Uint8Array()

// Addresses were validated before they were written.
const address = (bytes: Uint8Array): Address => unpackText(bytes, WALLET_BYTES) as Address

/** The other side of a swap of two tokens. A mint without bytes stands for none. */
const writeOtherToken = (
  row: RowWriter,
  other: TapeTrade["otherToken"],
  wallet: (address: string) => Uint8Array
): void => {
  row.bytes(other === undefined ? NO_BYTES : wallet(other.mint))
  row.uint64(other?.amount ?? 0n)
  row.nullable(other?.decimals, (value) => row.uint8(value))
}

const readOtherToken = (row: RowReader): Pick<TapeTrade, "otherToken"> => {
  const mint = row.bytes()
  const [amount, decimals] = [row.uint64(), row.nullable(() => row.uint8())]
  return mint.length === 0 ? {} : { otherToken: { mint: address(mint) as Mint, amount, decimals } }
}

const writeTrade = (
  row: RowWriter,
  trade: TapeTrade,
  { chain, version }: RowSource,
  bytes: ReturnType<typeof makeBytes>
): void => {
  const units = (value: bigint) => row.uint64(value)
  const text = (value: string) => row.bytes(bytes.text(value))
  row.uint32(trade.slot)
  row.uint32(trade.index)
  row.int64(BigInt(trade.timeMs))
  row.uint8(roleNumber(trade.role))
  row.bytes(bytes.signature(trade.signature))
  row.bytes(bytes.wallet(trade.wallet))
  row.bytes(bytes.wallet(trade.mint))
  row.uint8(trade.side === "buy" ? 1 : 0)
  row.uint64(trade.amount)
  row.nullable(trade.decimals, (value) => row.uint8(value))
  row.nullable(trade.lamports, units)
  row.nullable(trade.priceUsd, (value) => row.float64(value))
  row.nullable(trade.volumeUsdNanos, units)
  row.bytes(trade.pool === null ? NO_BYTES : bytes.wallet(trade.pool))
  row.nullable(trade.dex, text)
  row.nullable(trade.launchpad, text)
  row.nullable(trade.solUsdNanos, units)
  row.nullable(trade.feeUsdNanos, units)
  row.uint8(trade.feeUsdNanos === null ? 1 : 0)
  row.nullable(trade.held?.before, units)
  row.nullable(trade.held?.after, units)
  row.nullable(trade.feeLamports, units)
  row.nullable(trade.priorityLamports, units)
  row.nullable(trade.tipLamports, units)
  writeOtherToken(row, trade.otherToken, bytes.wallet)
  // No bytes stand for none.
  row.bytes(trade.counterparty === undefined ? NO_BYTES : bytes.wallet(trade.counterparty))
  const priceSol = priceSolOf(trade)
  row.nullable(Number.isNaN(priceSol) ? null : priceSol, (value) => row.float64(value))
  row.nullable(lamportsOf(trade), units)
  row.bytes(bytes.text(chain))
  row.uint64(version)
}

/**
 * Writes trades as rows with the columns of `INSERT_COLUMNS`, in turns. A row of a later version replaces the trade of its
 * place.
 */
export const writeTrades = Effect.fnUntraced(function* (trades: ReadonlyArray<TapeTrade>, source: RowSource) {
  const row = new RowWriter()
  const bytes = makeBytes()
  yield* visitInTurns(trades, (trade) => writeTrade(row, trade, source, bytes))
  return row.written
})

const poolOf = (bytes: Uint8Array): Address | null => (bytes.length === 0 ? null : address(bytes))

const readCounterparty = (row: RowReader): Pick<TapeTrade, "counterparty"> => {
  const bytes = row.bytes()
  return bytes.length === 0 ? {} : { counterparty: address(bytes) }
}

const walletData = (row: RowReader) => {
  const units = () => row.uint64()
  const fee = row.nullable(units)
  const isUnknown = row.uint8() === 1
  const [before, after] = [row.nullable(units), row.nullable(units)]
  const [feeLamports, priorityLamports, tipLamports] = [row.nullable(units), row.nullable(units), row.nullable(units)]
  return {
    ...(isUnknown || fee !== null ? { feeUsdNanos: fee } : {}),
    ...(feeLamports === null ? {} : { feeLamports }),
    ...(priorityLamports === null ? {} : { priorityLamports }),
    ...(tipLamports === null ? {} : { tipLamports }),
    ...(before === null || after === null ? {} : { held: { before, after } })
  }
}

/** Reads the trade of a row with the columns of `TRADE_COLUMNS`. */
export const readTrade = (row: RowReader): TapeTrade => {
  const units = () => row.uint64()
  const text = () => row.text()
  return {
    slot: row.uint32(),
    index: row.uint32(),
    timeMs: Number(row.int64()),
    role: ROLES[row.uint8()] ?? "pool",
    signature: unpackText(row.bytes(), SIGNATURE_BYTES),
    wallet: address(row.bytes()),
    mint: address(row.bytes()) as Mint,
    side: row.uint8() === 1 ? "buy" : "sell",
    amount: row.uint64(),
    decimals: row.nullable(() => row.uint8()),
    lamports: row.nullable(units),
    priceUsd: row.nullable(() => row.float64()),
    volumeUsdNanos: row.nullable(units),
    pool: poolOf(row.bytes()),
    dex: row.nullable(text),
    launchpad: row.nullable(text),
    solUsdNanos: row.nullable(units),
    ...walletData(row),
    ...readOtherToken(row),
    ...readCounterparty(row)
  }
}
