/** Encoding of live frames. The body is encoded once and shared by all readers; only the head differs. */

/** Upper bound of the head, in bytes, without the mark. */
export const HEAD_BYTES = 100

/** A buffer of frame bodies. */
export interface FrameMemory {
  readonly bytes: Buffer
  /** Frames that were encoded in it and have not moved to a replay buffer. */
  unmoved: number
}

/** A frame body without sequence number. Its bytes are dropped when it is too old to be replayed. */
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
  /** Fields of each head after its type, such as `,"id":"a"`; ASCII. Empty unless given. */
  readonly mark?: string
}

/** Copies the body to `target` and returns the offset after it. */
export const copyRest = ({ at, length, memory }: SharedFrame, target: Buffer, to: number): number =>
  to + (memory?.bytes.copy(target, to, at, at + length) ?? 0)

const LEAST_BYTES = 64 * 1024
const MOST_SPARE = 8
const spare: Array<FrameMemory> = []

/**
 * Memory for a batch of frames: one whose frames have all moved, or a new one. New buffers for each batch would be megabytes a
 * second beside the heap, and these make the collector mark the whole heap every few seconds.
 */
const memoryFor = (bytes: number): FrameMemory => {
  const place = spare.findIndex((each) => each.bytes.length >= bytes)
  const [found] = place === -1 ? [] : spare.splice(place, 1)
  return found ?? { bytes: Buffer.allocUnsafeSlow(Math.max(LEAST_BYTES, 2 ** Math.ceil(Math.log2(bytes)))), unmoved: 0 }
}

/** Moves a body to a place in other memory. */
export const moveBody = (frame: SharedFrame, memory: FrameMemory, at: number): void => {
  const before = frame.memory
  copyRest(frame, memory.bytes, at)
  frame.memory = memory
  frame.at = at
  if (before !== null && --before.unmoved === 0 && spare.length < MOST_SPARE) {
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

/** Encodes frames into one buffer, each with a comma in place of its first brace, so that a head can precede it. */
export const encodeFrames = (drafts: ReadonlyArray<UnencodedFrame>): ReadonlyArray<SharedFrame> => {
  if (drafts.length === 0) {
    return []
  }
  const memory = memoryFor(drafts.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0))
  const { bytes } = memory
  memory.unmoved = drafts.length
  let at = 0
  return drafts.map(({ json, type }) => {
    const length = bytes.write(json, at)
    bytes[at] = COMMA
    at += length
    return { type, length, memory, at: at - length }
  })
}

/** The head of a frame. */
export const headOf = (type: string, seq: number, sentAtMs: number, mark = ""): string =>
  `{"type":"${type}"${mark},"seq":${seq},"sentAtMs":${sentAtMs}`

/** Bytes of the bodies. */
export const bytesOf = (frames: ReadonlyArray<SharedFrame>): number =>
  frames.reduce((sum, { length }) => sum + length, 0)
