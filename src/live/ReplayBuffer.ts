import { type FrameMemory, moveBody, type SharedFrame } from "./frames.ts"

/** Longest time for which a frame can be replayed, in milliseconds. */
export const KEPT_MS = 120_000

const CHUNK_BYTES = 256 * 1024
/** How many empty chunks are kept for later frames. */
const SPARE_CHUNKS = 16

/** Frames one after the other in one buffer, oldest first. */
interface Chunk {
  readonly memory: FrameMemory
  used: number
  readonly frames: Array<SharedFrame>
  readonly timesMs: Array<number>
  /** Index of the oldest frame that is not dropped. */
  first: number
}

const chunkOf = (memory: FrameMemory): Chunk => ({ memory, used: 0, frames: [], timesMs: [], first: 0 })

/**
 * Frames that can be replayed, bounded by age and by bytes over all streams. The oldest are dropped first. Bodies are
 * copied into buffers that are used again: new buffers outside the heap would make the collector mark the whole heap
 * every few seconds.
 */
export class ReplayBuffer {
  readonly #mostBytes: number
  readonly #spare: Array<FrameMemory> = []
  #chunks: Array<Chunk> = []
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#bytes
  }

  /** Takes a frame that has been sent, and moves its body. */
  add(frame: SharedFrame, nowMs: number): void {
    const chunk = this.#chunkFor(frame.length)
    moveBody(frame, chunk.memory, chunk.used)
    chunk.used += frame.length
    chunk.frames.push(frame)
    chunk.timesMs.push(nowMs)
    this.#bytes += frame.length
    this.expire(nowMs)
  }

  /** Drops frames older than `KEPT_MS`, and then the oldest until the byte limit holds. */
  expire(nowMs: number): void {
    let [chunk] = this.#chunks
    while (chunk !== undefined && this.#dropFrom(chunk, nowMs)) {
      this.#chunks.shift()
      if (chunk.memory.bytes.length === CHUNK_BYTES && this.#spare.length < SPARE_CHUNKS) {
        this.#spare.push(chunk.memory)
      }
      ;[chunk] = this.#chunks
    }
  }

  /** Drops frames of a chunk that exceed the bytes or the age. True when none is left. */
  #dropFrom(chunk: Chunk, nowMs: number): boolean {
    let frame = chunk.frames[chunk.first]
    while (frame !== undefined) {
      if (this.#bytes <= this.#mostBytes && nowMs - (chunk.timesMs[chunk.first] ?? 0) <= KEPT_MS) {
        return false
      }
      frame.memory = null
      this.#bytes -= frame.length
      frame = chunk.frames[++chunk.first]
    }
    return true
  }

  #chunkFor(length: number): Chunk {
    const newest = this.#chunks.at(-1)
    if (newest !== undefined && newest.used + length <= newest.memory.bytes.length) {
      return newest
    }
    const isLarge = length > CHUNK_BYTES
    const memory = isLarge ? undefined : this.#spare.pop()
    const chunk = chunkOf(memory ?? { bytes: Buffer.allocUnsafeSlow(isLarge ? length : CHUNK_BYTES), unmoved: 0 })
    this.#chunks.push(chunk)
    return chunk
  }
}
