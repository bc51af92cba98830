/** Frames of gRPC: a byte without a meaning here, the length of the message, and the message. */

/** The name of the filter of transactions in the requests of the service. */
export const TRANSACTION_FILTER = "transactions"

const HEAD = 5

/** The message as a frame. */
export const frameOf = (message: Uint8Array): Buffer => {
  const frame = Buffer.allocUnsafe(HEAD + message.length)
  frame.writeUInt8(0, 0)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, HEAD)
  return frame
}

/** The frame of an update whose filters and rest are encoded apart. */
export const joinedFrame = (parts: ReadonlyArray<Uint8Array>): Buffer => frameOf(Buffer.concat(parts))

/** Takes frames out of a stream of bytes. */
export class FrameReader {
  #bytes: Buffer = Buffer.alloc(0)

  /** The messages that are whole by now. */
  read(chunk: Buffer): ReadonlyArray<Buffer> {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    const messages: Array<Buffer> = []
    while (this.#bytes.length >= HEAD && this.#bytes.length >= HEAD + this.#bytes.readUInt32BE(1)) {
      const end = HEAD + this.#bytes.readUInt32BE(1)
      messages.push(this.#bytes.subarray(HEAD, end))
      this.#bytes = this.#bytes.subarray(end)
    }
    return messages
  }
}

/** Writes a number of five bytes as a varint: from 2^28 on and below 2^35. */
export const writeVarint5 = (bytes: Buffer, value: number, offset: number): void => {
  let rest = value
  for (let i = 0; i < 4; i++) {
    bytes[offset + i] = (rest % 128) + 128
    rest = Math.floor(rest / 128)
  }
  bytes[offset + 4] = rest
}
