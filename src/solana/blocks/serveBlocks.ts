/** The other side of `blockReader.ts`: a thread that asks for blocks, parses and decodes them. */
import { Duration, Effect, Fiber, ManagedRuntime, Redacted, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import { parentPort, workerData } from "node:worker_threads"
import type { DecodedBlock } from "./BlockFeed.ts"
import type { BlockReply, BlockRequest, BlockWorkerSettings } from "./blockMessages.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"
import { buffersOf, packTransactions } from "./PackedTransactions.ts"
import { makeRpcCall } from "../rpc/rpcHttp.ts"
import { blockCommitment } from "../rpc/SolanaRpc.ts"

/** Makes a block of what `getBlock` answers; null when it is none. Pure. */
export type DecodeBlock = (slot: number, answer: unknown) => DecodedBlock | null

const failure = (id: number, { reason, detail, rpcCode, retryAfterMs }: ChainUnavailable): BlockReply => ({
  _tag: "failure",
  id,
  reason,
  detail,
  rpcCode,
  retryAfterMs
})

const decoded = (decode: DecodeBlock, slot: number, answer: unknown): Result.Result<DecodedBlock, ChainUnavailable> => {
  const detail = "getBlock: an unexpected answer"
  try {
    const block = decode(slot, answer)
    return block === null ? Result.fail(new ChainUnavailable({ reason: "invalid", detail })) : Result.succeed(block)
  } catch {
    // A decoder that stumbles costs one block, not all of them.
    return Result.fail(new ChainUnavailable({ reason: "invalid", detail: "getBlock: the decoder failed" }))
  }
}

const readerOf = (settings: BlockWorkerSettings, decode: DecodeBlock) =>
  Effect.gen(function* () {
    const timeout = Duration.millis(settings.timeoutMs)
    const url = Redacted.make(settings.rpcUrl)
    const call = yield* makeRpcCall({
      rpcUrl: url,
      wsUrl: url,
      commitment: settings.commitment,
      timeout,
      scanTimeout: timeout,
      retries: settings.retries,
      concurrency: settings.concurrency,
      watchdog: timeout,
      backlog: 1
    })
    const options = {
      commitment: blockCommitment(settings.commitment),
      encoding: "json",
      transactionDetails: "full",
      maxSupportedTransactionVersion: 0,
      rewards: false
    }
    return (slot: number) =>
      call("getBlock", [slot, options]).pipe(
        Effect.flatMap((answer) => Effect.fromResult(decoded(decode, slot, answer)))
      )
  })

/** Reads blocks for the thread that started this one, until it is ended. Only a worker's entry calls it. */
export const serveBlocks = (decode: DecodeBlock): void => {
  const port = parentPort
  if (port === null) {
    return
  }
  const settings: BlockWorkerSettings = workerData
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const reader = runtime.runPromise(readerOf(settings, decode))
  const running = new Map<number, Fiber.Fiber<void>>()

  const send = (id: number, { transactions, ...head }: DecodedBlock): void => {
    const parts = packTransactions(Array.from(transactions))
    const reply: BlockReply = { _tag: "block", id, head, parts }
    port.postMessage(reply, buffersOf(parts))
  }

  const read = (id: number, slot: number): void => {
    const work = Effect.promise(() => reader).pipe(
      Effect.flatMap((readBlock) => readBlock(slot)),
      // Whoever waits has to hear of it, whatever went wrong.
      Effect.catchDefect(() => Effect.fail(new ChainUnavailable({ reason: "invalid", detail: "getBlock: a defect" }))),
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

  port.on("message", ({ _tag, id, slot }: BlockRequest) => (_tag === "read" ? read(id, slot) : drop(id)))
}
