/** Decodes a validator's parameters, as strictly as a validator does. */
import { Result, Schema } from "effect"
import { Address, isAddress } from "../../domain/Address.ts"
import { fromBase58 } from "../../domain/base58.ts"
import type { DataSlice, Encoding } from "./accountJson.ts"
import { invalidParams, minContextSlotNotReached, type RpcFailure } from "./jsonRpc.ts"

export const Unsigned = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Commitment = Schema.Literals(["processed", "confirmed", "finalized"])

const Memcmp = Schema.Struct({
  offset: Unsigned,
  bytes: Schema.String,
  encoding: Schema.NullishOr(Schema.Literals(["base58", "base64", "binary"])).pipe(Schema.optionalKey)
})

const Filter = Schema.Union([Schema.Struct({ dataSize: Unsigned }), Schema.Struct({ memcmp: Memcmp })])

const Options = Schema.Struct({
  commitment: Schema.optionalKey(Schema.NullishOr(Commitment)),
  encoding: Schema.optionalKey(Schema.NullishOr(Schema.Literals(["binary", "base58", "base64"]))),
  dataSlice: Schema.optionalKey(Schema.NullishOr(Schema.Struct({ offset: Unsigned, length: Unsigned }))),
  minContextSlot: Schema.optionalKey(Schema.NullishOr(Unsigned)),
  filters: Schema.optionalKey(Schema.NullishOr(Schema.Array(Filter))),
  withContext: Schema.optionalKey(Schema.NullishOr(Schema.Boolean)),
  searchTransactionHistory: Schema.optionalKey(Schema.NullishOr(Schema.Boolean))
})

export interface AccountFilter {
  readonly dataSize: number | undefined
  readonly matches: ReadonlyArray<{ readonly offset: number; readonly bytes: Uint8Array }>
}

/** The options object that most methods take, with the protocol's defaults filled in. */
export interface RpcOptions {
  readonly encoding: Encoding
  readonly slice: DataSlice | undefined
  readonly filter: AccountFilter
  readonly withContext: boolean
  /** True when the client also wants what may be rolled back. */
  readonly isProcessed: boolean
}

const MAX_FILTERS = 4
const MAX_MEMCMP_BYTES = 128

/** Decodes a parameter and fails as a validator does. */
export const paramOf = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (value: unknown): Result.Result<S["Type"], RpcFailure> =>
    Result.mapError(decode(value), ({ message }) => invalidParams(`Invalid params: ${message}.`))
}

const decodeOptions = paramOf(Options)
const decodeList = paramOf(Schema.Array(Schema.String))

const bytesOf = ({ bytes, encoding }: typeof Memcmp.Type): Uint8Array | null => {
  if (encoding === "base64") {
    return Buffer.from(bytes, "base64")
  }
  return fromBase58(bytes)
}

const readFilter = (filters: ReadonlyArray<typeof Filter.Type>): Result.Result<AccountFilter, RpcFailure> => {
  if (filters.length > MAX_FILTERS) {
    return Result.fail(invalidParams(`Too many filters provided; max ${MAX_FILTERS}`))
  }
  const matches: Array<AccountFilter["matches"][number]> = []
  let dataSize: number | undefined
  for (const filter of filters) {
    if ("dataSize" in filter) {
      dataSize = filter.dataSize
      continue
    }
    const bytes = bytesOf(filter.memcmp)
    if (bytes === null || bytes.length > MAX_MEMCMP_BYTES) {
      return Result.fail(invalidParams("Invalid param: memcmp bytes"))
    }
    matches.push({ offset: filter.memcmp.offset, bytes })
  }
  return Result.succeed({ dataSize, matches })
}

/** Reads the options object of a method. Absent and null mean all defaults. */
export const readOptions = (value: unknown, newestSlot: number): Result.Result<RpcOptions, RpcFailure> =>
  Result.gen(function* () {
    const options = yield* decodeOptions(value ?? {})
    if ((options.minContextSlot ?? 0) > newestSlot) {
      return yield* Result.fail(minContextSlotNotReached(newestSlot))
    }
    const filter = yield* readFilter(options.filters ?? [])
    return {
      encoding: options.encoding ?? "binary",
      slice: options.dataSlice ?? undefined,
      filter,
      withContext: options.withContext ?? false,
      isProcessed: options.commitment === "processed"
    }
  })

export const readAddress = (value: unknown): Result.Result<Address, RpcFailure> => {
  if (typeof value !== "string") {
    return Result.fail(invalidParams("`params` should have at least 1 argument(s)"))
  }
  return isAddress(value)
    ? Result.succeed(Address.make(value))
    : Result.fail(invalidParams(fromBase58(value) === null ? "Invalid param: Invalid" : "Invalid param: WrongSize"))
}

const decodeTokenFilter = paramOf(
  Schema.Union([Schema.Struct({ mint: Schema.String }), Schema.Struct({ programId: Schema.String })])
)

/** The mint or the token program by which token accounts are selected. */
export const readTokenFilter = (
  value: unknown
): Result.Result<{ readonly mint: Address | null; readonly program: Address | null }, RpcFailure> =>
  Result.gen(function* () {
    const filter = yield* decodeTokenFilter(value)
    return "mint" in filter
      ? { mint: yield* readAddress(filter.mint), program: null }
      : { mint: null, program: yield* readAddress(filter.programId) }
  })

/** A list of texts, at most `limit`. */
export const readTexts = (value: unknown, limit: number): Result.Result<ReadonlyArray<string>, RpcFailure> =>
  Result.flatMap(decodeList(value), (list) =>
    list.length > limit ? Result.fail(invalidParams(`Too many inputs provided; max ${limit}`)) : Result.succeed(list)
  )

/** True when the data of an account passes every filter. */
export const matchesFilter = (data: Uint8Array, { dataSize, matches }: AccountFilter): boolean => {
  if (dataSize !== undefined && data.length !== dataSize) {
    return false
  }
  return matches.every(({ offset, bytes }) => bytes.every((byte, index) => data[offset + index] === byte))
}
