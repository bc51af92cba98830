/** The progress of a start on a terminal: one line, rewritten in place and removed when the start is over. */
import { Clock, Console, Effect, Schedule } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import { StartDisplay } from "../domain/startStep.ts"

export interface Terminal {
  readonly write: (text: string) => void
  /** Its width right now, in characters. */
  readonly columns: () => number
}

/** A start that is faster shows nothing. */
const SHOWN_AFTER_MS = 2_000
const REDRAWN_EVERY = "250 millis"
/** Returns to the first column and clears the line. */
const ERASE = "\r\u001B[2K"

/** The line of one start that began at `startedMs`. */
class StartLine implements StartDisplay {
  readonly #terminal: Terminal
  readonly #nowMs: () => number
  readonly #startedMs: number
  readonly #steps = new Set<string>()
  #isDrawn = false
  isOver = false

  constructor(terminal: Terminal, nowMs: () => number, startedMs: number) {
    this.#terminal = terminal
    this.#nowMs = nowMs
    this.#startedMs = startedMs
  }

  begin(message: string): void {
    this.#steps.add(message)
    this.draw()
  }

  end(message: string): void {
    this.#steps.delete(message)
    this.draw()
  }

  finish(): void {
    this.isOver = true
    this.#erase()
  }

  draw(): void {
    const lastsMs = this.#nowMs() - this.#startedMs
    if (this.isOver || lastsMs < SHOWN_AFTER_MS) {
      return
    }
    const steps = Array.from(this.#steps, (message) => message.replace(/^Start: /u, "")).join("; ")
    const line = `Start, ${Math.floor(lastsMs / 1000)} s${steps === "" ? "" : `: ${steps}`}`
    // A full line would wrap, and then only its last part could be rewritten.
    this.#terminal.write(`${ERASE}${line.slice(0, Math.max(0, this.#terminal.columns() - 1))}`)
    this.#isDrawn = true
  }

  /** Prints other lines above this one. */
  around<A>(print: () => A): A {
    this.#erase()
    const result = print()
    this.draw()
    return result
  }

  #erase(): void {
    if (this.#isDrawn) {
      this.#terminal.write(ERASE)
      this.#isDrawn = false
    }
  }
}

/** The console, whose lines are printed above the progress. */
const consoleAround = (line: StartLine, inner: Console.Console): Console.Console =>
  new Proxy(inner, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      return typeof method === "function"
        ? (...values: ReadonlyArray<unknown>): unknown => line.around(() => Reflect.apply(method, target, values))
        : method
    }
  })

/**
 * Runs a service whose start began `begunMsAgo` milliseconds ago, and shows the start on the terminal from its third
 * second on.
 */
export const withStartLine =
  (terminal: Terminal, begunMsAgo = 0) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const nowMs = () => monotonicMs(clock)
      const line = new StartLine(terminal, nowMs, nowMs() - begunMsAgo)
      const redraw = Effect.sync(() => line.draw()).pipe(
        Effect.repeat({ schedule: Schedule.spaced(REDRAWN_EVERY), until: () => line.isOver })
      )
      yield* Effect.forkScoped(redraw)
      return yield* effect.pipe(
        Effect.provideService(StartDisplay, line),
        Effect.updateService(Console.Console, (inner) => consoleAround(line, inner)),
        Effect.ensuring(Effect.sync(() => line.finish()))
      )
    }).pipe(Effect.scoped)
