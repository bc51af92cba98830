import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { readFileSync } from "node:fs"
import { exitMessage } from "../../src/app/commands/exitMessage.ts"
import { checkedSettings, settingNames } from "../../src/app/settings.ts"

/** Free text, which cannot be bad, and paths, which are checked when they are opened. */
const unchecked = new Set([
  "ACCOUNTS_DIR",
  "BACKUP_DIR",
  "FUNDING_TOKEN",
  "HOST",
  "IDENTITIES_FILE",
  "KEY_PEPPER",
  "KEY_PEPPER_BEFORE",
  "OIDC_CLIENT_ID",
  "OIDC_CLIENT_SECRET",
  "PUBLIC_URL",
  "READY_FILE"
])

/** Beginnings of names, which reading a group of settings asks for. */
const undocumented = /^(?:SIMULATOR(?:_FAULTS|_FUNDING)?)$/u

/** Names in docs/settings.md. `_VELOCITY` continues the name before it there. */
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

  it.effect("knows the name of every documented setting", () =>
    Effect.gen(function* () {
      const names = yield* settingNames.pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: {} }))
      )
      assert.deepStrictEqual(
        documented().filter((name) => !names.has(name)),
        []
      )
      assert.isEmpty(Array.from(names).filter((name) => !documented().includes(name) && !undocumented.test(name)))
    })
  )

  it.effect.each([
    "PORT",
    "TAPE_BARS",
    "SIMULATOR_SPEED",
    "SOLANA_RPC_TIMEOUT",
    "FUNDING_TIMEOUT",
    "GEYSER_URL",
    "GEYSER_TOKEN"
  ])("refuses a bad %s", (name) =>
    Effect.gen(function* () {
      const env = { [name]: "bad" }
      const error = yield* Effect.flip(checkedSettings).pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
      )
      assert.include(error.message, name.slice(name.lastIndexOf("_") + 1))
    })
  )

  it.effect.each([
    ["PORT", "notaport", "PORT: must be a whole number from 0 to 65535"],
    ["PORT", "0x10", "PORT: must be a whole number from 0 to 65535"],
    ["TAPE_TOKENS", "0x10", "TAPE_TOKENS: must be a whole number"],
    ["SIMULATOR_SPEED", "0x10", "SIMULATOR_SPEED: must be a number"],
    ["ADMIN_PORT", "0b1", "ADMIN_PORT: must be a whole number from 0 to 65535"],
    ["PLATFORM_FEE_BPS", "0x10", "PLATFORM_FEE_BPS: must be a whole number from 0 to 1000"],
    ["DISCOVERY_RATE", "0x10", "DISCOVERY_RATE: must be a number above 0"],
    ["REQUEST_LOG", "10", "REQUEST_LOG: must be a share from 0 to 1"],
    ["MIN_COVERAGE", "10", "MIN_COVERAGE: must be a share from 0 to 1"],
    ["OTEL_TRACES_SAMPLER_ARG", "10", "OTEL_TRACES_SAMPLER_ARG: must be a share from 0 to 1"],
    ["SIMULATOR_FAULTS_BLOCK_FAILURES", "10", "SIMULATOR_FAULTS_BLOCK_FAILURES: must be a share from 0 to 1"],
    ["STABLE_TOLERANCE_BPS", "10001", "STABLE_TOLERANCE_BPS: must be a whole number from 0 to 10000"],
    ["PORT", "1.5", "PORT: must be a whole number from 0 to 65535"],
    ["TRUST_PROXY", "17", "TRUST_PROXY: must be a whole number from 0 to 16"],
    ["DATABASE_POOL_SIZE", "many", "DATABASE_POOL_SIZE: must be a whole number from 1 to 1000"],
    ["TAPE_BARS", "-1", "TAPE_BARS: must be a whole number, at least 0"],
    ["USAGE_KEPT", "Infinity", "USAGE_KEPT: must be a time from 0 seconds to 36500 days"],
    ["KEY_AUDIT_KEPT", "-1 days", "KEY_AUDIT_KEPT: must be a time from 0 seconds to 36500 days"],
    ["HISTORY", "-Infinity", "HISTORY: must be a time from 0 seconds to 36500 days"],
    ["SESSION_IDLE", "36501 days", "SESSION_IDLE: must be a time from 0 seconds to 36500 days"],
    ["SIMULATOR_HISTORY", "-5", "SIMULATOR_HISTORY: must be a number, at least 0"],
    ["SIMULATOR_SPEED", "fast", "SIMULATOR_SPEED: must be a number"],
    [
      "SIMULATOR_FAULTS_DROP_EVERY_SLOTS",
      "-1",
      "SIMULATOR_FAULTS_DROP_EVERY_SLOTS: must be a whole number, at least 0"
    ],
    ["GEYSER_DECODERS", "0", "GEYSER_DECODERS: must be a whole number from 1 to 16"],
    ["GEYSER_DECODERS", "17", "GEYSER_DECODERS: must be a whole number from 1 to 16"],
    ["GEYSER_TOKEN", "töken", "GEYSER_TOKEN: must have letters, digits and signs of ASCII alone"],
    ["WARM_MINTS", "-1", "WARM_MINTS: must be a whole number, at least 0"],
    ["WALLET_TRADES", "1.5", "WALLET_TRADES: must be a whole number"],
    ["SOLANA_RPC_CONCURRENCY", "0", "SOLANA_RPC_CONCURRENCY: must be a whole number, at least 1"],
    [
      "PRELOAD_MINTS",
      "abc",
      "PRELOAD_MINTS: must be Solana addresses in base58, 32 to 44 characters each, with commas between"
    ]
  ])("refuses %s=%s by its name, and says what is allowed", ([name = "", value = "", message]) =>
    Effect.gen(function* () {
      const cause = yield* Effect.flip(Effect.sandbox(checkedSettings)).pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { [name]: value } }))
      )
      assert.strictEqual(exitMessage(cause), `fathom: ${message}`)
    })
  )

  it.effect("refuses a negative number in every setting that holds a count", () =>
    Effect.gen(function* () {
      const accepted: Array<string> = []
      for (const name of documented().filter((each) => !unchecked.has(each))) {
        const result = yield* Effect.result(checkedSettings).pipe(
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { [name]: "-1" } }))
        )
        if (result._tag === "Success") {
          accepted.push(name)
        }
      }
      assert.deepStrictEqual(accepted, [
        "ADMIN_HOST",
        "DATABASE_URL",
        "DATA_DIR",
        "DATABASE_DIRECT_URL",
        "RECORD_DIR",
        "IMPORT_PATH",
        "CLICKHOUSE_SPOOL",
        "SIMULATOR_SEED",
        "SIMULATOR_PAST",
        "SIMULATOR_FUNDING_UNREAD"
      ])
    })
  )
})
