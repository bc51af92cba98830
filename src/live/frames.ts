/** Encoding of live frames. The body is encoded once and shared by all readers; only the head differs. */

/** Upper bound of the head, in bytes, without the mark. */
export const HEAD_BYTES = 100

/** A frame body without sequence number. Its bytes are dropped when it is too old to be replayed. */
export interface SharedFrame {
  readonly type: string
  /** Bytes after the head. */
  readonly length: number
  /** Buffer shared with other frames; null once dropped. */
  slab: Buffer | null
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
export const copyRest = ({ at, length, slab }: SharedFrame, target: Buffer, to: number): number =>
  to + (slab?.copy(target, to, at, at + length) ?? 0)

/** Type and JSON object of a frame to encode. */
export interface UnencodedFrame {
  readonly type: string
  /** An object with at least one field. */
  readonly json: string
}

const COMMA = 44

/** Encodes frames into one buffer, each with a comma in place of its first brace, so that a head can precede it. */
export const encodeFrames = (drafts: ReadonlyArray<UnencodedFrame>): ReadonlyArray<SharedFrame> => {
  const slab = Buffer.allocUnsafeSlow(drafts.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0))
  let at = 0
  return drafts.map(({ json, type }) => {
    const length = slab.write(json, at)
    slab[at] = COMMA
    at += length
    return { type, length, slab, at: at - length }
  })
}

/** The head of a frame. */
export const headOf = (type: string, seq: number, sentAtMs: number, mark = ""): string =>
  `{"type":"${type}"${mark},"seq":${seq},"sentAtMs":${sentAtMs}`

/** Bytes of the bodies. */
export const bytesOf = (frames: ReadonlyArray<SharedFrame>): number =>
  frames.reduce((sum, { length }) => sum + length, 0)
