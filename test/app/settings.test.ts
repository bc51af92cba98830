import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { readFileSync } from "node:fs"
import { checkedSettings } from "../../src/app/settings.ts"

/** Free text, which has no bad value, and paths, which are checked when they are opened. */
const unchecked = new Set([
  "ACCOUNTS_DIR",
  "FUNDING_TOKEN",
  "HOST",
  "IDENTITIES_FILE",
  "KEY_PEPPER",
  "PUBLIC_URL",
  "READY_FILE"
])

/** Names of docs/settings.md; `_VELOCITY` there continues the name before it. */
const documented = (): ReadonlyArray<string> =>
  readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8")
    .split("\n")
    .flatMap((line) => {
      const names = Array.from((line.split("|")[1] ?? "").matchAll(/`([A-Z0-9_]+)`/gu), ([, name = ""]) => name)
      const [first = ""] = names
      return names.map((name) => (name.startsWith("_") ? first.slice(0, first.lastIndexOf("_")) + name : name))
    })

/** The names that the check reads. */
const read = Effect.gen(function* () {
  const names = new Set<string>()
  const provider = ConfigProvider.make((path) => {
    names.add(path.join("_"))
    return Effect.succeed(undefined)
  })
  yield* checkedSettings.pipe(Effect.provideService(ConfigProvider.ConfigProvider, provider))
  return names
})

describe("checkedSettings", () => {
  it.effect("reads every documented setting that can have a bad value", () =>
    Effect.gen(function* () {
      const names = yield* read
      assert.deepStrictEqual(
        documented().filter((name) => !unchecked.has(name) && !names.has(name)),
        []
      )
    })
  )

  it.effect.each(["PORT", "TAPE_BARS", "SIMULATOR_SPEED", "SOLANA_RPC_TIMEOUT", "FUNDING_TIMEOUT"])(
    "refuses a bad %s",
    (name) =>
      Effect.gen(function* () {
        const env = { [name]: "bad" }
        const error = yield* Effect.flip(checkedSettings).pipe(
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
        )
        assert.include(error.message, name.slice(name.lastIndexOf("_") + 1))
      })
  )
})
