import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Command } from "effect/cli"
import { TestClock, TestConsole } from "effect/testing"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import { makeSecret } from "../../../src/access/keyFormat.ts"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { command } from "../../../src/app/commands/keys.ts"
import { ApiKey, MAX_ACTIVE_KEYS } from "../../../src/api/schemas/ApiKey.ts"
import * as MemoryKeys from "../../support/memoryKeys.ts"

const run = (...line: ReadonlyArray<string>) => Command.runWith(command, { version: "0.0.0" })(line)

/** The lines that a command line prints, without the lines of earlier ones. */
const printed = Effect.fnUntraced(function* (...line: ReadonlyArray<string>) {
  const before = (yield* TestConsole.logLines).length
  yield* run(...line)
  return (yield* TestConsole.logLines).slice(before).map(String).join("\n")
})
const printedError = Effect.fnUntraced(function* (...line: ReadonlyArray<string>) {
  const before = (yield* TestConsole.errorLines).length
  assert.isTrue(yield* Effect.isFailure(run(...line)), "the command has to fail")
  return (yield* TestConsole.errorLines).slice(before).map(String).join("\n")
})

const Created = Schema.fromJsonString(Schema.Struct({ key: ApiKey, secret: Schema.String }))
const created = Effect.fnUntraced(function* (...line: ReadonlyArray<string>) {
  return Schema.decodeSync(Created)(yield* printed("create", "--json", ...line))
})
const listed = (text: string) => Schema.decodeSync(Schema.fromJsonString(Schema.Array(ApiKey)))(text)

const world = Layer.mergeAll(MemoryKeys.layer(), NodeServices.layer)
const provide = Effect.provide(world)

describe("keys create", () => {
  it.effect("prints a secret that works, once; later it prints the key without the secret", () =>
    Effect.gen(function* () {
      const keys = yield* KeyStore
      const text = yield* printed("create", "--name", "bot")
      const secret = /^svc_live_\w{36}$/mu.exec(text)?.[0] ?? ""
      const key = yield* keys.authenticate(Redacted.make(secret))
      assert.deepInclude(key, { accountId: "local", name: "bot", scopes: ["md.read"], ipPolicy: null })
      assert.include(text, key.id)
      assert.include(text, "not shown again")
      const list = (yield* printed("list")) + (yield* printed("list", "--json")) + (yield* printed("revoke", key.id))
      assert.notInclude(list, secret.slice(0, -4))
      assert.include(list, `svc_live_…${key.lastFour}`)
    }).pipe(provide)
  )

  it.effect("takes an account, scopes and addresses", () =>
    Effect.gen(function* () {
      const keys = yield* KeyStore
      const flags =
        "--account team --scope alerts.read --scope md.read --scope perps.read --ip 10.1.2.3/8 --ip 2001:db8::1"
      const { key, secret } = yield* created(...flags.split(" "))
      assert.deepInclude(key, {
        accountId: "team",
        name: "key",
        scopes: ["md.read", "alerts.read", "perps.read"],
        ipPolicy: ["10.0.0.0/8", "2001:db8::1/128"]
      })
      assert.strictEqual((yield* keys.authenticate(Redacted.make(secret))).id, key.id)
    }).pipe(provide)
  )

  it.effect.each([
    ["--scope", "root"],
    ["--ip", "somewhere"],
    ["--name", "two\nlines"],
    ["--name", "x".repeat(65)]
  ])("refuses %s %s and creates nothing", (line) =>
    Effect.gen(function* () {
      const keys = yield* KeyStore
      yield* printedError("create", ...line)
      assert.deepStrictEqual(yield* keys.list("local"), [])
    }).pipe(provide)
  )

  it.effect("prints the limit when an account has as many keys as it may have", () =>
    Effect.gen(function* () {
      for (let i = 0; i < MAX_ACTIVE_KEYS; i++) {
        yield* run("create")
      }
      assert.include(yield* printedError("create"), "already has 10 active keys")
    }).pipe(provide)
  )
})

describe("keys list", () => {
  it.effect("prints one line for each key of the account, newest first", () =>
    Effect.gen(function* () {
      const keys = yield* KeyStore
      assert.strictEqual(yield* printed("list"), "Account local has no keys.")
      const one = yield* created("--name", "one")
      const two = yield* created("--name", "two", "--ip", "10.0.0.1")
      yield* created("--account", "other")
      yield* TestClock.setTime(Date.UTC(2030, 0, 2, 3, 4))
      yield* keys.authenticate(Redacted.make(one.secret))
      yield* keys.disable(two.key.id, COMMAND_LINE)
      assert.strictEqual(
        yield* printed("list"),
        [
          `${two.key.id}  svc_live_…${two.key.lastFour}  two  disabled 2030-01-02 03:04  default  md.read  10.0.0.1/32  never used`,
          `${one.key.id}  svc_live_…${one.key.lastFour}  one  active  default  md.read  any address  used 2030-01-02 03:04`
        ].join("\n")
      )
      assert.deepStrictEqual(listed(yield* printed("list", "--json")), yield* keys.list("local"))
      assert.strictEqual(yield* printed("list", "--account", "empty", "--json"), "[]")
    }).pipe(provide)
  )
})

describe("keys revoke, disable and enable", () => {
  const secret = makeSecret("live", (size) => new Uint8Array(size))
  const withKey = Effect.provide(
    Layer.mergeAll(MemoryKeys.layer({ keys: [{ secret, id: "key_known" }] }), NodeServices.layer)
  )

  it.effect("end, suspend and restore a key", () =>
    Effect.gen(function* () {
      const keys = yield* KeyStore
      const outcome = Effect.map(Effect.exit(keys.authenticate(secret)), (exit) => exit._tag)
      assert.include(yield* printed("disable", "key_known"), "disabled")
      assert.strictEqual(yield* outcome, "Failure")
      assert.include(yield* printed("enable", "key_known"), "active")
      assert.strictEqual(yield* outcome, "Success")
      const revoked = Schema.decodeSync(Schema.fromJsonString(ApiKey))(yield* printed("revoke", "key_known", "--json"))
      assert.strictEqual(revoked.revokedAtMs, 0)
      assert.strictEqual(yield* outcome, "Failure")
    }).pipe(withKey)
  )

  it.effect.each(["revoke", "disable", "enable"])("%s fails with a message for an unknown key", (verb) =>
    Effect.gen(function* () {
      assert.include(yield* printedError(verb, "key_unknown"), "There is no key key_unknown")
    }).pipe(withKey)
  )
})
