import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Console, Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exitMessage } from "../../src/app/commands/exitMessage.ts"
import * as Logs from "../../src/operations/Logs.ts"
import { checkEnvironment } from "../../src/app/preflight.ts"

/** Checks an environment. Returns the lines of its log, and the line that the command prints when it fails. */
const check = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const lines: Array<string> = []
  const written = { ...globalThis.console, log: (line: unknown) => void lines.push(String(line)) }
  const failure = yield* checkEnvironment(env).pipe(
    Effect.as(null),
    Effect.provide(Logs.layer),
    Effect.catchCause((cause) => Effect.succeed(exitMessage(cause))),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.provideService(Console.Console, written),
    Effect.provide(NodeServices.layer)
  )
  return { failure, lines }
})

/** The names of the variables that are warned of, and what is said of them. */
const warnings = (lines: ReadonlyArray<string>) =>
  lines.map((line) => {
    const { level, message } = JSON.parse(line)
    return `${String(level).toLowerCase()}: ${message}`
  })

const failed = (env: Readonly<Record<string, string>>) => Effect.map(check(env), ({ failure }) => failure)

const meant = (name: string, setting: string) => `warn: ${name} is not a setting and is ignored. Is ${setting} meant?`

const JSON_LOG = { LOG_FORMAT: "json" }

describe("the environment", () => {
  it.effect.each(["PORT", "TAPE_BARS", "STALE_AFTER", "DATA_DIR", "ACCOUNTS_DIR", "KEY_PEPPER", "SIMULATOR_SEED"])(
    "is refused with a blank %s",
    (name) =>
      Effect.gen(function* () {
        const { failure } = yield* check({ [name]: " " })
        assert.strictEqual(failure, `fathom: ${name}: is set, but blank. Give it a value, or do not set it.`)
      })
  )

  it.effect("may have a blank value where that means none, and blank variables of others", () =>
    Effect.gen(function* () {
      const { failure, lines } = yield* check({ ...JSON_LOG, KEY_PEPPER_BEFORE: "", LESSOPEN: "" })
      assert.deepStrictEqual([failure, lines], [null, []])
    })
  )

  it.effect("is warned of names one edit away from a setting, so that no simulated market starts in silence", () =>
    Effect.gen(function* () {
      const { failure, lines } = yield* check({
        ...JSON_LOG,
        SOLANA_RPC_UR: "http://node.test",
        SOLANA_RCP_URL: "http://node.test",
        solana_rpc_url: "http://node.test",
        DATABASE_URLS: "postgres://db.test",
        TAPE_BARZ: "1"
      })
      assert.isNull(failure)
      assert.deepStrictEqual(warnings(lines), [
        meant("SOLANA_RPC_UR", "SOLANA_RPC_URL"),
        meant("SOLANA_RCP_URL", "SOLANA_RPC_URL"),
        meant("solana_rpc_url", "SOLANA_RPC_URL"),
        meant("DATABASE_URLS", "DATABASE_URL"),
        meant("TAPE_BARZ", "TAPE_BARS")
      ])
    })
  )

  it.effect("is warned of unknown names that only this service can mean, and of no others", () =>
    Effect.gen(function* () {
      const { lines } = yield* check({
        ...JSON_LOG,
        FATHOM_RPC: "http://node.test",
        SOLANA_NODE: "http://node.test",
        FATHOM_SERVICE_HOST: "10.0.0.1",
        FATHOM_PORT: "tcp://10.0.0.1:3000",
        FATHOM_PORT_3000_TCP_ADDR: "10.0.0.1",
        PATH: "/bin",
        HOME: "/root",
        HOSTNAME: "fathom-0",
        NODE_ENV: "production",
        OTEL_SERVICE_NAME: "fathom"
      })
      assert.deepStrictEqual(warnings(lines), [
        "warn: FATHOM_RPC is not a setting and is ignored.",
        "warn: SOLANA_NODE is not a setting and is ignored."
      ])
    })
  )

  it.effect("is refused with a file or folder that is missing, or is the other of the two", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "fathom-paths-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const file = join(folder, "identities.json")
      writeFileSync(file, "[]")
      const missing = join(folder, "missing")
      const gone = "does not exist, or may not be looked at"
      assert.strictEqual(yield* failed({ BACKUP_DIR: missing }), `fathom: BACKUP_DIR: ${missing} ${gone}`)
      assert.strictEqual(yield* failed({ ACCOUNTS_DIR: missing }), `fathom: ACCOUNTS_DIR: ${missing} ${gone}`)
      assert.strictEqual(yield* failed({ IDENTITIES_FILE: missing }), `fathom: IDENTITIES_FILE: ${missing} ${gone}`)
      assert.strictEqual(
        yield* failed({ READY_FILE: join(missing, "ready") }),
        `fathom: READY_FILE: ${missing} ${gone}`
      )
      assert.strictEqual(yield* failed({ ACCOUNTS_DIR: file }), `fathom: ACCOUNTS_DIR: ${file} is not a folder`)
      assert.strictEqual(yield* failed({ IDENTITIES_FILE: folder }), `fathom: IDENTITIES_FILE: ${folder} is not a file`)
      assert.isNull(yield* failed({ ACCOUNTS_DIR: folder, IDENTITIES_FILE: file, READY_FILE: join(folder, "ready") }))
    })
  )
})
