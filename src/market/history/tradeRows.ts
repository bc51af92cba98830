/**
 * Trades as rows of `trade_rows`, in both directions. Rows are read by hand, because a start reads millions of them: that takes
 * 1 µs a row, and a schema adds 2 µs. All other rows are decoded with `SqlSchema`.
 */
import { type Address, addressFromBytes, type Mint } from "../../domain/Address.ts"
import { fromBase58, toBase58 } from "../../domain/base58.ts"
import type { Role, TapeTrade } from "../model/TapeTrade.ts"

const WALLET_BYTES = 32
/** The bytes of a signature. */
export const SIGNATURE_BYTES = 64

const ROLES: ReadonlyArray<Role> = ["pool", "wallet", "both", "transfer"]

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() }

/**
 * Packs base58 text of `length` bytes as those bytes, and any other text as UTF-8. UTF-8 text of exactly `length` bytes
 * gets a zero at the end, so that it is not taken for raw bytes.
 */
export const packText = (text: string, length: number): Uint8Array => {
  const raw = fromBase58(text)
  if (raw?.length === length) {
    return raw
  }
  const bytes = utf8.encoder.encode(text)
  return bytes.length === length ? Uint8Array.from([...bytes, 0]) : bytes
}

/** The text that `packText` packed. */
export const unpackText = (bytes: Uint8Array, length: number): string => {
  if (bytes.length === length) {
    return toBase58(bytes)
  }
  const isMarked = bytes.length === length + 1 && bytes[length] === 0
  return utf8.decoder.decode(isMarked ? bytes.subarray(0, length) : bytes)
}

/**
 * A function that keeps its results, for texts that come again: wallets trade several times, and the trades of one
 * transaction share its signature.
 */
export const remembered = (make: (text: string) => Uint8Array): ((text: string) => Uint8Array) => {
  const known = new Map<string, Uint8Array>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) {
      return found
    }
    const made = make(text)
    known.set(text, made)
    return made
  }
}

export const packWallet = (wallet: string): Uint8Array => packText(wallet, WALLET_BYTES)

export const packSignature = (signature: string): Uint8Array => packText(signature, SIGNATURE_BYTES)

export const roleNumber = (role: Role): number => ROLES.indexOf(role)

/** A u64 as the signed bigint with the same bits, for the database. */
export const toStored = (units: bigint | null): bigint | null => (units === null ? null : BigInt.asIntN(64, units))

/** Columns of a query, in the order that `readTrade` expects. */
export const ROW_COLUMNS = `
  slot, place, at, role, signature, wallet, mint, is_buy, amount, decimals, lamports, price_usd, volume_usd_nanos,
  pool, dex, launchpad, sol_usd_nanos, fee_usd_nanos, fee_unknown, held_before, held_after,
  fee_lamports, priority_lamports, tip_lamports, other_mint, other_amount, other_decimals, counterparty
`

/** The same columns of rows of one wallet, which is known and so not read. */
export const OWN_COLUMNS = ROW_COLUMNS.replace(" wallet,", " null as wallet,")

/** Positions of columns in a row. */
export const ROW = { slot: 0, place: 1, mint: 6, pool: 13, dex: 14, launchpad: 15, otherMint: 24 } as const

const COUNTERPARTY = 27
/** Columns of a row. */
export const COLUMN_COUNT = COUNTERPARTY + 1

type Row = ReadonlyArray<unknown>

const malformed = (column: number, value: unknown): never => {
  throw new TypeError(`column ${column} of a stored trade is ${typeof value}`)
}

const numberAt = (row: Row, column: number): number => {
  const value = row[column]
  return typeof value === "number" ? value : malformed(column, value)
}

const numberOrNull = (row: Row, column: number): number | null => (row[column] === null ? null : numberAt(row, column))

const unitsAt = (row: Row, column: number): bigint => {
  const value = row[column]
  return typeof value === "bigint" ? BigInt.asUintN(64, value) : malformed(column, value)
}

const unitsOrNull = (row: Row, column: number): bigint | null => (row[column] === null ? null : unitsAt(row, column))

const textAt = (row: Row, column: number, length: number): string => {
  const value = row[column]
  return value instanceof Uint8Array ? unpackText(value, length) : malformed(column, value)
}

