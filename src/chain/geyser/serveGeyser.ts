/** The thread that reads a Geyser: assembles slots, decodes them, and sends them to the main thread. */
import { Duration, Effect, Fiber } from "effect"
import { parentPort, workerData } from "node:worker_threads"
import type { PackedReply } from "../blocks/blockMessages.ts"
import { lowerThreadPriority } from "../blocks/threadPriority.ts"
import { connect, firstAvailable, stream, type StreamFlow, type StreamRange } from "./geyserStream.ts"
import type { GeyserCommand, GeyserEvent, GeyserTarget, GeyserWorkerSettings, StreamEnd } from "./geyserMessages.ts"
import type { PlacedTransaction, StreamUpdate } from "./readUpdate.ts"
import { SlotAssembly, type WholeSlot } from "./SlotAssembly.ts"

/** Decodes the transactions of one slot while they arrive, and packs them once the slot is whole. */
export interface SlotDecoding<Decoded, Message> {
  /** `info` is the message `TransactionInfo`. What is returned must not refer to its bytes. */
  readonly decode: (index: number, info: Uint8Array) => Decoded
  /** Packs what was decoded, and nothing besides: a transaction of an older stream may be left out. */
  readonly pack: (whole: WholeSlot<Decoded>) => PackedReply<Message>
}

/** Begins a slot. */
export interface SlotDecoder<Decoded, Message> {
  readonly open: (slot: number) => SlotDecoding<Decoded, Message>
}

/** The stream pauses while the main thread has this many slots still to take, and goes on at half as many. */
const MOST_UNTAKEN = 64
/** A server tells its oldest slot. It may drop this many slots before the request for them arrives. */
const RANGE_MARGIN = 8
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/** Stands for a transaction whose decoder threw. */
const UNREADABLE = Symbol("unreadable")

/** A confirmed slot and its parent; null for other updates. */
const linkOf = (
  { head, slot }: StreamUpdate,
  commitment: number
): { slot: number; parentSlot: number | null; blockhash: string | null } | null => {
  if (head !== null) {
    return { slot: head.slot, parentSlot: head.parentSlot, blockhash: head.blockhash === "" ? null : head.blockhash }
  }
  return slot?.status === commitment ? { slot: slot.slot, parentSlot: slot.parent, blockhash: null } : null
}

/** One reading, from one `follow` to the next. */
class GeyserRun<Decoded, Message> {
  readonly #assembly = new SlotAssembly<Decoded | typeof UNREADABLE>()
  readonly #post: (event: GeyserEvent<Message>, transfer?: Array<ArrayBuffer>) => void
  readonly #decoder: SlotDecoder<Decoded, Message>
  readonly #decodings = new Map<number, SlotDecoding<Decoded, Message>>()
  readonly #run: number
  readonly #start: number | null
  readonly #commitment: number
  #flow: StreamFlow | null = null
  #isPaused = false
  /** How many updates the current stream has delivered. */
  heard = 0

  constructor(
    { commitment, from, run }: StreamRange & { readonly run: number },
    decoder: SlotDecoder<Decoded, Message>,
    post: (event: GeyserEvent<Message>, transfer?: Array<ArrayBuffer>) => void
  ) {
    this.#run = run
    this.#start = from
    this.#commitment = commitment
    this.#decoder = decoder
    this.#post = post
  }

  /** The slot at which the next stream begins; null for the newest slot. */
  get from(): number | null {
    return this.#assembly.resumeAt ?? this.#start
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  begin(flow: StreamFlow): void {
    this.#flow = flow
    this.#isPaused = false
    this.heard = 0
  }

  /** Takes an update of a stream that was requested from this slot on. */
  take(update: StreamUpdate, { host }: GeyserTarget, from: number | null): void {
    const { head, transaction } = update
    const link = linkOf(update, this.#commitment)
    const slot = link?.slot ?? transaction?.slot ?? null
    if (slot !== null) {
      this.heard += 1
      if (this.heard === 1) {
        this.#post({ _tag: "began", run: this.#run, from: from ?? slot, host })
      }
    }
    if (link !== null) {
      this.#post({ _tag: "slot", run: this.#run, ...link })
    }
    const whole =
      transaction === null
        ? head === null
          ? null
          : this.#assembly.add({ _tag: "head", head })
        : this.#add(transaction)
    if (whole !== null) {
      this.#send(whole)
      this.#regulate()
    }
  }

  taken(below: number): void {
    this.#assembly.forgetBefore(below)
    for (const slot of this.#decodings.keys()) {
      if (slot < below) {
        this.#decodings.delete(slot)
      }
    }
    this.#regulate()
  }

  ended({ host }: GeyserTarget, { detail }: StreamEnd): void {
    this.#flow = null
    this.#post({ _tag: "ended", run: this.#run, host, detail })
  }

  /** Decodes the transaction, unless it is not wanted. */
  #add({ index, info, slot }: PlacedTransaction): WholeSlot<Decoded | typeof UNREADABLE> | null {
    if (!this.#assembly.wants(slot, index)) {
      return null
    }
    const transaction = info === null ? null : this.#decoded(slot, index, info)
    return this.#assembly.add({ _tag: "transaction", slot, index, transaction })
  }

  #decoded(slot: number, index: number, info: Uint8Array): Decoded | typeof UNREADABLE {
    try {
      return this.#decodingOf(slot).decode(index, info)
    } catch {
      // A decoder that throws costs one block, which is then read from a node.
      return UNREADABLE
    }
  }

