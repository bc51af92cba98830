/** One stream of a Geyser, and the query for the oldest slot that it can replay. */
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js"
import { Effect, type Scope } from "effect"
import type { GeyserTarget, StreamEnd } from "./geyserMessages.ts"
import { replayInfoMethod, subscribeMethod } from "./geyserService.ts"
import type { GeyserRequest } from "./geyserUpdates.ts"
import { readUpdate, type StreamUpdate } from "./readUpdate.ts"

export interface StreamRange {
  /** The first slot; null for the newest. */
  readonly from: number | null
  /** The number of the commitment. */
  readonly commitment: number
}

/** Pauses and resumes a running stream. */
export interface StreamFlow {
  readonly pause: () => void
  readonly resume: () => void
}

/** Bytes that may be on their way: a few slots of a busy chain. */
const WINDOW = 16 * 2 ** 20
const ANSWER_LIMIT_MS = 5_000

const options = {
  "grpc.max_receive_message_length": -1,
  "grpc-node.flow_control_window": WINDOW
}

/** A connection to an endpoint, until it is closed. */
export const clientOf = ({ url }: GeyserTarget): Client => {
  const { host, hostname, port, protocol } = new URL(url)
  const isPlain = protocol === "http:"
  const address = port === "" ? `${hostname}:${isPlain ? 80 : 443}` : host
  return new Client(address, isPlain ? credentials.createInsecure() : credentials.createSsl(), options)
}

/** A connection to an endpoint until the scope closes. */
export const connect = (target: GeyserTarget): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => clientOf(target)),
    (client) => Effect.sync(() => client.close())
  )

const metadataOf = ({ token }: GeyserTarget): Metadata => {
  const metadata = new Metadata()
  if (token !== null) {
    metadata.set("x-token", token)
  }
  return metadata
}

/**
 * Asks for transactions except votes, the heads of blocks, and slots, all at the commitment. The head counts votes too,
 * so the statuses of votes are requested as well: a hundred bytes each. Never asks for `blocks`, because a replay does
 * not have them.
 */
const blocksFrom = ({ commitment, from }: StreamRange): GeyserRequest => ({
  slots: { slots: { filterByCommitment: true } },
  transactions: { transactions: { vote: false } },
  transactionsStatus: { votes: { vote: true } },
  blocksMeta: { heads: {} },
  commitment,
  ...(from !== null && { fromSlot: String(from) })
})

/** Codes of a request that is wrong for the endpoint or the plan. Repeating it does not help. */
const REFUSED: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
  status.UNAUTHENTICATED,
  status.UNIMPLEMENTED
])

/**
 * Besides OUT_OF_RANGE, codes of servers for a slot that they no longer have, or for a replay that they do not offer.
 * The message decides.
 */
const UNREPLAYED: ReadonlySet<number> = new Set([
  status.FAILED_PRECONDITION,
  status.INTERNAL,
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.UNIMPLEMENTED
])
const UNREPLAYED_WORDS =
  /from_?slot|(?:broadcast|replay) from \d+ is not available|replay position|first available slot/iu

/** The end of a stream requested from this slot on. A passing failure is never `range`, whatever its message. */
export const endOf = ({ code, details }: Pick<ServiceError, "code" | "details">, from: number | null): StreamEnd => {
  const isRange =
    from !== null && (code === status.OUT_OF_RANGE || (UNREPLAYED.has(code) && UNREPLAYED_WORDS.test(details)))
  const reason = isRange ? "range" : REFUSED.has(code) ? "refused" : "failure"
  return { reason, detail: `${status[code] ?? code}: ${details}` }
}

/** An open call. Each request replaces the previous one. */
export interface StreamCall extends StreamFlow {
  readonly write: (request: GeyserRequest) => void
  readonly close: () => void
}

/** What a call gives its updates to, and how it reads them. */
export interface CallReader<Update> {
  /** Throws where the bytes are malformed, which ends the call. */
  readonly read: (bytes: Uint8Array) => Update
  readonly onUpdate: (update: Update) => void
  readonly onEnd: (end: StreamEnd) => void
}

/** Opens a call whose first request asks for slots from `from` on. Drops updates that arrive after `close`. */
export const openCall = <Update extends Pick<StreamUpdate, "isPing">>(
  client: Client,
  { from, target }: { readonly target: GeyserTarget; readonly from: number | null },
  { onEnd, onUpdate, read }: CallReader<Update>
): StreamCall => {
  const { path, requestSerialize } = subscribeMethod
  const call = client.makeBidiStreamRequest(path, requestSerialize, read, metadataOf(target))
  let isOpen = true
  call.on("data", (update: Update) => {
    if (!isOpen) {
      return
    }
    if (update.isPing) {
      // Load balancers close a connection whose client is silent.
      call.write({ ping: { id: 1 } })
    }
    onUpdate(update)
  })
  call.on("error", (error: ServiceError) => onEnd(endOf(error, from)))
  call.on("end", () => onEnd({ reason: "failure", detail: "without an error" }))
  return {
    write: (request) => call.write(request),
    pause: () => call.pause(),
    resume: () => call.resume(),
    close: () => {
      isOpen = false
      call.cancel()
    }
  }
}

/** Streams blocks from a slot on, or from now on, until the stream ends or the fiber is interrupted. */
export const stream = (
  client: Client,
  target: GeyserTarget,
  range: StreamRange,
  {
    onStart,
    onUpdate
  }: { readonly onStart: (flow: StreamFlow) => void; readonly onUpdate: (update: StreamUpdate) => void }
): Effect.Effect<StreamEnd> =>
  Effect.callback<StreamEnd>((resume) => {
    const onEnd = (end: StreamEnd) => resume(Effect.succeed(end))
    const call = openCall(client, { from: range.from, target }, { read: readUpdate, onEnd, onUpdate })
    onStart(call)
    call.write(blocksFrom(range))
    return Effect.sync(call.close)
  })

/** The oldest slot that the endpoint can replay; null when it does not say. */
export const firstAvailable = (client: Client, target: GeyserTarget): Effect.Effect<number | null> =>
  Effect.callback<number | null>((resume) => {
    const { path, requestSerialize, responseDeserialize } = replayInfoMethod
    const deadline = { deadline: performance.timeOrigin + performance.now() + ANSWER_LIMIT_MS }
    const call = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      {},
      metadataOf(target),
      deadline,
      (error, answer) => {
        const first: unknown =
          error === null && answer !== undefined ? Reflect.get(answer, "firstAvailable") : undefined
        resume(Effect.succeed(typeof first === "string" ? Number(first) : null))
      }
    )
    return Effect.sync(() => call.cancel())
  })
