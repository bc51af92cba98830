import { assert, describe, it, vi } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { makeTurns, ownTurn, TurnQueue, visitInTurns, withinTurns } from "../../src/domain/loopTime.ts"
import { blockLoop } from "../support/blockLoop.ts"

const late = Effect.succeed("late")

/** Completes three turns of the event loop after the first one, which takes `ms`. */
const afterBusyTurn = (ms: number) =>
  Effect.callback<string>((resume) => {
    setImmediate(() => {
      blockLoop(ms)
      setImmediate(() => setImmediate(() => setImmediate(() => resume(Effect.succeed("in time")))))
    })
  })

describe("withinTurns", () => {
  it.live("reads what has arrived before it judges that nothing came in time", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* withinTurns("400 millis", late)(afterBusyTurn(600)), "in time")
    })
  )

  it.effect("ends at its limit while the loop is not busy", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(withinTurns("400 millis", late)(Effect.never), { startImmediately: true })
      yield* TestClock.adjust("399 millis")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(waiting), "late")
    })
  )
})

/** Counts turns of the loop until the scope closes. */
const countTurns = Effect.acquireRelease(
  Effect.sync(() => {
    const turns = { count: 0, isOver: false }
    const next = () => {
      turns.count++
      if (!turns.isOver) {
        setImmediate(next)
      }
    }
    setImmediate(next)
    return turns
  }),
  (turns) => Effect.sync(() => (turns.isOver = true))
)

describe("ownTurn", () => {
  it("frees what a fiber held while it waited", () => {
    const program = fileURLToPath(new URL("../support/turnMemory.ts", import.meta.url))
    const grownMb = Number(
      execFileSync(process.execPath, ["--expose-gc", program], { encoding: "utf8", timeout: 60_000 })
    )
    assert.isBelow(grownMb, 1)
  })

  it.effect("gives each fiber that takes long a turn of the loop, in the order in which they asked", () =>
    Effect.gen(function* () {
      const turns = yield* countTurns
      const continued: Array<{ readonly name: string; readonly turn: number }> = []
      const names = ["a", "b", "c", "d"]
      const go = (name: string) => {
        continued.push({ name, turn: turns.count })
        blockLoop(2)
      }
      yield* Effect.forEach(names, (name) => Effect.map(ownTurn, () => go(name)), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        continued.map(({ name }) => name),
        names
      )
      assert.strictEqual(new Set(continued.map(({ turn }) => turn)).size, names.length)
    })
  )

  it.effect("lets a fiber that waits again go on in a later turn, however little it does", () =>
    Effect.gen(function* () {
      const turns = yield* countTurns
      const seen = new Set<number>()
      for (let n = 0; n < 5; n++) {
        yield* ownTurn
        seen.add(turns.count)
      }
      assert.strictEqual(seen.size, 5)
    })
  )

  it.effect("goes on with the others when one is interrupted while it waits", () =>
    Effect.gen(function* () {
      const first = yield* Effect.forkChild(ownTurn, { startImmediately: true })
      const second = yield* Effect.forkChild(ownTurn, { startImmediately: true })
      yield* Fiber.interrupt(first)
      yield* Fiber.join(second)
      yield* ownTurn
    })
  )
})

describe("long work", () => {
  /** A clock that only `work` moves, so that a busy machine ends no turn. */
  const setClock = Effect.acquireRelease(
    Effect.sync(() => {
      const state = { ms: 0 }
      const spy = vi.spyOn(performance, "now").mockImplementation(() => state.ms)
      const clock = { monotonicTimeNanosUnsafe: () => BigInt(1e6 * state.ms) } as unknown as Clock.Clock
      return { spy, clock, work: (ms: number) => void (state.ms += ms) }
    }),
    ({ spy }) => Effect.sync(() => spy.mockRestore())
  )

  /** The turns in which two fibers, one after the other, visit items that take this long each. */
  const turnsOf = Effect.fnUntraced(function* (items: number, ms: number) {
    const [turns, { clock, work }] = [yield* countTurns, yield* setClock]
    const seen: Array<number> = []
    const visiting = visitInTurns(Array.from({ length: items }), () => {
      seen.push(turns.count)
      work(ms)
    })
    yield* Effect.all([visiting, visiting], { concurrency: 2 }).pipe(Effect.provideService(Clock.Clock, clock))
    return { seen, end: turns.count }
  })

  it.effect("begins at once, and goes on in a later turn after each half millisecond", () =>
    Effect.gen(function* () {
      const { end, seen } = yield* turnsOf(8, 0.125)
      assert.deepStrictEqual(seen, [...Array.from({ length: 8 }, () => 0), ...Array.from({ length: 8 }, () => 1)])
      assert.strictEqual(end, 1, "nobody waits after the last item")
    })
  )

  it.effect("shares a turn only until a millisecond is over", () =>
    Effect.gen(function* () {
      const { seen } = yield* turnsOf(8, 0.25)
      const expected = [0, 0, 1, 2].flatMap((turn) => [turn, turn, turn, turn])
      assert.deepStrictEqual(seen, expected)
    })
  )

  it.effect("counts the time of other waits", () =>
    Effect.gen(function* () {
      const [counted, { clock, work }] = [yield* countTurns, yield* setClock]
      const turns = yield* Effect.provideService(makeTurns, Clock.Clock, clock)
      yield* turns.pause
      assert.strictEqual(counted.count, 0)
      work(1)
      yield* turns.pause
      assert.strictEqual(counted.count, 1)
    })
  )
})

