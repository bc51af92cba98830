/** The thread behind `readImport.ts`: reads blocks of a source, decodes and packs them. */
import { Effect, ManagedRuntime, Semaphore, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { parentPort, workerData } from "node:worker_threads"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { decodeToRows } from "../decoding/decodeBlock.ts"
import { isFields } from "../decoding/jsonFields.ts"
import { packBlock } from "../decoding/PackedTransactions.ts"
import type { TradeBlock } from "../decoding/TradeBlock.ts"
import { fileBlocks } from "./fileBlocks.ts"
import type { ImportReply, ImportRequest } from "./importMessages.ts"
import { type ImportRange, ImportRefused, isAfter, isBefore, type SourceBlock } from "./importSource.ts"
import { portalBlocks } from "./portalBlocks.ts"
import { rpcBlocks } from "./rpcBlocks.ts"

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)

const blocksOf = ({ place, range, share }: ImportRequest) => {
  switch (place._tag) {
    case "rpc":
      return rpcBlocks(place.url, range)
    case "file":
      return fileBlocks(place.path, range, share)
    case "portal":
      return portalBlocks(place.url, range)
  }
}

/** Decodes a block and takes the time that the source knows. */
const decoded = ({ answer, decode, slot, time }: SourceBlock): TradeBlock => {
  const found = decode === undefined ? decodeToRows(slot, answer) : decode()
  if (found === null) {
    throw new ImportRefused({ detail: `the block of slot ${slot} is not in the form of getBlock` })
  }
  return time === undefined
    ? found
    : { ...found, blockTimeMs: time.ms, ...(time.isEstimated && { blockTimeEstimated: true }) }
}

interface Read {
  readonly source: SourceBlock
  /** Null for a block before the range. */
  readonly block: TradeBlock | null
}

const inRange = (range: ImportRange, source: SourceBlock): TradeBlock | null => {
  const block = isBefore(range, source.slot, source.time?.ms ?? null) ? null : decoded(source)
  return block === null || isBefore(range, block.slot, block.blockTimeMs) ? null : block
}

const refusedBy = (slot: number) => (error: unknown) =>
  error instanceof ImportRefused
    ? error
    : new ImportRefused({
        detail: `the block of slot ${slot} cannot be decoded: ${error instanceof Error ? error.message : "it is damaged"}`
      })

/** Sends the blocks of a source to the thread that started this one. Only the entry of a worker calls it. */
export const serveImport = (): void => {
  const port = parentPort
  if (port === null) {
    return
  }
  const request: ImportRequest = workerData
  const send = (reply: ImportReply, transfer: Array<ArrayBuffer> = []) =>
    Effect.sync(() => port.postMessage(reply, transfer))
  const permits = Semaphore.makeUnsafe(0)
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const { range } = request
  const reply = Effect.fnUntraced(function* ({ block, source }: Read) {
    yield* permits.take(1)
    if (block === null) {
      return yield* send({ _tag: "none" })
    }
    const { message, transfer } = packBlock(block)
    const answer = isFields(source.answer) ? source.answer : {}
    const [hash, parentHash] = [textOf(answer["blockhash"]), textOf(answer["previousBlockhash"])]
    yield* send({ _tag: "block", imported: { hash, parentHash, block: message } }, transfer)
  })
  const work = blocksOf(request).pipe(
    Stream.mapEffect((source) =>
      Effect.try({ try: () => ({ source, block: inRange(range, source) }), catch: refusedBy(source.slot) })
    ),
    // The block after the range shows whether the last one within it is linked.
    Stream.takeUntil(({ block }) => block !== null && isAfter(range, block.slot, block.blockTimeMs)),
    Stream.runForEach(reply),
    Effect.andThen(send({ _tag: "end" })),
    Effect.catch((failure) =>
      failure instanceof ChainUnavailable
        ? send({
            _tag: "failure",
            reason: failure.reason,
            detail: failure.detail,
            retryAfterMs: failure.retryAfterMs
          })
        : send({ _tag: "refused", detail: failure.detail })
    ),
    Effect.catchDefect(() => send({ _tag: "failure", reason: "invalid", detail: "a defect", retryAfterMs: undefined }))
  )
  port.on("message", (allowed: number) => void runtime.runFork(permits.release(allowed)))
  runtime.runFork(work)
}
