import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Redacted } from "effect"
import { connect, createServer, type Server } from "node:net"
import { SqlError } from "effect/sql"
import { TestClock, TestConsole } from "effect/testing"
import { KeyStoreUnavailable } from "../../src/api/schemas/ApiKey.ts"
import { awaitServer, targetOf, untilReached } from "../../src/storage/databaseUrl.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const wait = (url: string, limit: Duration.Input = "0 millis") =>
  awaitServer({
    url: Redacted.make(url),
    connectTimeout: Duration.seconds(1),
    limit: Duration.fromInputUnsafe(limit)
  })

/** A server that rejects every connection with this PostgreSQL error, and counts them. */
const rejecting = Effect.fnUntraced(function* (code: string, message: string) {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const header = Buffer.alloc(5)
  header.write("E")
  header.writeInt32BE(fields.length + 4, 1)
  const seen = { connections: 0 }
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createServer((socket) => {
        seen.connections++
        socket.on("error", () => undefined)
        socket.once("data", () => socket.end(Buffer.concat([header, fields])))
      })
    ),
    (made) => Effect.sync(() => made.close())
  )
  return { seen, port: yield* listen(server, 0) }
})

const listen = (server: Server, port: number) =>
  Effect.callback<number>((resume) => {
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

describe("targetOf", () => {
  it("is host and port, or the folder of a socket, without credentials", () => {
    const targets = [
      "postgres://me:hunter2@db.example:6432/x",
      "postgresql://me@db.example/x",
      "postgres://me@localhost/x?host=%2Frun%2Fpg",
      "nonsense",
      "http://db.example"
    ].map((url) => targetOf(Redacted.make(url)))
    assert.deepStrictEqual(targets, ["db.example:6432", "db.example:5432", "/run/pg", null, null])
  })
})

describe("awaitServer", () => {
  it.live("refuses a server that rejects connections by host and port, without the password", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(wait("postgres://me:hunter2@127.0.0.1:1/none"))
      assert.strictEqual(
        message,
        "DATABASE_URL: the database at 127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1"
      )
    })
  )

  it.live.each([
    ["nonsense", /expected postgres:/u],
    ["postgres://me:hunter2@database.invalid/x", /database\.invalid:5432 .*(?:ENOTFOUND|EAI_AGAIN)/u]
  ] as const)("refuses %s at once", ([url, expected]) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(wait(url, url === "nonsense" ? "1 hour" : "0 millis"))
      assert.match(message, expected)
      assert.notInclude(message, "hunter2")
    })
  )

  it.live("refuses a rejected password at once, although it would wait for a start", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* rejecting("28P01", 'password authentication failed for user "me"')
      const { message } = yield* Effect.flip(wait(`postgres://me:hunter2@127.0.0.1:${port}/x`, "1 hour"))
      assert.include(message, `127.0.0.1:${port} cannot be used: password authentication failed for user "me" (28P01)`)
      assert.strictEqual(seen.connections, 1)
    })
  )

  it.live("waits for a server that is starting up, and writes one line about it", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* rejecting("57P03", "the database system is starting up")
      const { message } = yield* Effect.flip(wait(`postgres://me@127.0.0.1:${port}/x`, "1200 millis"))
      assert.include(message, "the database system is starting up (57P03), within 1s 200ms")
      assert.isAbove(seen.connections, 1)
      const lines = (yield* TestConsole.logLines).map(String).filter((line) => line.includes("not reachable yet"))
      assert.lengthOf(lines, 1)
    }).pipe(Effect.provide(TestConsole.layer))
  )
})

const timedOut = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({ cause: new Error("Connection timed out"), message: "", operation: "connect" })
})

/** A step that fails with this so many times, and counts its tries. */
const failing = <E>(failure: E, times: number) => {
  const seen = { tries: 0 }
  return { seen, step: Effect.suspend(() => (++seen.tries > times ? Effect.void : Effect.fail(failure))) }
}

describe("untilReached", () => {
  it.effect.each([timedOut, new KeyStoreUnavailable({ cause: timedOut })])(
    "tries a step of the start again while a connection fails: $_tag",
    (failure) =>
      Effect.gen(function* () {
        const { seen, step } = failing(failure, 3)
        const fiber = yield* Effect.forkChild(untilReached(Duration.seconds(30))(step))
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(fiber)
        assert.strictEqual(seen.tries, 4)
      })
  )

  it.effect("gives up with the last failure after the time given", () =>
    Effect.gen(function* () {
      const { seen, step } = failing(timedOut, 1_000_000)
      const fiber = yield* Effect.forkChild(Effect.exit(untilReached(Duration.seconds(30))(step)))
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.fail(timedOut))
      const once = failing(timedOut, 1)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(untilReached(Duration.zero)(once.step))))
      assert.deepStrictEqual([seen.tries > 100, once.seen.tries], [true, 1])
    })
  )

  it.effect("leaves every other failure alone", () =>
    Effect.gen(function* () {
      const { seen, step } = failing(new KeyStoreUnavailable({ cause: new Error("the table is missing") }), 1)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(untilReached(Duration.seconds(30))(step))))
      assert.strictEqual(seen.tries, 1)
    })
  )
})

describe.runIf(TestDatabase.isAvailable)("awaitServer and a real server", () => {
  it.live("goes on as soon as a server that rejected connections accepts them", () =>
    Effect.gen(function* () {
      const { database, host } = yield* TestDatabase.create
      const door = createServer((near) => {
        const far = connect(`${host}/.s.PGSQL.5432`)
        near.on("error", () => far.destroy())
        far.on("error", () => near.destroy())
        near.pipe(far).pipe(near)
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => door.close()))
      const port = yield* listen(door, 0)
      yield* Effect.callback<void>((resume) => {
        door.close(() => resume(Effect.void))
      })
      const waiting = yield* Effect.forkChild(wait(`postgres://postgres@127.0.0.1:${port}/${database}`, "1 minute"))
      yield* Effect.map(TestConsole.logLines, (lines) => lines.map(String).join()).pipe(
        Effect.delay("10 millis"),
        Effect.repeat({ until: (text) => text.includes(`127.0.0.1:${port} (DATABASE_URL) is not reachable yet`) })
      )
      yield* listen(door, port)
      yield* Fiber.join(waiting)
    }).pipe(Effect.provide(TestConsole.layer))
  )
})
