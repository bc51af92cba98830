/**
 * Encodes cursors. A cursor carries the order key of the last row of a page and its time of expiry, sealed with the
 * selectors of the list. A changed cursor, or one sent with other selectors, is invalid. The seal is not secret: it
 * guards against mistakes, and access must never depend on a cursor.
 */
import { Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { createHash } from "node:crypto"
import { MAX_CURSOR } from "../../api/pages.ts"

/** What identifies a list: the operation, the account that owns the rows if any, and every filter. */
export type Selectors = ReadonlyArray<string>

/** The place of a row in its list, part by part. */
export type OrderKey = ReadonlyArray<string>

const LIFE_MS = 15 * 60_000
const SEAL_BYTES = 12

const Payload = Schema.fromJsonString(Schema.TupleWithRest(Schema.Tuple([Schema.Int]), [Schema.String]))
const decodePayload = Schema.decodeUnknownResult(Payload)

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

const sealOf = (selectors: Selectors, payload: string): Buffer =>
  digest(JSON.stringify([selectors, payload])).subarray(0, SEAL_BYTES)

/**
 * A cursor to the rows after this key, valid for 15 minutes. A cursor has at most 512 characters, which is about 350
 * bytes of key. `short` shortens long ids.
 */
export const writeCursor = (selectors: Selectors, key: OrderKey, nowMs: number): string => {
  const payload = JSON.stringify([nowMs + LIFE_MS, ...key])
  return Base64Url.encode(Buffer.concat([sealOf(selectors, payload), Buffer.from(payload)]))
}

/** The key in a cursor; null when the cursor is malformed, expired, or was made with other selectors. */
export const readCursor = (cursor: string, selectors: Selectors, nowMs: number): OrderKey | null => {
  const decoded = cursor.length > MAX_CURSOR ? undefined : Result.getOrUndefined(Base64Url.decode(cursor))
  // A cursor has one spelling, but decoding would accept several.
  if (decoded === undefined || Base64Url.encode(decoded) !== cursor) {
    return null
  }
  const bytes = Buffer.from(decoded)
  const payload = bytes.subarray(SEAL_BYTES).toString()
  if (!bytes.subarray(0, SEAL_BYTES).equals(sealOf(selectors, payload))) {
    return null
  }
  const parts = decodePayload(payload)
  if (Result.isFailure(parts)) {
    return null
  }
  const [expiresAtMs, ...key] = parts.success
  return nowMs < expiresAtMs ? key : null
}

/** Compares part by part, by UTF-16 units. When one key begins with the other, the shorter comes first. */
export const compareKeys = (a: OrderKey, b: OrderKey): number => {
  const at = a.findIndex((part, index) => part !== b[index])
  if (at === -1) {
    return a.length - b.length
  }
  return (a[at] ?? "") < (b[at] ?? "") ? -1 : 1
}

const LONGEST_ID = 64
const HEAD = 40

/** An id short enough for a key: the id itself, or its head and a digest of all of it. Different ids stay different. */
export const short = (id: string): string =>
  id.length <= LONGEST_ID ? id : `${id.slice(0, HEAD)}~${Base64Url.encode(digest(id).subarray(0, 16))}`

/** A key part that sorts larger whole numbers first, such as times newest first. From 0 to 2^53 - 1. */
export const descending = (value: number): string => String(Number.MAX_SAFE_INTEGER - value).padStart(16, "0")

/** A page of a list that is in memory as a whole. */
export interface Page<Row> {
  readonly rows: ReadonlyArray<Row>
  /** The key of the last row; null on the last page. */
  readonly last: OrderKey | null
}

/** The first `limit` rows after a key; from the beginning when it is null. Keys are unique. */
export const pageOf = <Row>(
  rows: ReadonlyArray<Row>,
  keyOf: (row: Row) => OrderKey,
  { after, limit }: { readonly after: OrderKey | null; readonly limit: number }
): Page<Row> => {
  const keyed = rows
    .map((row) => ({ row, key: keyOf(row) }))
    .filter(({ key }) => after === null || compareKeys(key, after) > 0)
    .toSorted((a, b) => compareKeys(a.key, b.key))
  const page = keyed.slice(0, limit)
  return { rows: page.map(({ row }) => row), last: keyed.length > limit ? (page.at(-1)?.key ?? null) : null }
}
