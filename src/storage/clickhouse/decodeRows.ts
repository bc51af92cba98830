/** Decodes the rows of ClickHouse's answers. */
import { Effect } from "effect"
import { ClickHouseUnavailable } from "./ClickHouse.ts"
import { readRows, type RowReader } from "./RowBinary.ts"

/** Runs a decoder. Bytes that it does not expect fail like an answer that was cut off. */
export const decoding = <A>(decode: () => A): Effect.Effect<A, ClickHouseUnavailable> =>
  Effect.try({ try: decode, catch: (cause) => new ClickHouseUnavailable({ cause }) })

/** Decodes every row of a complete answer. */
export const decodeRows = <A>(
  bytes: Uint8Array,
  read: (row: RowReader) => A
): Effect.Effect<ReadonlyArray<A>, ClickHouseUnavailable> => decoding(() => readRows(bytes, read))
