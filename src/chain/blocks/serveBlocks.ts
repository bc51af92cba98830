/** The thread behind `blockReader.ts`: requests blocks and decodes them while they arrive. */
import { Duration, Effect, Fiber, ManagedRuntime, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import { parentPort, workerData } from "node:worker_threads"
import { forEachChunk, UnusableText } from "../../operations/boundedText.ts"
import type { BodyRead } from "../../operations/upstreamHttp.ts"
import type { BlockDecoder, BlockReply, BlockRequest, BlockWorkerSettings, PackedReply } from "./blockMessages.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { parseJson } from "../rpc/accountJson.ts"
import { ListElements } from "../rpc/listElements.ts"
import { makeReadingRpcCall, MAX_BODY, resultOf } from "../rpc/rpcHttp.ts"
import { rpcNode } from "../rpc/rpcSettings.ts"
import { blockCommitment } from "../Commitment.ts"
import { lowerThreadPriority } from "./threadPriority.ts"

const METHOD = "getBlock"
/** The most bytes of one transaction as JSON. Its log and its inner instructions are limited by the chain. */
const MOST_TRANSACTION = 2 ** 24

/** Makes the decoder of the block of a slot. */
export type OpenBlock<Message> = (slot: number) => BlockDecoder<Message>

const failure = (id: number, { reason, detail, rpcCode, retryAfterMs }: ChainUnavailable): BlockReply<never> => ({
  _tag: "failure",
  id,
  reason,
  detail,
  rpcCode,
  retryAfterMs
})

/** Runs a step of a decoder. A decoder that throws costs one block, not all of them. */
const step = <A>(run: () => A): Effect.Effect<A, UnusableText> =>
  Effect.try({ try: run, catch: () => new UnusableText({ detail: "an answer that cannot be decoded" }) })

const invalid = (detail: string) => new ChainUnavailable({ reason: "invalid", detail: `${METHOD}: ${detail}` })

/** The value of JSON text. Throws when it is not JSON: a block is whole, or it is not read. */
const valueOf = (text: string): unknown => {
  const value = parseJson(text)
  if (value === undefined) {
    throw new RangeError("a transaction that is not JSON")
  }
  return value
}

/** Reads the answer of `getBlock`. The decoder gets each transaction as soon as it has arrived. */
const readAnswer =
  <Message>({ add, end }: BlockDecoder<Message>): BodyRead<Result.Result<PackedReply<Message>, ChainUnavailable>> =>
  (bytes) =>
    Effect.suspend(() => {
      const elements = new ListElements({
        property: "transactions",
        mostBytes: MOST_TRANSACTION,
        visit: (text) => add(valueOf(text))
      })
      const take = (chunk: Uint8Array) => step(() => elements.add(chunk))
      const packed = () =>
        Result.flatMap(resultOf(METHOD, elements.rest()), (rest) =>
          Result.fromNullishOr(end(rest), () => invalid("an unexpected answer"))
        )
      return Effect.andThen(forEachChunk(bytes, MAX_BODY, take), step(packed))
    })

const readerOf = <Message>(settings: BlockWorkerSettings, open: OpenBlock<Message>) =>
  Effect.gen(function* () {
    const { concurrency, retries, rpcUrls, timeoutMs } = settings
    const calls = yield* Effect.forEach(rpcUrls, (url) => {
      const node = rpcNode(url)
      return makeReadingRpcCall({ concurrency, retries, timeout: Duration.millis(timeoutMs) }, { node: () => node })
    })
    const options = {
      commitment: blockCommitment(settings.commitment),
      encoding: "json",
      transactionDetails: "full",
      maxSupportedTransactionVersion: 0,
      rewards: false
    }
    return (slot: number, node: number) =>
      calls[node]?.(METHOD, [slot, options], () => readAnswer(open(slot))) ?? Effect.fail(invalid("no such node"))
  })

/** Reads blocks for the thread that started this one, until it is terminated. Only the entry of a worker calls it. */
export const serveBlocks = <Message>(open: OpenBlock<Message>): void => {
  const port = parentPort
  if (port === null) {
    return
  }
  lowerThreadPriority()
  const settings: BlockWorkerSettings = workerData
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const reader = runtime.runPromise(readerOf(settings, open))
  const running = new Map<number, Fiber.Fiber<void>>()

  const send = (id: number, { message, transfer }: PackedReply<Message>): void => {
    const reply: BlockReply<Message> = { _tag: "block", id, message }
    port.postMessage(reply, transfer)
  }

  const read = (id: number, slot: number, node: number): void => {
    const work = Effect.promise(() => reader).pipe(
      Effect.flatMap((readBlock) => readBlock(slot, node)),
      // Every request gets a reply.
      Effect.catchDefect(() => Effect.fail(invalid("a defect"))),
      Effect.match({
        onFailure: (error) => port.postMessage(failure(id, error)),
        onSuccess: (block) => send(id, block)
      }),
      Effect.ensuring(Effect.sync(() => running.delete(id)))
    )
    running.set(id, runtime.runFork(work))
  }

  const drop = (id: number): void => {
    const fiber = running.get(id)
    if (fiber !== undefined) {
      runtime.runFork(Fiber.interrupt(fiber))
    }
  }

  port.on("message", ({ _tag, id, node, slot }: BlockRequest) => (_tag === "read" ? read(id, slot, node) : drop(id)))
}
