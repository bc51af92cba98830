import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestConsole } from "effect/testing"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import { ChangeChannel, type ChangeSignal, type Topic } from "../../src/storage/ChangeChannel.ts"
import { transaction } from "../../src/storage/transaction.ts"
import { blockLoop } from "../support/blockLoop.ts"
import * as Proxy from "../support/Proxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** The channel of a process of its own. */
const open = Effect.fnUntraced(function* (address: TestDatabase.TestAddress) {
  const context = yield* Layer.build(TestDatabase.connect(address))
  return { channel: Context.get(context, ChangeChannel), sql: Context.get(context, SqlClient.SqlClient) }
})

/** The signals of a topic, in order. */
const collect = Effect.fnUntraced(function* (channel: ChangeChannel["Service"], topic: Topic) {
  const signals: Array<ChangeSignal> = []
  yield* channel.changes(topic).pipe(
    Stream.runForEach((signal) => Effect.sync(() => signals.push(signal))),
    Effect.forkScoped({ startImmediately: true })
  )
  return signals
})

const until = (isSo: () => boolean) =>
  Effect.sync(isSo).pipe(Effect.delay("10 millis"), Effect.repeat({ until: (so) => so, times: 1000 }))

const missed = { _tag: "Missed" } as const
const changed = (subject: string, isOwn = false) => ({ _tag: "Changed", subject, isOwn }) as const

describe.runIf(TestDatabase.isAvailable)("the change channel", { concurrent: true }, () => {
  it.live("delivers changes of a topic to every process in order of commit, and marks a process's own changes", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const [own, others] = [yield* collect(here.channel, "alerts"), yield* collect(there.channel, "alerts")]
      yield* until(() => own.length > 0 && others.length > 0)
      yield* here.channel.announce("alerts", "first")
      yield* here.channel.announce("tracker", "elsewhere")
      yield* here.sql`select ${here.channel.announcing("alerts", here.sql`id::text || ' second'`)} from (values (1), (2)) as ids (id)`
      yield* until(() => own.length === 4 && others.length === 4)
      assert.deepStrictEqual(others, [missed, changed("first"), changed("1 second"), changed("2 second")])
      assert.deepStrictEqual(own, [
        missed,
        changed("first", true),
        changed("1 second", true),
        changed("2 second", true)
      ])
    })
  )

  it.live("announces with the commit, and nothing when the transaction is rolled back", () =>
    Effect.gen(function* () {
      const { channel, sql } = yield* open(yield* TestDatabase.create)
      const signals = yield* collect(channel, "alerts")
      yield* until(() => signals.length > 0)
      yield* Effect.ignore(transaction(sql, Effect.andThen(channel.announce("alerts", "undone"), Effect.fail("no"))))
      yield* transaction(sql, channel.announce("alerts", "done"))
      yield* until(() => signals.length > 1)
      assert.deepStrictEqual(signals, [missed, changed("done", true)])
    })
  )

  it.live("starts every subscription with a signal to read, whenever it begins", () =>
    Effect.gen(function* () {
      const { channel } = yield* open(yield* TestDatabase.create)
      const first = yield* collect(channel, "alerts")
      const second = yield* collect(channel, "tracker")
      yield* until(() => first.length > 0 && second.length > 0)
      const third = yield* collect(channel, "keys")
      yield* until(() => third.length > 0)
      assert.deepStrictEqual([first, second, third], [[missed], [missed], [missed]])
    })
  )

  it.live("writes no warning when the first answers of a busy start take two seconds", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const { channel } = yield* open(proxy.address)
      yield* proxy.freeze
      yield* collect(channel, "alerts")
      yield* Effect.sleep("2500 millis")
      yield* proxy.thaw
      yield* until(channel.isProven)
      assert.isTrue(channel.isProven())
      assert.notInclude((yield* TestConsole.logLines).join(), "cannot be received")
    }).pipe(Effect.provide(TestConsole.layer))
  )

  it.live("is not proven while the network is frozen, and signals to read again when it is back", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const monitor = Context.get(yield* Layer.build(SourceMonitor.layer), SourceMonitor.SourceMonitor)
      const { channel } = yield* open(proxy.address).pipe(Effect.provideService(SourceMonitor.SourceMonitor, monitor))
      const database = () => monitor.stateOf("database", 0)?.status
      assert.isFalse(channel.isProven())
      assert.strictEqual(database(), "unavailable")
      const signals = yield* collect(channel, "alerts")
      yield* until(channel.isProven)
      assert.strictEqual(database(), "known")
      yield* proxy.freeze
      yield* until(() => !channel.isProven())
      assert.strictEqual(database(), "stale")
      yield* proxy.replace
      yield* until(() => channel.isProven() && signals.length > 1)
      assert.deepStrictEqual(signals, [missed, missed])
    })
  )
})

// One at a time: each blocks the event loop, and the deadlines of tests beside it would pass.
describe.runIf(TestDatabase.isAvailable)("the change channel of a busy loop", () => {
  it.live("stays proven while the event loop is too busy to read its beats", () =>
    Effect.gen(function* () {
      const { channel } = yield* open(yield* TestDatabase.create)
      const signals = yield* collect(channel, "alerts")
      yield* until(channel.isProven)
      for (let busy = 0; busy < 4; busy++) {
        blockLoop(1000)
        assert.isTrue(channel.isProven())
        yield* Effect.sleep("1 millis")
        assert.isTrue(channel.isProven())
      }
      assert.deepStrictEqual(signals, [missed])
    })
  )

  it.live("is not proven after the process stood still for longer than any busy turn", () =>
    Effect.gen(function* () {
      const { channel } = yield* open(yield* TestDatabase.create)
      yield* collect(channel, "alerts")
      yield* until(channel.isProven)
      blockLoop(5000)
      assert.isFalse(channel.isProven())
      yield* until(channel.isProven)
      assert.isTrue(channel.isProven())
    })
  )
})
