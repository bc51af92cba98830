/** The thread that reads a Geyser: assembles slots, decodes them, and sends them to the main thread. */
import { Duration, Effect, Fiber } from "effect"
import { parentPort, workerData } from "node:worker_threads"
import type { PackedReply } from "../blocks/blockMessages.ts"
import { lowerThreadPriority } from "../blocks/threadPriority.ts"
import { connect, firstAvailable, stream, type StreamEnd, type StreamFlow, type StreamRange } from "./geyserStream.ts"
import type { GeyserCommand, GeyserEvent, GeyserTarget, GeyserWorkerSettings } from "./geyserMessages.ts"
import type { GeyserTransaction, GeyserUpdate } from "./geyserUpdates.ts"
import { SlotAssembly, type WholeSlot } from "./SlotAssembly.ts"
import { blockAnswer, linkOf, partOf } from "./slotParts.ts"

/** Decodes and packs the answer of `getBlock`; null when it is not a block. Pure. */
export type DecodeSlot<Message> = (slot: number, answer: unknown) => PackedReply<Message> | null

/** With more slots than this sent but not taken, the stream pauses; at half as many it goes on. */
const MOST_UNTAKEN = 64
/** How many slots may pass between the answer that says what can be replayed and the request for it. */
const RANGE_MARGIN = 8
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/** One reading, from one `follow` to the next. */
class GeyserRun<Message> {
  readonly #assembly = new SlotAssembly<GeyserTransaction>()
  readonly #post: (event: GeyserEvent<Message>, transfer?: Array<ArrayBuffer>) => void
  readonly #decode: DecodeSlot<Message>
  readonly #run: number
  readonly #start: number | null
  readonly #commitment: number
  #flow: StreamFlow | null = null
  #isPaused = false
  /** How many updates the current stream has delivered. */
  heard = 0

  constructor(
    { commitment, from, run }: StreamRange & { readonly run: number },
    decode: DecodeSlot<Message>,
    post: (event: GeyserEvent<Message>, transfer?: Array<ArrayBuffer>) => void
  ) {
    this.#run = run
    this.#start = from
    this.#commitment = commitment
    this.#decode = decode
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
  take(update: GeyserUpdate, { host }: GeyserTarget, from: number | null): void {
    const link = linkOf(update, this.#commitment)
    const part = partOf(update)
    const slot = link?.slot ?? (part?._tag === "transaction" ? part.slot : null)
    if (slot !== null) {
      this.heard += 1
      if (this.heard === 1) {
        this.#post({ _tag: "began", run: this.#run, from: from ?? slot, host })
      }
    }
    if (link !== null) {
      this.#post({ _tag: "slot", run: this.#run, ...link })
    }
    const whole = part === null ? null : this.#assembly.add(part)
    if (whole !== null) {
      this.#send(whole)
      this.#regulate()
    }
  }

  taken(below: number): void {
    this.#assembly.forgetBefore(below)
    this.#regulate()
  }

  ended({ host }: GeyserTarget, { detail }: StreamEnd): void {
    this.#flow = null
    this.#post({ _tag: "ended", run: this.#run, host, detail })
  }

  #send(whole: WholeSlot<GeyserTransaction>): void {
    const { slot } = whole.head
    const packed = this.#packed(whole)
    if (packed === null) {
      this.#post({ _tag: "unreadable", run: this.#run, slot })
    } else {
      this.#post({ _tag: "block", run: this.#run, slot, message: packed.message }, packed.transfer)
    }
  }

  #packed(whole: WholeSlot<GeyserTransaction>): PackedReply<Message> | null {
    try {
      return this.#decode(whole.head.slot, blockAnswer(whole))
    } catch {
      // A decoder that throws costs one block, which is then read from a node.
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
const silence = Effect.fnUntraced(function* (run: Pick<GeyserRun<never>, "heard" | "isPaused">, silenceMs: number) {
  let known = -1
  while (run.isPaused || run.heard !== known) {
    known = run.heard
    yield* Effect.sleep(Duration.millis(silenceMs))
  }
  return { reason: "failure", detail: `no update for ${silenceMs} ms` } satisfies StreamEnd
})

/** Runs one stream to its end. */
const readOnce = <Message>(
  run: GeyserRun<Message>,
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
const readForever = Effect.fnUntraced(function* <Message>(
  run: GeyserRun<Message>,
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
export const serveGeyser = <Message>(decode: DecodeSlot<Message>): void => {
  const port = parentPort
  if (port === null) {
    return
  }
  lowerThreadPriority()
  const settings: GeyserWorkerSettings = workerData
  let targets = settings.targets
  let run: GeyserRun<Message> | null = null
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
        run = new GeyserRun({ ...command, commitment: settings.commitment }, decode, (event, transfer = []) =>
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
