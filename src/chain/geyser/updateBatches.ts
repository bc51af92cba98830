/** Messages of a stream on their way from one thread to another: many in one piece of memory, each behind its length. */

/** A batch of updates is sent with this many bytes at the latest. */
const BATCH_BYTES = 16 * 1024
/** The stream pauses while the other thread has this many bytes still to read, and goes on at half as many. */
const MOST_UNTAKEN_BYTES = 16 * 2 ** 20
const LENGTH_BYTES = 4

/** What happens with the batches. */
export interface BatchReader {
  readonly send: (batch: Uint8Array<ArrayBuffer>) => void
  readonly pause: () => void
  readonly resume: () => void
}

/**
 * Joins messages. A batch is sent with so many bytes at the latest, or once the sockets that had something to read have
 * been read.
 */
export class MessageBatch {
  readonly #most: number
  readonly #send: (batch: Uint8Array<ArrayBuffer>) => void
  #messages: Array<Uint8Array> = []
  #bytes = 0
  #isArmed = false

  constructor(most: number, send: (batch: Uint8Array<ArrayBuffer>) => void) {
    this.#most = most
    this.#send = send
  }

  add(message: Uint8Array): void {
    this.#messages.push(message)
    this.#bytes += LENGTH_BYTES + message.length
    if (this.#bytes >= this.#most) {
      this.send()
    } else if (!this.#isArmed) {
      this.#isArmed = true
      setImmediate(() => {
        this.#isArmed = false
        this.send()
      })
    }
  }

  /** Sends what waits. */
  send(): void {
    if (this.#messages.length === 0) {
      return
    }
    const batch = new Uint8Array(this.#bytes)
    const lengths = new DataView(batch.buffer)
    let at = 0
    for (const message of this.#messages) {
      lengths.setUint32(at, message.length, true)
      batch.set(message, at + LENGTH_BYTES)
      at += LENGTH_BYTES + message.length
    }
    this.clear()
    this.#send(batch)
  }

  /** Drops what waits. */
  clear(): void {
    this.#messages = []
    this.#bytes = 0
  }
}

/** Batches of updates, and the stream paused while too many are unread. */
export class UpdateBatches {
  readonly #reader: BatchReader
  readonly #batch: MessageBatch
  #untaken = 0
  #isPaused = false

  constructor(reader: BatchReader) {
    this.#reader = reader
    this.#batch = new MessageBatch(BATCH_BYTES, (batch) => {
      // Sending empties the batch, so its length is read first.
      this.#untaken += batch.length
      reader.send(batch)
      this.#regulate()
    })
  }

  add(message: Uint8Array): void {
    this.#batch.add(message)
  }

  /** Sends what waits. */
  send(): void {
    this.#batch.send()
  }

  /** So many bytes of batches were read. */
  taken(bytes: number): void {
    this.#untaken -= bytes
    this.#regulate()
  }

  /** Drops what waits. */
  clear(): void {
    this.#batch.clear()
  }

  #regulate(): void {
    if (!this.#isPaused && this.#untaken > MOST_UNTAKEN_BYTES) {
      this.#isPaused = true
      this.#reader.pause()
    } else if (this.#isPaused && this.#untaken <= MOST_UNTAKEN_BYTES / 2) {
      this.#isPaused = false
      this.#reader.resume()
    }
  }
}

/** The messages of a batch, as views into it. */
export const readBatch = (batch: Uint8Array, read: (message: Uint8Array) => void): void => {
  const lengths = new DataView(batch.buffer, batch.byteOffset, batch.length)
  for (let at = 0; at < batch.length;) {
    const from = at + LENGTH_BYTES
    at = from + lengths.getUint32(at, true)
    read(batch.subarray(from, at))
  }
}
