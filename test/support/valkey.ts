/** A real server of the Redis protocol for tests: `valkey-server`, else `redis-server`, on a free port, gone with its scope. */
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect"
import type { Redis } from "effect/persistence"
import { TestClock } from "effect/testing"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { createServer } from "node:net"
import { afterAll, beforeAll } from "vitest"
import { Valkey } from "../../src/storage/valkey/Valkey.ts"
import * as ValkeyRedis from "../../src/storage/valkey/ValkeyRedis.ts"

const binary = ["valkey-server", "redis-server"].find((name) => spawnSync(name, ["--version"]).status === 0)

/** True with a server on this machine: `describe.runIf(isAvailable)`. */
export const isAvailable = binary !== undefined

if (!isAvailable) {
  process.stdout.write("No valkey-server or redis-server: tests that need one are skipped.\n")
}

const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

const listening = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    child.stdout?.on("data", (chunk) => String(chunk).includes("Ready to accept connections") && resume(Effect.void))
    child.once("exit", (code) => resume(Effect.die(new Error(`the server ended with ${code}`))))
  })

const stopped = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      return resume(Effect.void)
    }
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** A server that a test can kill, start again on its port without its data, and freeze. */
export interface TestServer {
  readonly url: string
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  readonly freeze: Effect.Effect<void>
  readonly thaw: Effect.Effect<void>
}

/** A running server without data. */
export const server: Effect.Effect<TestServer, never, Scope.Scope> = Effect.gen(function* () {
  const port = yield* freePort
  let child: ChildProcess | undefined
  const kill = Effect.suspend(() => (child === undefined ? Effect.void : stopped(child)))
  const start = Effect.suspend(() => {
    const started = spawn(
      binary ?? "redis-server",
      ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp"],
      { stdio: ["ignore", "pipe", "ignore"] }
    )
    child = started
    return listening(started)
  })
  yield* Effect.addFinalizer(() => kill)
  yield* start
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    freeze: Effect.sync(() => child?.kill("SIGSTOP")),
    thaw: Effect.sync(() => child?.kill("SIGCONT"))
  }
})

/** One server for the tests of a file: call it at the top of a `describe.runIf(isAvailable)`. It is empty whenever a client is built. */
export const sharedServer = (): (() => TestServer) => {
  const scope = Effect.runSync(Scope.make())
  let started: TestServer | undefined
  beforeAll(async () => {
    started = await Effect.runPromise(Scope.provide(server, scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return () => {
    if (started === undefined) {
      throw new Error("the server starts before the first test")
    }
    return started
  }
}

const isLive = (clock: Clock.Clock): boolean => !("adjust" in clock)

/** A client as one process has it. Its beats run in real time; scripts take the test clock's time as the server's. */
export const client = (url: string): Layer.Layer<Valkey> =>
  Layer.effect(
    Valkey,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const scope = yield* Effect.scope
      const live = isLive(clock) ? clock : yield* TestClock.withLive(Clock.Clock)
      const context = yield* Layer.buildWithScope(ValkeyRedis.layer(url), scope).pipe(
        Effect.provideService(Clock.Clock, live)
      )
      const valkey = Context.get(context, Valkey)
      return Valkey.of({
        ...valkey,
        eval:
          (script) =>
          (...params) =>
            Clock.clockWith((clock) => valkey.eval(isLive(clock) ? script : at(clock, script))(...params))
      })
    })
  )

const at = <Types extends { readonly params: ReadonlyArray<unknown>; readonly result: unknown }>(
  clock: Clock.Clock,
  script: Redis.Script<Types>
): Redis.Script<Types> => {
  const us = clock.monotonicTimeNanosUnsafe() / 1000n
  const time = `{'${us / 1_000_000n}','${us % 1_000_000n}'}`
  return { ...script, lua: script.lua.replace("redis.call('TIME')", time) }
}

/** The same on a server that has been emptied. */
export const emptied = (server: () => TestServer): Layer.Layer<Valkey> =>
  Layer.unwrap(Effect.sync(() => client(server().url))).pipe(
    Layer.tap((context) => Effect.orDie(Context.get(context, Valkey).send("FLUSHALL")))
  )
