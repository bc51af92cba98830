/**
 * A Geyser that sends slots which are encoded already: plain HTTP/2 with the frames of gRPC, so that a slot is one write to
 * each stream. Nothing is repeated: a stream from an earlier slot on is refused as out of range.
 */
import { createServer, type ServerHttp2Stream } from "node:http2"
import { status } from "@grpc/grpc-js"
import { replayInfoMethod, subscribeMethod } from "../../../src/chain/geyser/geyserService.ts"
import type { GeyserRequest } from "../../../src/chain/geyser/geyserUpdates.ts"
import { followedBy, namesOf } from "../../../src/simulator/node/geyserSlots.ts"
import { FrameReader, frameOf, joinedFrame, TRANSACTION_FILTER, writeVarint5 } from "./frames.ts"
import { encodeUpdate } from "./recording.ts"
import { endOf, headOf, type ReplayedSlot } from "./replay.ts"

const WINDOW = 64 * 2 ** 20

const HEADERS = { ":status": 200, "content-type": "application/grpc+proto" }

const isRequest = (message: object): message is GeyserRequest => !Array.isArray(message)

const prefixOf = (filters: ReadonlyArray<string>): Buffer => encodeUpdate({ filters })

/** Frames of the writes that a request follows. */
const writesFor = (request: GeyserRequest, { slot, writes }: ReplayedSlot): ReadonlyArray<Buffer> => {
  const followed = followedBy(request)
  if (followed.size === 0) {
    return []
  }
  const prefixes = new Map<ReadonlyArray<string> | string, Buffer>()
  return writes.flatMap(({ account, body }) => {
    const names = followed.get(account.address)
    if (names === undefined) {
      return []
    }
    const key = names.join()
    const prefix = prefixes.get(key) ?? prefixOf(names)
    prefixes.set(key, prefix)
    const frame = joinedFrame([prefix, body])
    writeVarint5(frame, slot, frame.length - 5)
    return [frame]
  })
}

/** Counts of a slot as it was sent, over all streams. */
export interface SentSlot {
  readonly transactions: number
  readonly writes: number
  readonly bytes: number
}

/** A running server. */
export interface GeyserServer {
  readonly url: string
  readonly send: (slot: ReplayedSlot) => SentSlot
  /** Bytes that the streams have not taken yet. */
  readonly waiting: () => number
}

interface Open {
  readonly stream: ServerHttp2Stream
  request: GeyserRequest | null
}

const isSubscribe = (path: string) => path === subscribeMethod.path

/** Listens on the loopback interface; `newest` is the newest slot. */
export const serveGeyser = async (newest: () => number): Promise<GeyserServer> => {
  const streams = new Set<Open>()
  const subscribe = (stream: ServerHttp2Stream): void => {
    const open: Open = { stream, request: null }
    const reader = new FrameReader()
    stream.respond(HEADERS, { waitForTrailers: true })
    stream.on("data", (chunk: Buffer) => {
      for (const message of reader.read(chunk)) {
        const request = subscribeMethod.requestDeserialize(message)
        if (!isRequest(request) || request.ping !== undefined) {
          continue
        }
        if (request.fromSlot !== undefined && Number(request.fromSlot) <= newest()) {
          stream.once("wantTrailers", () =>
            stream.sendTrailers({ "grpc-status": String(status.OUT_OF_RANGE), "grpc-message": "not available" })
          )
          stream.end()
          return
        }
        const names = namesOf(request.transactions)
        if (names !== null && names.join() !== TRANSACTION_FILTER) {
          throw new Error(`transactions are recorded for the filter ${TRANSACTION_FILTER}, not ${names.join()}`)
        }
        open.request = request
        streams.add(open)
      }
    })
    stream.on("error", () => streams.delete(open))
    stream.on("close", () => streams.delete(open))
  }
  const server = createServer({ settings: { initialWindowSize: WINDOW } })
  server.on("stream", (stream, headers) => {
    const path = String(headers[":path"])
    if (isSubscribe(path)) {
      return subscribe(stream)
    }
    stream.respond(HEADERS, { waitForTrailers: true })
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }))
    stream.end(frameOf(replayInfoMethod.responseSerialize({ firstAvailable: String(newest() + 1) })))
  })
  await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0

  const send = (slot: ReplayedSlot): SentSlot => {
    const sent = { transactions: 0, writes: 0, bytes: 0 }
    for (const { request, stream } of streams) {
      if (request === null || stream.destroyed) {
        continue
      }
      const commitment = request.commitment ?? 0
      const [heads, slots] = [namesOf(request.blocksMeta), namesOf(request.slots)]
      const writes = writesFor(request, slot)
      const isBlocks = namesOf(request.transactions) !== null
      const parts = [
        ...writes,
        ...(isBlocks ? [slot.frames] : []),
        ...(heads === null ? [] : [frameOf(headOf(heads, slot))]),
        ...(slots === null ? [] : [frameOf(endOf(slots, slot, commitment))])
      ]
      const bytes = Buffer.concat(parts)
      stream.write(bytes)
      sent.transactions += isBlocks ? slot.transactions : 0
      sent.writes += writes.length
      sent.bytes += bytes.length
    }
    return sent
  }
  return {
    url: `http://127.0.0.1:${port}`,
    send,
    waiting: () => Array.from(streams).reduce((sum, { stream }) => sum + stream.writableLength, 0)
  }
}
