/** A Geyser of the simulated chain on the loopback interface, which speaks the real interface, with faults. */
import { Metadata, Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js"
import { Clock, Duration, Effect, type Scope } from "effect"
import { replayInfoMethod, subscribeMethod } from "../../solana/geyser/geyserService.ts"
import type { GeyserRequest, GeyserUpdate } from "../../solana/geyser/geyserUpdates.ts"
import type { Bank, KeptBlock } from "../chain/Bank.ts"
import { type Ailing, makeAiling } from "./ailing.ts"
import { geyserBlockMeta, geyserTransaction } from "./geyserTransaction.ts"

/** The faults of a Geyser. */
export interface GeyserAilment {
  /** `catching up`: a stream is refused with INTERNAL. `silent`: streams stay open and have no update. */
  readonly streams: "ok" | "catching up" | "silent"
  /** Updates of new slots come this much later. */
  readonly lag: Duration.Duration
  /** Every update is sent twice. */
  readonly duplicates: boolean
  /** The updates of a slot come in reverse order, its head first. */
  readonly reorder: boolean
  /** The head of every slot with this divisor is left out; 0 is none. */
  readonly missingHeadEvery: number
  /** One transaction of every slot with this divisor is left out; 0 is none. */
  readonly missingTransactionEvery: number
  /** Slots that can be replayed. */
  readonly replaySlots: number
}

/** A Geyser without faults. */
export const healthyGeyser: GeyserAilment = {
  streams: "ok",
  lag: Duration.zero,
  duplicates: false,
  reorder: false,
  missingHeadEvery: 0,
  missingTransactionEvery: 0,
  replaySlots: 150
}

/** A running Geyser. */
export interface GeyserNode {
  readonly url: string
  readonly faults: Ailing<GeyserAilment>
  /** Ends every open stream within a slot: after so many of its updates. Clients may connect again at once. */
  readonly kill: (after: number) => Effect.Effect<void>
  /** Streams that were opened since the start, and the slot that each asked for; null for the newest. */
  readonly opened: () => ReadonlyArray<number | null>
  /** Sends a finished slot to every stream. */
  readonly publish: (block: KeptBlock) => void
}

type Call = ServerDuplexStream<GeyserRequest, GeyserUpdate>

const namesOf = (filters: object | undefined): ReadonlyArray<string> | null => {
  const names = Object.keys(filters ?? {})
  return names.length === 0 ? null : names
}

const isEvery = (slot: number, divisor: number): boolean => divisor > 0 && slot % divisor === 0

/** The updates of a slot that a request wants, with the faults of the node. */
export const updatesOf = (block: KeptBlock, request: GeyserRequest, ailment: GeyserAilment): Array<GeyserUpdate> => {
  const slot = String(block.slot)
  const transactions = namesOf(request.transactions)
  const heads = namesOf(request.blocksMeta)
  const slots = namesOf(request.slots)
  const left = isEvery(block.slot, ailment.missingTransactionEvery) ? block.transactions.slice(1) : block.transactions
  const updates: Array<GeyserUpdate> = []
  if (transactions !== null) {
    for (const transaction of left) {
      updates.push({ filters: transactions, transaction: { slot, transaction: geyserTransaction(transaction) } })
    }
  }
  if (heads !== null && !isEvery(block.slot, ailment.missingHeadEvery)) {
    updates.push({ filters: heads, blockMeta: geyserBlockMeta(block) })
  }
  if (slots !== null) {
    updates.push({ filters: slots, slot: { slot, parent: String(block.parent), status: 1 } })
  }
  const ordered = ailment.reorder ? updates.toReversed() : updates
  return ailment.duplicates ? ordered.flatMap((update) => [update, update]) : ordered
}

/** One open stream. */
class GeyserStream {
  readonly #call: Call
  #request: GeyserRequest | null = null
  #left = Number.POSITIVE_INFINITY
  isOpen = true

  constructor(call: Call) {
    this.#call = call
    call.on("cancelled", () => this.#close())
    call.on("error", () => this.#close())
    call.on("end", () => {
      this.#close()
      call.end()
    })
  }

  begin(request: GeyserRequest, past: ReadonlyArray<KeptBlock>, ailment: GeyserAilment): void {
    this.#request = request
    past.forEach((block) => this.send(block, ailment))
  }

  pong(): void {
    this.#call.write({ filters: [], pong: { id: 1 } })
  }

  send(block: KeptBlock, ailment: GeyserAilment): void {
    if (this.#request === null || ailment.streams === "silent") {
      return
    }
    for (const update of updatesOf(block, this.#request, ailment)) {
      if (!this.isOpen) {
        return
      }
      if (this.#left <= 0) {
        this.end(status.UNAVAILABLE, "the node is restarting")
        return
      }
      this.#left -= 1
      this.#call.write(update)
    }
  }

  /** Ends the stream after so many updates. */
  limit(updates: number): void {
    this.#left = updates
    if (updates <= 0) {
      this.end(status.UNAVAILABLE, "the node is restarting")
    }
  }

  end(code: status, details: string): void {
    if (this.isOpen) {
      this.#close()
      this.#call.emit("error", { code, details })
    }
  }

  #close(): void {
    this.isOpen = false
  }
}

const bind = (server: Server): Effect.Effect<number> =>
  Effect.callback<number>((resume) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
      resume(error === null ? Effect.succeed(port) : Effect.die(error))
    })
  })

