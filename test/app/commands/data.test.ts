import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { TestConsole } from "effect/testing"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { command } from "../../../src/app/commands/data.ts"
import { VERSION } from "../../../src/app/version.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-data-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const run = (settings: Readonly<Record<string, string>>, ...line: ReadonlyArray<string>) =>
  Command.runWith(command, { version: "0.0.0" })(line).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromUnknown(settings))))
  )

const urlOf = ({ database, host }: TestDatabase.TestAddress) => ({
  DATABASE_URL: `postgres://postgres@localhost/${database}?host=${encodeURIComponent(host)}`
})

const lines = Effect.map(TestConsole.logLines, (all) => all.map(String))

describe("the version", () => {
  it("is the version of the package", () => {
    assert.strictEqual(JSON.parse(readFileSync("package.json", "utf8")).version, VERSION)
  })
})

describe.runIf(TestDatabase.isAvailable)("data", () => {
  it.live("writes, checks and restores a file, with a line for each table", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "file")
      yield* run(urlOf(yield* TestDatabase.create), "backup", file)
      assert.includeMembers(yield* lines, ["api_keys: 0 rows"])
      assert.match((yield* lines).at(-1) ?? "", new RegExp(`^Written .* version ${VERSION}$`, "u"))
      yield* run({}, "verify", file, "--json")
      const whole = JSON.parse((yield* lines).at(-1) ?? "")
      assert.strictEqual(whole.service, VERSION)
      yield* run(urlOf(yield* TestDatabase.createEmpty), "restore", file, "--json")
      assert.deepStrictEqual(JSON.parse((yield* lines).at(-1) ?? ""), whole)
    }).pipe(Effect.provide(TestConsole.layer))
  )

  it.live("creates no database when there is none to back up, or when the file is not a backup", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const settings = { DATA_DIR: join(path, "data") }
      const missing = yield* Effect.flip(run(settings, "backup", join(path, "file")))
      assert.include(String(missing), "holds no database")
      assert.include(String(yield* Effect.flip(run(settings, "restore", join(path, "file")))), "ENOENT")
      assert.isFalse(existsSync(join(path, "data")))
      assert.isEmpty(readdirSync(path))
    })
  )
})
