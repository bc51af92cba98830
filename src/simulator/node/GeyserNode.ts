/** A Geyser of the simulated chain on the loopback interface. It speaks the real protocol and can have faults. */
import { Metadata, Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js"
import { Clock, Duration, Effect, type Scope } from "effect"
import { replayInfoMethod, subscribeMethod } from "../../chain/geyser/geyserService.ts"
import type { GeyserRequest, GeyserUpdate } from "../../chain/geyser/geyserUpdates.ts"
import type { Bank, Block } from "../chain/Bank.ts"
import { type Ailing, makeAiling } from "./ailing.ts"
import {
  followedBy,
  type GeyserAilment,
  healthyGeyser,
  namesOf,
  type StreamedSlot,
  updatesOf,
  WriteHistory
} from "./geyserSlots.ts"

export interface GeyserNode {
  readonly url: string
  readonly faults: Ailing<GeyserAilment>
  /** Ends every open stream in the middle of a slot, after this many more updates. Clients may reconnect at once. */
  readonly kill: (after: number) => Effect.Effect<void>
  /** The slot that each stream asked for, for all streams since the start; null for the newest slot. */
  readonly opened: () => ReadonlyArray<number | null>
  /** The commitment number of each open stream. */
  readonly commitments: () => ReadonlyArray<number>
  /** All accounts that open streams follow. */
  readonly followed: () => ReadonlySet<string>
  /** Sends a finished slot to every stream. */
  readonly publish: (block: Block) => void
  /**
   * Sends a slot of the simulated past to streams that follow accounts. Streams of transactions read the past on
   * request instead.
   */
  readonly publishPast: (block: Block) => void
}

/** What the Geyser needs of the chain. */
export type GeyserChain = Pick<Bank, "blocks" | "newest">

type Call = ServerDuplexStream<GeyserRequest, GeyserUpdate>

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

  /** True once a request has arrived. */
  get hasBegun(): boolean {
    return this.#request !== null
  }

  /** The stream's commitment number; null before a request and after the end. */
  get commitment(): number | null {
    return this.isOpen && this.#request !== null ? (this.#request.commitment ?? 0) : null
  }

  /** True when the stream follows accounts. */
  get hasAccounts(): boolean {
    return this.#request !== null && namesOf(this.#request.accounts) !== null
  }

  followed(): Iterable<string> {
    return this.isOpen && this.#request !== null ? followedBy(this.#request).keys() : []
  }

  /** Takes a request, which replaces the previous one, and replays the past slots that it asks for. */
  begin(request: GeyserRequest, past: ReadonlyArray<StreamedSlot>, ailment: GeyserAilment): void {
    this.#request = request
    past.forEach((block) => this.send(block, ailment))
  }

  pong(): void {
    this.#call.write({ filters: [], pong: { id: 1 } })
  }

  send(block: StreamedSlot, ailment: GeyserAilment): void {
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

  /** Ends the stream after this many more updates. */
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
  bank: () => GeyserChain,
  ailment: GeyserAilment
): Effect.fn.Return<GeyserNode, never, Scope.Scope> {
  const faults = makeAiling(ailment, healthyGeyser)
  const streams = new Set<GeyserStream>()
  const opened: Array<number | null> = []
  const clock = yield* Clock.Clock
  const history = new WriteHistory(() => faults.current().replaySlots)
  const oldest = () => {
    const { slot } = bank().newest()
    const [first] = bank().blocks()
    return Math.max(first?.slot ?? slot, slot - faults.current().replaySlots)
  }
  const oldestFor = ({ accounts }: GeyserRequest) =>
    namesOf(accounts) === null ? oldest() : Math.max(oldest(), history.oldest)

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
      if (!stream.hasBegun) {
        opened.push(from)
      }
      const first = oldestFor(request)
      if (faults.current().streams === "catching up") {
        stream.end(status.INTERNAL, "the node is catching up")
      } else if (from !== null && from < first && !faults.current().ignoresFrom) {
        stream.end(status.OUT_OF_RANGE, `slot ${from} cannot be replayed, the oldest is ${first}`)
      } else {
        const past =
          from === null || faults.current().ignoresFrom
            ? []
            : Array.from(bank().blocks()).filter(({ slot }) => slot >= from)
        stream.begin(
          request,
          past.map((block) => history.of(block)),
          faults.current()
        )
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

  const keep = (finished: Block): StreamedSlot => {
    history.add(finished, faults.current().staleWrites)
    return history.of(finished)
  }
  const send = (block: StreamedSlot, isWanted: (stream: GeyserStream) => boolean): void => {
    for (const stream of streams) {
      if (!stream.isOpen) {
        streams.delete(stream)
      } else if (isWanted(stream)) {
        stream.send(block, faults.current())
      }
    }
  }
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    kill: (after) => Effect.sync(() => streams.forEach((stream) => stream.limit(after))),
    opened: () => opened,
    commitments: () => Array.from(streams).flatMap((stream) => stream.commitment ?? []),
    followed: () => new Set(Array.from(streams).flatMap((stream) => Array.from(stream.followed()))),
    publishPast: (finished) => send(keep(finished), ({ hasAccounts }) => hasAccounts),
    publish: (finished) => {
      const block = keep(finished)
      const sendAll = () => send(block, () => true)
      const lagMs = Duration.toMillis(faults.current().lag)
      if (lagMs === 0) {
        sendAll()
      } else {
        const late = Effect.andThen(Effect.sleep(Duration.millis(lagMs)), Effect.sync(sendAll))
        Effect.runFork(Effect.provideService(late, Clock.Clock, clock))
      }
    }
  }
})