/** Serves the bank until the scope closes. */
export const makeGeyserNode = Effect.fnUntraced(function* (
  bank: () => Bank,
  ailment: GeyserAilment
): Effect.fn.Return<GeyserNode, never, Scope.Scope> {
  const faults = makeAiling(ailment, healthyGeyser)
  const streams = new Set<GeyserStream>()
  const opened: Array<number | null> = []
  const clock = yield* Clock.Clock
  const oldest = () => {
    const { slot } = bank().newest()
    const [first] = bank().blocks()
    return Math.max(first?.slot ?? slot, slot - faults.current().replaySlots)
  }

  const subscribe = (call: Call): void => {
    // Native clients wait for the headers before they write.
    call.sendMetadata(new Metadata())
    const stream = new GeyserStream(call)
    streams.add(stream)
    call.on("data", (request: GeyserRequest) => {
      if (request.ping !== undefined) {
        stream.pong()
        return
      }
      const from = request.fromSlot === undefined ? null : Number(request.fromSlot)
      opened.push(from)
      if (faults.current().streams === "catching up") {
        stream.end(status.INTERNAL, "the node is catching up")
      } else if (from !== null && from < oldest()) {
        stream.end(status.OUT_OF_RANGE, `slot ${from} cannot be replayed, the oldest is ${oldest()}`)
      } else {
        const past = from === null ? [] : Array.from(bank().blocks()).filter(({ slot }) => slot >= from)
        stream.begin(request, past, faults.current())
      }
    })
  }

  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 })
  server.addService(
    { Subscribe: subscribeMethod, SubscribeReplayInfo: replayInfoMethod },
    {
      Subscribe: subscribe,
      SubscribeReplayInfo: (_: unknown, reply: (error: null, answer: object) => void) =>
        reply(null, { firstAvailable: String(oldest()) })
    }
  )
  const port = yield* Effect.acquireRelease(bind(server), () => Effect.sync(() => server.forceShutdown()))

  const send = (block: KeptBlock): void => {
    for (const stream of streams) {
      if (stream.isOpen) {
        stream.send(block, faults.current())
      } else {
        streams.delete(stream)
      }
    }
  }
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    kill: (after) => Effect.sync(() => streams.forEach((stream) => stream.limit(after))),
    opened: () => opened,
    publish: (block) => {
      const lagMs = Duration.toMillis(faults.current().lag)
      if (lagMs === 0) {
        send(block)
      } else {
        const late = Effect.andThen(
          Effect.sleep(Duration.millis(lagMs)),
          Effect.sync(() => send(block))
        )
        Effect.runFork(Effect.provideService(late, Clock.Clock, clock))
      }
    }
  }
})
