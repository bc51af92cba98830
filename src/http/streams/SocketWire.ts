import type { WebSocket, WebSocketServer } from "ws"
import { copyRest, type FrameRun, headOf } from "../../live/frames.ts"
import type { CloseCode, Control, LiveWire } from "../../live/LiveWire.ts"

/** The socket of an upgraded connection. */
export type Carrier = Parameters<WebSocketServer["handleUpgrade"]>[1]

/** First byte of an unfragmented text message: FIN and opcode 1. */
const TEXT = 0x81
const TWO_BYTES = 126
const EIGHT_BYTES = 127

const headerLength = (payload: number): number => (payload < TWO_BYTES ? 2 : payload < 65_536 ? 4 : 10)

const writeHeader = (target: Buffer, at: number, payload: number): number => {
  target[at] = TEXT
  if (payload < TWO_BYTES) {
    target[at + 1] = payload
    return at + 2
  }
  if (payload < 65_536) {
    target[at + 1] = TWO_BYTES
    return target.writeUInt16BE(payload, at + 2)
  }
  target[at + 1] = EIGHT_BYTES
  target.writeUInt32BE(0, at + 2)
  return target.writeUInt32BE(payload, at + 6)
}

const WRITE_BYTES = 64 * 1024

/**
 * Memory of the next write. It is reused as long as each write ends at once. A new buffer for each write would allocate
 * some megabytes a second outside the heap, and that makes the collector run.
 */
const shared = { bytes: Buffer.allocUnsafeSlow(WRITE_BYTES) }

/** Writes to a connection. Bytes that the connection has not taken yet keep their memory. */
const writeShared = (carrier: Carrier, bytes: Buffer): void => {
  carrier.write(bytes)
  if (carrier.writableLength > 0 && bytes.buffer === shared.bytes.buffer) {
    shared.bytes = Buffer.allocUnsafeSlow(WRITE_BYTES)
  }
}

/**
 * Numbered frames as WebSocket messages (RFC 6455, 5.2) in one buffer, valid until the next write. The heads are ASCII.
 */
const asMessages = (runs: ReadonlyArray<FrameRun>, sentAtMs: number): Buffer => {
  const heads: Array<string> = []
  let total = 0
  for (const { firstSeq, frames, mark } of runs) {
    for (const [at, frame] of frames.entries()) {
      const head = headOf(frame.type, firstSeq + at, sentAtMs, mark)
      const payload = head.length + frame.length
      total += headerLength(payload) + payload
      heads.push(head)
    }
  }
  const bytes = total > WRITE_BYTES ? Buffer.allocUnsafeSlow(total) : shared.bytes.subarray(0, total)
  let end = 0
  let next = 0
  for (const { frames } of runs) {
    for (const frame of frames) {
      const head = heads[next++] ?? ""
      end = writeHeader(bytes, end, head.length + frame.length)
      end += bytes.write(head, end, "latin1")
      end = copyRest(frame, bytes, end)
    }
  }
  return bytes
}

/**
 * One WebSocket. Frames bypass the library and go to the underlying socket in one write: they are never masked,
 * compressed or fragmented, and a process serves a thousand sockets. Everything else goes through the library.
 */
export class SocketWire implements LiveWire {
  readonly #ws: WebSocket
  readonly #carrier: Carrier
  #handedOver = 0
  #texts = 0
  // The byte position at which each write ends, and its number of frames. The oldest unsent write is first.
  #writes: Array<{ readonly end: number; readonly frames: number }> = []

  constructor(ws: WebSocket, carrier: Carrier) {
    this.#ws = ws
    this.#carrier = carrier
  }

  send(runs: ReadonlyArray<FrameRun>, sentAtMs: number, again = false): void {
    if (this.#ws.readyState !== this.#ws.OPEN) {
      return
    }
    const bytes = asMessages(runs, sentAtMs)
    if (bytes.length === 0) {
      return
    }
    writeShared(this.#carrier, bytes)
    this.#handedOver += bytes.length
    if (this.#carrier.writableLength > 0) {
      const frames = again ? 0 : runs.reduce((sum, run) => sum + run.frames.length, 0)
      this.#writes.push({ end: this.#handedOver, frames })
    }
  }

  sendControl(frame: Control): void {
    if (this.#ws.readyState === this.#ws.OPEN) {
      const text = JSON.stringify(frame)
      this.#texts += Buffer.byteLength(text)
      this.#ws.send(text)
    }
  }

  /** Bytes of frames and texts so far. */
  sentBytes(): number {
    return this.#handedOver + this.#texts
  }

  unsentBytes(): number {
    return this.#carrier.writableLength
  }

  unsentFrames(): number {
    if (this.#writes.length === 0) {
      return 0
    }
    const gone = this.#handedOver - this.#carrier.writableLength
    const from = this.#writes.findIndex(({ end }) => end > gone)
    this.#writes = from === -1 ? [] : this.#writes.slice(from)
    return this.#writes.reduce((sum, { frames }) => sum + frames, 0)
  }

  ping(): void {
    if (this.#ws.readyState === this.#ws.OPEN) {
      this.#ws.ping()
    }
  }

  close(code: CloseCode, reason: string): void {
    this.#ws.close(code, reason)
  }
}
