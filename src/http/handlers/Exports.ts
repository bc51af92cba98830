import { Effect, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { promises as files, type ReadStream } from "node:fs"
import { CallerLimits } from "../../access/CallerLimits.ts"
import { Api } from "../../api/Api.ts"
import { exportPrice } from "../../api/Exports.ts"
import { retryAfter } from "../../api/errors/Problem.ts"
import { DayNotWhole, FeatureUnavailable, PathNotFound, RangeNotSatisfiable } from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { Meter } from "../../api/middleware/Metering.ts"
import { type DayFile, DayFiles, type DayRequest, type NoDayFile } from "../../market/export/DayFiles.ts"
import type { BarWidth, Dataset } from "../../market/export/storedRange.ts"
import { rawHeader } from "../middleware/rawHeader.ts"
import { invalid, limited, limiterUnavailable, unavailable } from "../problems.ts"

type Format = DayRequest["format"]

interface DayInput {
  readonly params: { readonly dataset: Dataset; readonly file: string }
  readonly query: { readonly width?: BarWidth | undefined }
  readonly request: HttpServerRequest.HttpServerRequest
}

/** Seconds until a file that is being made is asked for again. */
const MAKING_SECONDS = 5
/** Seconds until another file fits into the queue. */
const BUSY_SECONDS = 20

const types: Record<Format, string> = {
  parquet: "application/vnd.apache.parquet",
  csv: "text/csv; charset=utf-8",
  ndjson: "application/x-ndjson"
}

const problemOf = ({ detail, reason }: NoDayFile) => {
  switch (reason) {
    case "off":
      return new FeatureUnavailable({ error: { message: detail } })
    case "unknown":
      return new PathNotFound({ error: { message: detail } })
    case "unfinished":
      return new DayNotWhole({ error: { message: detail } })
    case "busy":
      return limited("exports", detail, 1000 * BUSY_SECONDS)
    case "making":
      return retryAfter(unavailable(detail), MAKING_SECONDS)
    case "failed":
      return retryAfter(unavailable(detail), BUSY_SECONDS)
  }
}

/** First byte, and the byte after the last one. */
type Span = readonly [number, number]

/**
 * The span of a `Range` header. Null for the whole file: without the header, and for what is not one range of bytes. Empty
 * where the file has no such byte.
 */
export const spanOf = (header: string | undefined, bytes: number): Span | null => {
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/u.exec(header?.replaceAll(/\s/gu, "") ?? "") ?? []
  if (from === "") {
    return to === "" ? null : Number(to) === 0 ? [0, 0] : [Math.max(0, bytes - Number(to)), bytes]
  }
  const end = to === "" ? bytes : Math.min(bytes, Number(to) + 1)
  if (to !== "" && Number(to) < Number(from)) {
    return null
  }
  return Number(from) >= bytes ? [0, 0] : [Number(from), end]
}

/** The bytes of a span, read as they are sent. The handle is closed at the end. */
const contentOf = (handle: files.FileHandle, [from, to]: Span) =>
  from === to
    ? Stream.empty
    : Stream.fromAsyncIterable<Uint8Array, unknown>(
        handle.createReadStream({ start: from, end: to - 1, autoClose: true }) satisfies ReadStream,
        (cause) => cause
      )

const isTagIn = (header: string | undefined, tag: string): boolean =>
  header?.split(",").some((each) => ["*", tag, `W/${tag}`].includes(each.trim())) === true

const headersOf = ({ gaps, tag }: DayFile, dataset: string, file: string) => ({
  etag: `"${tag}"`,
  "accept-ranges": "bytes",
  "cache-control": "private, no-cache",
  "content-disposition": `attachment; filename="${dataset}-${file}"`,
  "fathom-gaps": String(gaps)
})

export const layer = HttpApiBuilder.group(
  Api,
  "exports",
  Effect.fnUntraced(function* (handlers) {
    const reads = yield* DayFiles
    const limits = yield* CallerLimits

    /** Takes one of the key's places until the answer is sent. */
    const enter = Effect.gen(function* () {
      const { id, plan } = yield* CurrentKey
      if (plan.exports === 0) {
        return yield* new FeatureUnavailable({ error: { message: "The plan of this key has no exports." } })
      }
      yield* limits.take({ kind: "exports", caller: id, limit: plan.exports }).pipe(
        Effect.catchTags({
          NoPlace: () => Effect.fail(limited("exports", `A key may have ${plan.exports} downloads open at a time.`)),
          LimiterUnavailable: limiterUnavailable
        })
      )
    })

    const answer = Effect.fnUntraced(function* (file: DayFile, { params, request }: DayInput) {
      const headers = headersOf(file, params.dataset, params.file)
      const tag = headers.etag
      if (isTagIn(rawHeader(request, "if-none-match"), tag)) {
        return HttpServerResponse.empty({ status: 304, headers })
      }
      const isSame = (rawHeader(request, "if-range")?.trim() ?? tag) === tag
      const part = isSame ? spanOf(rawHeader(request, "range"), file.bytes) : null
      if (part !== null && part[0] >= part[1]) {
        const refused = new RangeNotSatisfiable({ error: { message: `The file has ${file.bytes} bytes.` } })
        return yield* Object.assign(refused, { contentRange: `bytes */${file.bytes}` })
      }
      const span = part ?? [0, file.bytes]
      const size = span[1] - span[0]
      const format = params.file.slice(params.file.indexOf(".") + 1) as Format
      const sent = {
        status: part === null ? 200 : 206,
        contentType: types[format],
        headers:
          part === null ? headers : { ...headers, "content-range": `bytes ${span[0]}-${span[1] - 1}/${file.bytes}` }
      }
      if (request.method === "HEAD") {
        return HttpServerResponse.stream(Stream.empty, { ...sent, contentLength: size })
      }
      const meter = yield* Meter
      yield* meter.raiseTo(Math.min(exportPrice.most, 1 + Math.floor(size / exportPrice.bytes)))
      // It may have made room for another file just now.
      const handle = yield* Effect.catch(
        Effect.tryPromise(() => files.open(file.path)),
        () => Effect.fail(unavailable("The file was removed to make room: try again."))
      )
      yield* Effect.addFinalizer(() => Effect.promise(() => handle.close()))
      return HttpServerResponse.stream(contentOf(handle, span), { ...sent, contentLength: size })
    })

    const day = Effect.fnUntraced(function* (input: DayInput) {
      const {
        params: { dataset, file },
        query: { width }
      } = input
      if (width !== undefined && dataset !== "bars") {
        return yield* invalid(
          { in: "query", field: "width", issue: "conflict" },
          "width must be left out: only bars have one."
        )
      }
      yield* enter
      const [day = "", format] = file.split(".")
      const found = yield* Effect.mapError(
        reads.find({ dataset, day, format: format as Format, width: width ?? "1m" }),
        problemOf
      )
      return yield* answer(found, input)
    })

    return handlers.handleAll({ day })
  })
)
