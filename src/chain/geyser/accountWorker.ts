/**
 * The module of the thread that holds the account streams of Geysers. It passes messages on as they are, many at a time, so that
 * HTTP/2 and gRPC leave the main thread alone. It reads each one too: a malformed message ends its stream here.
 */
import { parentPort } from "node:worker_threads"
import type { Address } from "../../domain/Address.ts"
import { type CallReader, clientOf, openCall, type StreamCall } from "./geyserStream.ts"
import type { AccountCommand, AccountEvent } from "./geyserMessages.ts"
import { readUpdate } from "./readUpdate.ts"
import { UpdateBatches } from "./updateBatches.ts"

type OpenCommand = Extract<AccountCommand, { readonly _tag: "open" }>

const rawUpdate = (bytes: Uint8Array) => ({ bytes, isPing: readUpdate(bytes).isPing })

type Post = (event: AccountEvent, transfer: ReadonlyArray<ArrayBuffer>) => void

/** One stream. */
class AccountStream {
  readonly #client: ReturnType<typeof clientOf>
  readonly #call: StreamCall
  readonly #batches: UpdateBatches
  readonly #followed = new Set<Address>()

  constructor({ from, stream, target }: OpenCommand, post: Post) {
    this.#client = clientOf(target)
    this.#batches = new UpdateBatches({
      send: (bytes) => post({ _tag: "updates", stream, bytes }, [bytes.buffer]),
      pause: () => this.#call.pause(),
      resume: () => this.#call.resume()
    })
    const reader: CallReader<ReturnType<typeof rawUpdate>> = {
      read: rawUpdate,
      onUpdate: ({ bytes }) => this.#batches.add(bytes),
      onEnd: (end) => {
        this.#batches.send()
        post({ _tag: "ended", stream, end }, [])
      }
    }
    try {
      this.#call = openCall(this.#client, { from, target }, reader)
    } catch (error) {
      this.#client.close()
      throw error
    }
  }

  take(command: AccountCommand): void {
    switch (command._tag) {
      case "request":
        return this.#call.write(command.request)
      case "follow":
        return this.#follow(command)
      case "taken":
        return this.#batches.taken(command.bytes)
    }
  }

  close(): void {
    this.#batches.clear()
    this.#call.close()
    this.#client.close()
  }

  #follow({ added, commitment, from, name, removed }: Extract<AccountCommand, { readonly _tag: "follow" }>): void {
    removed.forEach((address) => this.#followed.delete(address))
    added.forEach((address) => this.#followed.add(address))
    this.#call.write({
      accounts: { [name]: { account: Array.from(this.#followed) } },
      slots: { [name]: { filterByCommitment: true } },
      commitment,
      ...(from !== null && { fromSlot: String(from) })
    })
  }
}

const port = parentPort
const streams = new Map<number, AccountStream>()

const close = (stream: number): void => {
  streams.get(stream)?.close()
  streams.delete(stream)
}

const post: Post = (event, transfer) => {
  port?.postMessage(event, transfer)
  if (event._tag === "ended") {
    close(event.stream)
  }
}

/** An endpoint that cannot be used ends its own stream alone. The error may have the token, so it is not passed on. */
const open = (command: OpenCommand): void => {
  try {
    streams.set(command.stream, new AccountStream(command, post))
  } catch {
    const end = { reason: "failure", detail: "the address or the token of the endpoint cannot be used" } as const
    post({ _tag: "ended", stream: command.stream, end }, [])
  }
}

port?.on("message", (command: AccountCommand) => {
  switch (command._tag) {
    case "open":
      return open(command)
    case "close":
      return close(command.stream)
    default:
      streams.get(command.stream)?.take(command)
  }
})