// Addresses were validated before they were written. Validating each again would cost more than the rest of a row.
const walletAt = (row: Row, column: number): Address => {
  const value = row[column]
  return value instanceof Uint8Array && value.length === WALLET_BYTES
    ? addressFromBytes(value)
    : (textAt(row, column, WALLET_BYTES) as Address)
}

const timeAt = (row: Row, column: number): number => {
  const value = row[column]
  return value instanceof Date ? value.getTime() : malformed(column, value)
}

const isSet = (row: Row, column: number): boolean => {
  const value = row[column]
  return typeof value === "boolean" ? value : malformed(column, value)
}

type NameOf = (id: number) => string | undefined

const nameAt = (row: Row, column: number, nameOf: NameOf): string =>
  nameOf(numberAt(row, column)) ?? malformed(column, "")

const nameOrNull = (row: Row, column: number, nameOf: NameOf): string | null =>
  row[column] === null ? null : nameAt(row, column, nameOf)

const NAME_COLUMNS = [ROW.mint, ROW.pool, ROW.dex, ROW.launchpad, ROW.otherMint] as const

/** The numbers in rows whose names are not in memory. */
export const unknownNames = (rows: ReadonlyArray<Row>, nameOf: NameOf): ReadonlySet<number> => {
  const ids = new Set<number>()
  for (const row of rows) {
    for (const column of NAME_COLUMNS) {
      const id = row[column]
      if (typeof id === "number" && nameOf(id) === undefined) {
        ids.add(id)
      }
    }
  }
  return ids
}

/** The fees of a row, and the units held around its transaction; absent when unknown. */
const walletData = (
  row: Row
): Pick<TapeTrade, "feeLamports" | "feeUsdNanos" | "held" | "priorityLamports" | "tipLamports"> => {
  const [fee, before, after] = [unitsOrNull(row, 17), unitsOrNull(row, 19), unitsOrNull(row, 20)]
  const [feeLamports, priorityLamports, tipLamports] = [
    unitsOrNull(row, 21),
    unitsOrNull(row, 22),
    unitsOrNull(row, 23)
  ]
  return {
    ...(isSet(row, 18) || fee !== null ? { feeUsdNanos: fee } : {}),
    ...(feeLamports === null ? {} : { feeLamports }),
    ...(priorityLamports === null ? {} : { priorityLamports }),
    ...(tipLamports === null ? {} : { tipLamports }),
    ...(before === null || after === null ? {} : { held: { before, after } })
  }
}

/** The other side of a row's swap of two tokens; absent on other rows. */
const otherSide = (row: Row, nameOf: NameOf): Pick<TapeTrade, "otherToken"> =>
  row[ROW.otherMint] === null
    ? {}
    : {
        otherToken: {
          mint: nameAt(row, ROW.otherMint, nameOf) as Mint,
          amount: unitsAt(row, ROW.otherMint + 1),
          decimals: numberOrNull(row, ROW.otherMint + 2)
        }
      }

/**
 * The trade of a row with the columns of `ROW_COLUMNS`, or of `OWN_COLUMNS` and their wallet. Throws when a column has
 * another type or a name is unknown.
 */
export const readTrade = (row: Row, nameOf: NameOf, own?: Address): TapeTrade => ({
  slot: numberAt(row, ROW.slot),
  index: numberAt(row, ROW.place),
  timeMs: timeAt(row, 2),
  role: ROLES[numberAt(row, 3)] ?? malformed(3, row[3]),
  signature: textAt(row, 4, SIGNATURE_BYTES),
  wallet: own ?? walletAt(row, 5),
  mint: nameAt(row, ROW.mint, nameOf) as Mint,
  side: isSet(row, 7) ? "buy" : "sell",
  amount: unitsAt(row, 8),
  decimals: numberOrNull(row, 9),
  lamports: unitsOrNull(row, 10),
  priceUsd: numberOrNull(row, 11),
  volumeUsdNanos: unitsOrNull(row, 12),
  pool: nameOrNull(row, ROW.pool, nameOf) as Address | null,
  dex: nameOrNull(row, ROW.dex, nameOf),
  launchpad: nameOrNull(row, ROW.launchpad, nameOf),
  solUsdNanos: unitsOrNull(row, 16),
  ...otherSide(row, nameOf),
  ...walletData(row),
  ...(row[COUNTERPARTY] === null ? {} : { counterparty: walletAt(row, COUNTERPARTY) })
})