describe("TurnQueue", () => {
  const turnOfLoop = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

  it.effect("takes a burst in its order over several turns, and what comes meanwhile after it", () =>
    Effect.gen(function* () {
      const taken: Array<number> = []
      const queue = new TurnQueue<number>((item) => {
        taken.push(item)
        blockLoop(2)
      })
      ;[1, 2, 3].forEach((item) => queue.push(item))
      assert.deepStrictEqual(taken, [])
      yield* turnOfLoop
      assert.deepStrictEqual(taken, [1])
      queue.push(4)
      yield* turnOfLoop
      assert.deepStrictEqual(taken, [1, 2])
      queue.flush()
      assert.deepStrictEqual(taken, [1, 2, 3, 4])
      yield* turnOfLoop
      assert.lengthOf(taken, 4)
    })
  )

  it.effect("shares a turn of the loop with fibers and other queues, each in the order of its wait", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const note = (name: string) => {
        ran.push(name)
        blockLoop(2)
      }
      const [first, second] = [new TurnQueue<string>(note), new TurnQueue<string>(note)]
      first.push("first")
      second.push("second")
      const fiber = yield* Effect.forkChild(
        Effect.map(ownTurn, () => note("fiber")),
        { startImmediately: true }
      )
      first.push("first again")
      for (const expected of [["first"], ["first", "second"], ["first", "second", "fiber"]]) {
        yield* turnOfLoop
        assert.deepStrictEqual(ran, expected)
      }
      yield* Fiber.join(fiber)
      yield* turnOfLoop
      assert.deepStrictEqual(ran, ["first", "second", "fiber", "first again"])
    })
  )

  it.effect("takes an eighth of what waits in a turn, however long that takes", () =>
    Effect.gen(function* () {
      const taken: Array<number> = []
      const queue = new TurnQueue<number>((item) => {
        taken.push(item)
        blockLoop(1)
      })
      for (let item = 0; item < 32; item++) {
        queue.push(item)
      }
      yield* turnOfLoop
      assert.lengthOf(taken, 4)
      queue.clear()
    })
  )

  it.effect("takes one item in a long turn where something else bounds what waits", () =>
    Effect.gen(function* () {
      const taken: Array<number> = []
      const take = (item: number) => {
        taken.push(item)
        blockLoop(1)
      }
      const queue = new TurnQueue(take, { hasLeastPart: false })
      for (let item = 0; item < 32; item++) {
        queue.push(item)
      }
      yield* turnOfLoop
      assert.deepStrictEqual(taken, [0])
      queue.clear()
    })
  )

  it("holds a bounded number of items, and none once it is cleared", () => {
    const taken: Array<number> = []
    const queue = new TurnQueue<number>((item) => void taken.push(item))
    for (let item = 0; item < 25_000; item++) {
      queue.push(item)
    }
    assert.deepStrictEqual(
      taken,
      Array.from({ length: 15_000 }, (_, item) => item)
    )
    queue.clear()
    queue.flush()
    assert.lengthOf(taken, 15_000)
  })

  it.effect("goes on after an item that cannot be taken", () =>
    Effect.gen(function* () {
      const taken: Array<number> = []
      const queue = new TurnQueue<number>((item) => {
        if (item === 1) {
          throw new Error("malformed")
        }
        taken.push(item)
      })
      queue.push(1)
      queue.push(2)
      assert.throws(() => queue.flush(), "malformed")
      yield* turnOfLoop
      assert.deepStrictEqual(taken, [2])
    })
  )
})
