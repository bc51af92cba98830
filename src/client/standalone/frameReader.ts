/** Frames of a WebSocket connection (RFC 6455), as a client reads and writes them. */

/** Operation codes. */
export const OP = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A whole message, its parts put together, or a control frame. */
export interface SocketFrame {
  readonly op: number
  readonly payload: Uint8Array
}

/** Bytes of a message from which on the connection is given up. */
const LARGEST = 16 * 1024 * 1024

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** A frame of a client: whole, and masked with these four bytes. */
export const maskedFrame = (op: number, payload: Uint8Array, mask: Uint8Array): Uint8Array => {
  const { length } = payload
  const size = length < 126 ? [length | 128] : length < 65_536 ? [254, length >> 8, length & 255] : null
  const long = new Uint8Array(9)
  long[0] = 255
  new DataView(long.buffer).setBigUint64(1, BigInt(length))
  const body = payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0))
  return joined([Uint8Array.of(128 | op), size === null ? long : Uint8Array.from(size), mask, body])
}

interface Head {
  readonly op: number
  readonly isLast: boolean
  readonly from: number
  readonly to: number
}

/** Puts frames together from chunks. `take` throws for a frame that a server may not send. */
export class FrameReader {
  #held: Uint8Array = new Uint8Array()
  #parts: Array<Uint8Array> = []
  #op = 0

  take(chunk: Uint8Array): ReadonlyArray<SocketFrame> {
    this.#held = this.#held.length === 0 ? chunk : joined([this.#held, chunk])
    const found: Array<SocketFrame> = []
    for (let head = this.#head(); head !== null; head = this.#head()) {
      const { from, isLast, op, to } = head
      const payload = this.#held.slice(from, to)
      this.#held = this.#held.slice(to)
      if (op >= OP.close) {
        found.push({ op, payload })
        continue
      }
      this.#op = op === OP.more ? this.#op : op
      this.#parts.push(payload)
      if (this.#parts.reduce((sum, { length }) => sum + length, 0) > LARGEST) {
        throw new RangeError("The message is too large.")
      }
      if (isLast) {
        found.push({ op: this.#op, payload: joined(this.#parts) })
        this.#parts = []
      }
    }
    return found
  }

  /** The next frame; null until all of it has arrived. */
  #head(): Head | null {
    const [first, second] = this.#held
    if (first === undefined || second === undefined) {
      return null
    }
    if ((first & 0x70) !== 0 || (second & 128) !== 0) {
      throw new TypeError("The frame is malformed.")
    }
    const view = new DataView(this.#held.buffer, this.#held.byteOffset, this.#held.length)
    const short = second & 127
    const from = short < 126 ? 2 : short === 126 ? 4 : 10
    if (this.#held.length < from) {
      return null
    }
    const size = short < 126 ? short : short === 126 ? view.getUint16(2) : Number(view.getBigUint64(2))
    if (size > LARGEST) {
      throw new RangeError("The message is too large.")
    }
    return this.#held.length < from + size
      ? null
      : { op: first & 15, isLast: (first & 128) !== 0, from, to: from + size }
  }
}
