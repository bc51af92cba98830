import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Command } from "effect/cli"
import { TestConsole } from "effect/testing"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { command as keysCommand } from "../../../src/app/commands/keys.ts"
import { command } from "../../../src/app/commands/plans.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import * as MemoryKeys from "../../support/memoryKeys.ts"

const run = (...line: ReadonlyArray<string>) => Command.runWith(command, { version: "0.0.0" })(line)
const runKeys = (...line: ReadonlyArray<string>) => Command.runWith(keysCommand, { version: "0.0.0" })(line)

const lastLine = Effect.map(TestConsole.logLines, (lines) => String(lines.at(-1)))
const lastError = Effect.map(TestConsole.errorLines, (lines) => lines.map(String).join("\n"))

const provide = Effect.provide(Layer.mergeAll(MemoryKeys.layer(), NodeServices.layer))

describe("plans", () => {
  it.effect("sets a plan from the limits of the specification, and changes only what is given", () =>
    Effect.gen(function* () {
      yield* run("set", "team", "--rest", "1000", "--json")
      assert.deepStrictEqual(JSON.parse(yield* lastLine), { ...DEFAULT_PLAN, name: "team", rest: 1000 })
      yield* run("set", "team", "--streams", "50", "--window-seconds", "10", "--json")
      const plan = { ...DEFAULT_PLAN, name: "team", rest: 1000, streams: 50, windowSeconds: 10 }
      assert.deepStrictEqual(JSON.parse(yield* lastLine), plan)
      yield* run("list", "--json")
      assert.deepStrictEqual(JSON.parse(yield* lastLine), [DEFAULT_PLAN, plan])
    }).pipe(provide)
  )

  it.effect("keeps the plan `default`, and plans that keys use", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* Effect.isFailure(run("set", "default", "--rest", "1")))
      assert.include(yield* lastError, "specification")
      yield* run("set", "team")
      yield* runKeys("create", "--plan", "team", "--json")
      const { key, secret } = JSON.parse(yield* lastLine)
      assert.isTrue(yield* Effect.isFailure(run("remove", "team")))
      assert.include(yield* lastError, "Keys have the plan team")
      yield* runKeys("plan", key.id, "default")
      yield* run("remove", "team")
      const keys = yield* KeyStore
      assert.deepStrictEqual((yield* keys.authenticate(Redacted.make(secret))).plan, DEFAULT_PLAN)
    }).pipe(provide)
  )

  it.effect.each([
    ["--rest", "0"],
    ["--window-seconds", "0"],
    ["--alerts", "-1"]
  ])("refuses %s %s", (line) =>
    Effect.gen(function* () {
      assert.isTrue(yield* Effect.isFailure(run("set", "team", ...line)))
      assert.lengthOf(yield* KeyStore.use((keys) => keys.plans), 1)
    }).pipe(provide)
  )
})
