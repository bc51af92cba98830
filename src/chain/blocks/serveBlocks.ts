/** The thread behind `blockReader.ts`: requests, parses and decodes blocks. */
import { Duration, Effect, Fiber, ManagedRuntime, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import { parentPort, workerData } from "node:worker_threads"
import type { BlockReply, BlockRequest, BlockWorkerSettings, PackedReply } from "./blockMessages.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { makeRpcCall } from "../rpc/rpcHttp.ts"
import { rpcNode } from "../rpc/rpcSettings.ts"
import { blockCommitment } from "../Commitment.ts"
import { lowerThreadPriority } from "./threadPriority.ts"

/** Decodes and packs the result of `getBlock`; null when it is not a block. Pure. */
export type DecodeBlock<Message> = (slot: number, result: unknown) => PackedReply<Message> | null

const failure = (id: number, { reason, detail, rpcCode, retryAfterMs }: ChainUnavailable): BlockReply<never> => ({
  _tag: "failure",
  id,
  reason,
  detail,
  rpcCode,
  retryAfterMs
})

const decoded = <Message>(
  decode: DecodeBlock<Message>,
  slot: number,
  answer: unknown
): Result.Result<PackedReply<Message>, ChainUnavailable> => {
  const detail = "getBlock: an unexpected answer"
  try {
    const block = decode(slot, answer)
    return block === null ? Result.fail(new ChainUnavailable({ reason: "invalid", detail })) : Result.succeed(block)
  } catch {
    // A decoder that throws costs one block, not all of them.
    return Result.fail(new ChainUnavailable({ reason: "invalid", detail: "getBlock: the decoder failed" }))
  }
}

const unknownNode = new ChainUnavailable({ reason: "invalid", detail: "getBlock: no such node" })

const readerOf = <Message>(settings: BlockWorkerSettings, decode: DecodeBlock<Message>) =>
  Effect.gen(function* () {
    const { concurrency, retries, rpcUrls, timeoutMs } = settings
    const calls = yield* Effect.forEach(rpcUrls, (url) => {
      const node = rpcNode(url)
      return makeRpcCall({ concurrency, retries, timeout: Duration.millis(timeoutMs) }, { node: () => node })
    })
    const options = {
      commitment: blockCommitment(settings.commitment),
      encoding: "json",
      transactionDetails: "full",
      maxSupportedTransactionVersion: 0,
      rewards: false
    }
    return (slot: number, node: number) =>
      (calls[node]?.("getBlock", [slot, options]) ?? Effect.fail(unknownNode)).pipe(
        Effect.flatMap((answer) => Effect.fromResult(decoded(decode, slot, answer)))
      )
  })

/** Reads blocks for the thread that started this one, until it is terminated. Only the entry of a worker calls it. */
export const serveBlocks = <Message>(decode: DecodeBlock<Message>): void => {
  const port = parentPort
  if (port === null) {
    return
  }
  lowerThreadPriority()
  const settings: BlockWorkerSettings = workerData
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const reader = runtime.runPromise(readerOf(settings, decode))
  const running = new Map<number, Fiber.Fiber<void>>()

  const send = (id: number, { message, transfer }: PackedReply<Message>): void => {
    const reply: BlockReply<Message> = { _tag: "block", id, message }
    port.postMessage(reply, transfer)
  }

  const read = (id: number, slot: number, node: number): void => {
    const work = Effect.promise(() => reader).pipe(
      Effect.flatMap((readBlock) => readBlock(slot, node)),
      // Every request gets a reply.
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

  port.on("message", ({ _tag, id, node, slot }: BlockRequest) => (_tag === "read" ? read(id, slot, node) : drop(id)))
}
