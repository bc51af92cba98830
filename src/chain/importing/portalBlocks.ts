/**
 * Blocks of a portal: `POST /finalized-stream` answers lines of JSON, one block a line, and ends whenever the portal
 * likes; the next request goes on after the last block. `GET /timestamps/<second>/block` finds the block of a time.
 */
import { Clock, Duration, Effect, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { retryAfterMs } from "../../operations/retryAfter.ts"
import { makeExchange } from "../../operations/upstreamHttp.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { failedCall } from "../rpc/rpcHttp.ts"
import { ANCHOR_SLOTS, ImportRefused, type ImportRange, type SourceBlock } from "./importSource.ts"
import { type Line, LineSplitter } from "./LineSplitter.ts"
import { blockOfPortal, portalFields } from "./portalBlock.ts"

/** The public portal answers 20 requests in ten seconds. */
const PAUSE = Duration.millis(500)
/** How long a portal may take for its next bytes. */
const SILENCE = Duration.seconds(60)

/** The query of a stretch. Every block is asked for, so that a missing one shows. */
const queryOf = (from: number, to: number | null) => ({
  type: "solana",
  fromBlock: from,
  ...(to !== null && { toBlock: to + ANCHOR_SLOTS }),
  includeAllBlocks: true,
  fields: portalFields,
  transactions: [{ instructions: true, balances: true, tokenBalances: true, logs: true }]
})

const unavailable = (
  detail: string,
  reason: ChainUnavailable["reason"] = "unreachable",
  waitMs: number | null = null
) => new ChainUnavailable({ reason, detail, ...(waitMs !== null && waitMs > 0 && { retryAfterMs: waitMs }) })

/** Fails for an answer without blocks. Null when the portal does not have later blocks. */
const checked = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { headers, status } = response
  if (status === 200) {
    return response
  }
  if (status === 204) {
    return null
  }
  const waitMs = retryAfterMs(headers["retry-after"], yield* Clock.currentTimeMillis)
  if (status === 429) {
    return yield* unavailable("finalized-stream: HTTP 429", "rate_limited", waitMs)
  }
  if (status >= 500 || status === 408) {
    return yield* unavailable(`finalized-stream: HTTP ${status}`, "unreachable", waitMs)
  }
  return yield* new ImportRefused({ detail: `the portal answers HTTP ${status}: its address or the range is wrong` })
})

const parsed = (text: string): SourceBlock => {
  try {
    return blockOfPortal(JSON.parse(text))
  } catch (error) {
    throw error instanceof ImportRefused
      ? error
      : new ImportRefused({ detail: "the portal sent a line that is not JSON" })
  }
}

const refusedBy = (error: unknown) =>
  error instanceof ImportRefused ? error : new ImportRefused({ detail: "a block of the portal cannot be read" })

const blocksIn = (lines: ReadonlyArray<Line>) =>
  Effect.try({
    try: () => lines.filter(({ isBlank }) => !isBlank).map((line) => parsed(line.text())),
    catch: refusedBy
  })

/** The blocks of one answer. */
const blocksOf = ({ stream }: HttpClientResponse.HttpClientResponse) =>
  Stream.suspend(() => {
    const splitter = new LineSplitter("the portal")
    const whole = Effect.fnUntraced(function* (bytes: Uint8Array) {
      const lines = yield* Effect.try({ try: () => splitter.add(bytes), catch: refusedBy })
      return yield* blocksIn(lines)
    })
    return stream.pipe(
      Stream.mapError(() => unavailable("finalized-stream: the answer broke off")),
      Stream.timeoutOrElse({
        duration: SILENCE,
        orElse: () => Stream.fail(unavailable("finalized-stream: no answer", "timeout"))
      }),
      Stream.mapEffect(whole),
      // A last line without its newline was cut off: the next request brings it again.
      Stream.flattenIterable
    )
  })

const blockNumber = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ block_number: Schema.Int })))
const noTimes = new ImportRefused({
  detail: "the portal does not find blocks by time: name slots instead of times"
})

/** The slot of the first block at or after a time; null when the portal has none yet. */
const slotAt = Effect.fnUntraced(function* (url: string, timeMs: number) {
  const exchange = yield* makeExchange
  const request = HttpClientRequest.get(`${url}/timestamps/${Math.ceil(timeMs / 1000)}/block`)
  const { status, text } = yield* Effect.mapError(
    exchange(request, { maxBytes: 10_000, statuses: [200, 404] }),
    failedCall("timestamps")
  )
  return status === 404 ? null : (yield* Effect.mapError(blockNumber(text), () => noTimes)).block_number
})

/** The blocks of one answer, from this slot on; empty when the portal has no later ones. */
const answerFrom = Effect.fnUntraced(function* (url: string, from: number, to: number | null) {
  const client = yield* HttpClient.HttpClient
  const request = HttpClientRequest.post(`${url}/finalized-stream`).pipe(
    HttpClientRequest.bodyText(JSON.stringify(queryOf(from, to)), "application/json")
  )
  const response = yield* client.execute(request).pipe(
    Effect.timeoutOrElse({ duration: SILENCE, orElse: () => Effect.fail(unavailable("finalized-stream: no answer")) }),
    Effect.catchTag("HttpClientError", ({ reason }) => unavailable(`finalized-stream: ${reason._tag}`)),
    Effect.flatMap(checked),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
  )
  return response === null ? Stream.empty : blocksOf(response)
})

/** Every block from a slot on, up to the first one after `to`. */
const blocksFrom = (url: string, from: number, to: number | null) =>
  Stream.suspend(() => {
    const place = { next: from, hasMore: true }
    const answer = Stream.suspend(() => {
      const begun = place.next
      return Stream.unwrap(answerFrom(url, begun, to)).pipe(
        Stream.tap(({ slot }) => Effect.sync(() => (place.next = slot + 1))),
        Stream.concat(
          Stream.fromEffectDrain(
            Effect.suspend(() => {
              place.hasMore = place.next > begun && (to === null || place.next <= to + ANCHOR_SLOTS)
              return place.hasMore ? Effect.sleep(PAUSE) : Effect.void
            })
          )
        )
      )
    })
    const answers = Stream.fromEffectRepeat(Effect.sync(() => place.hasMore))
    return answers.pipe(
      Stream.takeWhile((hasMore) => hasMore),
      Stream.flatMap(() => answer),
      Stream.takeUntil(({ slot }) => to !== null && slot > to)
    )
  })

/** The blocks of a range, and the first one after it. Fails when the portal does not answer or refuses. */
export const portalBlocks = (url: string, { fromMs, fromSlot, toMs, toSlot }: ImportRange) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const begin = fromMs === null ? 0 : yield* slotAt(url, fromMs)
      const end = toMs === null ? null : yield* slotAt(url, toMs)
      const last = [toSlot, end === null ? null : end - 1].filter((slot) => slot !== null)
      return begin === null
        ? Stream.empty
        : blocksFrom(url, Math.max(begin, fromSlot ?? 0), last.length === 0 ? null : Math.min(...last))
    })
  )

/** Genesis hashes of the chains of public portals, by the name of their data set. */
const GENESIS: ReadonlyMap<string, string> = new Map([
  ["solana-mainnet", "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"],
  ["solana-devnet", "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"]
])

/** The genesis hash of a portal's chain; null when its address does not name a known chain. */
export const portalGenesis = (url: string): string | null => GENESIS.get(url.split("/").at(-1) ?? "") ?? null
