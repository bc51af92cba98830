/** Encoding of live frames. The body is encoded once and shared by all readers; only the head differs. */

/** Upper bound of the head without the mark, in bytes. */
export const HEAD_BYTES = 100

/** A buffer of frame bodies. */
export interface FrameMemory {
  readonly bytes: Buffer
  /** Frames encoded in it that have not moved to a replay buffer yet. */
  unmoved: number
}

/** A frame body without its sequence number. Its bytes are dropped when it is too old to be replayed. */
export interface SharedFrame {
  readonly type: string
  /** Bytes after the head. */
  readonly length: number
  /** Memory shared with other frames; null once dropped. */
  memory: FrameMemory | null
  at: number
}

/** Frames with consecutive numbers. */
export interface FrameRun {
  readonly frames: ReadonlyArray<SharedFrame>
  readonly firstSeq: number
  /** Fields that follow the type in each head, such as `,"id":"a"`; ASCII. Empty unless given. */
  readonly mark?: string
}

/** Copies the body to `target` and returns the offset after it. */
export const copyRest = ({ at, length, memory }: SharedFrame, target: Buffer, to: number): number =>
  to + (memory?.bytes.copy(target, to, at, at + length) ?? 0)

const MEMORY_BYTES = 256 * 1024
const MOST_SPARE = 32
const spare: Array<FrameMemory> = []

/**
 * Memory for frames: a buffer whose frames have all moved, or a new one. A new buffer per batch would be megabytes a
 * second outside the heap, and would make the collector mark the whole heap every few seconds.
 */
const memoryFor = (bytes: number): FrameMemory => {
  const used = bytes <= MEMORY_BYTES ? spare.pop() : undefined
  return used ?? { bytes: Buffer.allocUnsafeSlow(Math.max(MEMORY_BYTES, bytes)), unmoved: 0 }
}

/** Moves a body to a place in other memory. */
export const moveBody = (frame: SharedFrame, memory: FrameMemory, at: number): void => {
  const before = frame.memory
  copyRest(frame, memory.bytes, at)
  frame.memory = memory
  frame.at = at
  if (before !== null && --before.unmoved === 0 && before.bytes.length === MEMORY_BYTES && spare.length < MOST_SPARE) {
    spare.push(before)
  }
}

/** Type and JSON object of a frame to encode. */
export interface UnencodedFrame {
  readonly type: string
  /** An object with at least one field. */
  readonly json: string
}

const COMMA = 44

/** Writes a body with a comma in place of its first brace, so that a head can stand before it. */
const encodeInto = (memory: FrameMemory, at: number, { json, type }: UnencodedFrame): SharedFrame => {
  const length = memory.bytes.write(json, at)
  memory.bytes[at] = COMMA
  memory.unmoved++
  return { type, length, memory, at }
}

/** Encodes a frame that is only sent, or rarely kept. */
export const encodeFrame = (draft: UnencodedFrame): SharedFrame =>
  encodeInto({ bytes: Buffer.allocUnsafeSlow(Buffer.byteLength(draft.json)), unmoved: 0 }, 0, draft)

/** Most UTF-8 bytes per unit of a JavaScript text. */
const BYTES_OF_A_UNIT = 3

/** Encodes frames that move to a replay buffer after they are sent. */
export class FrameEncoder {
  #memory: FrameMemory | null = null
  #at = 0

  /** Encodes the next frame. */
  encode(draft: UnencodedFrame): SharedFrame {
    const most = BYTES_OF_A_UNIT * draft.json.length
    const hasRoom = this.#memory !== null && this.#at + most <= this.#memory.bytes.length
    const memory = hasRoom && this.#memory !== null ? this.#memory : memoryFor(most)
    const frame = encodeInto(memory, hasRoom ? this.#at : 0, draft)
    this.#memory = memory
    this.#at = frame.at + frame.length
    return frame
  }
}

/** Encodes the frames of a batch, which move to a replay buffer after they are sent. */
export const encodeFrames = <A>(
  items: ReadonlyArray<A>,
  draftOf: (item: A) => UnencodedFrame
): ReadonlyArray<SharedFrame> => {
  const encoder = new FrameEncoder()
  // One text at a time: the texts of a whole batch would survive the collection of young objects.
  return items.map((item) => encoder.encode(draftOf(item)))
}

/** The head of a frame. */
export const headOf = (type: string, seq: number, sentAtMs: number, mark = ""): string =>
  `{"type":"${type}"${mark},"seq":${seq},"sentAtMs":${sentAtMs}`

/** Bytes of the bodies. */
export const bytesOf = (frames: ReadonlyArray<SharedFrame>): number =>
  frames.reduce((sum, { length }) => sum + length, 0)