  #decodingOf(slot: number): SlotDecoding<Decoded, Message> {
    const known = this.#decodings.get(slot)
    if (known !== undefined) {
      return known
    }
    const decoding = this.#decoder.open(slot)
    this.#decodings.set(slot, decoding)
    return decoding
  }

  #send({ head, transactions }: WholeSlot<Decoded | typeof UNREADABLE>): void {
    const { slot } = head
    const decoded = transactions.flatMap(([index, transaction]) =>
      transaction === UNREADABLE ? [] : [[index, transaction] as const]
    )
    const packed = decoded.length < transactions.length ? null : this.#packed({ head, transactions: decoded })
    if (packed === null) {
      this.#post({ _tag: "unreadable", run: this.#run, slot })
    } else {
      this.#post({ _tag: "block", run: this.#run, slot, message: packed.message }, packed.transfer)
    }
    this.#decodings.delete(slot)
  }

  #packed(whole: WholeSlot<Decoded>): PackedReply<Message> | null {
    try {
      return this.#decodingOf(whole.head.slot).pack(whole)
    } catch {
      return null
    }
  }

  #regulate(): void {
    const { kept } = this.#assembly
    if (!this.#isPaused && kept > MOST_UNTAKEN) {
      this.#isPaused = true
      this.#flow?.pause()
    } else if (this.#isPaused && kept <= MOST_UNTAKEN / 2) {
      this.#isPaused = false
      this.#flow?.resume()
    }
  }
}

/** Returns when the stream has had no update for `silenceMs`, unless it is paused. */
const silence = Effect.fnUntraced(function* (
  run: Pick<GeyserRun<never, never>, "heard" | "isPaused">,
  silenceMs: number
) {
  let known = -1
  while (run.isPaused || run.heard !== known) {
    known = run.heard
    yield* Effect.sleep(Duration.millis(silenceMs))
  }
  return { reason: "failure", detail: `no update for ${silenceMs} ms` } satisfies StreamEnd
})

/** Runs one stream to its end. */
const readOnce = <Decoded, Message>(
  run: GeyserRun<Decoded, Message>,
  target: GeyserTarget,
  range: StreamRange,
  silenceMs: number
): Effect.Effect<{ readonly end: StreamEnd; readonly replayFrom: number | null }> =>
  Effect.scoped(
    Effect.gen(function* () {
      const client = yield* connect(target)
      const reading = stream(client, target, range, {
        onStart: (flow) => run.begin(flow),
        onUpdate: (update) => run.take(update, target, range.from)
      })
      const end: StreamEnd = yield* Effect.raceFirst(reading, silence(run, silenceMs))
      run.ended(target, end)
      const first = end.reason === "range" ? yield* firstAvailable(client, target) : null
      return { end, replayFrom: first === null ? null : first + RANGE_MARGIN }
    })
  )

/** Runs one stream after the other, each from where the previous one stopped if it can. Never returns. */
const readForever = Effect.fnUntraced(function* <Decoded, Message>(
  run: GeyserRun<Decoded, Message>,
  { commitment, silenceMs, targets }: GeyserWorkerSettings
): Effect.fn.Return<never> {
  let place = 0
  let failures = 0
  // The slot to begin at when the wanted slot is out of range; null for the newest slot. Undefined: begin at the wanted
  // slot.
  let instead: number | null | undefined
  for (;;) {
    const target = targets[place % targets.length] ?? { host: "", url: "", token: null }
    const wanted = run.from
    const range = { from: instead === undefined ? wanted : instead, commitment }
    const { end, replayFrom } = yield* readOnce(run, target, range, silenceMs)
    if (run.heard === 0 && end.reason === "range") {
      instead = replayFrom !== null && instead === undefined && replayFrom > (wanted ?? 0) ? replayFrom : null
      continue
    }
    instead = undefined
    place += 1
    failures = run.heard > 0 ? 0 : failures + 1
    yield* Effect.sleep(Duration.millis(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10))))
  }
})

/** Reads a Geyser for the thread that started this one, until it is terminated. Only the entry of a worker calls it. */
export const serveGeyser = <Decoded, Message>(decoder: SlotDecoder<Decoded, Message>): void => {
  const port = parentPort
  if (port === null) {
    return
  }
  lowerThreadPriority()
  const settings: GeyserWorkerSettings = workerData
  let targets = settings.targets
  let run: GeyserRun<Decoded, Message> | null = null
  let reading: Fiber.Fiber<never> | null = null
  const start = () => {
    const previous = reading
    const current = run
    if (current !== null) {
      const stopped = previous === null ? Effect.void : Fiber.interrupt(previous)
      reading = Effect.runFork(Effect.andThen(stopped, readForever(current, { ...settings, targets })))
    }
  }
  port.on("message", (command: GeyserCommand) => {
    switch (command._tag) {
      case "follow":
        run = new GeyserRun({ ...command, commitment: settings.commitment }, decoder, (event, transfer = []) =>
          port.postMessage(event, transfer)
        )
        return start()
      case "taken":
        return run?.taken(command.below)
      case "leave":
        targets = [...targets.slice(1), ...targets.slice(0, 1)]
        return start()
    }
  })
}
