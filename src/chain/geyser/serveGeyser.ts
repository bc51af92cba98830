/** The thread that reads a Geyser: assembles slots, has them decoded, and sends them to the main thread. */
import { Duration, Effect, Fiber } from "effect"
import { parentPort, workerData } from "node:worker_threads"
import { lowerThreadPriority } from "../blocks/threadPriority.ts"
import { DecoderThreads } from "./DecoderThreads.ts"
import type { GeyserCommand, GeyserTarget, GeyserWorkerSettings, StreamEnd } from "./geyserMessages.ts"
import { GeyserRun } from "./GeyserRun.ts"
import { connect, firstAvailable, stream, type StreamRange } from "./geyserStream.ts"
import { decodersHere, type SlotDecoder } from "./slotDecoding.ts"

/** A server tells its oldest slot. It may drop this many slots before the request for them arrives. */
const RANGE_MARGIN = 8
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
const DECODERS_CHECKED_MS = 1_000

/** Returns when the stream has had no update for `silenceMs`, unless it is paused. */
const silence = Effect.fnUntraced(function* (run: Pick<GeyserRun<never>, "heard" | "isPaused">, silenceMs: number) {
  let known = -1
  while (run.isPaused || run.heard !== known) {
    // A stream that was paused gets the whole time again.
    known = run.isPaused ? -1 : run.heard
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

/**
 * Reads a Geyser for the thread that started this one, until it is terminated. Decodes in this thread or, where the
 * settings want several decoders, in threads that run the module `decoderWorker`. Only the entry of a worker calls it.
 */
export const serveGeyser = <Message>(decoder: SlotDecoder<Message>, decoderWorker: URL): void => {
  const port = parentPort
  if (port === null) {
    return
  }
  lowerThreadPriority()
  const settings: GeyserWorkerSettings = workerData
  let targets = settings.targets
  let run: GeyserRun<Message> | null = null
  let reading: Fiber.Fiber<never> | null = null
  const threads =
    settings.decoders === 1
      ? null
      : new DecoderThreads<Message>(decoderWorker, settings.decoders, {
          read: () => run?.regulate(),
          lost: (detail) => run?.lost(detail)
        })
  if (threads !== null) {
    setInterval(() => threads.endSilent(), DECODERS_CHECKED_MS)
  }
  const decoders = threads ?? decodersHere(decoder)
  const start = (left: GeyserRun<Message> | null) => {
    const previous = reading
    const current = run
    if (current !== null) {
      const stopped = previous === null ? Effect.void : Fiber.interrupt(previous)
      reading = Effect.runFork(
        stopped.pipe(
          Effect.andThen(Effect.sync(() => left?.close())),
          Effect.andThen(readForever(current, { ...settings, targets }))
        )
      )
    }
  }
  port.on("message", (command: GeyserCommand) => {
    switch (command._tag) {
      case "follow": {
        const left = run
        run = new GeyserRun({ ...command, commitment: settings.commitment }, decoders, (event, transfer = []) =>
          port.postMessage(event, transfer)
        )
        return start(left)
      }
      case "taken":
        return run?.taken(command.below)
      case "leave":
        targets = [...targets.slice(1), ...targets.slice(0, 1)]
        return start(null)
    }
  })
}
